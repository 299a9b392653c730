"""A team's sessions audited into the tables, each read by the process that audits it."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.models.client import ModelClient
from explorer.services import bulk_audit
from explorer.services.audit_folder import TABLES
from explorer.store.postgres import TeamLibrary
from tests.audit.reported import LIMIT, entries
from tests.commands.processes import called, document
from tests.commands.test_audit_all import rows
from tests.services.dask_cluster import DaskCluster
from tests.store.sources import HEADER, chain, message, write_file
from tests.team.cluster import Cluster

SECRET = "ghp_" + "k3VnQ8sLw2XzR7tYp5MbHd9JcFg4Ta6E"


def publish(tmp_path: Path, number: int, found: list[Any]) -> None:
    path = write_file(tmp_path / f"s{number}.jsonl", found, HEADER | {"id": f"s{number}"})
    assert called("import", str(path))[0] == 0
    document("publish", f"s{number}", "--yes")


@pytest.fixture
def published(cluster: Cluster, team_database: str, tmp_path: Path) -> str:
    """Three sessions of ada's, of which the second has no compaction."""
    document("library", "add", "acme", cluster.address(team_database, "ada"))
    for number, found in enumerate((entries(), chain(8), entries()), 1):
        publish(tmp_path, number, found)
    return team_database


def test_a_teams_sessions_are_rows_like_ones_own(published: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, err = called("audit", "--all", "acme:", "--out", str(out), "--processes", "2")
    assert status == 0, err
    own = tmp_path / "own"
    assert called("audit", "--all", "--out", str(own))[0] == 0
    unlike = ("library", "file", "position", "content")
    for table in TABLES:
        theirs, mine = (
            sorted(
                ({k: v for k, v in row.items() if k not in unlike} for row in rows(place, table)),
                key=json.dumps,
            )
            for place in (out, own)
        )
        assert theirs == mine
        assert {row["library"] for row in rows(out, table)} <= {"acme"}
        assert "ada" not in [value for row in rows(out, table) for value in row.values()]
    assert LIMIT in [row["text"] for row in rows(out, "findings")]


def test_only_what_was_published_anew_is_audited_again(published: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("audit", "--all", "acme:", "--out", str(out), "--processes", "1")
    assert called(*words, "--compacted", "--json")[1].count("\n") == 2
    assert called(*words, "--json")[1].count("\n") == 1
    publish(tmp_path, 2, [*chain(8), message(8, "e7", f"the token is {SECRET}")])
    status, text, _ = called(*words, "--json")
    (row,) = map(json.loads, text.splitlines())
    assert status == 0 and (row["session"], row["entries"]) == (2, 9)
    assert sorted(one["session"] for one in rows(out)) == [1, 2, 3]
    status, _, err = called(*words, "--model", "opus")
    assert status == 2 and "--model is not known of a team's sessions" in err


def test_a_session_that_cannot_be_read_there_is_named(
    published: str, tmp_path: Path, cluster: Cluster
) -> None:
    cluster.sql("UPDATE session_explorer.blocks SET data = 'x' WHERE session = 3", published)
    out = tmp_path / "out"
    status, _, err = called("audit", "--all", "acme:", "--out", str(out), "--processes", "1")
    assert status == 1 and "session 3: " in err and "Traceback" not in err
    found = {one["session"]: one["status"] for one in rows(out)}
    assert found == {1: "audited", 2: "audited", 3: "failed"}


def test_what_is_read_of_a_team_does_not_gather(
    published: str,
    tmp_path: Path,
    library_of: Callable[[str], TeamLibrary],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk_audit, "_LARGEST", 0)
    team, place = library_of("rea"), tmp_path / "place"
    place.mkdir()
    reader = bulk_audit._TeamReader(team, ModelClient(), place)
    for begun in bulk_audit.begun_shared("acme", team.shared(), None):
        found = reader.audit(None, begun)
        assert found.row.status == "audited" and found.row.session == begun.session
        assert len(list(place.iterdir())) == 1
    del reader
    gc.collect()
    assert list(place.iterdir()) == []


def test_the_workers_of_a_cluster_read_them_by_themselves(published: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    (folder := tmp_path / "dask").mkdir()
    cluster = DaskCluster(folder)
    try:
        cluster.worker()
        out = tmp_path / "out"
        status, _, err = called(
            "audit", "--all", "acme:", "--out", str(out), "--scheduler", cluster.address
        )
        assert status == 0, err
    finally:
        cluster.end()
    assert sorted((one["session"], one["status"]) for one in rows(out)) == [
        (1, "audited"), (2, "audited"), (3, "audited"),
    ]  # fmt: skip

"""audit --all: each session once in the tables, whatever becomes of one of them; runs go on."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyarrow import parquet

from explorer.formats.registry import open_source
from explorer.services.audit_folder import TABLES
from explorer.settings.paths import database_path
from explorer.store import Store
from explorer.store.database import row_id
from explorer.tokens.counters import DEFAULT_ENCODING
from tests.audit.reported import LIMIT, entries
from tests.commands.processes import called, start
from tests.conftest import ROOT
from tests.store.sources import HEADER, FileSource, write_file

COUNT = 3
MANY = 120
SAMPLE = ROOT / "resources/samples/retry-that-flakes.jsonl"


def stored(folder: Path, count: int) -> None:
    """Sessions with planted losses, numbered from 1."""
    with Store.open(database_path()) as store:
        for number in range(1, count + 1):
            store.import_session(FileSource(session_file(folder, number, entries())))


def session_file(folder: Path, number: int, found: list[Any]) -> Path:
    return write_file(folder / f"s{number}.jsonl", found, HEADER | {"id": f"s{number}"})


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Path]:
    """A folder to write to, and three sessions in the library."""
    stored(tmp_path, COUNT)
    yield tmp_path / "out"


def rows(folder: Path, table: str = "sessions") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / table).to_pylist()
    return found


def test_every_session_is_a_row_with_the_figures_of_its_audit(sessions: Path) -> None:
    with Store.open(database_path()) as store:
        counts = [3 * tokens for tokens in store.load(1).tree.columns.estimate]
        store.set_token_counts(1, DEFAULT_ENCODING, 0, counts).result()
    status, out, err = called("audit", "--all", "--json", "--processes", "1")
    assert status == 0 and f"{COUNT} of {COUNT} sessions" in err
    found = [json.loads(line) for line in out.splitlines()]
    assert sorted(one["session"] for one in found) == [1, 2, 3]
    alone = json.loads(called("audit", "1", "--json")[1])
    one = next(row for row in found if row["session"] == 1)
    assert "/counted" in one["position"] and one["needed_again"] == alone["needed_again"]["number"]
    assert one["needed_again_tokens"] == alone["needed_again"]["tokens"]
    assert one["instructions"] == sum(part["instructions"] for part in alone["compactions"])
    assert one["losses"] == len(alone["losses"]) and one["cost_usd"] == alone["cost"]["usd"]
    assert "standing-instruction" in one["found"] and one["standing_instruction"] > 0


def test_the_rows_of_compactions_findings_and_what_was_needed_again(sessions: Path) -> None:
    with Store.open(database_path()) as store:
        store.import_session(open_source(SAMPLE))
    assert called("audit", "--all", "--out", str(sessions))[0] == 0
    alone = json.loads(called("audit", "4", "--json")[1])
    found = {name: [one for one in rows(sessions, name) if one["session"] == 4] for name in TABLES}
    (session,) = found["sessions"]
    assert session["library"] == "" and session["counted_by"] == "estimate" and session["content"]
    assert [one["compaction"] for one in found["compactions"]] == [105, 197]
    for one, made in zip(found["compactions"], alone["compactions"], strict=True):
        assert (one["entry_id"], one["tokens_before"], one["tokens_after"]) == (
            made["entry"]["id"], made["tokens"]["counted_before"], made["tokens"]["counted_after"],
        )  # fmt: skip
        assert one["tokens_kept"] + one["tokens_summary"] == one["tokens_after"]
        assert one["losses"] == len(made["losses"]) and one["profile"] == "pi 0.73"
    expected = [need for part in alone["needed_again"]["after"] for need in part["needs"]]
    assert [(one["before_id"], one["after_id"], one["tokens"]) for one in found["needed"]] == [
        (need["before"]["id"], need["after"]["id"], need["tokens"]) for need in expected
    ]
    needed = sum(one["needed_again_tokens"] for one in found["compactions"])
    assert needed == session["needed_again_tokens"] == sum(one["tokens"] for one in found["needed"])
    limit = [one for one in rows(sessions, "findings") if LIMIT in one["text"]]
    assert {one["session"] for one in limit} == {1, 2, 3}
    assert {one["finding"] for one in limit} == {"standing-instruction"}
    assert all(one["sources"] == [0] for one in limit)


def test_a_compaction_that_was_made_here_is_listed_with_its_settings(sessions: Path) -> None:
    assert called("import", str(SAMPLE))[0] == 0
    profile = ("--profile", "omp", "--keep-recent", "1500")
    assert called("compact", "4", *profile, "--model", "offline/extractive")[0] == 0
    assert called("audit", "--all", "--out", str(sessions))[0] == 0
    found = [one for one in rows(sessions, "compactions") if one["session"] == 4]
    assert [(one["profile"], one["keep_recent_tokens"]) for one in found] == [
        ("pi 0.73", None), ("pi 0.73", None), ("oh-my-pi 13.19", 1_500),
    ]  # fmt: skip
    assert found[2]["number"] == 3 and found[2]["readable"]


def test_the_columns_are_those_of_the_documentation(sessions: Path) -> None:
    assert called("audit", "--all", "--out", str(sessions))[0] == 0
    text = (ROOT / "resources/docs/audit-tables.md").read_text("utf-8")
    for name in TABLES:
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        documented = {}
        for line in section.splitlines():
            if line.startswith("| ") and not line.startswith("| column"):
                names, kinds = (cell.strip().split(", ") for cell in line.split("|")[1:3])
                kinds = kinds * len(names) if len(kinds) == 1 else kinds
                documented |= dict(zip(names, kinds, strict=True))
        schema = parquet.read_table(sessions / name).schema
        shown = {"list<element: string>": "list of string", "list<element: int64>": "list of int64"}
        there = {
            one.name: shown.get(str(one.type), str(one.type)) + " or null" * one.nullable
            for one in schema
        }
        assert documented == there


def test_duckdb_reads_all_parts_of_a_table(sessions: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="pip install duckdb")
    assert called("audit", "--all", "--out", str(sessions))[0] == 0
    found = duckdb.sql(
        f"SELECT s.title, count(*) FROM '{sessions}/compactions/*.parquet' c"
        f" JOIN '{sessions}/sessions/*.parquet' s USING (library, session) GROUP BY ALL"
    ).fetchall()
    assert [count for _, count in found] == [2 * COUNT]


def take_entry(key: int, index: int) -> tuple[Any, ...]:
    """Damage a session; returns what ``put_back`` needs."""
    with closing(sqlite3.connect(database_path())) as db, db:
        at = (row_id(key, index),)
        taken: tuple[Any, ...] = db.execute("SELECT * FROM entries WHERE id = ?", at).fetchone()
        db.execute("DELETE FROM entries WHERE id = ?", at)
        db.execute("DELETE FROM columns WHERE session = ?", (key,))
    return taken


def put_back(taken: tuple[Any, ...]) -> None:
    with closing(sqlite3.connect(database_path())) as db, db:
        db.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(taken))})", taken)


def test_a_run_goes_on_where_another_was_killed_and_audits_what_failed_or_changed(
    sessions: Path, tmp_path: Path
) -> None:
    taken = take_entry(2, 5)
    words = ("audit", "--all", "--out", str(sessions), "--processes", "1")
    status, _, err = called(*words)
    assert status == 1 and "session 2: " in err and "Traceback" not in err
    before = {one["session"]: one for one in rows(sessions)}
    assert len(rows(sessions)) == 3 and before[1]["status"] == before[3]["status"] == "audited"
    assert before[2]["status"] == "failed" and before[2]["id"] == "s2" and before[2]["reason"]

    put_back(taken)
    longer = entries()
    longer.append(longer[-1] | {"id": "e20", "parentId": longer[-1]["id"]})
    with Store.open(database_path()) as store:
        store.import_session(FileSource(session_file(tmp_path, 3, longer)))
    status, out, _ = called(*words, "--json", "--limit", "100")
    assert status == 0
    assert sorted(json.loads(line)["session"] for line in out.splitlines()) == [2, 3]
    after = {one["session"]: one for one in rows(sessions)}
    assert len(rows(sessions)) == 3 and after[1] == before[1]
    assert after[2]["instructions"] == after[1]["instructions"]
    assert after[3]["entries"] == before[3]["entries"] + 1

    other = (*words, "--profile", "pi-0.58")
    status, _, err = called(*other, "--fail-on", "kept-range-dropped,needed-again")
    assert status == 3, err
    assert "kept-range-dropped" in err and "needed-again" not in err
    status, out, _ = called(*other)
    assert status == 0 and "3 of these sessions had been audited before" in out


def test_a_file_that_was_only_written_again_is_not_audited_again(
    sessions: Path, tmp_path: Path
) -> None:
    words = ("audit", "--all", "--out", str(sessions), "--processes", "1")
    assert called(*words)[0] == 0
    file = tmp_path / "s2.jsonl"
    os.utime(file, (1, 1))
    with Store.open(database_path()) as store:
        store.import_session(FileSource(file))
        source = store.source_file(2)
    assert source is not None and source.mtime_ns == 1_000_000_000
    assert "3 of these sessions had been audited before" in called(*words)[1]


def test_ctrl_c_keeps_what_was_audited_and_leaves_no_process(tmp_path: Path) -> None:
    stored(tmp_path, 30)
    out = tmp_path / "out"
    words = ("audit", "--all", "--out", str(out), "--processes", "1")
    process = start(*words)
    assert process.stderr is not None and "of 30 sessions" in process.stderr.readline()
    children = psutil.Process(process.pid).children()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "what was audited is kept" in err
    assert "Traceback" not in err and not psutil.wait_procs(children, 10)[1]
    assert 1 < len(rows(out)) < 30
    assert called(*words[:4])[0] == 0
    assert sorted(one["session"] for one in rows(out)) == list(range(1, 31))


def test_a_worker_that_is_killed_costs_only_its_session(tmp_path: Path) -> None:
    # So many that the worker is still at work when it is killed, on a busy machine too.
    stored(tmp_path, MANY)
    out = tmp_path / "out"
    process = start("audit", "--all", "--out", str(out), "--processes", "2")
    assert process.stderr is not None and f"of {MANY} sessions" in process.stderr.readline()
    # The first child may be Python's own watcher of resources.
    workers = [
        one for one in psutil.Process(process.pid).children() if "spawn_main" in one.cmdline()[-2]
    ]
    workers[0].kill()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "ended its process (signal 9)" in err
    found = rows(out)
    assert sorted(one["session"] for one in found) == list(range(1, MANY + 1))
    failed = [one for one in found if one["status"] == "failed"]
    assert len(failed) == 1 and failed[0]["reason"] == "ended its process (signal 9)"
    assert called("audit", "--all", "--out", str(out))[0] == 0
    assert {one["status"] for one in rows(out)} == {"audited"}


def test_a_session_that_takes_longer_than_its_limit_is_named(sessions: Path) -> None:
    words = ("audit", "--all", "--out", str(sessions), "--processes", "1")
    status, _, err = called(*words, "--limit", "0.001")
    assert status == 1 and "session 1: took longer than its limit of 0.001 s" in err
    assert [one["status"] for one in rows(sessions)] == ["failed"] * COUNT
    assert rows(sessions, "compactions") == []


def test_what_cannot_be_is_refused_before_any_work(sessions: Path, tmp_path: Path) -> None:
    for words, said in (
        (("1", "--all"), "a session does not go with --all"),
        (("1", "--out", "x"), "--out goes with --all"),
        (("--all", "--format", "html"), "--format does not go with --all"),
        (("1:", "--all"), "a session does not go with --all"),
        (("--all", "--scheduler", "tcp://x:1", "--processes", "2"), "does not go with --scheduler"),
        (("--all", "--limit", "0"), "--limit"),
        ((), "name a session"),
    ):
        status, out, err = called("audit", *words)
        assert (status, out) == (2, "") and said in err


def test_a_folder_of_something_else_is_left_alone(sessions: Path) -> None:
    theirs = sessions / "sessions" / "part-1.parquet"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"something")
    status, _, err = called("audit", "--all", "--out", str(sessions))
    assert status == 1 and "something else than audits" in err
    assert theirs.read_bytes() == b"something"


def test_without_pyarrow_the_command_says_what_to_install(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, _, err = called("audit", "--all", "--out", str(sessions))
    assert status == 1 and "session-explorer[parquet]" in err and not sessions.exists()
    assert called("audit", "--all")[0] == 0

"""audit --all: a row for each session, once, whatever becomes of one of them; runs go on."""

from __future__ import annotations

import importlib.util
import json
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from explorer.services import session_audit
from explorer.services.session_audit import AuditRow
from explorer.settings.paths import database_path
from explorer.store import Store
from explorer.store.schema import row_id
from explorer.tokens.counters import DEFAULT_ENCODING
from tests.audit.reported import entries
from tests.commands.processes import called, start, until
from tests.store.sources import HEADER, FileSource, write_file

COUNT = 3


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


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audits.jsonl").read_bytes().splitlines()]


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
    documented = session_audit.__doc__ or ""
    help_text = called("audit", "-h")[1]
    for name in AuditRow.__struct_fields__:
        assert name in documented and name in help_text


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
    with (sessions / "audits.jsonl").open("ab") as file:
        file.write(b'{"version":1,"session":9,"id":"ha')
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


def test_ctrl_c_leaves_whole_lines_and_no_process(tmp_path: Path) -> None:
    stored(tmp_path, 30)
    out = tmp_path / "out"
    words = ("audit", "--all", "--out", str(out), "--processes", "1")
    process = start(*words)
    lines = out / "audits.jsonl"
    until(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 1, "the first rows")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "what was audited is kept" in err
    assert "Traceback" not in err
    done = len(rows(out))
    assert 1 < done < 30
    assert called(*words[:4])[0] == 0
    assert sorted(one["session"] for one in rows(out)) == list(range(1, 31))


def test_what_cannot_be_is_refused_before_any_work(sessions: Path, tmp_path: Path) -> None:
    for words, said in (
        (("1", "--all"), "a session does not go with --all"),
        (("1", "--out", "x"), "--out goes with --all"),
        (("--all", "--format", "html"), "of one session"),
        (("--all", "--format", "jsonl"), "needs --out"),
        (("--all", "--limit", "0"), "--limit"),
        ((), "name a session"),
    ):
        status, out, err = called("audit", *words)
        assert (status, out) == (2, "") and said in err
    (sessions.parent / "other").mkdir()
    theirs = sessions.parent / "other" / "audits.jsonl"
    theirs.write_text('{"type": "session"}\n')
    status, _, err = called("audit", "--all", "--out", str(theirs.parent))
    assert status == 1 and "something else" in err
    assert theirs.read_text() == '{"type": "session"}\n'


def test_the_rows_are_written_as_a_parquet_file(sessions: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    words = ("audit", "--all", "--out", str(sessions), "--format", "parquet")
    assert called(*words)[0] == 0
    assert parquet.read_table(sessions / "audits.parquet").to_pylist() == rows(sessions)


def test_without_pyarrow_the_command_says_what_to_install(sessions: Path) -> None:
    if importlib.util.find_spec("pyarrow") is not None:
        pytest.skip("pyarrow is installed")
    status, _, err = called("audit", "--all", "--out", str(sessions), "--format", "parquet")
    assert status == 1 and "session-explorer[parquet]" in err and not sessions.exists()

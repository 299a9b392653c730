"""Lines turned into columns say what ``describe`` and the estimate say, here and apart."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer.formats.pi.digest import DigestLost, DigestProcess, digest, pieces
from explorer.formats.pi.entries import read_entry
from explorer.formats.pi.source import FileSource, open_source
from explorer.session.describe import FileOp, describe
from explorer.session.kinds import Flag
from explorer.session.records import EntryRecord
from explorer.store import Store
from explorer.tokens.estimate import estimate_entry
from tests.faults.programs import ROOT, kill, start
from tests.formats.files import chain, dumps, entry, header, reply, user, write
from tests.formats.test_fuzz import ENTRY, MESSAGE
from tests.generated import write_session

MANY = 12_000
"""Short lines enough for more pieces than are understood here while a process starts."""


def _check(lines: list[bytes]) -> int:
    """Compare with the long way round; how many lines were understood."""
    found = digest(lines)
    rest = [line for at, line in enumerate(lines) if at not in found.others]
    rows = list(zip(*found.columns, strict=True))
    assert len(rows) == len(rest)
    for place, (line, row) in enumerate(zip(rest, rows, strict=True)):
        value = orjson.loads(line)
        facts = describe(read_entry(value))
        if len(line) > 65536:
            facts = facts._replace(flags=facts.flags | Flag.LARGE)
        shown = (facts.kind, facts.flags, facts.time_ms, facts.usage, facts.model, facts.preview)
        assert row[:2] == (value["id"], value["parentId"])
        assert row[2:] == (*shown, facts.call_id, facts.tool, estimate_entry(read_entry(value)))
        if place in found.rare:
            assert found.rare[place] == facts and place not in found.ops
        else:
            ops = tuple(FileOp(*op) for op in found.ops.get(place, ()))
            plain = facts._replace(ops=(), call_id="", tool="")
            assert ops == facts.ops and not facts.user_images
            assert all(not one for one in plain[7:])
    return len(rows)


def test_a_generated_session_is_understood_as_entry_by_entry(tmp_path: Path) -> None:
    lines = write_session(tmp_path / "s.jsonl", 1500, seed=4).read_bytes().splitlines()
    assert _check(lines) == 1500


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(ENTRY | MESSAGE.map(lambda one: {"type": "message", "message": one}), st.booleans())
@example({"type": "compaction", "message": {"role": "user", "content": ""}}, True)
def test_any_shape_is_understood_as_by_the_long_way(value: dict[str, Any], dated: bool) -> None:
    named = value | {"id": "a", "parentId": None}
    if dated:
        named["timestamp"] = "2026-01-05T09:00:00.123Z"
    _check([json.dumps(named).encode()])


@pytest.mark.parametrize(
    "stamp",
    [
        "1970-01-01T00:00:00.000Z",
        "2026-01-05T09:00:00.999Z",
        "2026-01-05T09:00:00",
        "2026-01-05T10:00:00+01:00",
        "2026-01-05Z",
        "",
        "Z",
        1767603600000,
        None,
    ],
)
def test_moments_in_any_form(stamp: object) -> None:
    assert _check([dumps(user("a", None) | {"timestamp": stamp})]) == 1


def test_calls_texts_and_usage_in_many_forms() -> None:
    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"type": "toolCall", "id": f"c-{name}", "name": name, "arguments": arguments}

    text = {"type": "text", "text": "größer 日本 \U0001f600\n next"}
    lines = [
        reply("a", None, call("read", path="x.py"), call("edit", path="y.py", n=1.50, e=1e21)),
        reply("b", "a", call("write", path=""), call("read", path=7), call("odd", a=[1, {"b": 2}])),
        reply("c", "b", text, call("read", path="é.py"), {"type": "image", "data": "x"}),
        reply("d", "c", {"type": "thinking", "thinking": "  \n first"}, stopReason="aborted"),
        reply("e", "d", text, usage={"input": 3, "output": 4}, model="", provider=None),
        reply("f", "e", text, usage={"totalTokens": 2**40}, stopReason=["length"]),
        reply("g", "f", {"type": "text", "text": ""}, stopReason="error", errorMessage="no"),
        user("h", "g", "y" * 70_000),
        user("i", "h") | {"message": {"role": "user", "content": [text, {"type": "image"}]}},
    ]
    assert _check([dumps(line) for line in lines]) == len(lines)


def test_headers_title_slots_marks_of_a_leaf_and_damage_are_left_to_a_patient_reader() -> None:
    mark = entry("custom", "m", "a", customType="session-explorer/leaf")
    other = entry("custom", "n", "a", customType="another")
    lines = [header(), mark, b'{"half', b"", other, user("", None), {"type": "title", "pad": ""}]
    found = digest([line if isinstance(line, bytes) else dumps(line) for line in lines])
    assert found.others == [0, 1, 2, 3, 5, 6]


# in a process of its own ------------------------------------------------------------------------


def _damaged(path: Path) -> Path:
    """Every kind of line, the damage spread over all pieces of a file."""
    lines: list[Any] = [header(), *chain(MANY)]
    for at in range(900, MANY, 1300):
        lines[at] = b'{"type": "message", "id": "broken'
        lines[at + 10] = user("e3", "e2", "an id that exists")
        lines[at + 20] = user(f"o{at}", "nowhere", "an orphan")
        lines[at + 30] = b""
        lines[at + 40] = entry("label", f"l{at}", "e5", targetId="e2", label="good")
        lines[at + 50] = reply(f"r{at}", "e5", {"type": "text", "text": "\U0001f600" * 9})
    lines[7000], lines[7001] = lines[7001], lines[7000]
    return write(path, lines)


def _read(path: Path, apart: bool) -> tuple[FileSource, list[EntryRecord]]:
    source = open_source(path, apart=apart)
    return source, [record for batch in source.batches() for record in batch]


def test_reading_apart_gives_what_reading_here_gives(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = _damaged(tmp_path / "s.jsonl")
    here, records = _read(path, False)
    apart, same = _read(path, True)
    assert same == records and len(records) > 11_000
    assert apart.report == here.report and len(here.report.problems) > 20
    assert not caplog.records


def test_a_file_that_changes_while_it_is_read_is_read_on_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(MANY)])
    _, whole = _read(path, False)
    source = open_source(path, apart=True)
    batches = source.batches()
    records = list(next(batches))
    with caplog.at_level(logging.WARNING):
        os.utime(path, ns=(1, 1))
        records += [record for batch in batches for record in batch]
    assert records == whole and source.report.bytes_done == path.stat().st_size
    assert "the file has changed" in caplog.text


def test_a_process_that_is_killed_is_told_of(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)])
    with path.open("rb", buffering=0) as file, DigestProcess(path, file) as process:
        os.kill(process.pid, signal.SIGTERM)
        [piece] = pieces(file)
        with pytest.raises(DigestLost, match="ended"):
            # What it had written before it ended may still be there.
            for _ in range(2):
                process.next(piece)


def test_where_no_process_can_be_started_all_is_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(MANY)])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    _, records = _read(path, True)
    assert len(records) == MANY and "no process could be started" in caplog.text
    caplog.clear()
    # One that starts and cannot do it, as a program packed into one file would.
    monkeypatch.setattr(sys, "executable", "/bin/false")
    _, records = _read(path, True)
    assert len(records) == MANY


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the process")
def test_the_process_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", 20_000)
    program = start(
        """
        import sys, time
        from pathlib import Path
        from explorer.formats.pi.digest import DigestProcess
        with open(sys.argv[1], "rb", buffering=0) as file:
            process = DigestProcess(Path(sys.argv[1]), file)
            print(process.pid, flush=True)
            time.sleep(600)
        """,
        path,
    )
    assert program.stdout is not None
    child = Path("/proc", program.stdout.readline().strip())
    assert child.exists()
    kill(program)
    for _ in range(3000):
        if not child.exists() or " Z " in (child / "stat").read_text():
            return
        subprocess.run(["sleep", "0.01"], check=True)
    pytest.fail("it still runs")


def test_the_process_brings_in_nothing_that_is_slow_to_start() -> None:
    code = "import explorer.formats.pi.digest, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    names = {name.partition(".")[0] for name in modules}
    assert names.isdisjoint({"sqlmodel", "sqlalchemy", "pydantic", "PySide6", "litellm", "ui"})
    assert modules.isdisjoint({"explorer.formats.registry", "explorer.store", "sqlite3"})


def test_an_import_apart_stores_what_an_import_here_stores(tmp_path: Path) -> None:
    path = _damaged(tmp_path / "s.jsonl")
    kept = []
    for apart in (False, True):
        with Store.open(tmp_path / f"{apart}.db") as store:
            report = store.import_session(open_source(path, apart=apart))
            loaded = store.load(report.key)
            lines, row = list(store.lines(report.key)), loaded.row
            tail = store.tail(report.key, 0)
            kept.append((loaded.tree.columns, loaded.leaf, lines, tail, row.size, row.title))
            assert row.size == sum(len(record.raw) for record in tail)
    assert kept[0] == kept[1]

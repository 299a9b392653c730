"""Writing sessions back: nothing is lost on the way through."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from explorer.formats.pi.export import ExportError, ExportReport, LeafMark, export_session
from explorer.formats.pi.source import FileSource
from explorer.formats.registry import open_source
from explorer.session.kinds import Kind
from explorer.session.records import EntryRecord
from explorer.store import Store
from tests.formats.files import (
    Json,
    chain,
    dumps,
    entry,
    header,
    in_file_order,
    read,
    shape,
    user,
    write,
)
from tests.formats.test_omp import slot
from tests.formats.test_pi import version_1


def export(
    source: FileSource,
    records: Sequence[EntryRecord],
    out: Path,
    as_format: Literal["original", "pi-v3"] = "original",
    leaf: str | None = None,
    new: Sequence[Json] = (),
    **rest: Any,
) -> ExportReport:
    lines = in_file_order(source, records)
    lines += [(0, dumps(value).decode()) for value in new]
    mark = None if leaf is None else LeafMark(leaf, "feedbeef", 1767603600000)
    return export_session(lines, source.header, out, as_format, leaf=mark, **rest)


def through(path: Path, *args: Any, **rest: Any) -> tuple[ExportReport, Path]:
    source, records = read(path)
    out = path.with_name("out.jsonl")
    return export(source, records, out, *args, **rest), out


def values(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "lines",
    [
        [header(), *chain(4)],
        [slot(), header(title="x"), *chain(2)],
        version_1(),
        [header(), user("c", "b"), user("b", "a"), user("a", None)],
        [header(), b"", user("a", None), b"{broken", b"\xff\xfe", b"\0\0", user("a", None), b"7"],
        [b"", b"rubbish", header(), *chain(2), header(), b'{"type":"message"}'],
        [header(), dumps(user("a", None)).replace(b"hello", b"\\ud800"), b' {"id" : "b"} '],
        [
            header(),
            b'{"type":"custom","id":"n","parentId":null,"n":[1.0,1e400,NaN,' + b"9" * 50 + b"]}",
        ],
    ],
    ids=["pi", "omp", "version 1", "late parents", "damage", "late header", "odd", "numbers"],
)
def test_an_untouched_session_comes_back_byte_for_byte(
    tmp_path: Path, lines: list[Json | bytes]
) -> None:
    path = write(tmp_path / "s.jsonl", lines)
    report, out = through(path)
    assert out.read_bytes() == path.read_bytes()
    assert not report.left_out and not report.marked_leaf


def test_the_reference_sessions_come_back_byte_for_byte(
    tmp_path: Path, conformance_dir: Path
) -> None:
    files = sorted(conformance_dir.glob("*.jsonl"))
    assert files
    for path in files:
        source, records = read(path)
        assert not source.report.problems and not source.report.asides
        export(source, records, tmp_path / path.name)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_session_without_a_header_gets_one(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", chain(2))
    _, out = through(path)
    head, *rest = out.read_bytes().splitlines(keepends=True)
    assert b"".join(rest) == path.read_bytes()
    made = json.loads(head)
    assert made["type"] == "session" and made["version"] == 3 and made["id"]
    assert made["timestamp"] == "2026-01-05T09:00:00.000Z"
    source, records = read(out)
    assert len(records) == 2 and not source.report.problems


def test_entries_made_here_come_after_the_lines_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(2), b"{broken"])
    _, out = through(path, new=[user("n1", "e1"), user("n2", "n1")], leaf="n2")
    lines = out.read_bytes().splitlines()
    assert lines[:4] == path.read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines[4:]] == ["n1", "n2"]


def test_a_leaf_that_is_not_last_is_marked_once(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)])
    report, out = through(path, leaf="e1")
    assert report.marked_leaf
    mark = values(out)[-1]
    assert mark == {
        "type": "custom",
        "id": "feedbeef",
        "parentId": "e1",
        "timestamp": "2026-01-05T09:00:00.000Z",
        "customType": "session-explorer/leaf",
    }
    source, records = read(out)
    assert source.report.leaf == 1
    assert records[-1].facts.kind is Kind.CUSTOM
    again = out.with_name("again.jsonl")
    assert not export(source, records, again, leaf="e1").marked_leaf
    assert again.read_bytes() == out.read_bytes()


def test_a_leaf_before_the_first_entry_is_marked_as_a_root(tmp_path: Path) -> None:
    _, out = through(write(tmp_path / "s.jsonl", [header(), *chain(2)]), leaf="")
    assert values(out)[-1]["parentId"] is None
    source, _ = read(out)
    assert source.report.leaf == -1


def test_a_leaf_that_is_last_needs_no_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)])
    report, out = through(path, leaf="e2")
    assert not report.marked_leaf and out.read_bytes() == path.read_bytes()


def test_a_version_1_file_keeps_its_own_leaf_and_refuses_what_it_cannot_hold(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "s.jsonl", [*version_1(), b"{broken"])
    source, records = read(path)
    out = tmp_path / "out.jsonl"
    export(source, records, out, leaf=records[-1].entry_id)
    assert out.read_bytes() == path.read_bytes()
    out.unlink()
    with pytest.raises(ExportError, match="pi-v3"):
        export(source, records, out, leaf=records[0].entry_id)
    with pytest.raises(ExportError, match="pi-v3"):
        export(source, records, out, new=[user("n", records[-1].entry_id)])
    assert not list(tmp_path.glob("*out*"))


def test_a3_version_1_becomes_version_3(tmp_path: Path) -> None:
    lines: list[Json | bytes] = list(version_1())
    lines.insert(2, b"{broken")
    lines.insert(3, b"17")
    path = write(tmp_path / "s.jsonl", lines)
    old, before = read(path)
    report, out = through(path, "pi-v3", new=[user("n", before[0].entry_id)], leaf="n")
    source, records = read(out)
    assert source.header.version == 3 and source.header.session_id == old.header.session_id
    assert not source.report.problems and not source.report.asides
    assert shape(records) == [*shape(before), ("n", before[0].entry_id)]
    assert [one.facts for one in records[:-1]] == [one.facts for one in before]
    compaction = next(value for value in values(out) if value["type"] == "compaction")
    assert "firstKeptEntryIndex" not in compaction
    assert report.left_out == [3, 4] and report.entries == 6


def test_a3_version_2_becomes_version_3(tmp_path: Path) -> None:
    hook = user("b", "a") | {"message": {"role": "hookMessage", "content": "x", "customType": "t"}}
    plain = user("a", None, "same")
    path = write(tmp_path / "s.jsonl", [header(version=2), plain, hook])
    _, out = through(path, "pi-v3")
    head, first, second = values(out)
    assert head == header(version=3)
    assert first == plain
    assert second == hook | {"message": hook["message"] | {"role": "custom"}}


def test_a3_oh_my_pi_becomes_pi(tmp_path: Path) -> None:
    lines = [
        slot(),
        header(title="T"),
        user("a", None),
        entry("model_change", "b", "a", model="anthropic/claude/x", role="default"),
        entry("compaction", "c", "b", summary="s", fromExtension=True, firstKeptEntryId="a"),
        entry("branch_summary", "d", "c", summary="s", fromId="a", fromExtension=False),
        entry("mode_change", "e", "d", mode="plan"),
        entry("reset_boundary", "f", "e"),
    ]
    path = write(tmp_path / "s.jsonl", lines)
    _, before = read(path)
    report, out = through(path, "pi-v3", leaf="f")
    head, same, change, compaction, branch, mode, reset = values(out)
    assert head["type"] == "session" and head["version"] == 3
    assert same == lines[2]
    assert (change["provider"], change["modelId"]) == ("anthropic", "claude/x")
    assert "model" not in change and change["role"] == "default"
    assert compaction["fromHook"] is True and "fromExtension" not in compaction
    assert branch["fromHook"] is False
    assert [mode, reset] == lines[6:]
    assert report.unknown_types == {"mode_change": 1, "reset_boundary": 1}
    assert report.left_out == [1]
    _, records = read(out)
    assert [one.facts for one in records] == [one.facts for one in before]


def test_numbers_and_halves_of_pairs_survive_a_change(tmp_path: Path) -> None:
    raw = dumps(entry("compaction", "a", None, summary="HALF é", fromExtension=True, n=12345))
    raw = raw.replace(b"HALF", b"\\ud800").replace(b"12345", b"9" * 40)
    _, out = through(write(tmp_path / "s.jsonl", [header(title="x"), raw]), "pi-v3")
    changed = values(out)[1]
    assert changed["n"] == int("9" * 40)
    assert changed["summary"] == "\ud800 é" and changed["fromHook"] is True


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(2500)])
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"precious")
    seen: list[int] = []

    def stop(written: int) -> None:
        seen.append(written)
        if len(seen) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        through(path, progress=stop)
    assert out.read_bytes() == b"precious"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.jsonl", "s.jsonl"]
    report, _ = through(path, progress=seen.append)
    assert seen[-1] == report.entries == 2500
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX systems")
def test_a_new_file_is_private_and_an_old_one_keeps_its_permissions(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(1)])
    _, out = through(path)
    assert out.stat().st_mode & 0o777 == 0o600
    os.chmod(out, 0o640)
    through(path)
    assert out.stat().st_mode & 0o777 == 0o640


def test_a_place_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    source, records = read(write(tmp_path / "s.jsonl", [header(), *chain(1)]))
    with pytest.raises(OSError):
        export(source, records, tmp_path / "none" / "out.jsonl")


@pytest.mark.parametrize("as_format", ["original", "pi-v3"])
def test_a_session_comes_back_through_the_database(
    tmp_path: Path, as_format: Literal["original", "pi-v3"]
) -> None:
    lines = [slot(), header(), user("c", "b"), b"{broken", user("b", None), b"", b"\xff"]
    path = write(tmp_path / "s.jsonl", [*lines, user("d", "c")])
    direct = tmp_path / "direct.jsonl"
    source, records = read(path)
    export(source, records, direct, as_format, leaf="d")
    store = Store.open(tmp_path / "sessions.db")
    try:
        key = store.import_session(open_source(path)).key
        loaded = store.load(key)
        out = tmp_path / "out.jsonl"
        mark = LeafMark(loaded.tree.columns.ids[loaded.leaf], "feedbeef", 0)
        export_session(store.lines(key), loaded.header, out, as_format, leaf=mark)
    finally:
        store.close()
    assert out.read_bytes() == direct.read_bytes()
    assert (out.read_bytes() == path.read_bytes()) is (as_format == "original")

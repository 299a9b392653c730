"""Damaged files: what is wrong is named by its line and kept; the rest opens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer.formats import jsonl
from explorer.formats.adapter import FormatError
from explorer.formats.registry import open_source
from explorer.session.json_values import MAX_DEPTH, TOO_DEEP
from tests.formats.files import (
    accounted,
    chain,
    dumps,
    entry,
    header,
    read,
    reply,
    shape,
    user,
    write,
)


def _aside(path: Path) -> tuple[list[tuple[int, bytes, str]], list[tuple[str, str]]]:
    source, records = read(path)
    lines = path.read_bytes().split(b"\n")
    assert accounted(source, records) == lines[: len(lines) - (not lines[-1])]
    for aside in source.report.asides:
        told = [problem.reason for problem in source.report.problems if problem.line == aside.line]
        assert len(told) == 1 and aside.reason in told[0]
    return [tuple(aside) for aside in source.report.asides], shape(records)


BAD_LINES = {
    "invalid UTF-8": (b'{"type":"message","id":"x\xff"}', "invalid UTF-8 at byte 26"),
    "NUL bytes": (b"\0" * 512, "512 NUL bytes"),
    "NUL before JSON": (b"\0\0" + dumps(user("x", "e1")), "2 NUL bytes"),
    "cut in the middle": (dumps(user("x", "e1"))[:60], "not JSON: Unterminated string"),
    "two values": (dumps(user("x", "e1")) * 2, "not JSON: Extra data"),
    "an array": (b'["session"]', "not a JSON object"),
    "a number": (b"17", "not a JSON object"),
    "null": (b"null", "not a JSON object"),
    "no id": (b'{"type":"message","parentId":null}', "without an id"),
    "an id that is a number": (b'{"type":"message","id":7,"parentId":null}', "without an id"),
    "an empty id": (b'{"type":"message","id":"","parentId":null}', "without an id"),
    "a second header": (dumps(header(id="other")), "a second header"),
    "an id seen before": (dumps(user("e0", None, "impostor")), "'e0' exists already"),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_kept_aside_and_the_rest_opens(tmp_path: Path, name: str) -> None:
    raw, reason = BAD_LINES[name]
    asides, tree = _aside(write(tmp_path / "s.jsonl", [header(), *chain(2), raw, user("z", "e1")]))
    assert tree == [("e0", ""), ("e1", "e0"), ("z", "e1")]
    [(line, kept, said)] = asides
    assert (line, kept) == (4, raw)
    assert reason in said


DEPTHS = (10, 100, 200, 201, 500, 900, 990, 1000, 1023, 1024, 1025, 5000, 100_000)
_NESTS = {
    "lists": ("[", "]", 1),
    "objects": ('{"a":', "}", 1),
    "both": ('[{"a":', "}]", 2),
    "lists with neighbours": ("[1,", ",2]", 1),
}


def _with_nest(place: str, nest: str, depth: int) -> bytes:
    """A line of so many levels in all, the deepest of them in one place."""
    opening, closing, levels = _NESTS[nest]
    value: dict[str, Any] = user("x", "e1")
    message = value["message"]
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": "NEST"}
    above = 1
    if place == "unknown":
        value["unknown"] = "NEST"
    elif place == "content":
        message["content"], above = "NEST", 2
    elif place == "details":
        message["details"], above = "NEST", 2
    elif place == "timestamp":
        message["timestamp"], above = "NEST", 2
    else:
        value["message"] = reply_message([call])
        above = 4
    more = depth - above
    core = "[1]" if more % levels else "1"
    text = opening * (more // levels) + core + closing * (more // levels)
    return dumps(value).replace(b'"NEST"', text.encode())


def reply_message(content: list[Any]) -> dict[str, Any]:
    message: dict[str, Any] = reply("x", "e1")["message"] | {"content": content}
    return message


@pytest.mark.parametrize("place", ["unknown", "content", "details", "timestamp", "arguments"])
@pytest.mark.parametrize("nest", _NESTS)
def test_one_limit_of_nesting_whatever_reads_the_line(
    tmp_path: Path, place: str, nest: str
) -> None:
    for depth in DEPTHS:
        sound = _with_nest(place, nest, depth)
        # Half a pair makes the slow parser read the line.
        for raw in (sound, sound.replace(b'"x"', b'"x\\ud800"', 1)):
            lines = [header(), *chain(2), raw, user("z", "e1")]
            source, records = read(write(tmp_path / "s.jsonl", lines))
            reasons = [aside.reason for aside in source.report.asides]
            assert len(records) == (4 if depth <= MAX_DEPTH else 3), depth
            assert reasons == ([] if depth <= MAX_DEPTH else [TOO_DEEP]), depth


def test_brackets_in_texts_are_no_nesting(tmp_path: Path) -> None:
    lines = [header(), user("a", None, "[{" * 5000), user("b", "a", '"[' * 5000)]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert len(records) == 2 and not source.report.problems


def test_a_line_that_no_program_holds_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(2)])
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 2 << 20)
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + (5 << 20))
    with pytest.raises(FormatError, match="longer than 2 MB") as caught:
        read(path)
    assert caught.value.line == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files on this system")
def test_what_is_no_file_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull), tmp_path):
        with pytest.raises(OSError, match="not a file"):
            open_source(path)


def test_a_truncated_last_line_is_kept_aside(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)])
    path.write_bytes(path.read_bytes()[:-20])
    asides, tree = _aside(path)
    assert [line for line, _, _ in asides] == [4]
    assert tree == [("e0", ""), ("e1", "e0")]


def test_a_last_line_without_a_line_feed_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)])
    path.write_bytes(path.read_bytes()[:-1])
    asides, tree = _aside(path)
    assert not asides and len(tree) == 3


def test_blank_lines_are_kept_without_complaint(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), b"", *chain(2), b" \t\r", b""])
    source, records = read(path)
    assert len(records) == 2 and not source.report.problems
    assert [aside.line for aside in source.report.asides] == [2, 5, 6]


@pytest.mark.parametrize("escape", ["\\ud800", "\\udc00 \\ud83d", "\\udfff\\ud800"])
def test_halves_of_surrogate_pairs_work_on(tmp_path: Path, escape: str) -> None:
    raw = dumps(user("a", None, "say HALF now")).replace(b"HALF", escape.encode())
    source, records = read(write(tmp_path / "s.jsonl", [header(), raw, user("b", "a")]))
    assert shape(records) == [("a", ""), ("b", "a")]
    assert records[0].raw.encode() == raw
    assert "\ufffd" in records[0].facts.preview
    records[0].facts.preview.encode()
    # Each half is one UTF-16 unit (B8).
    units = len("say  now") + len(escape.replace(" ", "")) // 6 + escape.count(" ")
    assert records[0].estimate == -(-units // 4)
    assert not source.report.problems


def test_an_id_with_half_a_pair_can_be_a_parent(tmp_path: Path) -> None:
    raw = dumps(user("HALF", None)).replace(b"HALF", b"\\ud800")
    child = dumps(user("b", "HALF")).replace(b"HALF", b"\\ud800")
    _, records = read(write(tmp_path / "s.jsonl", [header(), raw, child]))
    assert shape(records) == [("\ufffd", ""), ("b", "\ufffd")]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000, "-0"])
def test_numbers_that_other_parsers_refuse_work_on(tmp_path: Path, number: str) -> None:
    fields: dict[str, Any] = {"summary": "s", "firstKeptEntryId": "e0", "tokensBefore": 77777}
    raw = dumps(entry("compaction", "c", "e1", **fields)).replace(b"77777", number.encode())
    source, records = read(write(tmp_path / "s.jsonl", [header(), *chain(2), raw]))
    assert len(records) == 3 and not source.report.problems
    facts = records[2].facts.compaction
    assert facts is not None and 0 <= facts.tokens_before < 2**31
    assert records[2].raw.encode() == raw


def test_no_header_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", chain(3))
    source, records = read(path)
    assert len(records) == 3
    assert source.header.raw == "" and source.header.session_id
    assert source.header.time_ms == 1767603600000
    assert "no header" in source.report.problems[0].reason
    again, _ = read(path)
    assert again.header.session_id == source.header.session_id


def test_a_damaged_header_is_kept_aside(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [dumps(header())[:30], *chain(3)])
    source, records = read(path)
    assert [aside.line for aside in source.report.asides] == [1]
    assert accounted(source, records) == path.read_bytes().splitlines()
    assert len(records) == 3


def test_a_damaged_header_of_version_1_leaves_the_index_right(tmp_path: Path) -> None:
    lines = [
        {key: v for key, v in one.items() if "Id" not in key and key != "id"} for one in chain(3)
    ]
    last = {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 1}
    _, records = read(write(tmp_path / "s.jsonl", [b'{"type":"sess', *lines, last]))
    facts = records[3].facts.compaction
    assert facts is not None and facts.first_kept_id == records[1].entry_id


def test_orphans_become_roots_where_they_are_and_are_named(tmp_path: Path) -> None:
    lines = [header(), user("a", None), user("b", "gone"), user("c", "b"), user("d", "a")]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert shape(records) == [("a", ""), ("b", ""), ("c", "b"), ("d", "a")]
    [problem] = source.report.problems
    assert problem.line == 3
    assert "'gone' is not in the file" in problem.reason


def test_an_orphan_at_the_top_does_not_hold_back_the_file(tmp_path: Path) -> None:
    lines = [user(f"e{at}", f"e{at - 1}", "x" * 1000) for at in range(3000)]
    source = open_source(write(tmp_path / "s.jsonl", [header(), *lines]))
    first = next(iter(source.batches()))
    assert len(first) > 100


def test_parents_that_come_later_are_put_first(tmp_path: Path) -> None:
    lines = [header(), user("c", "b"), user("b", "a"), user("a", None), user("d", "c")]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert shape(records) == [("a", ""), ("b", "a"), ("c", "b"), ("d", "c")]
    assert [record.line for record in records] == [4, 3, 2, 5]
    assert not source.report.problems


def test_the_leaf_is_the_last_line_even_when_it_is_not_the_last_index(tmp_path: Path) -> None:
    lines = [header(), user("c", "b"), user("x", None), user("b", None)]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert [record.entry_id for record in records] == ["x", "b", "c"]
    assert source.report.leaf == 1


def test_circles_are_broken_at_their_first_entry(tmp_path: Path) -> None:
    lines = [
        header(),
        user("t", "b"),
        user("b", "c"),
        user("c", "a"),
        user("a", "b"),
        user("s", "s"),
    ]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert dict(shape(records)) == {"t": "b", "b": "", "c": "a", "a": "b", "s": ""}
    assert {problem.line for problem in source.report.problems} == {3, 6}
    assert "below the entry itself" in " ".join(one.reason for one in source.report.problems)


def test_an_empty_file_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    with pytest.raises(FormatError, match="the file is empty") as caught:
        open_source(path)
    assert caught.value.path == str(path) and caught.value.line == 1


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"\n \n", 1, "only blank lines"),
        (b"\nhello\n", 2, "not JSON"),
        (b"\x89PNG\r\n\x1a\n\0\0", 1, "invalid UTF-8"),
        (b'{"a": 1}\n', 1, "has no type"),
        (b"[]\n", 1, "not a JSON object"),
        (b'{"type": "response_item", "payload": {}}\n', 1, "type is 'response_item'"),
        ("{}".encode("utf-16"), 1, "invalid UTF-8"),
    ],
)
def test_a_file_that_is_no_session_is_refused_with_line_and_reason(
    tmp_path: Path, content: bytes, line: int, reason: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        open_source(path)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(path) in str(caught.value) and f"line {line}" in str(caught.value)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_source(tmp_path / "none.jsonl")


def test_a_session_below_much_rubbish_is_found(tmp_path: Path) -> None:
    rubbish: Sequence[Any] = [b"#" * 1000] * 1500
    source, records = read(write(tmp_path / "s.jsonl", [*rubbish, header(), *chain(2)]))
    assert len(records) == 2 and source.header.session_id == "s-1"
    assert len(source.report.asides) == 1500


def test_a_line_of_100_mb_opens_in_a_few_times_its_size(tmp_path: Path) -> None:
    size = 100_000_000
    lines = [header(), user("a", None, "é" * (size // 2)), user("b", "a")]
    path = write(tmp_path / "s.jsonl", lines)
    # Not ru_maxrss: that counts the parent too, whose pages a child has at first.
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    program = """
import re, sys
from pathlib import Path
from explorer.formats.registry import open_source
from explorer.session.kinds import Flag

records = [
    (one.entry_id, bool(one.facts.flags & Flag.LARGE), one.estimate)
    for batch in open_source(sys.argv[1]).batches()
    for one in batch
]
print(records)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    told, peak = done.stdout.splitlines()
    assert told == f"[('a', True, {size // 8}), ('b', False, 2)]"
    assert int(peak) * 1024 < 5 * size

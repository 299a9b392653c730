"""pi's files, versions 1 to 3 (A1 to A4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.formats.adapter import ReadCancelled
from explorer.formats.registry import open_source
from explorer.session.kinds import Flag, Kind
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


def test_a1_version_3_keeps_ids_parents_times_and_lines(tmp_path: Path) -> None:
    lines = [
        header(parentSession="/old.jsonl"),
        user("a", None, "first\nsecond"),
        reply("b", "a"),
        entry("compaction", "c", "b", summary="sum", firstKeptEntryId="b", tokensBefore=900),
        entry("branch_summary", "d", "a", fromId="c", summary="what was", fromHook=True),
    ]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    assert source.header.format == "pi"
    assert source.header.version == 3
    assert source.header.session_id == "s-1"
    assert source.header.cwd == "/home/dev"
    assert source.header.parent_session == "/old.jsonl"
    assert source.header.time_ms == 1767603600000
    assert shape(records) == [("a", ""), ("b", "a"), ("c", "b"), ("d", "a")]
    assert [record.line for record in records] == [2, 3, 4, 5]
    assert [record.raw.encode() for record in records] == [dumps(line) for line in lines[1:]]
    assert records[0].facts.preview == "first"
    assert records[0].estimate == 3
    assert records[1].facts.usage == 15
    assert records[1].facts.model == "anthropic/some-model"
    compaction = records[2].facts.compaction
    assert compaction is not None
    assert (compaction.first_kept_id, compaction.tokens_before) == ("b", 900)
    branch = records[3].facts.branch
    assert branch is not None and branch.from_id == "c" and branch.from_extension
    assert source.report.leaf == 3
    assert not source.report.problems
    assert not source.report.asides


def test_a4_version_2_spells_a_custom_role_hook_message(tmp_path: Path) -> None:
    hook = user("b", "a") | {
        "message": {"role": "hookMessage", "content": "note", "display": False}
    }
    path = write(tmp_path / "s.jsonl", [header(version=2), user("a", None), hook])
    source, records = read(path)
    assert source.header.version == 2
    assert records[1].facts.kind is Kind.CUSTOM_ROLE
    assert records[1].facts.flags & Flag.HIDDEN
    assert b"hookMessage" in records[1].raw.encode()


def version_1() -> list[dict[str, object]]:
    def bare(value: dict[str, object]) -> dict[str, object]:
        return {key: field for key, field in value.items() if key not in ("id", "parentId")}

    head = bare(header())
    del head["version"]
    return [
        head | {"id": "old"},
        bare(user("", None, "one")),
        bare(reply("", None)),
        bare(user("", None, "two")),
        bare(entry("compaction", "", None, summary="s", firstKeptEntryIndex=3, tokensBefore=7)),
        bare(user("", None, "three")),
    ]


def test_a3_version_1_gets_ids_by_position_and_an_index_becomes_an_id(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", version_1())
    source, records = read(path)
    assert source.header.version == 1
    ids = [record.entry_id for record in records]
    assert shape(records) == list(zip(ids, ["", *ids], strict=False))
    compaction = records[3].facts.compaction
    assert compaction is not None
    # The index counts the file's values from the header, which is 0.
    assert compaction.first_kept_id == records[2].entry_id
    assert records[2].facts.preview == "two"
    assert not source.report.problems


def test_a3_version_1_gets_the_same_ids_when_the_file_has_grown(tmp_path: Path) -> None:
    lines = version_1()
    _, before = read(write(tmp_path / "s.jsonl", lines[:4]))
    _, after = read(write(tmp_path / "s.jsonl", lines))
    assert [one.entry_id for one in after][: len(before)] == [one.entry_id for one in before]


def test_a3_version_1_index_passes_over_lines_that_are_not_json(tmp_path: Path) -> None:
    lines: list[dict[str, object] | bytes] = list(version_1())
    lines.insert(2, b"{broken")
    _, records = read(write(tmp_path / "s.jsonl", lines))
    compaction = records[3].facts.compaction
    assert compaction is not None
    assert compaction.first_kept_id == records[2].entry_id


@pytest.mark.parametrize("index", [0, -3, True, "3", None, 2.0])
def test_a3_version_1_index_that_names_no_entry_keeps_nothing(
    tmp_path: Path, index: object
) -> None:
    lines = version_1()
    lines[4]["firstKeptEntryIndex"] = index
    _, records = read(write(tmp_path / "s.jsonl", lines))
    compaction = records[3].facts.compaction
    assert compaction is not None and compaction.first_kept_id == ""


def test_version_1_in_the_header_of_entries_with_ids_does_not_cost_the_branches(
    tmp_path: Path,
) -> None:
    head = header()
    del head["version"]
    path = write(tmp_path / "s.jsonl", [head, user("a", None), user("b", "a"), user("c", "a")])
    source, records = read(path)
    assert shape(records) == [("a", ""), ("b", "a"), ("c", "a")]
    assert source.header.version == 3
    assert "have ids" in source.report.problems[0].reason


def test_a_newer_version_opens_and_is_named(tmp_path: Path) -> None:
    source, records = read(write(tmp_path / "s.jsonl", [header(version=9), *chain(2)]))
    assert len(records) == 2
    assert "version 9 is newer" in source.report.problems[0].reason


def test_unknown_types_and_roles_and_fields_are_entries_too(tmp_path: Path) -> None:
    odd = user("b", "a") | {"message": {"role": "oracle", "content": "x"}, "extra": {"deep": [1]}}
    path = write(tmp_path / "s.jsonl", [header(), user("a", None), odd, entry("new", "c", "b")])
    _, records = read(path)
    assert [one.facts.kind for one in records] == [Kind.USER, Kind.OTHER_ROLE, Kind.UNKNOWN]
    assert '"deep":[1]' in records[1].raw


def test_several_roots_are_legal(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), user("a", None), user("b", None), user("c", "a")])
    source, records = read(path)
    assert shape(records) == [("a", ""), ("b", ""), ("c", "a")]
    assert not source.report.problems


def test_the_leaf_that_an_export_marked_is_the_leaf_again(tmp_path: Path) -> None:
    mark = entry("custom", "m", "a", customType="session-explorer/leaf")
    source, _ = read(write(tmp_path / "s.jsonl", [header(), *chain(3), mark | {"parentId": "e1"}]))
    assert source.report.leaf == 1
    root = mark | {"parentId": None}
    source, _ = read(write(tmp_path / "s.jsonl", [header(), *chain(3), root]))
    assert source.report.leaf == -1
    later = user("n", "m")
    source, records = read(write(tmp_path / "s.jsonl", [header(), user("a", None), mark, later]))
    assert source.report.leaf == 2
    assert shape(records)[2] == ("n", "m")


def test_reading_streams_tells_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    lines = [header(), *(user(f"e{at}", None, "x" * 1500) for at in range(3000))]
    path = write(tmp_path / "s.jsonl", lines)
    size = path.stat().st_size
    seen: list[tuple[int, int]] = []
    sizes = [len(b) for b in open_source(path, lambda *at: seen.append(at)).batches()]
    assert sum(sizes) == 3000 and max(sizes) <= 1000 and len(sizes) > 3
    assert seen[-1] == (size, size)
    assert seen == sorted(seen) and len(seen) >= 4
    source = open_source(path, cancelled=lambda: True)
    with pytest.raises(ReadCancelled, match="stopped at line"):
        list(source.batches())
    assert source.report.bytes_done < size


def test_lines_with_carriage_returns_are_kept_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *chain(3)], newline=b"\r\n")
    source, records = read(path)
    assert len(records) == 3 and not source.report.problems
    assert b"".join(line + b"\n" for line in accounted(source, records)) == path.read_bytes()


def test_a_byte_order_mark_is_left_out_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [b"\xef\xbb\xbf" + dumps(header()), *chain(2)])
    source, records = read(path)
    assert source.header.session_id == "s-1" and len(records) == 2
    assert source.header.raw.startswith("{")
    assert [problem.line for problem in source.report.problems] == [1]


def test_a_line_over_64_kb_is_marked_large(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), user("a", None, "x" * 70_000), user("b", "a")])
    _, records = read(path)
    assert records[0].facts.flags & Flag.LARGE
    assert not records[1].facts.flags & Flag.LARGE

"""Columns: what is kept of every entry, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry
from explorer.session.columns import KNOWN, OP_KINDS, ColumnBuilder
from explorer.session.describe import describe
from explorer.session.kinds import Kind

Json = dict[str, Any]


def _add(builder: ColumnBuilder, entry: Json, estimate: int = 0) -> int:
    index = len(builder.columns)
    return builder.append(f"e{index}", index - 1, describe(read_entry(entry)), estimate)


def _reply(*calls: tuple[str, str, str], model: str = "m") -> Json:
    blocks = [
        {"type": "toolCall", "id": call, "name": name, "arguments": {"path": path}}
        for call, name, path in calls
    ]
    message = {"role": "assistant", "provider": "p", "model": model, "content": blocks}
    return {"type": "message", "timestamp": "2026-01-05T09:00:00.000Z", "message": message}


def _result(call: str, failed: bool) -> Json:
    message = {"role": "toolResult", "toolCallId": call, "content": [], "isError": failed}
    return {"type": "message", "message": message}


def test_values_lie_in_their_columns() -> None:
    builder = ColumnBuilder()
    _add(builder, _reply(), 7)
    usage = {"role": "assistant", "content": [], "usage": {"totalTokens": 40}}
    _add(builder, {"type": "message", "message": usage})
    columns = builder.columns
    assert columns.ids == ["e0", "e1"] and list(columns.parent) == [-1, 0]
    assert list(columns.kind) == [Kind.ASSISTANT, Kind.ASSISTANT]
    assert list(columns.time) == [1767603600000.0, 0.0]
    assert list(columns.estimate) == [7, 0] and list(columns.usage) == [-1, 40]
    assert len(columns) == 2


def test_what_has_no_model_and_no_tool_has_none_of_those_that_are_known() -> None:
    builder = ColumnBuilder()
    _add(builder, _reply())
    _add(builder, {**_result("c", False), "message": {"role": "toolResult", "toolName": "read"}})
    bare = _add(builder, {"type": "session_info", "name": "work"})
    columns = builder.columns
    assert (columns.models[columns.model[0]], columns.tools[columns.tool[1]]) == ("p/m", "read")
    assert (columns.models[columns.model[bare]], columns.tools[columns.tool[bare]]) == ("", "")


def test_models_and_paths_are_kept_once() -> None:
    builder = ColumnBuilder()
    for model in ("a", "b", "a"):
        _add(builder, _reply(("", "read", "x.py"), ("", "edit", "y.py"), model=model))
    columns = builder.columns
    assert columns.models == ["", "p/a", "p/b"] and list(columns.model) == [1, 2, 1]
    assert columns.ops.paths == ["x.py", "y.py"] and list(columns.ops.path) == [0, 1] * 3
    assert [OP_KINDS[kind] for kind in columns.ops.kind] == ["read", "edit"] * 3
    assert list(columns.ops.entry) == [0, 0, 1, 1, 2, 2]


def test_b17_a_failed_call_is_marked_by_its_result() -> None:
    builder = ColumnBuilder()
    _add(builder, _reply(("c1", "read", "a"), ("c2", "write", "b"), ("c3", "bash", "c")))
    _add(builder, _result("c2", failed=True))
    _add(builder, _result("c1", failed=False))
    _add(builder, _result("c3", failed=True))
    _add(builder, _result("unknown", failed=True))
    assert list(builder.columns.ops.failed) == [0, 1]


def test_b17_a_call_id_used_again_is_the_later_call() -> None:
    builder = ColumnBuilder()
    _add(builder, _reply(("c", "read", "a")))
    _add(builder, _result("c", failed=False))
    _add(builder, _reply(("c", "read", "b")))
    _add(builder, _result("c", failed=True))
    assert list(builder.columns.ops.failed) == [0, 1]


def test_b17_a_call_and_its_result_may_come_in_two_readings() -> None:
    first = ColumnBuilder()
    _add(first, _reply(("c", "edit", "a")))
    again = ColumnBuilder(first.columns)
    _add(again, _reply(("d", "edit", "a"), model="m"))
    _add(again, _result("d", failed=True))
    assert again.columns.models == ["", "p/m"] and again.columns.ops.paths == ["a"]
    assert list(again.columns.ops.failed) == [0, 1]


def test_b17_the_result_that_comes_in_a_later_reading_still_marks_its_call() -> None:
    first = ColumnBuilder()
    _add(first, _reply(("c", "edit", "a"), ("d", "write", "b")))
    again = ColumnBuilder(first.columns)
    _add(again, _result("c", failed=True))
    assert list(again.columns.ops.failed) == [1, 0]
    assert list(again.columns.ops.result) == [1, -1]
    assert list(again.columns.open_calls) == ["d"], "what has no result yet is waited for"


def test_a28_all_files_of_one_call_get_its_result() -> None:
    builder = ColumnBuilder()
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch"
    call = {"type": "toolCall", "id": "p", "name": "apply_patch", "arguments": {"input": patch}}
    _add(builder, {"type": "message", "message": {"role": "assistant", "content": [call]}})
    _add(builder, _result("p", failed=True))
    ops = builder.columns.ops
    assert [OP_KINDS[kind] for kind in ops.kind] == ["create", "delete"]
    assert list(ops.failed) == [1, 1] and list(ops.result) == [1, 1]


def test_a28_a_write_whose_result_says_so_made_a_new_file() -> None:
    builder = ColumnBuilder()
    _add(builder, _reply(("c", "write", "a"), ("d", "write", "b")))
    new = _result("c", failed=False)
    new["message"]["content"] = "File created successfully at: a"
    plain = _result("d", failed=False)
    plain["message"]["content"] = "Successfully wrote 12 bytes to b"
    _add(builder, new)
    _add(builder, plain)
    ops = builder.columns.ops
    assert [OP_KINDS[kind] for kind in ops.kind] == ["create", "write"]
    assert [KNOWN[how] for how in ops.known] == ["result", "tool"]


def test_rare_facts_are_kept_by_entry() -> None:
    builder = ColumnBuilder()
    image = {"role": "user", "content": [{"type": "image"}, {"type": "image"}]}
    _add(builder, {"type": "message", "message": image})
    _add(builder, {"type": "compaction", "summary": "s", "firstKeptEntryId": "e0"})
    _add(builder, {"type": "branch_summary", "summary": "s", "fromId": "e1"})
    _add(builder, {"type": "thinking_level_change", "thinkingLevel": "low"})
    _add(builder, {"type": "label", "targetId": "e0", "label": "here"})
    _add(builder, {"type": "session_info", "name": "work"})
    columns = builder.columns
    assert columns.user_images == {0: 2}
    assert list(columns.compactions) == [1] and columns.compactions[1].first_kept_id == "e0"
    assert list(columns.branches) == [2] and columns.branches[2].from_id == "e1"
    assert columns.thinking == {3: "low"}
    assert columns.labels == {4: ("e0", "here")} and columns.names == {5: "work"}


def test_the_size_of_a_compaction_is_unknown_where_neither_text_nor_estimate_is_there() -> None:
    builder = ColumnBuilder()
    columns = builder.columns
    for estimate in (0, 7):
        at = _add(builder, {"type": "compaction", "firstKeptEntryId": "e0"}, estimate)
        assert not columns.is_size_unknown(at)
        facts = columns.compactions[at]
        columns.compactions[at] = facts._replace(certainty="unreadable")
        assert columns.is_size_unknown(at) is (estimate == 0)
    assert not columns.is_size_unknown(_add(builder, _reply()))


@pytest.mark.parametrize("number", [10**30, 1e300, float("inf"), float("nan"), -5, True, "9"])
def test_a_number_that_no_column_holds_does_not_break_it(number: object) -> None:
    builder = ColumnBuilder()
    usage = {"totalTokens": number, "input": number}
    message = {"role": "assistant", "content": [], "usage": usage, "timestamp": number}
    _add(builder, {"type": "message", "message": message, "timestamp": number})
    _add(builder, {"type": "compaction", "tokensBefore": number})
    assert -1 <= builder.columns.usage[0] < 2**31
    assert abs(builder.columns.time[0]) <= 8.64e15
    assert 0 <= builder.columns.compactions[1].tokens_before < 2**31


calls_drawn = st.lists(
    st.tuples(st.sampled_from(["read", "edit", "write"]), st.sampled_from(["a", "b", "c"])),
    max_size=3, unique_by=lambda one: one[1],
)  # fmt: skip


@given(st.lists(st.tuples(calls_drawn, st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_an_entry_that_grew_is_as_if_it_had_been_whole(
    turns: list[tuple[list[tuple[str, str]], int, bool]],
) -> None:
    """Each turn: the calls of a reply, how many of them are there at first, and whether the
    results fail. Results come for calls that are there."""
    whole, grown = ColumnBuilder(), ColumnBuilder()
    late: list[tuple[int, Json]] = []
    for turn, (drawn, first, failed) in enumerate(turns):
        calls = [(f"c{turn}.{at}", name, path) for at, (name, path) in enumerate(drawn)]
        full, part = _reply(*calls, model=f"m{turn}"), _reply(*calls[:first])
        late.append((_add(whole, full, 9), full))
        _add(grown, part, 1)
        for call, _, _ in calls[:first]:
            _add(whole, _result(call, failed))
            _add(grown, _result(call, failed))
    for index, full in late:
        grown.replace(index, describe(read_entry(full)), 9)
    assert _resolved(grown) == _resolved(whole)
    for turn, (drawn, first, failed) in enumerate(turns):
        for at in range(first, len(drawn)):
            _add(whole, _result(f"c{turn}.{at}", failed))
            _add(grown, _result(f"c{turn}.{at}", failed))
    assert _resolved(grown) == _resolved(whole)
    assert not grown.columns.open_calls


def _resolved(builder: ColumnBuilder) -> list[Any]:
    """All that columns say, names in place of their numbers."""
    columns, ops = builder.columns, builder.columns.ops
    rows = [
        (ops.entry[at], ops.kind[at], ops.paths[ops.path[at]], ops.failed[at], ops.result[at],
         ops.parts[ops.part[at]], ops.known[at], ops.wide[at])
        for at in range(len(ops.entry))
    ]  # fmt: skip
    return [
        rows, list(columns.kind), list(columns.flags), list(columns.time), list(columns.estimate),
        [columns.models[one] for one in columns.model], dict(columns.open_calls),
        [list(few.items()) for few in columns.few],
    ]  # fmt: skip


def test_what_few_entries_have_follows_the_entry_that_changed() -> None:
    builder = ColumnBuilder()
    for name in ("one", "two", "three"):
        _add(builder, {"type": "session_info", "name": name})
    builder.replace(1, describe(read_entry({"type": "session_info", "name": "other"})), 0)
    assert list(builder.columns.names.items()) == [(0, "one"), (1, "other"), (2, "three")]
    builder.replace(2, describe(read_entry(_reply())), 0)
    assert builder.columns.names == {0: "one", 1: "other"}
    with pytest.raises(IndexError):
        builder.replace(3, describe(read_entry(_reply())), 0)

"""From JSON to facts: every spelling, every oddity (A1 to A4, A28, B9)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry, read_usage
from explorer.session.columns import ColumnBuilder
from explorer.session.describe import (
    PREVIEW_UNITS,
    BranchFacts,
    CompactionFacts,
    FileOp,
    call_title,
    describe,
    first_line,
)
from explorer.session.entries import (
    Entry,
    FileMention,
    FilesMessage,
    NoteMessage,
    UserMessage,
    text_content,
)
from explorer.session.json_values import time_ms
from explorer.session.kinds import Flag, Kind
from tests.formats.test_fuzz import ENTRY

Json = dict[str, Any]


def _message(role: str, content: Any = "", **fields: Any) -> Json:
    message = {"role": role, "content": content} | fields
    return {"type": "message", "timestamp": "2026-01-05T09:00:00.497Z", "message": message}


def _text(*texts: str) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize("key", ["firstKeptEntryId", "first_kept_entry_id", "retained_from_id"])
def test_a1_a3_a_compaction_in_any_spelling(key: str) -> None:
    snake = key != "firstKeptEntryId"
    details = (
        {"read_files": ["a", 7], "modified_files": ["b"]}
        if snake
        else {"readFiles": ["a", 7], "modifiedFiles": ["b"]}
    )
    entry = {
        "type": "compaction",
        "timestamp": "2026-01-05T09:00:00.000Z",
        "summary": "\n  ## Goal\nwin",
        key: "k",
        "tokens_before" if snake else "tokensBefore": 123.0,
        "details": details,
    }
    facts = describe(read_entry(entry))
    assert facts.kind is Kind.COMPACTION and facts.preview == "win"
    assert facts.compaction == CompactionFacts("k", 123, ("a",), ("b",), False)


@pytest.mark.parametrize("key", ["fromHook", "fromExtension"])
@pytest.mark.parametrize("value", [True, False, None, "yes"])
def test_a3_made_by_an_extension_in_either_spelling(key: str, value: object) -> None:
    for kind in ("compaction", "branch_summary"):
        facts = describe(read_entry({"type": kind, "summary": "s", key: value}))
        summary = facts.compaction or facts.branch
        assert summary is not None and summary.from_extension is (value is True)
        assert bool(facts.flags & Flag.FROM_EXTENSION) is (value is True)


def test_a1_the_short_summary_is_what_lists_show() -> None:
    entry = {"type": "compaction", "summary": "long", "shortSummary": "I did it."}
    assert describe(read_entry(entry)).preview == "I did it."


@pytest.mark.parametrize("key", ["fromId", "from_id"])
def test_a2_a_branch_summary(key: str) -> None:
    entry = {"type": "branch_summary", key: "x", "summary": "", "details": {"readFiles": ["r"]}}
    facts = describe(read_entry(entry))
    assert facts.branch == BranchFacts("x", ("r",), (), False)
    assert facts.flags & Flag.EMPTY_SUMMARY
    assert not describe(read_entry(entry | {"summary": "s"})).flags & Flag.EMPTY_SUMMARY


def test_a4_model_changes_of_both_agents() -> None:
    pi = {"type": "model_change", "provider": "anthropic", "modelId": "claude"}
    omp = {"type": "model_change", "model": "anthropic/claude", "role": "default"}
    assert describe(read_entry(pi)).model == describe(read_entry(omp)).model == "anthropic/claude"
    assert describe(read_entry(pi)).preview == "model anthropic/claude"


def test_a4_metadata() -> None:
    level = describe(read_entry({"type": "thinking_level_change", "thinkingLevel": "high"}))
    assert (level.thinking_level, level.preview) == ("high", "thinking high")
    label = describe(read_entry({"type": "label", "targetId": "t", "label": "here"}))
    assert label.label == ("t", "here") and "here" in label.preview
    cleared = describe(read_entry({"type": "label", "targetId": "t"}))
    assert cleared.label == ("t", "") and cleared.preview == "label removed"
    name = describe(read_entry({"type": "session_info", "name": "work"}))
    assert name.name == "work" and "work" in name.preview
    title = describe(read_entry({"type": "title_change", "title": "work", "source": "user"}))
    assert title == name
    assert describe(read_entry({"type": "custom", "customType": "todo"})).preview == "Todo"
    assert describe(read_entry({"type": "of the future"})).preview == "Of the future"
    hook = read_entry({"type": "custom", "customType": "stop_hook_summary"})
    assert describe(hook).preview == "Stop hook summary", "in the words of the conversation"
    assert describe(read_entry({})).preview == "entry without a type"


def test_a4_a_custom_message_may_be_hidden() -> None:
    entry = {"type": "custom_message", "content": _text("note"), "display": False}
    facts = describe(read_entry(entry))
    assert facts.kind is Kind.CUSTOM_MESSAGE and facts.preview == "note"
    assert facts.flags & Flag.HIDDEN
    assert not describe(read_entry(entry | {"display": True})).flags & Flag.HIDDEN
    assert describe(read_entry(entry | {"content": [{"type": "image"}]})).flags & Flag.HAS_IMAGE


def test_a28_a_reply_tells_its_file_operations() -> None:
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "a.py"}},
        {"type": "toolCall", "id": "2", "name": "write", "arguments": {"path": "b.py"}},
        {"type": "toolCall", "id": "3", "name": "edit", "arguments": {"path": ""}},
        {"type": "toolCall", "id": "4", "name": "bash", "arguments": {"path": "c", "command": "x"}},
        {"type": "toolCall", "id": "5", "name": "edit", "arguments": "a.py"},
        {"type": "toolCall", "id": "6", "name": "edit", "arguments": {"path": 7}},
    ]
    facts = describe(read_entry(_message("assistant", content)))
    assert facts.ops == (FileOp("read", "a.py", "1"), FileOp("write", "b.py", "2"))
    assert facts.preview.startswith("read a.py · write b.py · edit")
    assert facts.flags == Flag.HAS_THINKING | Flag.HAS_TOOL_CALL


def test_a_reply_shows_its_text_else_its_calls_else_its_thinking_else_its_error() -> None:
    thinking = {"type": "thinking", "thinking": "\n think\n"}
    call = {"type": "toolCall", "name": "bash", "arguments": {"command": "ls"}}
    blocks = [thinking, call, *_text("  ", "said")]
    assert describe(read_entry(_message("assistant", blocks))).preview == "said"
    assert describe(read_entry(_message("assistant", blocks[:2]))).preview == "bash ls"
    assert describe(read_entry(_message("assistant", blocks[:1]))).preview == "think"
    failed = _message("assistant", [], stopReason="error", errorMessage="overloaded")
    assert describe(read_entry(failed)).preview == "overloaded"
    assert (
        describe(read_entry(_message("assistant", [], stopReason="aborted"))).preview == "aborted"
    )
    assert describe(read_entry(_message("assistant", "plain"))).preview == "plain"


@pytest.mark.parametrize(
    ("stop", "flag"),
    [
        ("error", Flag.ERROR),
        ("aborted", Flag.ABORTED),
        ("length", Flag.LENGTH_STOP),
        ("stop", Flag.NONE),
        (["error"], Flag.NONE),
    ],
)
def test_how_a_reply_stopped(stop: object, flag: Flag) -> None:
    assert describe(read_entry(_message("assistant", [], stopReason=stop))).flags == flag


def test_a_tool_result_names_its_call_and_its_error() -> None:
    facts = describe(
        read_entry(_message("toolResult", _text("", "out"), toolCallId="c", isError=True))
    )
    assert facts.kind is Kind.TOOL_RESULT
    assert (facts.call_id, facts.preview) == ("c", "out")
    assert facts.flags & Flag.ERROR and not facts.flags & Flag.HAS_IMAGE
    assert describe(read_entry(_message("toolResult", [{"type": "image"}]))).flags & Flag.HAS_IMAGE


def test_b6_images_of_a_person_are_counted_apart() -> None:
    facts = describe(read_entry(_message("user", [{"type": "image"}, {"type": "image"}])))
    assert facts.user_images == 2 and facts.preview == "image"
    assert describe(read_entry(_message("custom", [{"type": "image"}]))).user_images == 0


def test_bash_and_python_runs() -> None:
    bash = _message("bashExecution", command="make\nall", exitCode=2, excludeFromContext=True)
    facts = describe(read_entry(bash))
    assert facts.preview == "make"
    assert facts.flags & Flag.EXCLUDED and facts.flags & Flag.ERROR
    python = describe(
        read_entry(_message("pythonExecution", code="1 + 1", exitCode=0, cancelled=True))
    )
    assert python.preview == "1 + 1"
    assert python.flags & Flag.ABORTED and not python.flags & Flag.ERROR


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"totalTokens": 7, "input": 1}, 7),
        ({"totalTokens": 0, "input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}, 10),
        ({"input": 5}, 5),
        ({"input": 0, "output": 0}, 0),
        ({}, -1),
        (None, -1),
        ([1], -1),
        ({"input": "5"}, -1),
        ({"totalTokens": 7.0}, 7),
        # What cannot be a count is not recorded; nor is a sum that has such a part.
        ({"totalTokens": 7.5}, -1),
        ({"totalTokens": 1e300}, -1),
        ({"totalTokens": 2**31}, -1),
        ({"totalTokens": -3}, -1),
        ({"totalTokens": True}, -1),
        ({"totalTokens": "7"}, -1),
        ({"totalTokens": float("nan"), "input": 3}, 3),
        ({"totalTokens": float("inf"), "input": 3, "output": None}, 3),
        ({"input": 3, "output": -1}, -1),
        ({"input": 3, "output": 2**63}, -1),
        ({"input": 3, "output": [4]}, -1),
        ({"input": 10**9, "output": 1}, -1),
    ],
)
def test_b9_usage_is_the_total_or_the_sum_of_its_parts(usage: object, tokens: int) -> None:
    read = read_usage(usage)
    assert (read.context if read is not None else -1) == tokens


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-05T09:00:00.497Z", 1767603600497.0),
        ("2026-01-05T10:00:00.497+01:00", 1767603600497.0),
        ("2026-01-05T09:00:00.497", 1767603600497.0),
        (1767603600497, 1767603600497.0),
        ("yesterday", 0.0),
        ("", 0.0),
        (None, 0.0),
        (True, 0.0),
        (float("nan"), 0.0),
        (float("inf"), 0.0),
        (10**400, 0.0),
        ([], 0.0),
        ("0001-01-01T00:00:00+23:59", -62135683140000.0),
        ("9999-12-31T23:59:59.999-23:59", 253402387139999.0),
    ],
)
def test_times(value: object, expected: float) -> None:
    assert time_ms(value) == pytest.approx(expected, abs=0.01)


def test_a_message_without_an_entry_time_has_its_own() -> None:
    entry = {"type": "message", "message": {"role": "user", "content": "", "timestamp": 5}}
    assert describe(read_entry(entry)).time_ms == 5


@given(st.text(st.sampled_from(" \n\t\r\xa0\u2003ab\x1f\u2028😀"), max_size=900))
def test_the_first_line_is_the_first_that_holds_anything(text: str) -> None:
    head = text[: PREVIEW_UNITS * 4].lstrip()
    line = head.split("\n", 1)[0].rstrip()
    found = first_line(text)
    is_cut = len(line) > PREVIEW_UNITS
    assert " ".join(line.split()).startswith(found.removesuffix("…"))
    assert (found == " ".join(line.split())) is not is_cut and found.endswith("…") is is_cut
    assert "\n" not in found and len(found) <= PREVIEW_UNITS


@given(st.lists(st.text(st.sampled_from(" \nab"), max_size=5), max_size=4))
def test_the_first_line_of_blocks_is_that_of_their_text_together(texts: list[str]) -> None:
    facts = describe(read_entry(_message("toolResult", _text(*texts))))
    assert facts.preview == first_line("\n".join(texts))


def test_a_call_says_its_most_telling_argument() -> None:
    assert call_title("bash", {"timeout": 5, "command": "ls\n-l"}) == "bash ls"
    assert call_title("bash", {"command": "cd /srv/app && git diff"}) == "bash git diff"
    assert call_title("bash", {"command": "cd /srv/app"}) == "bash cd /srv/app"
    assert call_title("read", {"command": "x", "path": "a.py"}) == "read a.py"
    assert call_title("odd", {"count": 0, "all": True}) == "odd count 0, all true"
    assert call_title("odd", {"text": "", "at": [1, 2]}) == "odd at [1, 2]"
    long = call_title("odd", {"words": "so many " * 20})
    assert long.startswith("odd words so many") and long.endswith("…")
    asked = {"description": "Look at the rules", "prompt": "Read AGENTS.md and say ..."}
    assert call_title("Agent", asked) == "Agent Look at the rules"
    assert call_title("none", {}) == call_title("none", None) == "none"
    assert call_title(f"{'x' * 40}  {'y' * 38}", {}) == f"{'x' * 40}  {'y' * 38}"
    assert call_title(f"{'x' * 40}  {'y' * 40}", {}) == f"{'x' * 40} {'y' * 39}"
    deep: Any = 1
    for _ in range(100_000):
        deep = {"x": deep}
    assert call_title("deep", deep) == "deep x …"


@pytest.mark.parametrize("kind", ["custom", "label", "session_info", "model_change"])
def test_previews_are_one_short_line(kind: str) -> None:
    text = "two\nlines" + "x" * 1000
    keys = ("customType", "label", "name", "modelId", "thinkingLevel")
    assert len(describe(read_entry({"type": kind} | dict.fromkeys(keys, text))).preview) < 20
    call = {"type": "toolCall", "name": text, "arguments": {"path": text}}
    preview = describe(read_entry(_message("assistant", [call]))).preview
    assert preview == "two two"
    assert describe(read_entry(_message("assistant", [], stopReason=text))).preview == "two"


@settings(max_examples=300)
@given(ENTRY)
def test_nothing_is_too_odd_to_describe(entry: Json) -> None:
    facts = describe(read_entry(entry))
    assert isinstance(facts.kind, Kind)
    assert len(facts.preview) <= 4 * PREVIEW_UNITS and "\n" not in facts.preview
    ColumnBuilder().append("e", -1, facts, 0)


def test_a_search_is_titled_by_what_it_looks_for() -> None:
    assert call_title("grep", {"path": ".", "pattern": "retry"}) == "grep retry"
    assert call_title("read", {"path": "a.py", "pattern": "x"}) == "read a.py"


def test_a1_a_summary_is_listed_by_what_stands_under_its_first_heading() -> None:
    """A list of headings would tell nothing apart."""
    text = "The person left a branch.\n\n## Goal\n\n1. Find the race in `retry.py`\n2. More\n"
    for kind in ("compaction", "branch_summary"):
        entry = {"type": kind, "id": "c", "parentId": None, "summary": text}
        assert describe(read_entry(entry)).preview == "Find the race in `retry.py`"
    assert describe(read_entry({"type": "compaction", "summary": "no heading at all"})).preview == (
        "no heading at all"
    )
    assert describe(read_entry({"type": "compaction", "summary": "## Goal"})).preview == "## Goal"


def test_a_message_that_nobody_typed_is_marked() -> None:
    typed, generated = (
        describe(Entry.of(UserMessage(text_content("go on"), synthetic=synthetic)))
        for synthetic in (False, True)
    )
    assert not typed.flags & Flag.SYNTHETIC and generated.flags & Flag.SYNTHETIC
    hidden = Entry.of(NoteMessage(text_content("a reminder"), display=False))
    assert hidden.kind is Kind.CUSTOM_ROLE, "what an agent adds unseen begins no turn"
    assert describe(hidden).flags & Flag.HIDDEN


def test_named_files_are_shown_by_their_paths() -> None:
    files = FilesMessage((FileMention("a.py", "x = 1"), FileMention("b.py", "")))
    assert describe(Entry.of(files)).preview == "a.py, b.py"

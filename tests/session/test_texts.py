"""Texts cut for lists and for rules, and what an entry is in one line: at their very bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.session.describe import describe, error_mark, result_flags
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Content,
    Entry,
    ImageBlock,
    NoteMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.session.kinds import Flag, Kind
from explorer.session.rows import large_row, result_row
from explorer.session.text import (
    LINE_LIMIT,
    PREVIEW_UNITS,
    PROSE_LIMIT,
    as_prose,
    first_line,
    legible,
    plain_line,
    prompt_line,
    summary_line,
    title_line,
    well_formed,
)
from explorer.session.usage_sums import NO_LIST, PRICE_SIZES, price_size

# prose --------------------------------------------------------------------------------------------


def test_the_limits_of_what_is_read_as_prose() -> None:
    assert (LINE_LIMIT, PROSE_LIMIT, PREVIEW_UNITS) == (2_000, 100_000, 200)
    line = "a " * 1_000
    assert as_prose(line) == line and as_prose("x" * LINE_LIMIT) == "x" * LINE_LIMIT
    longer = as_prose(f"{line}b")
    assert longer.count("\n") == 1 and len(longer) == len(line) + 1
    word = as_prose(f"a {'x' * (LINE_LIMIT + 1)} b")
    assert word == f"a \n{' ' * (LINE_LIMIT - 1)}\n b"
    kept = as_prose(f"a {'x' * LINE_LIMIT} b")
    assert "x" * LINE_LIMIT in kept
    most = "word\n" * (PROSE_LIMIT // 5)
    assert as_prose(most) == most
    more = as_prose(f"{most}end\n")
    assert len(more) == len(most) + 4 and more.endswith("word\nend\n")
    half = PROSE_LIMIT // 2
    assert more[:half] == most[:half] and more[half : half + 4] == "\n  \n"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["word", "end.", "x" * 700, "y" * 2_100, "\n"]), max_size=30))
def test_prose_stands_where_it_was_in_short_lines(words: list[str]) -> None:
    text = " ".join(words)
    prose = as_prose(text)
    assert len(prose) == len(text) and max(map(len, prose.split("\n"))) <= LINE_LIMIT + 100
    for before, after in zip(text, prose, strict=True):
        assert before == after or after in " \n"
    if "y" not in text:
        assert prose.replace("\n", " ") == text.replace("\n", " ")


def test_a_line_is_broken_after_a_sentence_in_its_second_half_else_at_a_blank() -> None:
    first = f"{'a ' * 600}end."
    broken = as_prose(f"{first} {'b ' * 600}")
    assert broken.split("\n")[0] == first
    plain = as_prose("c " * 1_500)
    assert len(plain.split("\n")[0]) in (LINE_LIMIT - 1, LINE_LIMIT)


def test_what_cannot_be_seen_is_replaced_one_for_one() -> None:
    assert legible("fine\tü\n") == "fine\tü\n" and legible("a\x00b\u202ec") == "a\ufffdb\ufffdc"
    assert legible("a\ud800") == well_formed("a\ud800") == "a\ufffd" and legible("a b") == "a b"


# one line -----------------------------------------------------------------------------------------


def test_lines_for_lists_are_cut_at_their_bounds() -> None:
    assert first_line(" \n one  two \nthree") == "one two" and first_line("x" * 200) == "x" * 200
    assert first_line("x" * 201) == "x" * 199 + "…" and first_line("x" * 900) == "x" * 199 + "…"
    assert (
        first_line("one  two" * 50).endswith("two…") and first_line("x" * 200 + " \ny")[-1] == "x"
    )
    assert first_line("\n" * 799 + "x") == "x" and first_line("\n" * 800 + "x") == ""
    lead = "x" * 59 + ":"
    assert prompt_line(f"{lead}\nmore") == f"{lead} more"
    assert prompt_line(f"y{lead}\nmore") == f"y{lead}"
    assert prompt_line("one\ntwo") == "one" and prompt_line("one:") == "one:"
    assert prompt_line(f"Do:\n{'x' * 300}") == "Do: " + "x" * 195 + "…"
    assert prompt_line("<task>\nDo it") == "Do it"
    assert prompt_line("<task> is it\nno") == "<task> is it"
    assert prompt_line("<task>") == "<task>" and prompt_line("x<task>\nDo it") == "x<task>"
    assert title_line("x" * 19 + ". Second part") == "x" * 19 + "."
    assert title_line("x" * 18 + ". Second part") == "x" * 18 + ". Second part"
    exact = "word " * 16
    assert title_line(exact[:79] + "x") == exact[:79] + "x"
    assert title_line(f"{exact[:79]}s, etc") == ("word " * 15).rstrip() + "…"
    assert title_line("x" * 81) == "x" * 79 + "…"
    assert plain_line("## **One** `two *x*` [three](x) *four*") == "One two *x* three four"
    assert plain_line("a_b + c") == "a_b + c"


def test_a_summary_is_told_by_what_stands_under_its_first_heading() -> None:
    assert summary_line("Intro\n# Goal\n- [x] Mend it\n# Next") == "Mend it"
    assert summary_line("# Goal\n- none\n1. N/A\n2. Do it") == "Do it"
    assert (
        summary_line("# Goal\n# Next\nSecond") == "Second" and summary_line("Plain\nx") == "Plain"
    )
    assert summary_line("# Goal\n" + " " * 1_991 + "\nx") == "x"
    assert summary_line("# Goal\n" + " " * 1_993 + "\nx") == "# Goal"


# entries ------------------------------------------------------------------------------------------


def entry(body: Any) -> Entry:
    kind = Kind.USER if isinstance(body, UserMessage) else Kind.UNKNOWN
    return replace(Entry.NONE, kind=kind, body=body)


def shown(body: Any) -> tuple[str, int]:
    facts = describe(entry(body))
    return facts.preview, facts.flags


PICTURE = ImageBlock("image/png", "AAAA")


def test_a_reply_in_one_line_and_its_flags() -> None:
    call = ToolCallBlock("c", "read", {"path": "a.py"})
    both: Content = (ThinkingBlock(" why"), TextBlock(" "), TextBlock("one\ntwo"), call)
    preview, flags = shown(AssistantMessage(both, model="m"))
    assert preview == "one"
    assert flags == Flag.HAS_THINKING | Flag.HAS_TEXT | Flag.HAS_TOOL_CALL
    assert shown(AssistantMessage((call, call)))[0] == "read a.py · read a.py"
    assert shown(AssistantMessage((call, TextBlock("text"))))[0] == "text"
    assert shown(AssistantMessage((ThinkingBlock(" why\nso"),)))[0] == "why"
    assert shown(AssistantMessage((), stop_reason="error", error="went wrong"))[0] == "went wrong"
    assert shown(AssistantMessage((), stop_reason="aborted"))[0] == "aborted"
    many = tuple(ToolCallBlock(str(at), "read", {"path": f"{'x' * 60}{at}"}) for at in range(9))
    assert len(shown(AssistantMessage(many))[0]) == 200
    text = text_content("sorry")
    said = AssistantMessage(text, stop_reason="error")
    assert shown(said)[1] & Flag.PLACEHOLDER
    for known in ({"error": "x"}, {"model": "m"}, {"provider": "p"}, {"stop_reason": "stop"}):
        assert not shown(replace(said, **known))[1] & Flag.PLACEHOLDER
    used = AssistantMessage(text, "p", "m", TokenUsage(context=7))
    assert describe(entry(used)).usage == 7 and describe(entry(used)).model == "p/m"


def test_messages_with_pictures_and_hidden_ones() -> None:
    assert shown(UserMessage((PICTURE,))) == ("image", Flag.HAS_TEXT | Flag.HAS_IMAGE)
    assert describe(entry(UserMessage((PICTURE, PICTURE)))).user_images == 2
    assert shown(UserMessage(text_content("a:\nb")))[0] == "a: b"
    assert shown(UserMessage(text_content("a"), row="b\nc"))[0] == "b"
    assert shown(UserMessage((PICTURE, TextBlock("  "), TextBlock("b"))))[0] == "b"
    assert shown(UserMessage(text_content("a"), synthetic=True))[1] & Flag.SYNTHETIC
    note = NoteMessage(text_content("a:\nb"), display=False)
    assert shown(note) == ("a:", Flag.HAS_TEXT | Flag.HIDDEN)
    assert not shown(replace(note, display=True))[1] & Flag.HIDDEN


def test_a_result_and_its_flags() -> None:
    body = ToolResultMessage("c", "read", text_content("some text"))
    assert shown(body) == ("some text", Flag.HAS_TEXT)
    assert describe(entry(body)).error == 0
    wrong = describe(entry(replace(body, is_error=True)))
    assert wrong.flags & Flag.ERROR and wrong.error == error_mark("some text") != 0
    pruned = shown(replace(body, is_pruned=True))[1]
    assert pruned & Flag.PRUNING and not pruned & Flag.RECORDED
    assert shown(replace(body, is_pruned=True, is_recorded=True))[1] & Flag.RECORDED
    assert shown(replace(body, content=(PICTURE,)))[1] == Flag.HAS_TEXT | Flag.HAS_IMAGE
    nothing = "nothing found in " + "x" * 183
    assert result_flags(nothing) == result_flags(" ") == Flag.FOUND_NOTHING
    assert result_flags(nothing + "x") == result_flags("", has_image=True) == 0
    made = f"File {'x' * 180} created"
    assert result_flags(made) == Flag.CREATED and result_flags("x" + made) == 0
    assert result_flags(f"File {'x' * 190} created") == 0
    assert error_mark("at 12 s") == error_mark("at  99 s") != error_mark("in 12 s")
    assert error_mark("x" * 4_000 + "a") == error_mark("x" * 4_000 + "b")
    assert error_mark("x" * 3_999 + "a") != error_mark("x" * 3_999 + "b")


def test_a_compaction_that_cannot_be_read_says_so() -> None:
    body = CompactionSummary("", "e1", 5)
    assert shown(replace(body, certainty="unreadable"))[0] == "summary encrypted or not recorded"
    assert shown(body)[0] == "" and shown(replace(body, summary="Told"))[0] == "Told"
    told = replace(body, summary="Told", short_summary="Short", certainty="unreadable")
    assert shown(told)[0] == "Short" and shown(replace(told, short_summary=""))[0] == "Told"


def row(tool: str, given: dict[str, Any], *content: Any, error: bool = False) -> str:
    blocks = tuple(TextBlock(one) if isinstance(one, str) else one for one in content)
    return result_row(ToolResultMessage("c", tool, blocks, error), ToolCallBlock("c", tool, given))


def test_rows_of_results_at_their_bounds() -> None:
    assert row("Read", {"file_path": "a.png"}, PICTURE) == "read a.png: an image"
    assert row("Read", {"file_path": "a.png"}, "x", PICTURE) == "read a.png, 1 line"
    assert row("Write", {"file_path": "a", "content": "x\ny\n"}, "ok") == "wrote a, 2 lines"
    assert row("Write", {"file_path": "a", "content": ""}, "ok") == "wrote a"
    edit = {"file_path": "a", "old_string": "x\ny", "new_string": "x"}
    assert row("Edit", edit, "ok") == "edited a (+0 -1)"
    assert row("Edit", edit | {"new_string": "x\ny\nz"}, "ok") == "edited a (+1 -0)"
    assert row("Edit", edit | {"new_string": "x\ny"}, "ok") == "edited a"
    assert row("Grep", {"pattern": "x"}, "one") == "Grep x: one"
    assert row("Grep", {"pattern": "x"}, "one\ntwo") == "Grep x: 2 lines"
    assert row("Grep", {"pattern": "x"}, "Found 3 files\na") == "Grep x: 3 files"
    assert row("read_many_files", {"paths": ["a", "b"]}, "x\ny").startswith("read_many_files")
    long = row("bash", {"command": "make " + "x" * 90}, "ok")
    assert long.startswith("bash make xxx") and len(long.partition("…")[0]) == len("bash ") + 36
    named = row("t" * 30, {"command": "y " * 45}, "ok")
    assert named.startswith("t" * 30 + " y") and len(named.partition("…")[0]) > 50
    body = ToolResultMessage("c", "", text_content("out"))
    assert result_row(body, None) == "tool: out"
    assert large_row(None, "", 1_234) == "tool, about 4 KB"
    assert row("bash", {"command": "x"}, "y" * 120).endswith("y" * 120)
    assert row("bash", {"command": "x"}, "y" * 121).endswith("…")
    summed = "=== 1 passed in 1.0s ===\n"
    assert row("bash", {"command": "x"}, summed + "z" * (4_000 - len(summed))) == "pytest: 1 passed"
    assert "pytest" not in row("bash", {"command": "x"}, summed + "z" * 4_000)


@pytest.mark.parametrize("size", PRICE_SIZES)
def test_dearer_prices_begin_above_round_sizes(size: int) -> None:
    assert PRICE_SIZES == (100_000, 128_000, 200_000, 256_000, 272_000, 512_000)
    assert price_size(TokenUsage(context=size, input=size)) < size
    parts = TokenUsage(context=size, input=size - 9, cache_read=5, cache_write=5)
    assert price_size(parts) == size


def test_what_no_list_of_prices_tells() -> None:
    assert price_size(None) == price_size(TokenUsage(context=9)) == NO_LIST
    assert price_size(TokenUsage(context=9, output=9)) == price_size(TokenUsage(input=1)) == 0
    assert price_size(TokenUsage(input=9, cost=0.1)) == NO_LIST

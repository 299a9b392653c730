"""Answers: which may not be stored and why; those that may, merged and finished (A20, A26, A28, B7,
B12, B19, C7, E2, E5, E16, E20)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES
from explorer.compaction.summary import (
    EARLIER_HEADING,
    FREE,
    SECTION_SETS,
    SPLIT_HEADING,
    Form,
    check_answer,
    clean_answer,
    finish,
    footer,
    form_of,
    merge_summaries,
    strip_files,
    without_repeated,
)
from explorer.facts.summary_notes import NOT_FOLLOWED
from tests.compaction.sessions import EXPLORER, PI, Session
from tests.compaction.test_requests import prefix_only, split_turn

LISTS = "\n\n<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\nc d.py\n</modified-files>"


def test_a20_history_and_prefix_are_merged() -> None:
    assert merge_summaries("H", "P") == "H\n\n---\n\n**Turn Context (split turn):**\n\nP"
    assert merge_summaries("H", "") == "H"
    assert merge_summaries("", "P") == "**Turn Context (split turn):**\n\nP"


def test_a28_the_file_lists_end_the_summary() -> None:
    assert footer(["a.py"], ["b.py", "c d.py"]) == LISTS
    assert footer([], []) == ""
    assert footer([], ["b"]) == "\n\n<modified-files>\nb\n</modified-files>"


def test_b17_failed_files_are_marked() -> None:
    assert footer([], [], ["d.py"]) == "\n\n<failed-files>\nd.py\n</failed-files>"


def test_a_summary_is_finished_with_its_files() -> None:
    session = split_turn()
    text = finish(session.prepared(10), "H", "P")
    assert text == (f"H\n\n---\n\n{SPLIT_HEADING}\n\nP\n\n<read-files>\na.py\nb.py\n</read-files>")


def test_files_are_named_by_the_lists_alone_where_these_have_them_all() -> None:
    session = split_turn()
    history = (
        "## Done\n- Files changed: a.py, `b.py`\n\n## Facts\n- Files: a.py, c.py\n- Files: a.py"
    )
    lists = "\n\n<read-files>\na.py\nb.py\n</read-files>"
    text = finish(session.prepared(10), history, "")
    assert text == (
        f"## Done\n- Files changed: a.py, `b.py`\n\n## Facts\n- Files: a.py, c.py{lists}"
    ), "one that would have nothing else keeps its line"
    assert finish(session.prepared(10, PROFILES["pi"]), history, "") == history + lists


def test_the_prefix_does_not_say_again_what_the_history_says_word_for_word() -> None:
    session = split_turn()
    history = (
        "## Constraints\n- At most 5 attempts per push. (It was 3.)\n- No new dependencies.\n"
        "- src/retry.py\n* The budget is 45 s."
    )
    prefix = (
        "## Original Request\n- At most 5 attempts per push.\n- No new dependencies at all.\n"
        "- src/retry.py\n\n## Early Progress\n- No new dependencies. The budget is 45 s.\n\n"
        "## Context for Suffix\n- The budget is 45 s.\n  It is a setting.\n"
        "The budget is 45 s."
    )
    left = (
        "## Original Request\n- No new dependencies at all.\n- src/retry.py\n\n"
        "## Early Progress\n- (none)\n\n"
        "## Context for Suffix\n- The budget is 45 s.\n  It is a setting.\n"
        "The budget is 45 s."
    )
    assert without_repeated(prefix, history) == left
    assert without_repeated(prefix, "") == prefix
    code = "## Early Progress\n```diff\n- No new dependencies.\n```"
    assert without_repeated(code, history) == code
    assert f"{SPLIT_HEADING}\n\n{left}" in finish(session.prepared(10), history, prefix)
    theirs = finish(session.prepared(10, PI), history, prefix)
    assert prefix in theirs, "another system's summary is its own, word for word"


def test_a_history_of_which_nothing_is_told_is_left_out_above_a_split_turn() -> None:
    session = prefix_only()
    nothing = "## Goal\n- (none)\n\n## Constraints & Preferences\n- (none)"
    prefix = "## Original Request\nNever push."
    assert finish(session.prepared(10), nothing, prefix) == f"{SPLIT_HEADING}\n\n{prefix}"
    assert nothing in finish(session.prepared(10), nothing, prefix, "## Goal\nold")
    assert nothing in finish(session.prepared(10, PI), nothing, prefix)
    assert finish(session.prepared(10), nothing) == nothing
    note = f"- {NOT_FOLLOWED}: “Keep the ports.”"
    with_note = finish(session.prepared(10), f"{nothing}\n{note}", prefix)
    assert with_note == f"{SPLIT_HEADING}\n\n{prefix}\n{note}"
    told = nothing.replace("(none)", "A shop", 1)
    assert told in finish(session.prepared(10), told, prefix)


def test_b7_e2_the_previous_summary_is_carried_over_word_for_word() -> None:
    session = prefix_only()
    previous = "## Goal\nkeep port 8443" + LISTS
    carried = finish(session.prepared(10), "", "P", previous)
    assert carried == f"## Goal\nkeep port 8443\n\n---\n\n{SPLIT_HEADING}\n\nP"
    dropped = finish(session.prepared(10, PI), "", "P", previous)
    assert "8443" not in dropped


def test_e20_headings_do_not_double_over_generations() -> None:
    """What an earlier split left is renamed, and copied file lists are taken out."""
    session = prefix_only()
    previous = merge_summaries("H", "older turn") + LISTS
    text = finish(session.prepared(10), "", "P" + LISTS, previous)
    assert text.count(SPLIT_HEADING) == 1
    assert EARLIER_HEADING in text
    assert "older turn" in text
    assert "<read-files>" not in text


def test_e20_the_turns_of_three_generations_have_their_headings_once() -> None:
    """A prefix-only pass after another one: what was carried keeps its words, not its headings."""
    session = prefix_only()
    notes = "## Original Request\nfirst\n\n## Early Progress\n- one"
    once = finish(session.prepared(10), "", notes, "## Goal\nold")
    twice = finish(session.prepared(10), "", notes.replace("first", "second"), once)
    thrice = finish(session.prepared(10), "", notes.replace("first", "third"), twice)
    for heading in ("## Goal", "## Original Request", "## Early Progress", SPLIT_HEADING):
        assert thrice.count(heading) == 1, heading
    assert thrice.count("**Original Request**") == 2
    assert all(word in thrice for word in ("old", "first", "second", "third"))


def test_strip_files_leaves_other_tags() -> None:
    assert strip_files("a" + LISTS) == "a"
    assert strip_files("a <read-files> b") == "a <read-files> b"


def test_a_profile_that_drops_leaves_answers_as_they_are() -> None:
    session = Session()
    session.user(10)
    session.reply(10)
    session.user(10)
    assert finish(session.prepared(10, PI), " H" + LISTS) == " H" + LISTS


COPILOT = PROFILES["copilot"]
TWO = Form(("Goal", "Next Steps"), ("Blocked",))


def codes(text: str, form: Form = FREE, stop: str = "stop", **more: int) -> list[str]:
    return [problem.code for problem in check_answer(text, stop, form=form, **more)]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_b12_an_empty_answer_is_rejected(text: str) -> None:
    assert codes(text, TWO) == ["empty"]


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_b12_e5_an_answer_cut_short_is_rejected(reason: str) -> None:
    assert codes("## Goal\nhalf a sen", stop=reason) == ["cut-short"]


@pytest.mark.parametrize("reason", ["error", "aborted", "content_filter", "toolUse", "tool_calls"])
def test_b12_what_is_no_answer_is_rejected(reason: str) -> None:
    assert codes("something", stop=reason) == ["failed"]


def test_e16_an_answer_larger_than_what_it_replaces_is_rejected() -> None:
    (problem,) = check_answer("word" * 50, "stop", input_tokens=50)
    assert problem.code == "too-large"
    assert "50 tokens" in problem.message
    assert codes("word" * 49, input_tokens=50) == []
    assert codes("word" * 50, input_tokens=50, answer_tokens=20) == []


def test_c7_missing_sections_are_named() -> None:
    (problem,) = check_answer("## Goal\na", "stop", form=TWO)
    assert (problem.code, problem.message) == ("missing", "Sections are missing: Next Steps.")
    assert codes("no headings") == []


@pytest.mark.parametrize("name", ["Goal", "goal", "Next Steps", "Blocked"])
def test_e20_a_heading_that_appears_twice_is_a_problem(name: str) -> None:
    text = f"## Goal\na\n### Blocked\nb\n## Next Steps\nb\n\n## {name}\nc"
    (problem,) = check_answer(text, "stop", form=TWO)
    assert problem.code == "repeated"
    assert name.casefold() in problem.message.casefold()


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert codes("## Goal\na\n## Goal\nb", TWO, "length") == ["cut-short", "missing", "repeated"]


@pytest.mark.parametrize(
    "heading",
    ["## Next Steps", "# next steps:", "###### **Next Steps** ##", "**Next Steps**",
     "**Next Steps:**", "## 5. Next Steps"],
)  # fmt: skip
def test_c7_headings_are_known_however_a_model_writes_them(heading: str) -> None:
    assert codes(f"## Goal\na\n\n{heading}\nb", TWO) == []


@pytest.mark.parametrize(
    "line", ["Next Steps: go", "- Next Steps", "the next steps", "##Next Steps"]
)
def test_c7_a_sentence_is_no_heading(line: str) -> None:
    assert codes(f"## Goal\na\n{line}\nb", TWO) == ["missing"]


def test_e20_headings_inside_quoted_code_do_not_count() -> None:
    assert codes("## Goal\n```\n## Goal\n## Goal\n```\n## Next Steps\nx", TWO) == []


def test_constraints_and_preferences_may_be_spelt_out() -> None:
    form = Form(("Constraints & Preferences",))
    for spelling in ("Constraints & Preferences", "Constraints and Preferences"):
        assert codes(f"## {spelling}\nx", form) == []


def test_a26_numbered_sections_are_found_with_their_text_on_the_line() -> None:
    names = SECTION_SETS["copilot"]["history"].required
    form = form_of(COPILOT, "history")
    plain = "\n".join(f"{at}. {name}: words" for at, name in enumerate(names, 1))
    bold = "\n".join(f"{at}. **{name}**: words" for at, name in enumerate(names, 1))
    headed = "\n".join(f"## {at}. {name}\nwords" for at, name in enumerate(names, 1))
    for text in (plain, bold, headed):
        assert codes(text, form) == []
    assert codes(plain.replace("4. ", "- "), form) == ["missing"]
    assert codes(plain + "\n4. Problem Resolution: more", form) == ["repeated"]


def test_b12_pi_stores_what_comes() -> None:
    assert check_answer("", "length", profile=PI, form=TWO) == ()
    assert check_answer("", "length", profile=EXPLORER, form=TWO) != ()


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("<analysis>\nthoughts\n</analysis>\n\n<summary>\n1. A: b\n</summary>", "1. A: b"),
        ("<summary>1. A: b", "1. A: b"),
        ("<analysis>never closed <summary>1. A: b</summary>", "1. A: b"),
        ("<analysis>thoughts</analysis>\n1. A: b", "1. A: b"),
        ("1. A: b", "1. A: b"),
        ("<Analysis>x</Analysis><Summary>of </summary> tags</Summary>\n", "of </summary> tags"),
        ("<analysis>only thoughts", ""),
    ],
)  # fmt: skip
def test_a26_b19_the_analysis_goes_and_an_unclosed_summary_takes_the_rest(
    answer: str, kept: str
) -> None:
    assert clean_answer(answer, COPILOT, "history") == kept


def test_only_the_form_with_an_analysis_is_taken_apart() -> None:
    said = "<analysis>a</analysis><summary>b</summary>"
    assert clean_answer(said, EXPLORER, "history") == said
    assert clean_answer(said, COPILOT, "turn_prefix") == said
    mixed = replace(EXPLORER, sections="copilot")
    assert clean_answer(said, mixed, "history") == "b"

"""Answers checked, merged and finished (A20, A28, B7, B12, E5, E16, E20)."""

from __future__ import annotations

import pytest

from explorer.compaction.summary import (
    EARLIER_HEADING,
    SPLIT_HEADING,
    check_answer,
    details,
    finish,
    footer,
    merge_summaries,
    strip_files,
)
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
    assert details(["a"], ["b"]) == {"readFiles": ["a"], "modifiedFiles": ["b"]}


def test_b17_failed_files_are_marked() -> None:
    assert footer([], [], ["d.py"]) == "\n\n<failed-files>\nd.py\n</failed-files>"
    assert details([], [], ["d.py"])["failedFiles"] == ["d.py"]


def test_a_summary_is_finished_with_its_files() -> None:
    session = split_turn()
    text = finish(session.prepared(10), "H", "P")
    assert text == (f"H\n\n---\n\n{SPLIT_HEADING}\n\nP\n\n<read-files>\na.py\nb.py\n</read-files>")


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


def test_e20_a_heading_that_appears_twice_is_a_problem() -> None:
    text = "## Goal\na\n## Next Steps\nb\n## goal\nc"
    problem = check_answer(text, "stop", required_sections=["Goal", "Next Steps"])
    assert problem is not None
    assert problem.code == "repeated"
    assert "Goal" in problem.message


def test_strip_files_leaves_other_tags() -> None:
    assert strip_files("a" + LISTS) == "a"
    assert strip_files("a <read-files> b") == "a <read-files> b"


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_b12_an_empty_answer_is_rejected(text: str) -> None:
    problem = check_answer(text, "stop")
    assert problem is not None
    assert problem.code == "empty"


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_b12_e5_an_answer_cut_short_is_rejected(reason: str) -> None:
    problem = check_answer("## Goal\nhalf a sen", reason)
    assert problem is not None
    assert problem.code == "cut-short"


@pytest.mark.parametrize("reason", ["error", "aborted", "content_filter", "toolUse", "tool_calls"])
def test_b12_what_is_no_answer_is_rejected(reason: str) -> None:
    problem = check_answer("something", reason)
    assert problem is not None
    assert problem.code == "failed"


def test_e16_an_answer_larger_than_what_it_replaces_is_rejected() -> None:
    problem = check_answer("word" * 50, "stop", input_tokens=50)
    assert problem is not None
    assert problem.code == "too-large"
    assert "50 tokens" in problem.message
    assert check_answer("word" * 49, "stop", input_tokens=50) is None
    assert check_answer("word" * 50, "stop", input_tokens=50, answer_tokens=20) is None


def test_missing_sections_are_named_only_where_they_are_demanded() -> None:
    problem = check_answer("## Goal\na", "stop", required_sections=["Goal", "Next Steps"])
    assert problem is not None
    assert problem.code == "missing"
    assert "Next Steps" in problem.message
    assert check_answer("no headings", "stop") is None


def test_b12_pi_stores_what_comes() -> None:
    assert check_answer("", "length", profile=PI) is None
    assert check_answer("", "length", profile=EXPLORER) is not None


def test_a_profile_that_drops_leaves_answers_as_they_are() -> None:
    session = Session()
    session.user(10)
    session.reply(10)
    session.user(10)
    assert finish(session.prepared(10, PI), " H" + LISTS) == " H" + LISTS

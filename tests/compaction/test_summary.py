"""Answers merged and finished (A20, A28, B7, E2, E20)."""

from __future__ import annotations

from explorer.compaction.summary import (
    EARLIER_HEADING,
    SPLIT_HEADING,
    finish,
    footer,
    merge_summaries,
    strip_files,
)
from tests.compaction.sessions import PI, Session
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

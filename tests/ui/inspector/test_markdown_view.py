"""Markdown of a session, before it is laid out."""

from __future__ import annotations

from ui.inspector.markdown_view import can_render, keep_breaks


def test_markdown_is_only_for_texts_that_are_quickly_laid_out() -> None:
    assert can_render("# short")
    assert not can_render("x" * 70_000)
    assert not can_render("x" * 5_000)


def test_line_breaks_of_typed_text_stay() -> None:
    assert keep_breaks("one\ntwo\n\nthree") == "one\u2028two\n\nthree"
    code = "```\na\nb\n```"
    assert keep_breaks(code) == code
    for structure in ("- a\n- b", "1. a\n2. b", "# a\nb", "| a |\n|---|\n| b |", "a\n> b"):
        assert keep_breaks(structure) == structure

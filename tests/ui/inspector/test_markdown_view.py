"""Markdown of a session, before it is laid out."""

from __future__ import annotations

from PySide6.QtGui import QTextTable
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import settle
from ui.inspector.markdown_view import MarkdownView, can_render, keep_breaks


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


def test_a_long_cell_gets_the_room_and_a_word_stays_whole(app: QApplication) -> None:
    view = MarkdownView()
    view.resize(600, 400)
    view.show()
    short, middle, long = "opencode", "a published task and a constructed one", "word " * 60
    heads = "| agent | tried | special | unknown |\n|--|--|--|--|\n"
    view.set_markdown(f"{heads}| {short} | {middle} | {long} | {long} |")
    settle()
    (table,) = (one for one in view.document().rootFrame().childFrames())
    assert isinstance(table, QTextTable)
    starts = (table.cellAt(1, at).firstCursorPosition() for at in range(4))
    agent, tried, special, unknown = (view.cursorRect(start).left() for start in starts)
    assert unknown - special > 1.6 * (special - tried)
    assert tried - agent > view.fontMetrics().horizontalAdvance(short)
    view.deleteLater()

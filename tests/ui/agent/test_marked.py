"""The little Markdown of the conversation, and never more than characters."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QTextCursor
from PySide6.QtWidgets import QApplication

from explorer.session.kinds import Kind
from tests.ui.waiting import settle, wait_for
from ui.agent.conversation import Conversation, Said
from ui.agent.marked import Run, Style, runs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", [Run("plain")]),
        ("a `b c` d", [Run("a "), Run("b c", Style.CODE), Run(" d")]),
        ("**all** right", [Run("all", Style.BOLD), Run(" right")]),
        ("## Done ##", [Run("Done", Style.BOLD)]),
        ("  - point", [Run("  • "), Run("point")]),
        ("2 * 3 ** 4 * 5", [Run("2 * 3 ** 4 * 5")]),
        ("an `open one", [Run("an `open one")]),
        (
            "see\n```py\nx = '**y**'\n```\nafter",
            [
                Run("see"),
                Run("\n"),
                Run("x = '**y**'", Style.BLOCK),
                Run("\n"),
                Run("after"),
            ],
        ),
        ("```\nnever closed", [Run("never closed", Style.BLOCK)]),
        ("~~~\n```\n~~~", [Run("```", Style.BLOCK)]),
        ("<b>bold</b> [x](http://y)", [Run("<b>bold</b> [x](http://y)")]),
    ],
)
def test_runs(text: str, found: list[Run]) -> None:
    assert runs(text) == found


@pytest.fixture
def conversation(app: QApplication) -> Conversation:
    view = Conversation()
    view.resize(500, 120)
    view.show()
    settle()
    return view


def look(view: Conversation, words: str) -> QTextCursor:
    """The characters where some words stand; they must be there."""
    cursor = view.document().find(words)
    assert not cursor.isNull(), view.toPlainText()
    return cursor


def test_a_reply_shows_code_and_bold_words_not_their_marks(conversation: Conversation) -> None:
    text = "Run `pytest -q`, **twice**.\n```sh\nmake\n```\n<img src='http://x/y.png'>"
    conversation.add(Said("Agent", text, 3, Kind.ASSISTANT))
    shown = conversation.toPlainText()
    assert "`" not in shown and "**" not in shown and "sh\n" not in shown
    assert look(conversation, "pytest -q").charFormat().fontFixedPitch() or "mono" in (
        look(conversation, "pytest -q").charFormat().font().family().casefold()
    )
    assert look(conversation, "twice").charFormat().fontWeight() == QFont.Weight.Bold
    assert "<img src='http://x/y.png'>" in shown, "session text is never HTML"


def test_what_a_tool_says_stays_as_it_is(conversation: Conversation) -> None:
    conversation.add(Said("result", "**kwargs and `ticks`", 4, Kind.TOOL_RESULT, mono=True))
    assert "**kwargs and `ticks`" in conversation.toPlainText()


def test_a_reply_is_rendered_while_it_arrives(conversation: Conversation) -> None:
    conversation.add(Said("You", "go", 1, Kind.USER))
    for piece in ("It is **do", "ne**, see `a", ".py`."):
        conversation.feed(piece)
        conversation.flush()
    assert conversation.toPlainText().endswith("It is done, see a.py.")
    assert look(conversation, "done").charFormat().fontWeight() == QFont.Weight.Bold
    assert look(conversation, "go").charFormat().fontWeight() != QFont.Weight.Bold


def test_the_end_stays_in_sight_when_the_pane_shrinks(conversation: Conversation) -> None:
    conversation.show_lines([Said("You", f"message {at}", at, Kind.USER) for at in range(60)], 0)
    bar = conversation.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    conversation.resize(400, 70)
    wait_for(lambda: bar.value() == bar.maximum(), "the end")
    bar.setValue(10)
    conversation.resize(400, 90)
    settle()
    assert bar.value() == 10

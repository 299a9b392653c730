"""How entries read in the conversation, and how a reply streams in."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.session.describe import describe
from explorer.session.kinds import Kind
from tests.ui.waiting import settle, wait_for
from ui.agent.conversation import LONGEST, Conversation, Said, lines_of


def said(entry: dict[str, Any]) -> list[tuple[str, str]]:
    facts = describe(entry)
    return [(one.who, one.text) for one in lines_of(3, facts.kind, int(facts.flags), entry)]


def message(role: str, *blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": list(blocks), **fields}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_reply_reads_as_its_words_and_its_calls() -> None:
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "src/retry.py"}}
    entry = message("assistant", {"type": "thinking", "thinking": "hm"}, text("Let me see."), call)
    assert said(entry) == [("Agent", "Let me see."), ("read", "src/retry.py")]


def test_results_are_shown_short_and_failures_are_named() -> None:
    entry = message("toolResult", text("a\nb\nc\nd"), toolCallId="c", toolName="ls", isError=False)
    assert said(entry) == [("result", "4 lines")]
    entry = message("toolResult", text("no"), toolCallId="c", toolName="ls", isError=True)
    assert said(entry) == [("failed", "no")]
    entry = message("assistant", text("I"), stopReason="aborted", errorMessage="Stopped")
    assert said(entry) == [("Agent", "I"), ("Stopped", "Stopped")]


def test_a_summary_is_told_by_what_it_is_about() -> None:
    entry = {"type": "compaction", "summary": "## Goal\n- Fix the flake.\n\n## Progress\n..."}
    ((who, words),) = said(entry)
    assert who == "Compacted"
    assert "Fix the flake." in words
    assert "##" not in words


def test_metadata_and_hidden_notes_are_not_said() -> None:
    assert said({"type": "model_change", "provider": "p", "modelId": "m"}) == []
    assert said({"type": "custom_message", "content": "shh", "display": False}) == []
    assert said({"type": "custom_message", "content": "note", "display": True}) == [
        ("Note", "note")
    ]


@pytest.fixture
def shown(app: QApplication) -> Conversation:
    made = Conversation()
    made.resize(500, 120)
    made.show()
    return made


def line(number: int, words: str = "said") -> Said:
    return Said("You", f"{words} {number}", number, Kind.USER)


def test_a_streamed_reply_stays_in_sight(shown: Conversation) -> None:
    shown.show_lines([line(at) for at in range(30)], 0)
    settle()
    bar = shown.verticalScrollBar()
    assert bar.value() == bar.maximum()
    for _ in range(60):
        shown.feed("words that go on and on ")
    wait_for(lambda: "on and on" in shown.toPlainText(), "the words")
    shown.flush()
    settle()
    assert bar.value() == bar.maximum()
    shown.verticalScrollBar().setValue(0)
    shown.feed("more")
    shown.flush()
    settle()
    assert bar.value() == 0, "who reads further up is left there"


def test_text_that_looks_like_markup_or_a_link_stays_text(shown: Conversation) -> None:
    shown.show_lines(
        [Said("You", "<a href='entry:1'>x</a> <img src='file:///x'>", 1, Kind.USER)], 0
    )
    assert "<img src='file:///x'>" in shown.toPlainText()
    assert shown.loadResource(2, "file:///etc/hostname") is None


def test_long_texts_are_cut(shown: Conversation) -> None:
    shown.show_lines([Said("You", "x" * (LONGEST + 50), 1, Kind.USER)], 0)
    assert shown.toPlainText().count("x") == LONGEST


def test_names_lead_to_entries_and_the_top_to_earlier_messages(shown: Conversation) -> None:
    asked: list[int] = []
    earlier: list[bool] = []
    shown.entry_requested.connect(asked.append)
    shown.earlier_requested.connect(lambda: earlier.append(True))
    shown.show_lines([line(41)], 7)
    settle()
    assert "7 earlier messages" in shown.toPlainText()
    block = shown.document().begin().next()
    place = shown.cursorRect(_at(shown, block.position() + 1)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == [41]
    QTest.keyClick(shown, Qt.Key.Key_Up)
    assert earlier == [True]


def _at(shown: Conversation, position: int) -> Any:
    cursor = shown.textCursor()
    cursor.setPosition(position)
    return cursor

"""What a person does with a conversation, as real events, and what is then on screen."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.conversation.view.talks import Opened, Talk
from tests.ui.waiting import settle
from ui.conversation.conversation import Conversation
from ui.conversation.view.scroll_area import Placed

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def talk(app: QApplication) -> Conversation:
    made = Conversation()
    made.resize(700, 420)
    made.show()
    made.activateWindow()
    return made


def show(talk: Conversation, said: Talk) -> Opened:
    opened = Opened(said)
    talk.show_document(opened)
    settle()
    return opened


def find(talk: Conversation, words: str) -> Placed:
    """The part on screen that says this."""
    for placed in talk.view.placed:
        part = talk.view.flow.laid(placed.item).parts[placed.part]
        if words in part.words:
            return placed
    seen = "\n".join(words_on_screen(talk))
    raise AssertionError(f"{words!r} is not on screen, but:\n{seen}")


def words_on_screen(talk: Conversation) -> list[str]:
    flow = talk.view.flow
    return [flow.laid(p.item).parts[p.part].words for p in talk.view.placed]


def box_of(talk: Conversation, placed: Placed) -> tuple[Any, QPointF]:
    laid = talk.view.flow.laid(placed.item)
    box = laid.box(placed.part, talk.view.flow.pictures)
    return box, QPointF(0, placed.top + laid.gap(placed.part))


def point(talk: Conversation, words: str, inside: QRectF | None = None) -> QPoint:
    """A point of the part that says this: the middle of a rectangle in it, or of its first line."""
    box, origin = box_of(talk, find(talk, words))
    rect = inside or QRectF(box.left + 2, 1, 40, 16)
    return (origin + rect.center()).toPoint()


def click(talk: Conversation, at: QPoint) -> None:
    QTest.mouseClick(talk.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle()


def wheel(talk: Conversation, steps: int) -> None:
    port = talk.view.viewport()
    middle = QPointF(port.rect().center())
    event = QWheelEvent(
        middle, port.mapToGlobal(middle), QPoint(), QPoint(0, steps * 120),
        Qt.MouseButton.NoButton, Mod.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(port, event)
    settle()


def keys(talk: Conversation, *strokes: Any) -> None:
    for stroke in strokes:
        key, modifier = stroke if isinstance(stroke, tuple) else (stroke, Mod.NoModifier)
        QTest.keyClick(talk.view, key, modifier)
    settle()


def clipboard() -> str:
    return QGuiApplication.clipboard().text()

"""Notices: which of them go by themselves, and when."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from tests.ui.waiting import settle, wait_for
from ui.widgets import notice as notices
from ui.widgets.notice import Notice, NoticeStrip

DONE = Notice("done", "Two sessions were withdrawn.")


@pytest.fixture
def strip(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[NoticeStrip]:
    """A strip whose passing notices are shown for a moment only, below a box with the keyboard."""
    monkeypatch.setattr(notices, "PASSING_MS", 30)
    window = QWidget()
    column = QVBoxLayout(window)
    box, strip = QLineEdit(window), NoticeStrip(window)
    column.addWidget(box)
    column.addWidget(strip)
    window.resize(400, 120)
    window.show()
    window.activateWindow()
    box.setFocus()
    # Wherever the pointer was left, it is over neither of them now.
    QTest.mouseMove(window, QPoint(1, 1))
    settle()
    yield strip


def stays(strip: NoticeStrip) -> bool:
    QTest.qWait(6 * notices.PASSING_MS)
    return strip.isVisible()


def test_a_notice_that_only_tells_goes_by_itself(strip: NoticeStrip) -> None:
    for notice in (DONE, Notice("done", "It was written.", action="Show", passes=True)):
        strip.show_notice(notice)
        assert strip.isVisible()
        wait_for(lambda: not strip.isVisible(), "the end of the notice")
        assert strip.notice is None


def test_a_notice_with_something_to_do_stays(strip: NoticeStrip) -> None:
    for notice in (
        Notice("done", "Compacted.", action="&Undo"),
        Notice("error", "The file is damaged."),
        Notice("warning", "The disk is nearly full."),
        Notice("info", "Nothing was changed."),
    ):
        strip.show_notice(DONE)
        strip.show_notice(notice)
        assert stays(strip), notice.what


def test_a_notice_that_has_the_keyboard_waits(strip: NoticeStrip) -> None:
    strip.show_notice(DONE)
    strip.setFocus()
    settle()
    assert strip.hasFocus() and stays(strip)
    strip.window().findChildren(QLineEdit)[0].setFocus()
    wait_for(lambda: not strip.isVisible(), "the end of the notice")


def test_a_notice_below_the_pointer_waits(strip: NoticeStrip) -> None:
    strip.show_notice(DONE)
    settle()
    QTest.mouseMove(strip, strip.rect().center())
    settle()
    assert strip.underMouse() and stays(strip)

"""Where the person writes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import settle
from ui.conversation.composer import Composer

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def composer(app: QApplication) -> Composer:
    made = Composer()
    made.resize(400, 40)
    made.show()
    return made


def test_enter_sends_and_shift_enter_starts_a_line(composer: Composer) -> None:
    sent: list[str] = []
    composer.sent.connect(sent.append)
    QTest.keyClick(composer, Key.Key_Return)
    QTest.keyClicks(composer, "  ")
    QTest.keyClick(composer, Key.Key_Return)
    assert sent == [], "nothing is not sent"
    QTest.keyClicks(composer, "one")
    QTest.keyClick(composer, Key.Key_Return, Mod.ShiftModifier)
    QTest.keyClicks(composer, "two")
    QTest.keyClick(composer, Key.Key_Enter, Mod.KeypadModifier)
    QTest.keyClick(composer, Key.Key_Return, Mod.ControlModifier)
    assert sent == ["one\ntwo"] * 2
    assert composer.toPlainText().strip() == "one\ntwo", "it stays until it is taken"
    composer.taken("one\ntwo")
    assert composer.toPlainText() == ""


def test_the_box_grows_with_its_lines_to_a_point(composer: Composer) -> None:
    heights = []
    for _ in range(12):
        heights.append(composer.height())
        QTest.keyClick(composer, Key.Key_Return, Mod.ShiftModifier)
        settle(1)
    assert heights[0] < heights[2] < heights[4]
    assert heights[-1] == heights[-3]


def test_history_does_not_take_what_is_being_written(composer: Composer) -> None:
    composer.set_history(["first", "second"])
    QTest.keyClick(composer, Key.Key_Up)
    assert composer.toPlainText() == "second"
    QTest.keyClick(composer, Key.Key_Up)
    QTest.keyClick(composer, Key.Key_Up)
    assert composer.toPlainText() == "first"
    QTest.keyClicks(composer, " thoughts")
    QTest.keyClick(composer, Key.Key_Up)
    QTest.keyClick(composer, Key.Key_Down)
    assert composer.toPlainText() == "first thoughts"


def test_escape_stops_and_paste_is_plain(composer: Composer) -> None:
    stops: list[bool] = []
    composer.stopped.connect(lambda: stops.append(True))
    QTest.keyClick(composer, Key.Key_Escape)
    assert stops == [True]
    data = QMimeData()
    data.setHtml("<b>bold</b> <img src='file:///etc/hostname'>")
    data.setText("bold")
    composer.insertFromMimeData(data)
    assert composer.toPlainText() == "bold"

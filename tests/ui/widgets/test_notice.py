"""Notices: what was done, and the button that goes with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from tests.ui.waiting import settle
from ui.widgets.notice import Notice, NoticeStrip


def test_the_button_stands_beside_the_words_where_there_is_room(app: QApplication) -> None:
    pressed: list[int] = []
    strip = NoticeStrip()
    strip.show_notice(
        Notice("done", "Two sessions were moved to the trash.", "The files were not touched.",
               action="Undo", on_action=lambda: pressed.append(strip.width()))
    )  # fmt: skip
    button = next(one for one in strip.findChildren(QPushButton) if one.text() == "Undo")
    words = next(one for one in strip.findChildren(QLabel) if one.text().startswith("Two"))
    for width, is_beside in ((900, True), (300, False), (900, True)):
        strip.resize(width, 100)
        settle()
        assert strip.width() == width
        assert (button.geometry().left() > words.geometry().right()) is is_beside, width
        assert (button.geometry().top() > words.geometry().bottom()) is not is_beside, width
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pressed == [900, 300, 900]

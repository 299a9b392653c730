"""A list box shows its choice whole where there is room; the wheel turns no box by chance."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from tests.ui.waiting import settle, wait_for
from ui import theme
from ui.widgets.choice import ChoiceBox, NumberBox


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_what_fits_is_whole_and_what_does_not_is_elided(app: QApplication, scale: float) -> None:
    theme.set_text_scale(scale)
    theme.set_theme("light", app)
    try:
        box = ChoiceBox()
        for words in ("explorer", "Demonstration agent (offline)"):
            box.addItem(words)
        box.show()
        box.adjustSize()
        for row in range(box.count()):
            box.setCurrentIndex(row)
            assert box.shown_text() == box.currentText()
        box.setFixedWidth(box.width() // 2)
        settle()
        assert box.shown_text().endswith("…")
        assert box.currentText() == "Demonstration agent (offline)", "the choice itself stays whole"
        box.deleteLater()
    finally:
        theme.set_text_scale(1.0)
        theme.set_theme("light", app)


def turn_wheel(box: QWidget, notches: int) -> None:
    middle = QPointF(box.rect().center())
    QApplication.sendEvent(
        box,
        QWheelEvent(
            middle, box.mapToGlobal(middle), QPoint(), QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        ),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["list", "number"])
def test_the_wheel_turns_a_box_only_while_it_has_the_focus(app: QApplication, kind: str) -> None:
    page = QWidget()
    column = QVBoxLayout(page)
    box: QWidget
    if kind == "list":
        listed = box = ChoiceBox(page)
        listed.addItems(["explorer", "pi", "copilot"])
        value = listed.currentIndex
    else:
        number = box = NumberBox(0, 100, page)
        value = number.value
    other = QLineEdit(page)
    for part in (other, box):
        column.addWidget(part)
    page.show()
    page.activateWindow()
    other.setFocus()
    wait_for(other.hasFocus)

    before = value()
    step = 1 if kind == "number" else -1
    turn_wheel(box, step)
    assert value() == before and other.hasFocus()

    box.setFocus()
    wait_for(box.hasFocus)
    turn_wheel(box, step)
    assert value() == before + 1


def test_a_box_says_what_it_is_for_beside_its_choice(app: QApplication) -> None:
    box = ChoiceBox()
    box.setAccessibleName("Speed")
    assert box.accessibleDescription() == "Speed"
    box.setToolTip("How fast it goes")
    assert box.accessibleDescription() == "Speed. How fast it goes"
    box.setToolTip("Speed: how fast it goes")
    assert box.accessibleDescription() == "Speed: how fast it goes"
    box.setAccessibleDescription("said by its owner")
    box.setToolTip("another")
    assert box.accessibleDescription() == "said by its owner"

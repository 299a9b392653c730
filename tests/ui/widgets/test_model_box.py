"""The list of models: short as it is, long by provider and found by typing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget

from explorer.models.catalogue import ModelInfo, listed
from tests.ui.waiting import Heard, settle
from ui.widgets.model_box import MORE, ModelBox

Key = Qt.Key
LONG = [("offline/extractive", "Extractive (offline)")] + [
    (f"{provider}/{name}", f"{provider}/{name}")
    for provider in ("anthropic", "openai")
    for name in ("one-9", "one-8", "one-7", "two-mini", "two", "three", "four-lite")
]


def shown(app: QApplication, models: list[tuple[str, str]], chosen: str = "") -> ModelBox:
    box = ModelBox()
    box.setAccessibleName("Model")
    box.set_models(models, chosen)
    box.resize(260, 32)
    box.show()
    box.activateWindow()
    settle()
    return box


def test_a_few_models_are_a_plain_list(app: QApplication) -> None:
    box = shown(app, LONG[:3], "anthropic/one-8")
    assert not box.isEditable()
    assert box.count() == 3
    assert box.currentData() == "anthropic/one-8"


def test_many_models_stand_under_their_providers_which_cannot_be_chosen(app: QApplication) -> None:
    box = shown(app, LONG, "openai/two")
    box.showPopup()
    rows = box.popup.table.rows.rows
    assert [row.text for row in rows if not row.name] == ["offline", "anthropic", "openai"]
    assert box.popup.table.current.name == box.currentData() == "openai/two"
    names = [row.name for row in rows if row.name]
    for key, name in ((Key.Key_Home, names[0]), (Key.Key_Down, names[1]), (Key.Key_End, names[-1]),
                      (Key.Key_Down, names[0]), (Key.Key_Up, names[-1])):  # fmt: skip
        QTest.keyClick(box, key)
        assert box.popup.table.current.name == name, "the headings are stepped over"
    assert box.accessibleDescription() == names[-1]
    QTest.keyClick(box, Key.Key_Escape)
    assert not box.popup.isVisible() and box.currentData() == "openai/two"
    box.set_models(LONG, "openai/gone")
    assert box.currentData() == "offline/extractive", "a heading is never the choice"
    heard = Heard(box.activated)
    box.setFocus()
    QTest.keyClick(box, Key.Key_Down)
    assert heard.count() == 1 and box.currentData() == "anthropic/one-9"


def test_typing_a_part_of_the_name_finds_the_model(app: QApplication) -> None:
    box = shown(app, LONG, "offline/extractive")
    heard = Heard(box.activated)
    line = box.lineEdit()
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "two-m")
    assert box.popup.isVisible()
    assert box.popup.table.cells() == [["anthropic/two-mini"], ["openai/two-mini"]]
    QTest.keyClick(line, Key.Key_Down)
    QTest.keyClick(line, Key.Key_Return)
    settle()
    assert not box.popup.isVisible() and line.text() == "openai/two-mini"
    assert box.currentData() == "openai/two-mini"
    assert heard.at(heard.count() - 1)[0] == box.currentIndex()


def test_words_that_are_no_model_give_way_to_the_chosen_one(app: QApplication) -> None:
    box = shown(app, LONG, "openai/three")
    line = box.lineEdit()
    assert line is not None
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "kangaroo")
    QTest.keyClick(line, Key.Key_Return)
    settle()
    assert line.text() == "openai/three"
    assert box.currentData() == "openai/three"


def test_the_newest_come_first_and_rows_that_are_no_models_not_at_all() -> None:
    ids = (
        "openai/gpt-4o", "openai/ft:gpt-4o-2024-08-06", "openai/gpt-5.1-2025-11-13",
        "openai/container", "anthropic/claude-opus-4-5-20251101", "openai/gpt-5.1",
        "anthropic/claude-opus-4-6", "openai/gpt-5", "anthropic/claude-opus-4-5",
    )  # fmt: skip
    offline = ModelInfo("offline/extractive", "x", None, None, offline=True)
    models = [ModelInfo(name, name, None, None) for name in ids]
    assert [model.id for model in listed([*models, offline])] == [
        "offline/extractive",
        "anthropic/claude-opus-4-6",
        "anthropic/claude-opus-4-5",
        "anthropic/claude-opus-4-5-20251101",
        "openai/gpt-5.1",
        "openai/gpt-5.1-2025-11-13",
        "openai/gpt-5",
        "openai/gpt-4o",
    ]


def test_the_face_tells_the_model_and_not_the_way_to_it(app: QApplication) -> None:
    way = "fireworks_ai/accounts/fireworks/models/qwen3-32b"
    box = shown(app, [*LONG[:2], (way, way)], way)
    assert box.face_text() == box.shown_text() == "qwen3-32b"
    assert box.currentText() == way, "the list has the whole name"
    box.set_models(LONG[:2], "offline/extractive")
    assert box.face_text() == box.shown_text() == "Extractive (offline)"


def test_a_narrow_box_leaves_out_what_stands_in_brackets_and_the_tip_has_it(
    app: QApplication,
) -> None:
    box = shown(app, LONG[:2], "offline/extractive")
    box.setToolTip("It writes the summary")
    box.setFixedWidth(box.fontMetrics().horizontalAdvance("Extractive (offline)") + 20)
    settle()
    assert box.shown_text() == "Extractive"
    middle = box.rect().center()
    point = QHelpEvent(QEvent.Type.ToolTip, middle, box.mapToGlobal(middle))
    QApplication.sendEvent(box, point)
    assert QToolTip.text() == "Extractive (offline)\nIt writes the summary"
    QToolTip.hideText()
    box.setFixedWidth(box.width() - 60)
    assert box.shown_text().endswith("…")


@pytest.mark.parametrize("models", [LONG[:3], LONG], ids=["few", "many"])
def test_more_models_are_asked_for_from_the_open_list_alone(
    app: QApplication, models: list[tuple[str, str]]
) -> None:
    box = ModelBox(more=True)
    box.set_models(models, models[1][0])
    box.show()
    box.activateWindow()
    settle()
    asked, activated = Heard(box.more_asked), Heard(box.activated)
    for _ in models:
        QTest.keyClick(box, Key.Key_Down)
    QTest.keyClick(box, Key.Key_End)
    assert asked.count() == 0 and box.currentData() == models[-1][0]
    box.showPopup()
    settle()
    before = activated.count()
    table = box.popup.table
    assert table.cells()[-1] == [MORE]
    table.scrollToBottom()
    place = table.visualRect(table.rows.index(table.rows.rowCount() - 1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    settle()
    assert asked.count() == 1 and activated.count() == before
    assert box.currentData() == models[-1][0], "the choice stays"
    assert not box.popup.isVisible()


def test_the_list_stays_within_a_low_window_and_closes_by_a_press_past_it(
    app: QApplication,
) -> None:
    window = QWidget()
    window.resize(300, 200)
    box = ModelBox(window)
    box.set_models(LONG, "openai/two")
    box.setGeometry(10, 140, 200, 30)
    other = QLineEdit(window)
    other.setGeometry(250, 140, 40, 30)
    window.show()
    settle()
    arrow = QPoint(box.width() - 10, 15)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=arrow)
    assert box.popup.isVisible() and window.rect().contains(box.popup.geometry())
    assert box.popup.geometry().bottom() < box.y(), "there is more room above"
    QTest.mouseClick(other, Qt.MouseButton.LeftButton)
    assert not box.popup.isVisible()
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=arrow)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=arrow)
    assert not box.popup.isVisible(), "a second press shuts it"

"""Text that looks like HTML is shown as it is, by whatever shows it, and loads nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QImage
from PySide6.QtWidgets import (
    QApplication,
    QFormLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QToolTip,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.widgets.labels import Caption, RichLabel, set_plain, set_rich

HIGH = 500
"""Pixels of the picture: what shows it is as high, what shows the text is one to four lines."""


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """A text that Qt takes for HTML, with a picture in a local file."""
    picture = QImage(HIGH, HIGH, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    assert picture.save(str(tmp_path / "picture.png"))
    return f'<b>Title</b> <img src="file://{tmp_path}/picture.png"> &amp; &lt;'


def labels(app: QApplication) -> list[QLabel]:
    """All labels that are seen, tool tips with them."""
    app.processEvents()
    return [one for one in app.allWidgets() if isinstance(one, QLabel) and one.isVisible()]


def assert_plain(app: QApplication, text: str, times: int) -> None:
    shown = [label for label in labels(app) if label.text() == text]
    assert len(shown) == times
    assert {label.textFormat() for label in shown} == {Qt.TextFormat.PlainText}
    assert max(label.sizeHint().height() for label in shown) < HIGH


def test_a_label_shows_the_letters_that_it_was_given(app: QApplication, hostile: str) -> None:
    window = QWidget()
    column = QVBoxLayout(window)
    wrapped = QLabel(hostile, window)
    wrapped.setWordWrap(True)
    column.addWidget(wrapped)
    form = QFormLayout()
    form.addRow(hostile, QLineEdit(window))
    column.addLayout(form)
    window.show()
    assert_plain(app, hostile, 2)
    theme.set_theme("dark", app)
    assert_plain(app, hostile, 2)


def test_dialogs_show_the_letters_that_they_were_given(app: QApplication, hostile: str) -> None:
    window = QWidget()
    window.show()
    question = QMessageBox(window)
    question.setText(hostile)
    question.setInformativeText(hostile)
    question.open()
    line = QInputDialog(window)
    line.setLabelText(hostile)
    line.open()
    assert_plain(app, hostile, 3)


def test_tips_show_the_letters_that_they_were_given(app: QApplication, hostile: str) -> None:
    window = QWidget()
    window.setToolTip(hostile)
    window.show()
    rows = QTreeWidget()
    row = QTreeWidgetItem(["row"])
    row.setToolTip(0, hostile)
    rows.addTopLevelItem(row)
    rows.show()
    app.processEvents()
    for shown, at in (
        (window, QPoint(2, 2)),
        (rows.viewport(), rows.visualItemRect(row).center()),
    ):
        QToolTip.hideText()
        event = QHelpEvent(QEvent.Type.ToolTip, at, shown.mapToGlobal(at))
        QApplication.sendEvent(shown, event)
        assert QToolTip.text() == hostile
        tips = [one for one in labels(app) if one.metaObject().className() == "QTipLabel"]
        assert [tip.textFormat() for tip in tips] == [Qt.TextFormat.PlainText]
        assert tips[0].height() < HIGH
    QToolTip.hideText()


def test_rich_text_of_our_own_stays_rich_in_both_themes(app: QApplication) -> None:
    window = QWidget()
    column = QVBoxLayout(window)
    rich, caption = RichLabel(window), Caption("first", window)
    rich.setText("<b>bold</b>")
    set_rich(caption, "<u>marked</u>")
    column.addWidget(rich)
    column.addWidget(caption)
    window.show()
    for choice in ("light", "dark"):
        theme.set_theme(choice, app)  # type: ignore[arg-type]
        app.processEvents()
        assert rich.textFormat() == caption.textFormat() == Qt.TextFormat.RichText
    set_plain(caption, "<u>as it is</u>")
    theme.set_theme("light", app)
    app.processEvents()
    assert caption.textFormat() == Qt.TextFormat.PlainText

"""Boxes to choose from and for numbers. Neither turns by the wheel unless it has the focus."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)


class ChoiceBox(QComboBox):
    """A list box that is never wider than its place: what does not fit is elided, not cut off."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._described = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def setAccessibleName(self, name: str, /) -> None:
        super().setAccessibleName(name)
        self._say_purpose()

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTipChange:
            self._say_purpose()
        return super().event(event)

    def _say_purpose(self) -> None:
        """Say what the box is for: on Linux screen readers get the choice as its name."""
        if self.accessibleDescription() == self._described:
            name, tip = self.accessibleName(), self.toolTip()
            self._described = tip if tip.startswith(name) else f"{name}. {tip}".strip(". ")
            self.setAccessibleDescription(self._described)

    def sizeHint(self) -> QSize:
        """At large text the style's own hint is a pixel or two short of the words."""
        return super().sizeHint() + QSize(4, 0)

    def face_text(self) -> str:
        """What stands in the box for the chosen item."""
        return self.currentText()

    def fitted_text(self, room: int) -> str:
        """What of it can be read in so many pixels."""
        text = self.face_text() or self.placeholderText()
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)

    def shown_text(self) -> str:
        """What can be read of the chosen item."""
        return self._option().currentText

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        option.currentText = self.fitted_text(room.width())
        return option

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter, option = QStylePainter(self), self._option()
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def show_checked(button: QAbstractButton, on: bool) -> None:
    """Show what holds, without ``toggled``. That signal then reports what a person does by click,
    key or screen reader; the last of them toggles without a click, so ``clicked`` does not."""
    with QSignalBlocker(button):
        button.setChecked(on)


class NumberBox(QSpinBox):
    """A whole number with its thousands parted, taken when it is written to the end."""

    def __init__(self, least: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setRange(least, most)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

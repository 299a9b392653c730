"""A list box that is never wider than its place: what does not fit is elided, not cut off."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget


class ChoiceBox(QComboBox):
    """``turns_by_wheel``: whether the wheel chooses; not where it is to scroll what is around."""

    def __init__(self, parent: QWidget | None = None, *, turns_by_wheel: bool = True) -> None:
        super().__init__(parent)
        self._turns_by_wheel = turns_by_wheel

    def sizeHint(self) -> QSize:
        """At large text the style's own hint is a pixel or two short of the words."""
        return super().sizeHint() + QSize(4, 0)

    def face_text(self) -> str:
        """What stands in the box for the chosen item."""
        return self.currentText()

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
        option.currentText = self.fontMetrics().elidedText(
            self.face_text() or self.placeholderText(),
            Qt.TextElideMode.ElideRight,
            room.width(),
        )
        return option

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter, option = QStylePainter(self), self._option()
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        if self._turns_by_wheel:
            super().wheelEvent(event)
        else:
            event.ignore()

"""A slider with its number: drag it, type it, or step it with the keys."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import (
    QLabel,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)

from ui.theme import S8, mono_font, on_theme_changed, set_font
from ui.widgets.choice import NumberBox
from ui.widgets.panels import row_in

_STEPS = 1000
REST_MS = 250
"""After the last step by key, wheel or typing the value is taken to have come to rest."""


class _Track(QSlider):
    """A slider that goes where it is clicked and leaves the keys to its owner."""

    stepped = Signal(int)
    """+1 or -1: one step, +10 or -10: a page, +1000 or -1000: to the end."""

    _KEYS = {
        Qt.Key.Key_Right: 1,
        Qt.Key.Key_Up: 1,
        Qt.Key.Key_Left: -1,
        Qt.Key.Key_Down: -1,
        Qt.Key.Key_PageUp: 10,
        Qt.Key.Key_PageDown: -10,
        Qt.Key.Key_End: 1000,
        Qt.Key.Key_Home: -1000,
    }

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setRange(0, _STEPS)
        self.setMinimumWidth(60)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        step = self._KEYS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        self.stepped.emit(step)
        event.accept()

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        # Scrolling the pane must not move a value that the pointer happens to cross.
        if not self.hasFocus():
            event.ignore()
            return
        self.stepped.emit(1 if event.angleDelta().y() > 0 else -1)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            handle = self.style().subControlRect(
                QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
            )
            if not handle.contains(event.position().toPoint()):
                span = self.width() - handle.width()
                at = round(event.position().x() - handle.width() / 2)
                self.setValue(QStyle.sliderValueFromPosition(0, _STEPS, at, span))
        super().mousePressEvent(event)


class NumberSlider(QWidget):
    """Label, slider and number in one row. Values are whole tokens.

    The scale is close to logarithmic, with zero at its start when ``minimum`` is 0. Dragging and
    the keys move in round steps; the number box takes any value of the range.
    """

    changed = Signal(int)
    """The value, on every change that the person makes."""
    rested = Signal()
    """The value was changed, and the slider is let go, or nothing moves it any more."""

    def __init__(
        self, label: str, minimum: int, maximum: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._minimum, self._maximum = minimum, maximum
        self._value = minimum
        self._is_moved = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._come_to_rest)
        self.label = QLabel(label, self)
        self.track = _Track(self)
        self.box = NumberBox(minimum, maximum, self)
        self.box.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.box.setProperty("plain", True)
        self.label.setBuddy(self.box)
        name = label.replace("&", "")
        self.track.setAccessibleName(name)
        self.box.setAccessibleName(f"{name}, tokens")
        row = row_in(self, S8)
        row.addWidget(self.label)
        row.addWidget(self.track, 1)
        row.addWidget(self.box)
        self.track.valueChanged.connect(self._dragged)
        self.track.stepped.connect(self._stepped)
        self.track.sliderReleased.connect(self._come_to_rest)
        self.box.valueChanged.connect(self._take)
        on_theme_changed(self._restyle)
        self._restyle()
        self.set_value(minimum)

    def _restyle(self) -> None:
        for part in (self.box, self.box.lineEdit()):
            set_font(part, mono_font())
        width = self.box.fontMetrics().horizontalAdvance("0,000,000")
        self.box.setFixedWidth(width + 16)

    def label_width(self) -> int:
        """Pixels that the label needs in its present font."""
        return self.label.fontMetrics().horizontalAdvance(self.label.text().replace("&", ""))

    def set_label_width(self, width: int) -> None:
        """Align several sliders below each other."""
        self.label.setFixedWidth(width)

    def set_maximum(self, maximum: int) -> None:
        """Change the range's end; a value beyond it moves to it without a signal."""
        self._maximum = max(maximum, self._minimum + 1)
        self.box.blockSignals(True)
        self.box.setRange(self._minimum, self._maximum)
        self.box.blockSignals(False)
        self.set_value(self._value)

    def value(self) -> int:
        """Tokens."""
        return self._value

    def set_value(self, value: int) -> None:
        """Show a value without a signal."""
        self._value = max(self._minimum, min(value, self._maximum))
        for part, shown in ((self.box, self._value), (self.track, self._position(self._value))):
            part.blockSignals(True)
            part.setValue(shown)
            part.blockSignals(False)
        self.track.setAccessibleDescription(f"{self._value:,} tokens")
        self.track.update()

    def _knee(self) -> float:
        return float(self._minimum) if self._minimum > 0 else 1000.0

    def _position(self, value: int) -> int:
        knee = self._knee()
        span = math.log1p((self._maximum - self._minimum) / knee)
        return round(_STEPS * math.log1p((value - self._minimum) / knee) / span)

    def _at(self, position: int) -> int:
        if position >= _STEPS:
            return self._maximum
        knee = self._knee()
        span = math.log1p((self._maximum - self._minimum) / knee)
        raw = self._minimum + knee * math.expm1(span * position / _STEPS)
        step = self.step(int(raw))
        return max(self._minimum, min(round(raw / step) * step, self._maximum))

    @staticmethod
    def step(value: int) -> int:
        """A round step near a value: 500 at 20,000, 5,000 at 200,000."""
        return max(100, 5 * 10 ** max(0, len(str(max(value, 1))) - 3))

    def _dragged(self, position: int) -> None:
        self._take(self._at(position), keep_track=True)

    def _stepped(self, steps: int) -> None:
        if abs(steps) >= 1000:
            self._take(self._maximum if steps > 0 else self._minimum)
            return
        step = self.step(self._value if steps > 0 else self._value - 1)
        base = self._value // step if steps > 0 else -(-self._value // step)
        self._take((base + steps) * step)

    def _take(self, value: int, *, keep_track: bool = False) -> None:
        value = max(self._minimum, min(value, self._maximum))
        if value == self._value:
            if not keep_track:
                self.set_value(value)
            return
        position = self.track.value()
        self.set_value(value)
        if keep_track:
            self.track.blockSignals(True)
            self.track.setValue(position)
            self.track.blockSignals(False)
        self._is_moved = True
        self._rest.start()
        self.changed.emit(value)

    def _come_to_rest(self) -> None:
        if self._is_moved and not self.track.isSliderDown():
            self._is_moved = False
            self._rest.stop()
            self.rested.emit()

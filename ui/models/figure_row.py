"""One figure of a model: who says it, a field to say otherwise, and the way back."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from explorer.models.catalogue import ModelInfo
from ui.models.words import SOURCES, TITLES, UNKNOWN, parsed_price, parsed_tokens, price
from ui.theme import S4, S8, bind_font, bind_icon, on_theme_changed, scaled, set_tone, small_font
from ui.widgets.choice import Choice
from ui.widgets.figures import full
from ui.widgets.labels import ElidedLabel

SWITCHES = frozenset({"reasoning", "images", "tools"})
COUNTS = frozenset({"window", "output_limit"})
WIDTH = 108
"""Pixels of the drawing that a field takes."""


def unit_of(figure: str) -> str:
    if figure in SWITCHES:
        return ""
    return "tokens" if figure in COUNTS else "$ per million"


def as_typed(figure: str, value: Any) -> str:
    """A figure as a person would type it; a sign where nobody knows it."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return full(value) if figure in COUNTS else price(value)


class _Line(QLineEdit):
    """A line to type in; Escape takes back what was typed, and only then closes the dialog."""

    undone = Signal()
    taken = Signal()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.undone.emit()
            event.accept()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
            event.accept()
            return
        super().keyPressEvent(event)


class FigureRow(QWidget):
    """Shows one figure; emits what the person says of it."""

    said = Signal(str, object)
    """(figure, value); None takes back what was said."""

    def __init__(self, figure: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.figure = figure
        self._shown: Any = None
        self.title = ElidedLabel(TITLES[figure], self)
        self.source = ElidedLabel(parent=self)
        bind_font(self.source, small_font)
        self.field = self._switch() if figure in SWITCHES else self._line()
        self.field.setAccessibleName(" ".join((TITLES[figure], unit_of(figure))).strip())
        self.reset = QToolButton(self)
        bind_icon(self.reset, "undo", "dim")
        self.reset.setAccessibleName(f"Take back what you say: {TITLES[figure]}")
        self.reset.clicked.connect(lambda: self._say(None))
        keep = self.reset.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(keep)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.title)
        words.addWidget(self.source)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, S4, 0, S4)
        line.setSpacing(S8)
        line.addLayout(words, 1)
        line.addWidget(self.field)
        line.addWidget(self.reset)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self.field.setFixedWidth(scaled(WIDTH))

    def _line(self) -> QWidget:
        line = _Line(self)
        line.setAlignment(Qt.AlignmentFlag.AlignRight)
        line.editingFinished.connect(self._typed)
        line.taken.connect(self._typed)
        line.undone.connect(self._show_value)
        return line

    def _switch(self) -> QWidget:
        box = Choice(self, turns_by_wheel=False)
        for words, value in (("", None), ("yes", True), ("no", False)):
            box.addItem(words, value)
        box.activated.connect(lambda at: self._say(box.itemData(at)))
        return box

    # what is shown -------------------------------------------------------------------------------

    def show_figure(self, info: ModelInfo, others: ModelInfo) -> None:
        """``others``: what is known of the model apart from what the person says."""
        source = info.source_of(self.figure)
        says, own = getattr(others, self.figure), source == "you"
        self._shown = getattr(info, self.figure)
        unit = unit_of(self.figure)
        self.source.setText(f"{unit} · {SOURCES[source]}" if unit else SOURCES[source])
        set_tone(self.source, "accent" if own else "dim")
        others_say = SOURCES[others.source_of(self.figure)]
        known = others_say if says is None else f"{others_say}: {as_typed(self.figure, says)}"
        self.reset.setVisible(own)
        self.reset.setToolTip(f"Back to what others say ({known})")
        if isinstance(self.field, Choice):
            self.field.setItemText(0, "unknown" if says is None else as_typed(self.figure, says))
            self.field.setItemData(0, f"As others say ({known})", Qt.ItemDataRole.ToolTipRole)
            self.field.setCurrentIndex((1 if self._shown else 2) if own else 0)
        elif isinstance(self.field, _Line):
            self.field.setToolTip(f"As others say ({known})")
            if not (self.field.hasFocus() and self.field.isModified()):
                self._show_value()

    def _show_value(self) -> None:
        assert isinstance(self.field, _Line)
        text = "" if self._shown is None else as_typed(self.figure, self._shown)
        self.field.setText(text)
        self.field.setPlaceholderText("not known")
        self.field.setModified(False)
        self._mark(False)

    # what is said --------------------------------------------------------------------------------

    def _say(self, value: object) -> None:
        if isinstance(self.field, _Line):
            self.field.setModified(False)
            self._mark(False)
        self.said.emit(self.figure, value)

    def _typed(self) -> None:
        """What was typed is taken when the field is left, or by Return; empty takes it back."""
        line = self.field
        if not isinstance(line, _Line) or not line.isModified():
            return
        text = line.text().strip()
        if not text:
            self._say(None)
            return
        try:
            value = (parsed_tokens if self.figure in COUNTS else parsed_price)(text)
        except ValueError:
            self._mark(True)
            example = "200,000 or 200k" if self.figure in COUNTS else "3.00"
            self.source.setText(f"not taken; such as {example}")
            set_tone(self.source, "lost")
            return
        self._say(value)

    def _mark(self, invalid: bool) -> None:
        if bool(self.field.property("invalid")) != invalid:
            self.field.setProperty("invalid", invalid)
            self.field.style().unpolish(self.field)
            self.field.style().polish(self.field)

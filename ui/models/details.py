"""What is known of the marked model, figure by figure, and what the person says instead."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QWidget,
)

from explorer.models.catalogue import FIGURES, ModelInfo
from ui.models.model_table import ModelRow
from ui.models.words import (
    SOURCES,
    TITLES,
    UNKNOWN,
    is_too_small,
    marks_of,
    name_of,
    parsed_price,
    parsed_tokens,
    price,
    tier_lines,
    too_small_words,
)
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    bind_icon,
    mono_font,
    on_theme_changed,
    scaled,
    set_tone,
    small_font,
    ui_font,
)
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import full
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.panels import column_in, column_of, row_in
from ui.widgets.panels import row as line_of

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

    stated = Signal(str, object)
    """(figure, value); None takes the user's figure back."""

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
        words = column_of(self.title, self.source, spacing=0)
        line = row_in(self, S8, (0, S4, 0, S4))
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
        box = ChoiceBox(self)
        for words, value in (("", None), ("yes", True), ("no", False)):
            box.addItem(words, value)
        box.activated.connect(lambda at: self._say(box.itemData(at)))
        return box

    # what is shown -------------------------------------------------------------------------------

    def show_figure(self, info: ModelInfo, others: ModelInfo) -> None:
        """``others``: what is known of the model apart from what the person says."""
        source = info.source_of(self.figure)
        says, is_set = getattr(others, self.figure), source == "you"
        self._shown = getattr(info, self.figure)
        unit = unit_of(self.figure)
        self.source.setText(f"{unit} · {SOURCES[source]}" if unit else SOURCES[source])
        set_tone(self.source, "accent" if is_set else "dim")
        others_say = SOURCES[others.source_of(self.figure)]
        known = others_say if says is None else f"{others_say}: {as_typed(self.figure, says)}"
        self.reset.setVisible(is_set)
        self.reset.setToolTip(f"Back to what others say ({known})")
        if isinstance(self.field, ChoiceBox):
            self.field.setItemText(0, "unknown" if says is None else as_typed(self.figure, says))
            self.field.setItemData(0, f"As others say ({known})", Qt.ItemDataRole.ToolTipRole)
            self.field.setCurrentIndex((1 if self._shown else 2) if is_set else 0)
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

    # the user's figures --------------------------------------------------------------------------

    def _say(self, value: object) -> None:
        if isinstance(self.field, _Line):
            self.field.setModified(False)
            self._mark(False)
        self.stated.emit(self.figure, value)

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


class ModelDetails(QScrollArea):
    """One model. What is changed is emitted at once."""

    stated = Signal(str, str, object)
    """(model, figure, value); None takes the user's figure back."""
    reset_asked = Signal(str)
    """All figures that the user stated of a model are taken back."""
    key_asked = Signal(str)
    """A key of this provider is to be set."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._model = ""
        self._provider = ""
        body = QWidget(self)
        self.setWidget(body)
        self.name = QLabel(body)
        bind_font(self.name, lambda: ui_font(1, bold=True))
        self.id = QLabel(body)
        bind_font(self.id, lambda: mono_font(-1))
        set_tone(self.id, "dim")
        self.warning = QLabel(body)
        set_tone(self.warning, "lost")
        self.key = LinkButton("Set a &key…", body)
        self.key.clicked.connect(lambda: self.key_asked.emit(self._provider))
        self.note = Caption(parent=body)
        for label in (self.name, self.id, self.warning, self.note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.id.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures = {figure: FigureRow(figure, body) for figure in FIGURES}
        self.reset = LinkButton("Take back all that &you say", body)
        self.reset.clicked.connect(lambda: self.reset_asked.emit(self._model))
        column = column_in(body, S4, (S16, S8, S12, S12))
        for part in (self.name, self.id, self.warning, self.key):
            column.addWidget(part)
        column.addSpacing(S4)
        for figure in self.figures.values():
            figure.stated.connect(self._stated)
            column.addWidget(figure)
        column.addWidget(self.note)
        column.addLayout(line_of(self.reset, 1))
        column.addStretch(1)
        self.body = body
        self.show_model(None, None, 0)

    def _stated(self, figure: str, value: object) -> None:
        self.stated.emit(self._model, figure, value)

    def show_model(self, row: ModelRow | None, others: ModelInfo | None, context: int) -> None:
        """Show a model; ``others``: what is known apart from what the person says of it."""
        self.body.setVisible(row is not None)
        if row is None or others is None:
            self._model = ""
            return
        info = row.info
        if info.id != self._model:
            self.verticalScrollBar().setValue(0)
        self._model, self._provider = info.id, row.provider
        self.name.setText(name_of(info).replace("/", "/\u200b"))
        self.id.setText(info.id.replace("/", "/\u200b"))
        self.id.setAccessibleName(info.id)
        warnings = []
        if not row.has_way:
            warnings.append(f"No key of {row.provider} is known, so it would not answer.")
        if is_too_small(info, context):
            warnings.append(too_small_words(info, context))
        warnings += [mark.word.capitalize() + "." for mark in marks_of(info) if mark.tone == "lost"]
        self.warning.setText("\n".join(warnings))
        self.warning.setVisible(bool(warnings))
        self.key.setVisible(not row.has_way)
        for figure in self.figures.values():
            figure.show_figure(info, others)
        tiers = tier_lines(info)
        self.note.setText("\n".join(tiers))
        self.note.setVisible(bool(tiers))
        self.reset.setVisible(any(info.source_of(figure) == "you" for figure in FIGURES))

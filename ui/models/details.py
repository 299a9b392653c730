"""What is known of the marked model, figure by figure, and what the person says instead."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer.models.catalogue import FIGURES, ModelInfo
from ui.models.figure_row import FigureRow
from ui.models.rows import ModelRow
from ui.models.words import is_too_small, marks_of, name_of, tier_lines, too_small_words
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, set_tone, ui_font
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.panels import row as line_of


class ModelDetails(QScrollArea):
    """One model. What is changed is emitted at once."""

    said = Signal(str, str, object)
    """(model, figure, value); None takes back what was said."""
    reset_asked = Signal(str)
    """All that was said of a model is taken back."""
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
        column = QVBoxLayout(body)
        column.setContentsMargins(S16, S8, S12, S12)
        column.setSpacing(S4)
        for part in (self.name, self.id, self.warning, self.key):
            column.addWidget(part)
        column.addSpacing(S4)
        for figure in self.figures.values():
            figure.said.connect(self._said)
            column.addWidget(figure)
        column.addWidget(self.note)
        column.addLayout(line_of(self.reset, 1))
        column.addStretch(1)
        self.body = body
        self.show_model(None, None, 0)

    def _said(self, figure: str, value: object) -> None:
        self.said.emit(self._model, figure, value)

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

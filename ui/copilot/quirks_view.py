"""What single models need, and which of it holds for the model of now."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from explorer.compaction.quirks import QUIRKS
from ui.theme import S4, S8, S12, bind_font, set_tone, small_font, ui_font
from ui.widgets.labels import Caption


class QuirksView(QWidget):
    """One row per quirk: whom it is about, and what is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("What single models need")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, S4, 0, S4)
        grid.setHorizontalSpacing(S8)
        grid.setVerticalSpacing(S12)
        grid.setColumnStretch(1, 1)
        self._marks: list[QLabel] = []
        self._titles: list[QLabel] = []
        for at, quirk in enumerate(QUIRKS):
            mark = Caption("", self)
            title = QLabel(quirk.models, self)
            bind_font(title, lambda: ui_font(bold=True))
            sentence = QLabel(quirk.sentence, self)
            sentence.setWordWrap(True)
            sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            bind_font(sentence, small_font)
            set_tone(sentence, "dim")
            title.setWordWrap(True)
            title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            grid.addWidget(mark, 2 * at, 0)
            grid.addWidget(title, 2 * at, 1)
            grid.addWidget(sentence, 2 * at + 1, 1)
            grid.setRowMinimumHeight(2 * at + 1, 0)
            self._marks.append(mark)
            self._titles.append(title)
        self.show_model("")

    def show_model(self, model: str) -> None:
        """Mark the quirks that hold for a model."""
        for quirk, mark, title in zip(QUIRKS, self._marks, self._titles, strict=True):
            holds = bool(model) and quirk.concerns(model)
            mark.setText("●" if holds else "○")
            set_tone(mark, "accent" if holds else "dim")
            said = f"holds for {model}" if holds else "does not hold for the model of now"
            mark.setAccessibleName(said)
            mark.setToolTip(said)
            title.setAccessibleName(f"{quirk.models}: {said}")

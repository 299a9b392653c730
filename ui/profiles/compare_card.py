"""One profile in a comparison: its figures, its strip, and why it differs."""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from explorer.compaction.profile_comparison import Cause, ProfileOutcome
from ui.profiles.comparing import also, cells_of, why
from ui.profiles.strip import Scale, VerdictStrip
from ui.theme import S4, S8, S16, bind_font, mono_font, on_theme_changed, set_tone, ui_font
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, Hairline, LinkButton, RichLabel
from ui.widgets.panels import row


def _marked(line: str, named: bool) -> str:
    """Our own words as rich text, the name of a rule strong."""
    title, colon, rest = line.partition(": ")
    if not named or not rest:
        return html.escape(line, quote=False)
    return f"<b>{html.escape(title, quote=False)}</b>{colon}{html.escape(rest, quote=False)}"


class _Cell(QWidget):
    """A figure under its caption."""

    def __init__(self, caption: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.caption = Caption(caption, self)
        self.figure = QLabel(self)
        bind_font(self.figure, mono_font)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.caption)
        column.addWidget(self.figure)

    def show_figure(self, figure: str, meaning: str) -> None:
        self.figure.setText(figure)
        set_tone(self.figure, "lost" if self.is_loss(figure) else "")
        self.setToolTip(meaning)
        self.figure.setAccessibleName(f"{self.caption.text()} {figure}")
        self.figure.setAccessibleDescription(meaning)

    def is_loss(self, figure: str) -> bool:
        """Whether the figure tells of something lost."""
        return self.caption.text() == "lost" and figure != "none"

    def wanted(self) -> int:
        """Pixels that its words need."""
        return max(self.caption.sizeHint().width(), self.figure.sizeHint().width())


class CompareCard(QWidget):
    """Shows an outcome; wide or narrow, the same figure stands below the same one."""

    entry_requested = Signal(int)
    use_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.outcome: ProfileOutcome | None = None
        self._causes: Sequence[Cause] | None = None
        self._reference: ProfileOutcome | None = None
        self.title = QLabel(self)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.in_force = Caption("in use", self, tone="accent")
        self.use = LinkButton("Use here", self)
        self.use.clicked.connect(self._use)
        self.kept_from = LinkButton(parent=self)
        self.kept_from.clicked.connect(self._go)
        self._flow = FlowLayout(across=S16, down=S4)
        self.cells: dict[str, _Cell] = {}
        self.strip = VerdictStrip(self)
        self.strip.entry_requested.connect(self.entry_requested)
        self.why = RichLabel(self)
        self.why.setWordWrap(True)
        self.why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.also = Caption(parent=self)
        self.also.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S4)
        column.addLayout(row(self.title, self.in_force, self.use, 1, self.kept_from))
        column.addWidget(self.strip)
        column.addLayout(self._flow)
        column.addWidget(self.why)
        column.addWidget(self.also)
        column.addSpacing(S8)
        column.addWidget(Hairline(parent=self))
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        if self.cells:
            self.set_cell_widths(self.cell_widths())

    def show_outcome(self, found: ProfileOutcome, scale: Scale, in_force: bool) -> None:
        """Show what a compaction would do under a profile."""
        self.outcome = found
        self.title.setText(found.profile.title)
        self.use.setAccessibleName(f"Use {found.profile.title} here")
        first = found.first_kept
        self.kept_from.setText(f"keeps from #{first}" if first >= 0 else "keeps everything")
        self.kept_from.setEnabled(first >= 0)
        self.kept_from.setToolTip("Select the first entry that is kept, on the map")
        self.strip.show_verdicts(found.profile.title, found.shown, scale)
        for caption, figure, meaning in cells_of(found):
            if caption not in self.cells:
                self.cells[caption] = _Cell(caption, self)
                self._flow.addWidget(self.cells[caption])
            self.cells[caption].show_figure(figure, meaning)
        words = also(found.profile)
        self.also.setText(words)
        self.also.setVisible(bool(words))
        self.show_in_force(in_force)

    def show_in_force(self, in_force: bool) -> None:
        """Whether the session follows this profile."""
        self.in_force.setVisible(in_force)
        self.use.setVisible(not in_force)

    def show_why(self, reference: ProfileOutcome, causes: Sequence[Cause] | None) -> None:
        """Why it decides otherwise than another profile; None while that is looked for."""
        if self.outcome is not None:
            lines = why(self.outcome, reference, causes)
            self.why.setText("<br>".join(_marked(line, bool(causes)) for line in lines))
            self.why.setAccessibleName("\n".join(lines))

    def cell_widths(self) -> list[int]:
        """Pixels that each figure needs."""
        return [cell.wanted() for cell in self.cells.values()]

    def set_cell_widths(self, widths: Sequence[int]) -> None:
        """Give each figure the room that it has in the other cards too."""
        for cell, width in zip(self.cells.values(), widths, strict=True):
            cell.setFixedWidth(width)
        self._flow.invalidate()

    def _use(self) -> None:
        if self.outcome is not None:
            self.use_asked.emit(self.outcome.profile.name)

    def _go(self) -> None:
        if self.outcome is not None and self.outcome.first_kept >= 0:
            self.entry_requested.emit(self.outcome.first_kept)

"""How a figure of another agent's file is known: words for running text, and a badge beside it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.audit.provenance import Known, Provenance
from explorer.audit.words import NOT_RECORDED as NOT_RECORDED
from explorer.audit.words import PROVENANCE_TITLES
from explorer.session.columns import SessionColumns
from explorer.settings.glossary import glossary
from ui.theme import S4, icon_pixmap, on_theme_changed, scaled
from ui.widgets.figures import full
from ui.widgets.labels import Caption
from ui.widgets.panels import row_in
from ui.widgets.terms import meaning

MARK = "≈"
"""Before a figure that is worked out from what is recorded."""
AT_LEAST = "≥"
"""Before a sum that some of its parts are missing from."""


def marked(figure: str, known: Known) -> str:
    """``1,200``, ``≈1,200`` or ``not recorded``."""
    if known.provenance is Provenance.UNREADABLE:
        return NOT_RECORDED
    return f"{MARK}{figure}" if known.provenance is Provenance.INFERRED else figure


def entry_figure(
    columns: SessionColumns, entry: int, tokens: int, figure: Callable[[int], str] = full
) -> str:
    """Tokens of an entry in a table; a dash where nobody can count them."""
    return "–" if columns.is_size_unknown(entry) else figure(tokens)


def entry_tokens_words(columns: SessionColumns, entry: int, tokens: int) -> str:
    """The same in a sentence: ``1,204 tokens``, ``tokens not recorded``."""
    if columns.is_size_unknown(entry):
        return f"tokens {NOT_RECORDED}"
    return f"{full(tokens)} tokens"


def around_words(before: int, after: int | None) -> str:
    """A compaction's sizes, counted here: ``184,210 → 23,800 tokens``."""
    if after is None:
        return f"{full(before)} tokens before, its summary {NOT_RECORDED}"
    return f"{full(before)} → {full(after)} tokens"


def recorded_words(before: int, after: int | None, reported: int = 0) -> str:
    """What an agent recorded as the sizes around a compaction: ``297,190 → 16,970 tokens``; empty
    for nothing (0 and None). ``reported``: with the first reply after it, 0 for nothing."""
    if before > 0 and after is not None:
        return f"{full(before)} → {full(after)} tokens"
    if before <= 0:
        return ""
    if reported:
        return f"{full(before)} → {full(reported)} tokens with the next reply"
    return f"{full(before)} tokens before"


def reason(of: str, known: Known) -> str:
    """How something is known, for a tip: ``Tokens before: inferred. Counted here…``"""
    head = f"{of}: " if of else ""
    return f"{head}{PROVENANCE_TITLES[known.provenance]}. {known.basis}"


def spoken(words: str) -> str:
    """Words with marks as they are read aloud."""
    return words.replace(MARK, "about ").replace(AT_LEAST, "at least ")


ICONS = {
    Provenance.EXACT: "check",
    Provenance.INFERRED: "unknown",
    Provenance.UNREADABLE: "close",
}


class ProvenanceBadge(QWidget):
    """A sign and a word; the tip says what of, and how it is known."""

    def __init__(
        self, parent: QWidget | None = None, of: str = "", *, labelled: bool = False
    ) -> None:
        """``of``: what the badge describes, for the tip, such as “Tokens before”; ``labelled``:
        it stands before the word as well."""
        super().__init__(parent)
        self.known: Known | None = None
        self._of = of
        self._labelled = labelled
        self._sign = QLabel(self)
        self.word = Caption(parent=self)
        line = row_in(self, S4)
        line.addWidget(self._sign)
        line.addWidget(self.word)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        on_theme_changed(self._restyle)
        self.hide()

    def set_unless_exact(self, known: Known) -> None:
        """Show how something is known where it is not simply recorded."""
        self.set_known(None if known.provenance is Provenance.EXACT else known)

    def set_known(self, known: Known | None, of: str = "") -> None:
        """Show how something is known; None hides the badge."""
        if known == self.known and of in ("", self._of):
            # A slider asks a hundred times: the layouts above need not hear of it.
            return
        self.known = known
        self._of = of or self._of
        self.setVisible(known is not None)
        if known is None:
            return
        word, tip = PROVENANCE_TITLES[known.provenance], reason(self._of, known)
        self.word.setText(f"{self._of} {word}".strip() if self._labelled else word)
        self.setToolTip(f"{tip}\n{meaning(word)}" if word in glossary() else tip)
        self.setAccessibleName(tip)
        self._restyle()

    def _restyle(self) -> None:
        if self.known is not None:
            name = ICONS[self.known.provenance]
            tone = "dim" if self.known.provenance is Provenance.EXACT else "comp"
            pixmap = icon_pixmap(name, tone, scaled(12), self.devicePixelRatioF())
            self._sign.setPixmap(pixmap)

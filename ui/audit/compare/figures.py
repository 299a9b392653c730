"""The figures of all candidates in columns: what survives, what they took, how they were made."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from explorer.audit.difference import Candidate, Difference
from explorer.audit.findings import STATED_WRONGLY, Fate
from ui.audit.fidelity.bars import FateBar, fate_legend
from ui.audit.fidelity.words import UPPER_BOUND, percent
from ui.audit.known import NOT_RECORDED
from ui.theme import S4, S8, S16, bind_font, ui_font
from ui.widgets.figures import full
from ui.widgets.labels import Caption

UNKNOWN = "—"


def cost_words(cost: float | None) -> str:
    """Dollars as they are told."""
    if cost is None:
        return NOT_RECORDED
    if cost == 0:
        return "$0"
    return f"${cost:.2f}" if cost >= 0.01 else "under $0.01"


def figures_of(found: Difference) -> list[tuple[str, tuple[str, ...]]]:
    """Each figure with one value per candidate."""
    rows: list[tuple[str, tuple[str, ...]]] = []

    def add(title: str, values: Sequence[str]) -> None:
        if any(value not in (UNKNOWN, NOT_RECORDED) for value in values):
            rows.append((title, tuple(values)))

    every = found.candidates
    add("Survives, at most", [_survival(one) for one in every])
    add("Lost", [_count(one, Fate.LOST) for one in every])
    add("Stated wrongly", [_count(one, *STATED_WRONGLY) for one in every])
    against = range(len(every))
    if any(one.fidelity is not None for one in every):
        reference = found.reference
        won = ["reference" if at == reference else f"{len(found.won(at)):,}" for at in against]
        lost = ["reference" if at == reference else f"{len(found.lost(at)):,}" for at in against]
        add("Won against the reference", won)
        add("Lost against it", lost)
    add("Tokens of the summary", [_tokens(one.tokens) for one in every])
    add("Context with it", [_tokens(one.tokens_after) for one in every])
    add("Cost", [cost_words(one.cost) for one in every])
    times = [f"{one.elapsed_ms / 1000:.1f} s" if one.elapsed_ms else NOT_RECORDED for one in every]
    add("Time", times)
    apart = {name for name, _ in found.settings_apart}
    # What differs in how they were made stands before what does not.
    for name, values in sorted(found.settings, key=lambda row: row[0] not in apart):
        rows.append((name, tuple(value or UNKNOWN for value in values)))
    return rows


def _survival(one: Candidate) -> str:
    return UNKNOWN if one.fidelity is None else percent(one.fidelity.survival)


def _count(one: Candidate, *fates: Fate) -> str:
    if one.fidelity is None:
        return UNKNOWN
    return f"{sum(one.fidelity.counts.get(fate, 0) for fate in fates):,}"


def _tokens(tokens: int) -> str:
    return full(tokens) if tokens >= 0 else UNKNOWN


class CandidateFigures(QWidget):
    """A grid: figures below each other, candidates beside each other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Figures of all candidates")
        self.values: dict[str, tuple[QLabel, ...]] = {}
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(S16, S8, S16, S8)
        self._outer.setSpacing(S8)
        self._body: QWidget | None = None
        self.bound = Caption(UPPER_BOUND, self)
        self.bound.setWordWrap(True)
        self._outer.addWidget(fate_legend(self))
        self._outer.addWidget(self.bound)
        self._outer.addStretch(1)

    def show_difference(self, found: Difference | None) -> None:
        """Show other candidates."""
        if self._body is not None:
            self._body.hide()
            self._body.deleteLater()
        body = self._body = QWidget(self)
        grid = QGridLayout(body)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(S16)
        grid.setVerticalSpacing(S4)
        self.values = {}
        if found is not None:
            self._fill(body, grid, found)
        self._outer.insertWidget(0, body)

    def _fill(self, body: QWidget, grid: QGridLayout, found: Difference) -> None:
        for at, one in enumerate(found.candidates, 1):
            label = self._label(one.name, body)
            bind_font(label, lambda: ui_font(bold=True))
            grid.addWidget(label, 0, at)
            grid.setColumnStretch(at, 1)
            if one.fidelity is not None:
                bar = FateBar(body)
                bar.show_counts(one.fidelity.counts)
                bar.setAccessibleName(f"{one.name}: {bar.accessibleName()}")
                grid.addWidget(bar, 1, at)
        apart = {name for name, _ in found.settings_apart}
        same = {name for name, _ in found.settings if name not in apart}
        for line, (title, values) in enumerate(figures_of(found), 2):
            # A setting that is the same for all steps back.
            differs = title not in same
            caption = Caption(title, body)
            caption.setWordWrap(True)
            grid.addWidget(caption, line, 0, Qt.AlignmentFlag.AlignTop)
            labels = []
            for at, value in enumerate(values):
                label = self._label(value, body)
                label.setEnabled(differs)
                label.setAccessibleName(f"{title} of {found.candidates[at].name}: {value}")
                grid.addWidget(label, line, at + 1, Qt.AlignmentFlag.AlignTop)
                labels.append(label)
            self.values[title] = tuple(labels)

    @staticmethod
    def _label(text: str, parent: QWidget) -> QLabel:
        label = QLabel(text.replace("/", "/\u200b"), parent)
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

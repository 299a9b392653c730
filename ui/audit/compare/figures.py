"""The figures of all candidates in columns: what survives, what they took, how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from explorer.audit.difference import Candidate, Difference
from explorer.audit.findings import STATED_WRONGLY, Fate
from ui.audit.fidelity.bars import FateBar, fate_legend
from ui.audit.fidelity.words import UPPER_BOUND, percent
from ui.audit.known import NOT_RECORDED
from ui.theme import S8, S16
from ui.widgets.comparison import Figure, FiguresGrid
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


def figures_of(found: Difference) -> list[Figure]:
    """Each figure with one value per candidate; a setting that is the same for all is faint."""
    rows: list[Figure] = []

    def add(title: str, values: Sequence[str]) -> None:
        if any(value not in (UNKNOWN, NOT_RECORDED) for value in values):
            rows.append(Figure(title, values))

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
        shown = [value or UNKNOWN for value in values]
        rows.append(Figure(name, shown, is_faint=name not in apart))
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
    """What survives of each candidate as a bar, and its figures below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = FiguresGrid("Figures of all candidates", self)
        self.bound = Caption(UPPER_BOUND, self)
        self.bound.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S8)
        column.setSpacing(S8)
        column.addWidget(self.grid)
        column.addWidget(fate_legend(self))
        column.addWidget(self.bound)
        column.addStretch(1)

    @property
    def values(self) -> Mapping[str, Sequence[QLabel]]:
        """The labels of each figure, by its title."""
        return self.grid.values

    def show_difference(self, found: Difference | None) -> None:
        """Show other candidates."""
        if found is None:
            self.grid.show_figures((), ())
            return
        names = [one.name for one in found.candidates]
        self.grid.show_figures(
            names, figures_of(found), [self._bar(one) for one in found.candidates]
        )

    def _bar(self, one: Candidate) -> FateBar | None:
        if one.fidelity is None:
            return None
        bar = FateBar(self)
        bar.show_counts(one.fidelity.counts)
        bar.setAccessibleName(f"{one.name}: {bar.accessibleName()}")
        return bar

"""What the filtered sessions came to: sums at the left, bars at the right."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.services.library import LibrarySums
from ui.audit.known import reason, spoken
from ui.library.columns import cost_of, tokens_of
from ui.library.usage_bars import CHARTS, UsageBars, bars_of
from ui.theme import S4, S12, S16, S24, bind_font, set_tone, small_font, ui_font
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import count
from ui.widgets.labels import LinkButton
from ui.widgets.panels import column_of, row, row_in


class TotalsStrip(QWidget):
    """Shows the sums of one filter."""

    needed_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._sums: LibrarySums | None = None
        self._parts_of_own: tuple[QWidget, ...] = ()
        self.sessions = QLabel("", self)
        bind_font(self.sessions, lambda: ui_font(1, bold=True))
        self.entries, self.spent = QLabel(self), QLabel(self)
        set_tone(self.entries, "dim")
        self.choice = ChoiceBox(self)
        self.choice.setAccessibleName("What the bars show")
        self.choice.addItems([chart.title for chart in CHARTS])
        self.choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.choice.currentIndexChanged.connect(lambda _at: self._draw())
        self.needed = LinkButton("What was needed again?", self)
        self.needed.setToolTip(
            "What was read, run or said again after the compactions of these sessions: by agent, "
            "model, profile, project and week, by settings, and after which compactions most"
        )
        bind_font(self.needed, small_font)
        self.needed.clicked.connect(self.needed_asked)
        self.bars = UsageBars(self)
        line = row_in(self, S24)
        sums = column_of(self.sessions, self.entries, self.spent, spacing=S4)
        sums.addStretch(1)
        sums.addLayout(row(self.choice, self.needed, 1, spacing=S12))
        line.addLayout(sums)
        line.addWidget(self.bars, 1)
        line.setContentsMargins(S16, 0, S16, 0)
        # The sums stay at the left without them.
        policy = self.bars.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.bars.setSizePolicy(policy)
        self._parts_of_own = (self.spent, self.choice, self.bars)
        self.show_sums(None)

    def show_usage(self, on: bool) -> None:
        """Show what the sessions took; of a team's it is not known."""
        for part in self._parts_of_own:
            part.setVisible(on)

    def show_sums(self, sums: LibrarySums | None) -> None:
        """Show sums; None: they are not there yet."""
        self._sums = sums
        for part in (self.entries, self.spent, self.choice, self.needed, self.bars):
            part.setEnabled(sums is not None)
        if sums is None:
            self.sessions.setText("Adding up…")
            self.entries.setText("")
            self.spent.setText("")
            return
        self.sessions.setText(count(sums.sessions, "session"))
        entries, compactions = count(sums.entries, "entry", "entries"), sums.compactions
        self.entries.setText(f"{entries} · {count(compactions, 'compaction')}")
        self.entries.setToolTip("On all branches; undone compactions do not count")
        tokens, tokens_known = tokens_of(sums.spent)
        cost, cost_known = cost_of(sums.spent)
        self.spent.setText(f"Tokens {tokens} · cost {cost}")
        self.spent.setAccessibleName(spoken(self.spent.text()))
        self.spent.setToolTip(f"{reason('Tokens', tokens_known)}\n{reason('Cost', cost_known)}")
        self._draw()

    def _draw(self) -> None:
        if self._sums is not None:
            chart = CHARTS[max(0, self.choice.currentIndex())]
            self.bars.show_bars(chart, bars_of(self._sums, chart))

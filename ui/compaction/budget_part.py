"""The head of the panel: the context's entries as a bar, and whose figure they are."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.audit.provenance import context_known, weight_known
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.triggers import limit_of
from ui.audit.badges import ProvenanceBadge
from ui.compaction.words import beyond_words, provider_words
from ui.theme import S4, S12, S16, bind_font, set_tone, small_font
from ui.widgets.budget_bar import BudgetBar
from ui.widgets.figures import full, round_short, short
from ui.widgets.labels import Caption
from ui.widgets.panels import row
from ui.widgets.swatch import Legend, Share, beyond_share

SHARES = (
    (Verdict.SUMMARIZED_EARLIER, "summarized earlier"),
    (Verdict.TO_SUMMARIZE, "to summarize"),
    (Verdict.TURN_PREFIX, "turn prefix"),
    (Verdict.KEPT, "kept"),
    (Verdict.PINNED, "pinned"),
    (Verdict.PRUNED, "pruned"),
    (Verdict.LOST, "lost"),
    (Verdict.OMITTED, "omitted"),
    (Verdict.NOT_SENT, "not sent"),
)
OUTSIDE = (Verdict.SUMMARIZED_EARLIER, Verdict.NOT_SENT, Verdict.LOST, Verdict.OMITTED)
"""Verdicts of entries that take no room in the context."""


def shares_of(shown: Partition) -> list[Share]:
    """What the path's entries are divided into, with the tokens of each part."""
    return [
        Share(str(int(verdict)), title, shown.tokens[verdict], int(verdict))
        for verdict, title in SHARES
        if shown.tokens[verdict]
    ]


class BudgetPart(QWidget):
    """One count of the entries, everywhere in the panel; the provider's own beside it."""

    filter_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = Caption(parent=self)
        self.heading.setWordWrap(True)
        bind_font(self.heading, small_font)
        set_tone(self.heading, "dim")
        self.bar = BudgetBar(self)
        self.legend = Legend(self)
        self.legend.filter_changed.connect(self.filter_changed)
        self.badge = ProvenanceBadge(self, "Context")
        self.told = ProvenanceBadge(self, "The provider's count")
        self.provider = Caption(parent=self)
        self.provider.setWordWrap(True)
        self.smaller = Caption(parent=self)
        self.smaller.setWordWrap(True)
        self.smaller.hide()
        self._window, self._model_window = 0, 0
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S16, S12)
        column.setSpacing(S4)
        line = row(self.heading, self.badge)
        line.setStretchFactor(self.heading, 1)
        column.addLayout(line)
        for part in (self.bar, self.legend):
            column.addWidget(part)
        line = row(self.provider, self.told)
        line.setStretchFactor(self.provider, 1)
        column.addLayout(line)
        column.addWidget(self.smaller)

    def show_partition(
        self, shown: Partition, profile: Profile, settings: Settings, at_leaf: bool
    ) -> None:
        """Show how full the window is, and what of it is what."""
        where = "at the leaf" if at_leaf else f"at #{shown.preparation.leaf}"
        window = self._window = settings.context_window
        self._tell_smaller()
        reserve = max(0, window - limit_of(profile, settings))
        self.heading.setText(
            f"Entries in the context {where}: {short(shown.context_estimate)} of "
            f"{round_short(window)} tokens ({shown.counted_by}) · due at {short(window - reserve)}"
        )
        self.heading.setToolTip(
            f"{full(shown.context_estimate)} tokens. All figures of this tab are counted alike."
        )
        shares = shares_of(shown)
        inside = [share for share in shares if share.verdict not in OUTSIDE]
        if shown.tokens_beyond:
            inside.insert(0, beyond_share(shown.tokens_beyond))
            shares.insert(0, inside[0])
        self.bar.set_budget(inside, window, reserve)
        self.legend.set_shares(shares)
        counted = weight_known(shown.counted_by == "tokenizer")
        whole = context_known(shown.preparation.tokens_source)
        self.badge.set_known(counted, "Entries in the context")
        words = provider_words(shown)
        self.provider.setText(words)
        self.provider.setToolTip(beyond_words(shown))
        self.provider.setVisible(bool(words))
        self.told.set_known(whole if words else None)

    def set_model_window(self, window: int) -> None:
        """The window of the model that answers, in tokens; 0 where it is not known."""
        self._model_window = window
        self._tell_smaller()

    def _tell_smaller(self) -> None:
        """Why the gauge counts by another window than the one that is tried here."""
        is_smaller = 0 < self._model_window < self._window
        if is_smaller:
            self.smaller.setText(
                f"The agent's model takes {round_short(self._model_window)} tokens at most: the "
                "gauge, and what happens by itself, go by that."
            )
        self.smaller.setVisible(is_smaller)

"""One sentence in the entry's tab: what has become of it by now, with a link to the ledger."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from explorer.audit.ledger import Ledger
from explorer.audit.provenance import (
    content_known,
    model_known,
    time_known,
    usage_known,
    weight_known,
)
from explorer.audit.rules import rule_of
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from ui.audit.known import ProvenanceBadge
from ui.audit.words import VERDICTS, sentence_case
from ui.compaction.words import entry_links
from ui.theme import S4, S12, S16, bind_font, small_font
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import ClickLabel
from ui.widgets.panels import column_in

UNDONE = "The leaf was taken back to the entry before it, and no context has it."


class VerdictLine(QWidget):
    """Hidden where nothing is known of the entry."""

    entry_requested = Signal(int)
    ledger_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ClickLabel(self)
        bind_font(self.words, small_font)
        self.words.link.connect(self._follow)
        column = column_in(self, S4, (S16, S4, S12, S4))
        column.addWidget(self.words)
        self.figures = {
            name: ProvenanceBadge(self, name, labelled=True)
            for name in ("verdict", "tokens", "context size", "model", "time", "content")
        }
        column.addLayout(wrapping_row(*self.figures.values(), across=S12, down=0))
        self._is_low = False
        self._verdict_words: tuple[str, str] = ("", "")
        """The verdict and its rule."""
        self.hide()

    def set_low(self, is_low: bool) -> None:
        """In a low pane the rule is a tip, so that the entry itself can be read."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._tell()

    def show_verdict(self, ledger: Ledger | None, entry: int, is_undone: bool = False) -> None:
        """Show an entry as the ledger has it; hidden where it has none. ``is_undone``: it is a
        compaction that was undone; the ledger is as it was with it."""
        at = ledger.row(entry) if ledger is not None and entry >= 0 else -1
        self.setVisible(at >= 0)
        if ledger is None or at < 0:
            return
        words = sentence_case(VERDICTS[ledger.verdict(at)]), rule_of(ledger, at)
        self._verdict_words = ("Undone", UNDONE) if is_undone else words
        self._tell()
        self.figures["verdict"].set_unless_exact(ledger.known(at))

    def _tell(self) -> None:
        head, rule = self._verdict_words
        shown = "" if self._is_low else f"{entry_links(rule)} "
        link = '<a href="ledger:">See it in the ledger</a>'
        self.words.set_words(
            f"<b>{head}.</b> {shown}{link}", f"{head}. {rule} See it in the ledger."
        )
        self.words.setToolTip(rule if self._is_low else "")

    def show_figures(
        self, tree: SessionTree, entry: int, is_measured: bool, made_here: bool = False
    ) -> None:
        """How the figures of an entry's header are known. Those that are simply recorded go
        without a badge, and so do all that this program recorded itself."""
        columns = tree.columns
        known = {
            "tokens": weight_known(is_measured),
            "time": time_known(columns.time[entry]),
            "content": content_known(tree, entry),
        }
        if columns.kind[entry] == Kind.ASSISTANT:
            known["context size"] = usage_known(
                columns.usage[entry], columns.is_counted_here(entry)
            )
            known["model"] = model_known(tree, entry)
        for name, badge in self.figures.items():
            if name == "verdict":
                continue
            badge.set_known(None)
            if name in known and not made_here:
                badge.set_unless_exact(known[name])

    def _follow(self, link: str) -> None:
        if link == "ledger:":
            self.ledger_requested.emit()
        else:
            self.entry_requested.emit(int(link.removeprefix("entry:")))

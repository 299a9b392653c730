"""The page of branch summaries: what was left, what is summarized of it, what the branch sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.audit.branch_audit import BranchAudit
from explorer.compaction.partition import Verdict
from explorer.session.records import Previews
from explorer.session.tree import SessionTree
from ui.audit.known import ProvenanceBadge
from ui.audit.ledger_view import LEAST_ROWS, ONE_FIGURE
from ui.compaction.words import entry_links
from ui.theme import S4, S8, S16
from ui.widgets.choice import ChoiceBox
from ui.widgets.entry_table import EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import full
from ui.widgets.labels import Caption, ClickLabel
from ui.widgets.panels import EmptyState, OnePage, column_in, row
from ui.widgets.table import RIGHT, Column

TokensOf = Callable[[int], int]
"""The tokens of an entry as they are shown everywhere."""


def _nothing(_entry: int) -> int:
    return 0


class LeftModel(EntryModel[int]):
    """The entries of a branch that was left, each with what became of it."""

    def __init__(self, parent: QWidget) -> None:
        self._tokens_of: TokensOf = _nothing
        self._fates: dict[int, tuple[str, Verdict]] = {}
        super().__init__(
            "What was left",
            (
                Column(
                    "Tokens", lambda entry: full(self._tokens_of(entry)), RIGHT,
                    lambda entry: self._tokens_of(entry), shown_from=ONE_FIGURE,
                ),
            ),
            EntryCells(
                lambda entry: entry,
                lambda entry, line: f"#{entry}, {self.fate(entry)[0]}: {line}",
                verdict=lambda entry: int(self.fate(entry)[1]),
                lead=lambda entry: f"{self.fate(entry)[0]}  ",
                strong=lambda entry: self.fate(entry)[1] is Verdict.LOST,
            ),
            parent,
        )  # fmt: skip

    def show_audit(
        self,
        audit: BranchAudit | None,
        tree: SessionTree | None,
        read: Previews | None,
        tokens_of: TokensOf,
    ) -> None:
        """Show the entries of another branch."""
        self.use_session(tree, read)
        self._tokens_of = tokens_of
        self._fates = {}
        if audit is not None:
            figure = (
                ("lost", Verdict.LOST) if audit.is_empty else ("summarized", Verdict.TO_SUMMARIZE)
            )
            self._fates |= dict.fromkeys(audit.included, figure)
            self._fates |= dict.fromkeys(audit.left_out, ("did not fit", Verdict.LOST))
            self._fates |= dict.fromkeys(audit.excluded_by_rule, ("left out", Verdict.NOT_SENT))
        self.show(() if audit is None else audit.left)

    def fate(self, entry: int) -> tuple[str, Verdict]:
        """What became of an entry, and its texture."""
        return self._fates.get(entry, ("never sent", Verdict.NOT_SENT))


class BranchView(QWidget):
    """One branch summary of the path at a time."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._audits: Sequence[BranchAudit] = ()
        self._tree: SessionTree | None = None
        self._previews: Previews | None = None
        self._tokens_of: TokensOf = _nothing
        self.which = ChoiceBox(self)
        self.which.setAccessibleName("Branch summary")
        self.which.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.which.activated.connect(self._show)
        self.badge = ProvenanceBadge(self, "What was summarized")
        self.words = ClickLabel(self)
        self.words.link.connect(self._follow)
        self.basis = Caption(parent=self, wraps=True)
        self.sees = ClickLabel(self)
        self.sees.link.connect(self._follow)
        self.model = LeftModel(self)
        self.table = EntryTableView(
            self.model, "Entries that were left", self, LEAST_ROWS, outlines_losses=True
        )
        self.table.entry_chosen.connect(self.entry_requested)
        self.empty = EmptyState(
            "branch", "No branch summary on this path",
            "Where a branch is left with a summary, this page tells what the summary was given and "
            "what the new branch knows nothing of.", parent=self,
        )  # fmt: skip
        self._pages = OnePage(self)
        self._pages.add(self.empty)
        self._pages.add(self._build())
        column = column_in(self)
        column.addWidget(self._pages)

    def _build(self) -> QWidget:
        page = QWidget(self._pages)
        head = QWidget(page)
        lines = column_in(head, S8, (S16, S8, S16, S8))
        line = row(self.which, self.badge)
        line.setStretchFactor(self.which, 1)
        lines.addLayout(line)
        for part in (self.words, self.sees, self.basis):
            lines.addWidget(part)
        column = column_in(page, S4)
        column.addWidget(head)
        column.addWidget(self.table, 1)
        return page

    def show_branches(
        self,
        audits: Sequence[BranchAudit],
        tree: SessionTree | None,
        previews: Previews | None,
        tokens_of: TokensOf = _nothing,
    ) -> None:
        """Show the branch summaries of a path; the chosen one stays where it is still there."""
        chosen = self.which.currentData()
        self._audits, self._tree, self._previews = audits, tree, previews
        self._tokens_of = tokens_of
        self.which.clear()
        for audit in audits:
            self.which.addItem(f"Branch summary #{audit.entry}", audit.entry)
        self._pages.show_page(1 if audits else 0)
        self.which.setCurrentIndex(max(0, self.which.findData(chosen)) if audits else -1)
        self._show()

    def show_entry(self, entry: int) -> None:
        """Follow a branch summary that was selected in another view."""
        at = self.which.findData(entry)
        if at >= 0 and at != self.which.currentIndex():
            self.which.setCurrentIndex(at)
            self._show()

    def _show(self, _at: int = 0) -> None:
        at = self.which.currentIndex()
        if not 0 <= at < len(self._audits):
            self.model.show_audit(None, None, None, _nothing)
            return
        audit = self._audits[at]
        words = " ".join(audit.sentences)
        self.words.set_words(entry_links(words), words)
        seen = audit.seen[-6:]
        more = f"{len(audit.seen) - len(seen)} earlier messages, then " if (
            len(audit.seen) > len(seen)
        ) else ""  # fmt: skip
        sees = f"The new branch sees {more}{', '.join(f'#{each}' for each in seen)}."
        self.sees.set_words(entry_links(sees), sees)
        self.badge.set_known(audit.known)
        self.basis.setText(audit.known.basis)
        self.model.show_audit(audit, self._tree, self._previews, self._tokens_of)

    def _follow(self, link: str) -> None:
        self.entry_requested.emit(int(link.removeprefix("entry:")))

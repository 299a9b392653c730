"""Finds out in a thread what was needed again on the path that is audited, shows it on its page,
and draws its threads on the map."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject

from explorer.audit.needed_again import NeededAgain, needed_again
from explorer.audit.overview import Overview
from explorer.services.document import Document
from ui.app_state import AppState
from ui.audit.compare.subjects import SummaryKey
from ui.audit.controller import AuditController
from ui.audit.moments import Moments
from ui.audit.needed.page import NeededPage, Threads, threads_of
from ui.audit.tab import NEEDED
from ui.widgets.loader import Loader

_NOTHING = NeededAgain()


class _Of(NamedTuple):
    document: Document
    leaf: int
    entries: int
    uncounted: int
    """Entries that the tokenizer has not counted yet; -1: it is not asked."""


class NeededAgainController(QObject):
    """Follows the audit: it looks at the same path, and only where that is another one."""

    def __init__(self, state: AppState, audit: AuditController, moments: Moments) -> None:
        super().__init__(state)
        self._state = state
        self._moments = moments
        self.found = _NOTHING
        """Of the path shown; nothing until it is known."""
        self._moment: int | None = None
        """The compaction after which the audit looks; None: at the leaf."""
        self._of: _Of | None = None
        """What ``found`` is of."""
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        window = state.window
        audit.audited.connect(self._audited)
        state.document_changed.connect(self._document_changed)
        self._page.entry_requested.connect(window.map.select)
        self._page.row_changed.connect(self._draw)
        self._page.compaction_chosen.connect(self._look_at)
        window.map.selection_changed.connect(self._selected)
        window.audit.page_changed.connect(self._draw)
        window.inspector.currentChanged.connect(lambda _tab: self._draw())

    @property
    def _page(self) -> NeededPage:
        return self._state.window.audit.needed

    def _document_changed(self) -> None:
        if self._of is not None and self._of.document is not self._state.document:
            self._of = None
            self._loader.forget()
            self._show(_NOTHING)

    def _audited(self, overview: Overview) -> None:
        document = self._state.document
        if document is None or overview.ledger.tree is not document.tree:
            return
        weights = document.tokens.weights_for(document.tokens.profile)
        uncounted = -1 if weights is None else sum(weight < 0 for weight in weights)
        of = _Of(document, overview.leaf, len(document.tree), uncounted)
        is_other = overview.moment != self._moment
        self._moment = overview.moment
        if of == self._of:
            if is_other and overview.ledger.in_force >= 0:
                self._page.follow_moment(overview.ledger.in_force)
            return
        self._of = of
        tree, leaf = document.tree, overview.leaf
        if overview.generations.all and not self.found.after:
            self._page.show_looking()
        self._loader.load_from(
            document.payloads.shown.entries,
            lambda read: (of, needed_again(tree, leaf, read, weights)),
        )

    def _loaded(self, result: tuple[_Of, NeededAgain]) -> None:
        if result[0] == self._of:
            self._show(result[1])

    def _failed(self, message: str) -> None:
        self._of = None
        self._show(_NOTHING)
        self._state.notice(
            "error", "What was needed again could not be found out.",
            "The session itself is as it was.", "Select another entry to try again.",
            details=message,
        )  # fmt: skip

    def _show(self, found: NeededAgain) -> None:
        self.found = found
        document = self._state.document
        self._page.show_needed(found, document.tree if document is not None else None)
        self._draw()

    def _look_at(self, compaction: int) -> None:
        """The head and the findings are of the compaction whose row is chosen."""
        key = SummaryKey("entry", compaction)
        if self._moments.summary != key:
            self._moments.choose(key)

    # threads -------------------------------------------------------------------------------------

    def _selected(self, entry: int) -> None:
        if self.found.at(entry) is not None:
            self._page.choose_compaction(entry)
        self._draw()

    def _draw(self) -> None:
        self._state.window.map.set_threads(self._threads())

    def _threads(self) -> Threads:
        """Those of the chosen row while the page is seen, of a selected compaction else."""
        window = self._state.window
        if window.tab == "audit" and window.audit.page() == NEEDED:
            return threads_of(self._page.chosen())
        return threads_of(self.found.at(self._state.selected))

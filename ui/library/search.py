"""Search: hits on the map of this session, or a list of hits in all sessions."""

from __future__ import annotations

import asyncio
from bisect import bisect_left

from PySide6.QtCore import QObject

from explorer.services.document import Document
from explorer.session.kinds import Flag
from ui.app_state import AppState
from ui.library.controller import SessionsController
from ui.shell.search import SearchResult

MOST_HITS = 2000
MOST_SHOWN = 100


class SearchController(QObject):
    """One search at a time; a newer query makes an older answer void."""

    def __init__(self, state: AppState, sessions: SessionsController) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._bar = state.window.header.search
        self._hits: list[int] = []
        self._at = -1
        self._number = 0
        self._bar.query_changed.connect(self.search)
        self._bar.step_requested.connect(self.step)
        self._bar.hit_chosen.connect(self._go_to)
        self._bar.left.connect(state.window.map.setFocus)
        self._shown = state.document
        state.document_changed.connect(self._document_changed)

    @property
    def has_hits(self) -> bool:
        return bool(self._hits)

    def _document_changed(self) -> None:
        """A search ends with its session; the same one in another state is searched anew, and who
        looks at it stays where it is."""
        if self._state.document is not self._shown:
            self._shown = self._state.document
            self._number += 1
            if not self._bar.everywhere.isChecked():
                self._bar.end()
            self._take([])
            self._bar.hide_results()
        elif self._hits:
            self._start(self._bar.box.text().strip(), everywhere=False, jump=False)

    def _go_to(self, key: int, entry: int) -> None:
        document = self._state.document
        if document is not None and document.key == key and entry in self._hits:
            self._at = self._hits.index(entry)
            self._show()
            self._state.window.map.setFocus()
            return
        self._sessions.open(key, entry)

    def search(self, query: str, everywhere: bool) -> None:
        self._start(query, everywhere, jump=True)

    def _start(self, query: str, everywhere: bool, jump: bool) -> None:
        self._number += 1
        work = self._search(query, everywhere, self._number, jump)
        self._state.tasks.start("Searching", work)

    async def _search(self, query: str, everywhere: bool, number: int, jump: bool) -> None:
        state = self._state
        self._bar.hide_results()
        errors, document = self._bar.only_errors, state.document
        # Without an open session there is only the search in all of them.
        everywhere = everywhere or document is None
        if state.bench is None or not (query or (errors and not everywhere)):
            self._take([])
            return
        if not query:
            assert document is not None
            results = await asyncio.to_thread(_errors_of, document)
        else:
            key = None if everywhere or document is None else document.key
            most = MOST_SHOWN if everywhere else MOST_HITS
            hits = await state.bench.search(query, key, most, errors)
            titles = {}
            if everywhere:
                rows = await asyncio.to_thread(state.bench.store.sessions, all_places=True)
                titles = {
                    row.key: row.title or "Untitled session" for row in rows if not row.trashed_ms
                }
            results = [
                SearchResult(
                    hit.key, hit.index, titles.get(hit.key, ""), hit.snippet, hit.marks,
                    hit.kind, hit.flags, hit.time_ms,
                )
                for hit in hits
                if not everywhere or hit.key in titles
            ]  # fmt: skip
        if number != self._number:
            return
        if everywhere:
            self._take([])
            self._bar.show_results(results)
            return
        results.sort(key=lambda one: one.entry)
        self._take([one.entry for one in results], jump)
        if jump:
            self._bar.show_results(results, self._at)

    def _take(self, hits: list[int], jump: bool = True) -> None:
        self._hits = hits
        self._at = self._nearest() if hits and jump else -1
        self._show()

    def _nearest(self) -> int:
        """The first hit from the selected entry on, or the first of all."""
        return bisect_left(self._hits, self._state.selected) % len(self._hits)

    def step(self, by: int) -> None:
        """To the next (1) or previous (-1) hit, around the ends."""
        if self._hits:
            at = self._at + by if self._at >= 0 else self._nearest() - (by < 0)
            self._at = at % len(self._hits)
            self._show()

    def _show(self) -> None:
        current = self._hits[self._at] if self._at >= 0 else -1
        self._state.window.map.set_hits(self._hits, current)
        self._bar.show_position(self._at + 1, len(self._hits))
        if current >= 0:
            self._state.select(current)
        self._state.state_changed.emit()


def _errors_of(document: Document) -> list[SearchResult]:
    """All that failed in a session; reads their first lines."""
    columns = document.tree.columns
    found = [at for at in range(len(document.tree)) if columns.flags[at] & Flag.ERROR]
    lines = document.payloads.previews(found)
    return [
        SearchResult(
            document.key, at, "", line, (), columns.kind[at], columns.flags[at], columns.time[at]
        )
        for at, line in zip(found, lines, strict=True)
    ]

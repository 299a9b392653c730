"""Search: hits on the map of this session, or a list of hits in all sessions."""

from __future__ import annotations

import asyncio
from bisect import bisect_left

from PySide6.QtCore import QObject

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
        self._bar.hit_chosen.connect(self._sessions.open)
        self._bar.left.connect(state.window.map.setFocus)
        state.document_changed.connect(self.clear)

    @property
    def has_hits(self) -> bool:
        return bool(self._hits)

    def clear(self) -> None:
        """Forget the hits; they belong to another session.

        The hits of this one are marked, but who opens a session sees its leaf.
        """
        self._take([])
        self._bar.hide_results()
        query = self._bar.box.text().strip()
        if query and not self._bar.everywhere.isChecked() and self._state.document is not None:
            self._start(query, everywhere=False, jump=False)

    def search(self, query: str, everywhere: bool) -> None:
        self._start(query, everywhere, jump=True)

    def _start(self, query: str, everywhere: bool, jump: bool) -> None:
        self._number += 1
        work = self._search(query, everywhere, self._number, jump)
        self._state.tasks.start("Searching", work)

    async def _search(self, query: str, everywhere: bool, number: int, jump: bool) -> None:
        state = self._state
        self._bar.hide_results()
        if not query or state.bench is None:
            self._take([])
            return
        # Without an open session there is only the search in all of them.
        everywhere = everywhere or state.document is None
        key = None if everywhere or state.document is None else state.document.key
        hits = await state.bench.search(query, key, MOST_SHOWN if everywhere else MOST_HITS)
        if number != self._number:
            return
        if everywhere:
            self._take([])
            rows = await asyncio.to_thread(state.bench.store.sessions, all_places=True)
            titles = {
                row.key: row.title or "Untitled session" for row in rows if not row.trashed_ms
            }
            if number != self._number:
                return
            self._bar.show_results(
                [
                    SearchResult(hit.key, hit.index, titles[hit.key], hit.snippet)
                    for hit in hits
                    if hit.key in titles
                ]
            )
        else:
            self._take(sorted(hit.index for hit in hits), jump)

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

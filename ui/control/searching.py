"""Search: hits on the map of this session, or a list of hits in all sessions."""

from __future__ import annotations

from PySide6.QtCore import QObject

from ui.control.desk import Desk
from ui.control.sessions import SessionsControl
from ui.shell.search import Result

MOST_HITS = 2000
MOST_SHOWN = 100


class SearchControl(QObject):
    """One search at a time; a newer query makes an older answer void."""

    def __init__(self, desk: Desk, sessions: SessionsControl) -> None:
        super().__init__(desk)
        self._desk = desk
        self._sessions = sessions
        self._bar = desk.window.header.search
        self._hits: list[int] = []
        self._at = -1
        self._number = 0
        self._bar.query_changed.connect(self.search)
        self._bar.step_requested.connect(self.step)
        self._bar.hit_chosen.connect(self._sessions.open)
        self._bar.left.connect(desk.window.map.setFocus)
        desk.document_changed.connect(self.clear)

    @property
    def has_hits(self) -> bool:
        return bool(self._hits)

    def clear(self) -> None:
        """Forget the hits; they belong to another session."""
        self._take([])
        if self._bar.box.text().strip():
            self.search(self._bar.box.text().strip(), self._bar.everywhere.isChecked())

    def search(self, query: str, everywhere: bool) -> None:
        self._number += 1
        self._desk.tasks.start("Searching", self._search(query, everywhere, self._number))

    async def _search(self, query: str, everywhere: bool, number: int) -> None:
        desk = self._desk
        self._bar.hide_results()
        if not query or desk.bench is None:
            self._take([])
            return
        # Without an open session there is only the search in all of them.
        everywhere = everywhere or desk.document is None
        key = None if everywhere or desk.document is None else desk.document.key
        hits = await desk.bench.search(query, key, MOST_SHOWN if everywhere else MOST_HITS)
        if number != self._number:
            return
        if everywhere:
            self._take([])
            titles = {row.key: row.title or "Untitled session" for row in desk.bench.sessions()}
            self._bar.show_results(
                [Result(h.key, h.index, titles.get(h.key, ""), h.snippet) for h in hits]
            )
        else:
            self._take(sorted(hit.index for hit in hits))

    def _take(self, hits: list[int]) -> None:
        self._hits, self._at = hits, -1
        if hits:
            here = self._desk.window.map.selected
            after = [at for at, entry in enumerate(hits) if entry >= here]
            self._at = after[0] if after else 0
        self._show(reveal=bool(hits))

    def step(self, by: int) -> None:
        """To the next (1) or previous (-1) hit, around the ends."""
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
            self._show(reveal=True)

    def _show(self, reveal: bool) -> None:
        current = self._hits[self._at] if self._hits else -1
        self._desk.window.map.set_hits(self._hits, current)
        self._bar.show_position(self._at + 1 if self._hits else 0, len(self._hits))
        if reveal:
            self._desk.window.map.select(current)
        self._desk.state_changed.emit()

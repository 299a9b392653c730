"""Search: hits on the map of this session, or a list of hits in all sessions."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing, suppress

from PySide6.QtCore import QObject

from explorer.facts.errors import has_failed
from explorer.services.document import Document
from explorer.session.columns import SessionColumns
from explorer.session.kinds import Flag, Kind
from explorer.session.tool_actions import SHELL_TOOLS
from explorer.store import SearchHit, SessionRow, Store, StoreError
from explorer.workbench import Workbench
from ui.app_state import AppState
from ui.library.controller import SessionsController
from ui.library.hits import progress_words
from ui.shell.search import SearchResult

MOST_HITS = 2000
MOST_SHOWN = 100
WORDS_NEEDED = "Type a word: what failed in all sessions is found by words."
_NUMBER = re.compile(r"#(\d{1,9})")
"""An entry, as it is named everywhere."""
_MOST_CALLS = 200
"""Hits of a search up to which the results of their calls are looked at too, which takes a quarter
of a millisecond for each."""
_MOST_ANSWERS = 32
"""Entries behind a reply among which the results of its calls are looked for."""


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
        self._is_new = False
        """Whether nobody has gone to a hit of this search yet."""
        self._bar.query_changed.connect(self.search)
        self._bar.step_requested.connect(self.step)
        self._bar.entered.connect(lambda: self.step(0 if self._is_new else 1))
        self._bar.hit_chosen.connect(self._go_to)
        self._bar.left.connect(state.window.map.setFocus)
        self._shown = state.document
        state.document_changed.connect(self._document_changed)

    @property
    def has_hits(self) -> bool:
        return bool(self._hits)

    def _document_changed(self) -> None:
        """A search ends with its session; the same one in another state is searched again, and who
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
        self._is_new = True
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
        if state.bench is None or not (query or (errors and not everywhere and document)):
            self._take([])
            if errors and everywhere and state.bench is not None:
                self._bar.show_results([], caption=WORDS_NEEDED)
        elif everywhere or document is None:
            self._take([])
            await self._search_everywhere(state.bench, query, number, errors)
        else:
            await self._search_session(state.bench_of(document.key), document, query, number, jump)

    async def _search_session(
        self, bench: Workbench, document: Document, query: str, number: int, jump: bool
    ) -> None:
        """Show the hits in a session on its map, and list them."""
        errors, results, caption = self._bar.only_errors, [], ""

        def is_wanted() -> bool:
            return number == self._number

        if named := _NUMBER.fullmatch(query):
            entry, entries = int(named[1]), len(document.tree)
            if entry < entries:
                results = await asyncio.to_thread(_rows_of, document, [entry])
            elif entries:
                caption = f"The entries of this session are #0 to #{entries - 1:,}."
            else:
                caption = "This session has no entries yet."
        elif query:
            steps = bench.search(query, (document.key,), MOST_HITS, is_wanted, errors)
            results = [_result(hit, "") async for step in steps for hit in step.hits]
            if not errors and len(results) <= _MOST_CALLS:
                hits = [one.entry for one in results]
                results += await asyncio.to_thread(_titled_results, document, query, hits)
        else:
            failed = await asyncio.to_thread(_failed, document, is_wanted)
            results = await asyncio.to_thread(_rows_of, document, failed)
        if number != self._number:
            return
        if errors and query and not results:
            caption = caption or _no_error(query)
        results.sort(key=lambda one: one.entry)
        self._take([one.entry for one in results], jump)
        if jump:
            self._bar.show_results(results, self._at, caption)

    async def _search_everywhere(
        self, bench: Workbench, query: str, number: int, errors: bool
    ) -> None:
        """List the hits in all sessions while they are found."""
        results: list[SearchResult] = []
        titles: dict[int, str] = {}
        steps = bench.search(query, None, MOST_SHOWN, lambda: number == self._number, errors)
        is_listed, note = False, ""
        async with aclosing(steps):
            async for step in steps:
                new = {hit.key for hit in step.hits} - titles.keys()
                titles |= await asyncio.to_thread(_titles, bench.store, new)
                # Who closes the list looks for nothing more.
                if number != self._number or (is_listed and not self._bar.results.isVisible()):
                    return
                # Of what comes together, Return chooses what was taken back last.
                found = sorted(step.hits, key=lambda hit: hit.is_undone)
                results += [_result(hit, titles[hit.key]) for hit in found if hit.key in titles]
                self._bar.show_results(results, caption=progress_words(step))
                is_listed, note = True, step.note
        if number == self._number and (self._bar.results.isVisible() or not is_listed):
            cut = len(results) >= MOST_SHOWN
            caption = f"The newest {MOST_SHOWN} hits; there may be more." if cut else note
            if errors and not results:
                caption = f"{_no_error(query)} {note}".strip()
            self._bar.show_results(results, caption=caption)

    def _take(self, hits: list[int], jump: bool = True) -> None:
        self._hits = hits
        self._at = self._nearest() if hits and jump else -1
        self._show()

    def _nearest(self) -> int:
        """The first hit from the selected entry on, or the first of all."""
        return bisect_left(self._hits, self._state.selected) % len(self._hits)

    def step(self, by: int) -> None:
        """To the next (1) or previous (-1) hit, around the ends; 0: to the one that is marked."""
        self._is_new = False
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


def _no_error(query: str) -> str:
    """Why a search of errors found none."""
    return f"No error has the words “{query}”; without words, Errors lists all of a session."


def _result(hit: SearchHit, title: str) -> SearchResult:
    return SearchResult(
        hit.key, hit.index, title, hit.snippet, hit.marks, hit.kind, hit.flags, hit.time_ms,
        hit.is_undone,
    )  # fmt: skip


def _titles(store: Store, keys: Collection[int]) -> dict[int, str]:
    """The titles of sessions that are not in the trash."""
    rows: list[SessionRow] = []
    for key in keys:
        with suppress(StoreError):  # deleted meanwhile
            rows.append(store.session(key))
    return {row.key: row.title or "Untitled session" for row in rows if not row.trashed_ms}


def _rows_of(document: Document, entries: Sequence[int]) -> list[SearchResult]:
    """Entries of a session by the lines that the map has of them; reads these."""
    columns = document.tree.columns
    lines = document.payloads.shown.previews(entries)
    return [
        SearchResult(
            document.key, at, "", line, (), columns.kind[at], columns.flags[at], columns.time[at]
        )
        for at, line in zip(entries, lines, strict=True)
    ]


def _failed(document: Document, is_wanted: Callable[[], bool]) -> list[int]:
    """The entries that failed, see ``has_failed``. Ends soon after ``is_wanted`` is false."""
    columns, read = document.tree.columns, document.payloads.shown
    shells = {at for at, tool in enumerate(columns.tools) if tool in SHELL_TOOLS}
    failed = []
    for at in range(len(document.tree)):
        if not is_wanted():
            break
        if columns.flags[at] & Flag.ERROR:
            failed.append(at)
        elif columns.kind[at] == Kind.TOOL_RESULT and columns.tool[at] in shells:
            reply = _replied_to(columns, at)
            if reply >= 0 and has_failed(read.entry(at), read.entry(reply)):
                failed.append(at)
    return failed


def _titled_results(document: Document, query: str, hits: Sequence[int]) -> list[SearchResult]:
    """The results of calls that were found, as far as their rows on the map show what was looked
    for: ``read src/a.py, 50 lines``. The name stands in the call alone."""
    columns, known = document.tree.columns, set(hits)
    answers = [
        at
        for hit in hits
        if columns.kind[hit] == Kind.ASSISTANT
        for at in range(hit + 1, min(hit + 1 + _MOST_ANSWERS, len(document.tree)))
        if columns.kind[at] == Kind.TOOL_RESULT and _replied_to(columns, at) == hit
    ]
    words = query.casefold().replace('"', " ").split()
    return [
        row
        for row in _rows_of(document, sorted(set(answers) - known))
        if all(word in row.text.casefold() for word in words)
    ]


def _replied_to(columns: SessionColumns, result: int) -> int:
    """The reply above a result, -1 where there is none."""
    at = columns.parent[result]
    while at >= 0 and columns.kind[at] == Kind.TOOL_RESULT:
        at = columns.parent[at]
    return at

"""The sessions one step away from the one shown: where it came from, and what it started."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from explorer.services.changes import SessionsChanged
from explorer.services.document import Document
from explorer.services.related_sessions import RelatedSessions
from explorer.services.session_forks import fork_point
from explorer.store.rows import SessionRow
from ui.app_state import AppState
from ui.branching.agent_stop import AgentStop
from ui.library.controller import SessionsController

_HERE = {"subagent": "was started here", "compactor": "was asked for a summary here"}


def title_of(row: SessionRow) -> str:
    """A session's title, quoted."""
    return f"“{' '.join(row.title.split()) or 'Untitled session'}”"


class RelatedSessionsController(QObject):
    """Marks on the map what started a session, and goes there and back."""

    def __init__(
        self, state: AppState, sessions: SessionsController, agent_stop: AgentStop
    ) -> None:
        super().__init__(state)
        self._state, self._sessions, self._agent_stop = state, sessions, agent_stop
        self.related = RelatedSessions()
        state.document_changed.connect(self._look)
        state.bus.on(SessionsChanged, lambda _change: self._look())

    @property
    def has_parent(self) -> bool:
        """Whether the session shown says that another one made it."""
        document = self._state.document
        return document is not None and bool(document.header.parent_session)

    def _look(self) -> None:
        self.related = RelatedSessions()
        document = self._state.document
        if document is not None:
            self._state.tasks.start("Looking for related sessions", self._find(document))

    async def _find(self, document: Document) -> None:
        bench = self._state.bench_of(document.key)
        related = await asyncio.to_thread(bench.related, document.key)
        if self._state.document is document:
            self.related = related
            titles = {
                at: ", ".join(map(title_of, rows)) for at, rows in related.started.items()
            }  # fmt: skip
            self._state.window.map.set_started(titles)
            self._state.state_changed.emit()

    def fill_menu(self, menu: QMenu, entry: int) -> None:
        """Offer the sessions that an entry started."""
        for row in self.related.started.get(entry, ()):
            menu.addAction(f"Open the sub-agent {title_of(row)}").triggered.connect(
                lambda _checked=False, key=row.key: self._open(key)
            )

    def open_started(self, entry: int) -> None:
        """Open the first session that an entry started; without one, the first of all."""
        rows = self.related.started.get(entry) or self.related.children
        if rows:
            self._open(rows[0].key)

    def _open(self, key: int) -> None:
        self._agent_stop.then("open another session", lambda: self._sessions.open(key))

    # and back ------------------------------------------------------------------------------------

    def go_to_parent(self) -> None:
        """Open the session that made this one, where that happened."""
        self._agent_stop.then(
            "open its parent",
            lambda: self._state.tasks.start("Opening the parent", self._go_to_parent()),
        )

    async def _go_to_parent(self) -> None:
        document = self._state.document
        if document is None:
            return
        bench = self._state.bench_of(document.key)
        parent = (await asyncio.to_thread(bench.related, document.key)).parent
        if parent is None:
            self._state.notice(
                "warning", "The session that this one came from is not in the library.",
                todo=f"It is named {document.header.parent_session}. If the file is still there, "
                "import it.",
            )  # fmt: skip
            return
        self._state.window.notices.dismiss()
        await self._sessions.open_now(parent.key)
        origin = self._state.document
        if origin is not None and origin.key == parent.key:
            await self._point(document, origin)

    async def _point(self, child: Document, origin: Document) -> None:
        """Select the entry of the parent at which the child begins."""
        if child.header.parent_call:
            bench, call = self._state.bench_of(origin.key), child.header.parent_call
            found = await asyncio.to_thread(bench.store.results_of, origin.key, [call])
            at = found.get(call, -1)
            words = f"It {_HERE.get(child.header.relation, 'began here')}, at #{at}."
        else:
            at = await asyncio.to_thread(fork_point, child.tree, child.leaf, origin.tree)
            words = f"The fork left here, at #{at}."
        if at >= 0 and self._state.document is origin:
            self._state.window.map.select(at)
            self._state.say(words)

"""What the welcome page does, and what it knows of the sessions on this computer."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QObject

from explorer.services.changes import SessionsChanged
from explorer.services.discovery import Scan
from ui.actions import ActionRegistry
from ui.app_state import AppState
from ui.library.controller import SessionsController
from ui.library.discovery import DiscoveryController
from ui.library.new_session import NewSessionController
from ui.welcome.page import CONSENT, RECENT

LESSONS = "lessons.open"
"""The action that opens the lessons."""
ONCE = "Looks once for the session files of coding agents in their usual places."
LOOKING = "Looking in the usual places of coding agents …"


def found_words(found: Scan) -> str:
    """How many sessions of which agent there are, and how many are not imported yet."""
    agents = Counter(one.agent for one in found.sessions)
    if not agents:
        return "None was found in the usual places of coding agents."
    listed = ", ".join(f"{number:,} {agent}" for agent, number in agents.most_common())
    waiting = sum(one.state != "stored" for one in found.sessions)
    rest = f"{waiting:,} not imported yet, or changed since." if waiting else "All are imported."
    return f"On this computer: {listed}. {rest}"


class WelcomeController(QObject):
    """Fills the page, and asks others to do what is chosen on it."""

    def __init__(
        self,
        state: AppState,
        sessions: SessionsController,
        discovery: DiscoveryController,
        new_session: NewSessionController,
        actions: ActionRegistry,
    ) -> None:
        super().__init__(state)
        self._state = state
        self._discovery = discovery
        self._actions = actions
        self._found: Scan | None = None
        page = state.window.welcome
        page.mine_asked.connect(self._open_mine)
        page.agent_asked.connect(new_session.new)
        page.import_asked.connect(sessions.choose_files)
        page.session_asked.connect(sessions.open)
        page.lessons_asked.connect(lambda: actions[LESSONS].trigger())
        page.all_asked.connect(lambda: actions["all_sessions"].trigger())
        discovery.searched.connect(self._searched)
        state.opened.connect(self._ready)
        state.document_changed.connect(self._document_changed)
        state.bus.on(SessionsChanged, lambda _change: self._refresh())

    def _ready(self) -> None:
        page = self._state.window.welcome
        page.set_usable(True)
        page.focus_first()
        self._refresh()
        self._show_found()

    def _document_changed(self) -> None:
        if self._state.document is None:
            # What was added to the one that is left is said of it now.
            self._refresh()
        self._show_found()

    def _refresh(self) -> None:
        """Show the sessions that changed last."""
        bench = self._state.bench
        if bench is not None:
            rows = bench.sessions(4 * RECENT)
            own = [one for one in rows if one.relation in ("", "fork")]
            self._state.window.welcome.show_recent(own)

    def _searched(self, found: Scan) -> None:
        self._found = found
        self._show_found()

    def _show_found(self) -> None:
        if self._found is not None:
            words = found_words(self._found)
        elif self._discovery.agreed:
            words = LOOKING
        else:
            words = CONSENT if self._discovery.is_undecided else ONCE
        self._state.window.welcome.show_found(words)

    def _open_mine(self) -> None:
        """The sessions found, to be chosen from; the library where all of them are in it."""
        found = self._found
        if self._discovery.is_undecided:
            self._discovery.agree()
        elif (
            found is not None
            and found.sessions
            and all(one.state == "stored" for one in found.sessions)
        ):
            self._actions["all_sessions"].trigger()
        else:
            self._discovery.find()

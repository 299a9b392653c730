"""Beginning a session: an empty one, or a scripted run in a separate sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject

from explorer.models.offline.scenario import (
    Scenario,
    ScenarioError,
    next_message,
    scenario_of,
    scenarios,
)
from explorer.services.document import Document
from explorer.services.session_files import make_sandbox
from explorer.store.rows import StoreError
from ui.app_state import AGENT_MODEL, AppState
from ui.conversation.controller import THINKING
from ui.conversation.message_box import UNSENT
from ui.conversation.workspace import WORKSPACE_CHOICE
from ui.library.controller import SessionsController
from ui.shell.dialogs import choose_folder
from ui.widgets.notice import Notice


class NewSessionController(QObject):
    """Makes sessions that come from no file."""

    def __init__(self, state: AppState, sessions: SessionsController) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._was_running = False
        self._hint: Notice | None = None
        """How a scripted run is begun."""
        state.state_changed.connect(self._follow)

    # an empty session ----------------------------------------------------------------------------

    def new(self) -> None:
        """Begin a session in the folder that the shown one works in, or the one chosen last; ask
        for a folder where there is none. An empty session is not begun twice."""
        document = self._state.document
        if document is not None and not len(document.tree):
            self._state.window.agent.focus_composer()
            self._state.say("This session is empty: write what you want to begin with.")
            return
        folder = self._folder(document)
        if folder is None:
            self._ask_folder()
        else:
            self._begin(folder)

    def _folder(self, document: Document | None) -> Path | None:
        chosen = document.choices.all().get(WORKSPACE_CHOICE) if document is not None else None
        recorded = document.header.cwd if document is not None else ""
        for name in (chosen, recorded, self._state.preferences.workspace):
            if isinstance(name, str) and name and Path(name).is_dir():
                return Path(name)
        return None

    def _ask_folder(self) -> None:
        choose_folder(
            self._state.window,
            "Folder that the agent shall work in",
            lambda name: self._begin(Path(name), True),
        )

    def _begin(self, folder: Path, chosen_now: bool = False) -> None:
        self._state.tasks.start("Beginning a session", self._begin_now(folder, chosen_now))

    async def _begin_now(self, folder: Path, chosen_now: bool) -> None:
        before = self._state.document
        chosen = before.choices.all().get(WORKSPACE_CHOICE) if before is not None else None
        document = await self._create(folder, "")
        if document is None:
            return
        if chosen_now or chosen == str(folder):
            # The person let the agent work there a moment ago.
            document.choices.set(WORKSPACE_CHOICE, str(folder))
            self._state.preferences.workspace = str(folder)
        await self._sessions.open_now(document.key)
        self._state.window.agent.focus_composer()
        self._state.say(f"A new session in {folder}")

    async def _create(self, folder: Path, name: str) -> Document | None:
        """The session; None where it could not be stored, which is reported."""
        assert self._state.bench is not None
        try:
            return await self._state.bench.create(folder, name)
        except StoreError as error:
            self._state.notice("error", str(error), "No session was begun.")
            return None

    # a scripted run ------------------------------------------------------------------------------

    def watch(self) -> None:
        """Make a sandbox and a session in it, with the first message in the box."""
        self._state.tasks.start("Preparing the run", self._watch_now())

    async def _watch_now(self) -> None:
        try:
            scenario = (await asyncio.to_thread(scenarios))[0]
            folder = await asyncio.to_thread(make_sandbox, scenario)
        except ScenarioError as error:
            self._state.notice("error", f"The scripted run cannot be played: {error}")
            return
        except OSError as error:
            self._state.notice(
                "error", f"The sandbox cannot be made: {error.strerror or error}",
                "No session was begun.", "Free some space, or look at the folder's permissions.",
            )  # fmt: skip
            return
        document = await self._create(folder, scenario.title)
        if document is None:
            return
        self._prepare(document, scenario, folder)
        await self._sessions.open_now(document.key)
        self._state.window.agent.focus_composer()
        self._state.notice(
            "info", "A scripted run in a sandbox: press Enter. You are asked before each change.",
            details=f"{scenario.about}\nThe sandbox: {folder}",
        )  # fmt: skip
        self._hint = self._state.window.notices.notice

    def _prepare(self, document: Document, scenario: Scenario, folder: Path) -> None:
        """What a person would choose for the run."""
        document.choices.set(WORKSPACE_CHOICE, str(folder))
        document.choices.set(AGENT_MODEL, scenario.model)
        document.choices.set(THINKING, "low")
        document.choices.set(UNSENT, scenario.turns[0].message)

    def _follow(self) -> None:
        """After a turn of a script its next message stands in the box."""
        notices = self._state.window.notices
        running, before = self._state.agent_running, self._was_running
        if running and self._hint is not None and notices.notice is self._hint:
            notices.dismiss()
        self._was_running = running
        document, composer = self._state.document, self._state.window.agent.composer
        if running or not before or document is None or composer.toPlainText():
            return
        scenario = scenario_of(self._state.agent_model())
        if scenario is None:
            return
        if message := next_message(scenario, document.agent.messages()):
            composer.setPlainText(message)

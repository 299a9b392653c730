"""One run of the window: opens the database, makes the controllers, and closes both again."""

from __future__ import annotations

import argparse
import asyncio
import gc
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, QTimer

from explorer.models.client import ModelClient, ModelClientConfig
from explorer.settings import paths
from explorer.settings.live import following_extensions
from explorer.settings.preferences import Preferences
from explorer.store import DamagedError, Store, StoreError
from explorer.workbench import Workbench
from ui import theme
from ui.actions import ActionRegistry
from ui.app_state import AppState, PreferenceWriter
from ui.audit.compare.controller import CompareDraftsController
from ui.audit.controller import AuditController, RepairController
from ui.audit.fidelity.control import FidelityController
from ui.audit.moments import Moments
from ui.audit.needed.controller import NeededAgainController
from ui.audit.recall.controller import RecallController
from ui.audit.report import ReportController
from ui.audit.what_if.controller import WhatIfController
from ui.branching.difference import (
    DifferenceController,
)
from ui.branching.fork import ForkController
from ui.branching.related import RelatedSessionsController
from ui.branching.runs import (
    RunsController,
)
from ui.compaction.automatic_progress import AutomaticProgressController
from ui.compaction.automatic_undo import AutomaticUndoController
from ui.compaction.controller import CompactionController
from ui.compaction.entry_edits import EntryEditsController, PruningController
from ui.conversation.controller import AgentController
from ui.copilot.controller import PromptTabController
from ui.extensions.controller import (
    ExtensionsController,
)
from ui.lessons.controller import LessonsController
from ui.lessons.files import LessonFilesController
from ui.library.arrangement import ArrangementController
from ui.library.controller import (
    SessionsController,
)
from ui.library.discovery import DiscoveryController
from ui.library.live import LiveController
from ui.library.new_session import NewSessionController
from ui.library.page_controller import LibraryPageController
from ui.library.resume import ResumeController
from ui.library.search import (
    SearchController,
)
from ui.main_window import MainWindow
from ui.map.navigation import (
    NavigationController,
)
from ui.models.consent import ConsentController
from ui.models.controller import (
    ModelsController,
)
from ui.profiles.controller import (
    ProfileComparisonController,
    ProfilesController,
)
from ui.replay.controller import (
    ReplayController,
)
from ui.settings.controller import (
    SettingsController,
)
from ui.shell.session_views import SessionViewsController
from ui.team.controller import TeamController
from ui.team.libraries import TeamLibraries
from ui.team.publish_controller import PublishingController
from ui.welcome.controller import WelcomeController
from ui.welcome.tour import TourController
from ui.workshop.controller import (
    WorkshopController,
)
from ui.workshop.summary_check import SummaryCheckController

READERS_MS = 5_000
"""How long closing waits for what panes still read."""

SAMPLE = ("samples", "retry-that-flakes.jsonl")


def is_file(name: str) -> bool:
    """Whether a word of the command line names a file rather than a stored session."""
    return Path(name).is_file()


class WindowSession(QObject):
    """One run of the window over one database."""

    _has_frozen = False
    """Whether the first window of this process has let the collector pass by what it found: the
    collector itself counts all objects to say so."""

    def __init__(
        self, window: MainWindow, preferences: Preferences, problem: str, done: asyncio.Event
    ) -> None:
        super().__init__(window)
        self.window = window
        self.preferences = preferences
        self.state = AppState(window, preferences)
        self._problem = problem
        self._done = done
        self._make_agent()
        self._make_compaction()
        self._make_audit()
        self._make_pages()
        self.actions = ActionRegistry(window)
        """Filled by ``ui.shell.actions``, which imports every feature."""
        self.welcome = WelcomeController(
            self.state, self.sessions, self.discovery, self.new_session, self.actions
        )
        self._preference_writer = PreferenceWriter(
            self.state, self.preferences, paths.preferences_path()
        )
        window.defer_close()
        window.close_requested.connect(self._end)
        self.tour = TourController(self.state)
        window.welcome.example_asked.connect(self.open_sample)

    def _make_agent(self) -> None:
        """The library, navigation in a session, and the agent at its leaf."""
        self.sessions = SessionsController(self.state)
        self.new_session = NewSessionController(self.state, self.sessions)
        self.resume = ResumeController(self.state)
        self.arrangement = ArrangementController(self.state, self.sessions.open_now)
        self.live = LiveController(self.state)
        self.discovery = DiscoveryController(self.state, self.sessions, self.live)
        self.libraries = TeamLibraries(self.state)
        self.team = TeamController(self.state, self.sessions, self.libraries)
        self.publishing = PublishingController(self.state, self.libraries)
        self.library_page = LibraryPageController(
            self.state, self.sessions, self.arrangement, self.discovery, self.libraries, self.team,
            self.publishing,
        )  # fmt: skip
        self.search = SearchController(self.state, self.sessions)
        self.navigation = NavigationController(self.state)
        self.agent = AgentController(self.state)
        # Connected before the compaction panel: the map must hold the session before it is given
        # a partition of it.
        self.session_views = SessionViewsController(self.state, self.sessions, self.navigation)
        stop = self.navigation.agent_stop
        self.related = RelatedSessionsController(self.state, self.sessions, stop)
        self.forks = ForkController(self.state, self.sessions, stop, self.related)
        self.differences = DifferenceController(self.state, self.navigation)
        self.runs = RunsController(self.state, self.agent, self.navigation, self.differences)

    def _make_compaction(self) -> None:
        """Compactions, manual and automatic, and undoing them."""
        self.compaction = CompactionController(self.state, self.agent.automatic)
        self.automatic_progress = AutomaticProgressController(
            self.state, self.agent.automatic, self.compaction
        )
        self.automatic_undo = AutomaticUndoController(self.state, self.agent)
        self.automatic_progress.undo_and_go_on_asked.connect(self.automatic_undo.undo_and_go_on)
        self.automatic_progress.stop_agent_asked.connect(self.agent.stop)

    def _make_audit(self) -> None:
        """The audit of what became of entries, edits of entries, and repairs."""
        self.moments = Moments(self.state)
        self.audit = AuditController(self.state, self.moments)
        self.needed_again = NeededAgainController(self.state, self.audit, self.moments)
        self.report = ReportController(self.state, self.audit, self.moments)
        self.pruning = PruningController(self.state)
        self.entry_edits = EntryEditsController(self.state, self.navigation)
        self.fidelity = FidelityController(self.state, self.moments)
        self.repairs = RepairController(
            self.state, self.navigation, self.entry_edits, self.fidelity
        )

    def _make_pages(self) -> None:
        """Dialogs and windows that are opened from this one."""
        self.prompts = PromptTabController(self.state, self.agent)
        self.consent = ConsentController(self.state)
        self.models = ModelsController(self.state, self.agent)
        self.settings = SettingsController(self.state, self.agent.automatic, self.models.pick)
        self.profiles = ProfilesController(self.state)
        self.profile_comparison = ProfileComparisonController(self.state, self.profiles)
        self.what_if = WhatIfController(self.state)
        self.extensions = ExtensionsController(self.state)
        self.replay = ReplayController(self.state, self.sessions, self.agent)
        self.draft_comparison = CompareDraftsController(
            self.state, self.fidelity, self.compaction, self.differences
        )
        self.recall = RecallController(self.state, self.fidelity, self.models)
        self.summary_check = SummaryCheckController(self.state)
        self.fidelity.act_asked.connect(self.summary_check.act_on)
        self.workshop = WorkshopController(self.state, self.agent)
        self.lessons = LessonsController(self.state, self.sessions, paths.resource_path(*SAMPLE))
        self.lesson_files = LessonFilesController(self.state, self.sessions, self.lessons)

    async def run(self, arguments: argparse.Namespace) -> int:
        """Open the database, then what was asked for; returns when the window is closed."""
        if self._problem:
            self.state.notice("warning", "Some settings could not be used.", details=self._problem)
        if self.preferences.less_motion or theme.system_asks_for_less_motion():
            theme.set_motion(False)
        path = paths.database_path()
        try:
            paths.ensure(path.parent)
            store = await asyncio.to_thread(Store.open, path)
        except (StoreError, OSError) as error:
            self._cannot_open(path, error)
            await self._done.wait()
            await self.state.tasks.close()
            return 1
        client = ModelClient(ModelClientConfig(user_models=paths.models_path()))
        extensions = following_extensions(self.state.live)
        bench = Workbench(store, client, extensions=extensions)
        stop_watching = bench.watch(asyncio.get_running_loop().call_soon_threadsafe)
        try:
            # With a key in the environment this reads a large table.
            await asyncio.to_thread(client.models)
            self.state.open(bench)
            # What is there now stays; a session does not. A second window of the process, as tests
            # open them, would keep all that the first one left for ever.
            if not WindowSession._has_frozen:
                WindowSession._has_frozen = True
                gc.freeze()
            await self._open_first(arguments)
            self.window.is_ready = True
            self.window.show_panes(self.state.document is not None)
            chosen = (self.state.agent_model(), *self.state.summary_models())
            if not all(model.startswith("offline/") for model in chosen):
                client.warm()
            if getattr(arguments, "smoke", False):
                QTimer.singleShot(300, self.window.close)
            await self._done.wait()
        finally:
            stop_watching()
            self._preference_writer.stop()
            self.settings.stop()
            self.models.stop()
            self.window.map.shutdown()
            await self.discovery.close()
            self.state.show(None)
            await self.state.tasks.close()
            # Behind the tasks that fill panes: one of them begins to follow the session's file.
            await self.live.close()
            await self.libraries.close()
            # Panes read payloads in threads of Qt's; the database closes behind the last of them.
            await asyncio.to_thread(QThreadPool.globalInstance().waitForDone, READERS_MS)
            await asyncio.to_thread(self.sessions.close)
            await self.team.close()
            await asyncio.to_thread(extensions.close)
            await asyncio.to_thread(client.close)
            await asyncio.to_thread(store.close)
        return 0

    def _cannot_open(self, path: Path, error: Exception) -> None:
        offer = isinstance(error, DamagedError)
        self.state.notice(
            "error",
            f"The database cannot be opened. {error}",
            "The file was left as it is.",
            "What can still be read can be copied into a new database."
            if offer
            else "Close the window, and move the file away or free the folder.",
            action="Copy what can be read" if offer else "",
            on_action=(lambda: self._salvage(path)) if offer else None,
        )
        self.window.welcome.show_failure(
            "The database cannot be opened",
            "What is wrong with it, and what can be done, is said above.",
        )
        self.window.show_panes(False)
        self.window.notices.setFocus()

    def _salvage(self, path: Path) -> None:
        self.state.tasks.start("Copying what can be read", self.sessions.salvage(path))

    async def _open_first(self, arguments: argparse.Namespace) -> None:
        """The session named on the command line, the last one, or the welcome page."""
        bench = self.state.bench
        assert bench is not None
        name = getattr(arguments, "session", None)
        if getattr(arguments, "sample", False):
            await self._open_sample(self.tour.is_due)
        elif name and is_file(name):
            await self.sessions.import_now([Path(name)])
        elif name:
            keys = [r.key for r in bench.sessions() if str(r.key) == name or r.session_id == name]
            if keys:
                await self.sessions.open_now(keys[0])
            else:
                self.state.notice(
                    "error", f"{name}: no such file, and no stored session of that name."
                )
        elif self.preferences.last_session in {row.key for row in bench.sessions()}:
            await self.sessions.open_now(self.preferences.last_session)

    def open_sample(self) -> None:
        """Import and open the bundled session, at the first time with its callouts."""
        self.state.tasks.start("Opening the example", self._open_sample(self.tour.is_due))

    def show_tour(self) -> None:
        """Open the bundled session with its callouts."""
        self.state.tasks.start("Opening the example", self._open_sample(True))

    async def _open_sample(self, with_tour: bool) -> None:
        await self.sessions.import_now([paths.resource_path(*SAMPLE)])
        if with_tour:
            self.tour.begin()

    # the end -------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Everything is stored already; a running turn or draft is stopped first."""
        self.agent.stop()
        self.compaction.stop()
        self.summary_check.stop()
        self.recall.stop()
        self.workshop.stop()
        self.lessons.stop()
        self.agent.keep_unsent()
        self.compaction.keep_edits()
        self.session_views.keep_map()
        self.window.remember()
        self.state.tasks.start("Closing", self._close())

    async def _close(self) -> None:
        for _ in range(100):
            if not any(
                each.running
                for each in (
                    self.agent,
                    self.compaction,
                    self.summary_check,
                    self.recall,
                    self.workshop,
                )
            ):
                break
            await asyncio.sleep(0.02)
        await self.agent.automatic.stop_ahead()
        self.window.close()
        self._done.set()

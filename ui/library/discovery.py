"""Finding the sessions of agents on this computer: the consent, the search, the import, and keeping
up to date afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from explorer.services.changes import SessionsChanged
from explorer.services.discovery import (
    FIND,
    FoundImport,
    ImportOutcome,
    ImportState,
    ListedSession,
    Scan,
    listing,
    places_of,
    scan,
)
from explorer.services.follower import SessionWatch
from explorer.settings.files import SettingsError
from explorer.settings.live import SettingsChanged as SettingsFileChanged
from explorer.store.rows import ImportReport, StoreError
from explorer.workbench import Workbench
from ui.app_state import AppState
from ui.library.controller import ImportNotes, SessionsController
from ui.library.found import FoundDialog
from ui.library.live import LiveController
from ui.shell.dialogs import open_once
from ui.shell.status_bar import Work
from ui.widgets.figures import count, size

START_S = 1.0
"""How long the first search waits after the start, so that the window opens first."""
REFRESH_S = 1.0
"""How often the list of sessions is shown anew while many are imported."""
AGAIN_S = 60.0
"""How old a search is at least before another begins because the window comes to the front."""


class DiscoveryController(QObject):
    """Searches when the person asks, and by itself only after the person agreed."""

    searched = Signal(object)
    """A ``Scan``: what a search found."""

    def __init__(self, state: AppState, sessions: SessionsController, live: LiveController) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._live = live
        self._imports = asyncio.Lock()
        self._running: FoundImport | None = None
        self._work: Work | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._watch: SessionWatch | None = None
        self._searched_at = 0.0
        self._last: Scan | None = None
        """What the last search found."""
        self._refused: set[ListedSession] = set()
        """What could not be imported, as it was then."""
        self._unsubscribe: Callable[[], None] | None = None
        state.opened.connect(self._ready)
        state.window.library.find_requested.connect(self.find)

    def _ready(self) -> None:
        """The database is open: go on as the settings say."""
        loop = asyncio.get_running_loop()

        def changed(change: SettingsFileChanged) -> None:
            if any(key.startswith("sessions.") for key in change.keys):
                loop.call_soon_threadsafe(self._follow_settings)

        self._unsubscribe = self._state.live.subscribe(changed)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.applicationStateChanged.connect(self._activated)
        self._follow_settings()

    async def close(self) -> None:
        """End all of it; what is imported stays."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._running is not None:
            self._running.cancel()
        await self._stop_keeping()

    @property
    def agreed(self) -> bool:
        """Whether the person wants sessions to be looked for at each start."""
        return self._state.live.get(FIND) is True

    # the consent ---------------------------------------------------------------------------------

    @property
    def is_undecided(self) -> bool:
        """Whether the person was not asked yet."""
        return self._state.live.get(FIND) is None

    def agree(self) -> None:
        """Search for sessions now, and store that the person agreed."""
        self._state.preferences.sessions_seen_ms = time.time() * 1000
        if self._set(True):
            self.find()

    def _set(self, on: bool) -> bool:
        try:
            self._state.live.set(FIND, on)
        except SettingsError as error:
            self._state.notice("error", str(error), "Nothing was looked for.")
            return False
        return True

    def _follow_settings(self) -> None:
        self._state.tasks.start("Looking for sessions", self._start_keeping())

    # searching for the person --------------------------------------------------------------------

    def find(self) -> None:
        """Look for sessions, and show what there is."""
        self._state.tasks.start("Looking for sessions", self._find())

    async def _find(self) -> None:
        bench = self._state.bench
        if bench is None:
            return
        began = time.time() * 1000
        work = self._state.window.progress.begin("Looking for sessions")
        try:
            found = await asyncio.to_thread(scan, bench.store, places_of(self._state.live.values()))
        except StoreError as error:
            self._state.notice("error", str(error), "Nothing was imported.")
            return
        finally:
            work.end()
        self._report(found)
        dialog = FoundDialog(found, self.agreed, self._state.window)
        dialog.import_chosen.connect(
            lambda chosen, are_all: self._take(chosen, began if are_all else 0.0)
        )
        dialog.finished.connect(lambda _code: self._keep_up(dialog.keep_up.isChecked(), began))
        open_once(dialog)

    def _report(self, found: Scan) -> None:
        self._last = found
        self.searched.emit(found)

    async def _report_again(self, bench: Workbench) -> None:
        """Others of what was found are stored now."""
        if (last := self._last) is not None:
            sessions = [one.found for one in last.sessions]
            self._report(await asyncio.to_thread(listing, bench.store, sessions, last.failures))

    def _keep_up(self, on: bool, began: float) -> None:
        """The dialog was closed. What was left out in it is not imported later by itself."""
        preferences = self._state.preferences
        if preferences.sessions_seen_ms or not self.agreed:
            preferences.sessions_seen_ms = max(preferences.sessions_seen_ms, began)
        if on != self.agreed:
            self._set(on)

    def _take(self, chosen: Sequence[ListedSession], all_until: float) -> None:
        """``all_until``: the time of the search where all of it are imported, else 0."""
        self._state.tasks.start("Importing sessions", self._import_chosen(chosen, all_until))

    async def _import_chosen(self, chosen: Sequence[ListedSession], all_until: float) -> None:
        preferences = self._state.preferences
        if all_until and self.agreed:
            # Should the window be closed meanwhile, the next start goes on with the rest.
            preferences.sessions_seen_ms = 0.0
        opens = len(chosen) == 1 or self._state.document is None
        async with self._imports:
            outcome = await self._import(chosen, opens)
            if outcome is None:
                return
            # Before the lock is free: who keeps sessions up to date waits for it, and would bring
            # in what the person has just cancelled.
            preferences.sessions_seen_ms = max(preferences.sessions_seen_ms, all_until)
        assert self._state.bench is not None
        await self._report_again(self._state.bench)
        said = f"{count(outcome.new, 'session')} imported, {outcome.updated:,} updated."
        if outcome.left:
            said += f" {outcome.left:,} are left; Find goes on with them."
        self._state.say(said)
        notes = ImportNotes([f"{path}: {reason}" for path, reason in outcome.failed])
        if (notice := notes.notice()) is not None:
            self._state.window.notices.show_notice(notice)

    # importing -----------------------------------------------------------------------------------

    async def _import(
        self, chosen: Sequence[ListedSession], opens: bool = False
    ) -> ImportOutcome | None:
        """Import sessions, the newest first, with progress, while ``_imports`` is locked; None when
        the database refused. ``opens``: the first one is opened as soon as it is there."""
        bench = self._state.bench
        assert bench is not None
        # Another import may have taken some of them meanwhile.
        found = await asyncio.to_thread(listing, bench.store, [one.found for one in chosen])
        running = self._running = self._make_import(bench, found, opens)
        thread = asyncio.ensure_future(asyncio.to_thread(running.run))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            running.cancel()
            await thread
            raise
        except StoreError as error:
            self._state.notice(
                "error", str(error), "What was imported before is kept.",
                "Free some room or look at the database, and look for sessions again.",
            )  # fmt: skip
            return None
        finally:
            self._running = None
            if self._work is not None:
                self._work.end()
            bench.hub.publish(SessionsChanged())

    def _make_import(self, bench: Workbench, found: Scan, opens: bool) -> FoundImport:
        loop = asyncio.get_running_loop()
        shown_at = loop.time()
        waits_to_open = opens

        def show(state: ImportState) -> None:
            what = f"Importing sessions, {state.sessions_done:,} of {state.sessions:,}"
            work.update(state.bytes_done, state.size, f"{what}, {size(state.bytes_done)}")

        def imported(report: ImportReport) -> None:
            nonlocal shown_at, waits_to_open
            if self._running is not running:
                return
            bench.take_import(report)
            if loop.time() - shown_at > REFRESH_S or waits_to_open:
                shown_at = loop.time()
                bench.hub.publish(SessionsChanged())
            if waits_to_open:
                waits_to_open = False
                self._sessions.open(report.key)

        def pause(on: bool) -> None:
            (running.pause if on else running.resume)()

        running = FoundImport(
            bench, found.sessions,
            lambda state: loop.call_soon_threadsafe(show, state),
            lambda report: loop.call_soon_threadsafe(imported, report),
        )  # fmt: skip
        work = self._state.window.progress.begin("Importing sessions", running.cancel, pause)
        self._work = work
        return running

    # keeping up to date --------------------------------------------------------------------------

    async def _start_keeping(self) -> None:
        await self._stop_keeping()
        if self.agreed and self._state.bench is not None:
            self._keeping = asyncio.ensure_future(self._keep(self._state.bench))

    async def _stop_keeping(self) -> None:
        task, self._keeping = self._keeping, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _keep(self, bench: Workbench) -> None:
        """Import what is new or changed since the last search, now and whenever it changes."""
        await asyncio.sleep(START_S)
        self._watch = SessionWatch(bench.store, places_of(self._state.live.values()))
        try:
            async with contextlib.aclosing(self._watch.scans()) as scans:
                began = time.time() * 1000
                async for found in scans:
                    self._report(found)
                    await self._bring_up_to_date(found)
                    self._searched_at = time.monotonic()
                    preferences = self._state.preferences
                    preferences.sessions_seen_ms = max(preferences.sessions_seen_ms, began)
                    began = time.time() * 1000
        except (StoreError, OSError) as error:
            self._state.say(f"Sessions are not looked for until the next start: {error}")
        finally:
            self._watch = None

    async def _bring_up_to_date(self, found: Scan) -> None:
        async with self._imports:
            since = self._state.preferences.sessions_seen_ms
            wanted = [one for one in found.sessions if self._is_wanted(one, since)]
            outcome = await self._import(wanted) if wanted else None
        if outcome is None:
            return
        assert self._state.bench is not None
        await self._report_again(self._state.bench)
        failed = {path for path, _ in outcome.failed}
        self._refused |= {one for one in wanted if str(one.found.path) in failed}
        if outcome.new or outcome.updated:
            self._state.say(
                f"{count(outcome.new + outcome.updated, 'session')} brought up to date."
            )

    def _is_wanted(self, one: ListedSession, since_ms: float) -> bool:
        """Whether it is imported by itself. What is followed comes in as it is written."""
        is_fresh = one.state == "new" and one.found.modified_ms > since_ms
        return (
            (is_fresh or one.state == "changed")
            and one not in self._refused
            and not self._live.follows(one.found.path, one.found.session_id)
        )

    def _activated(self, state: Qt.ApplicationState) -> None:
        """Search again when the window is activated, in new folders too."""
        is_old = time.monotonic() - self._searched_at > AGAIN_S
        if state == Qt.ApplicationState.ApplicationActive and self._watch is not None and is_old:
            self._watch.look_again()

"""Publishing sessions into a team's library: read, shown, and sent once the person says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from threading import Event
from typing import Any, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from explorer.services.publication import connect, plan_publishing, publish
from explorer.store import SessionRow
from explorer.store.postgres import TeamLibrary
from explorer.store.rows import ImportCancelled, OnProgress
from ui.app_state import AppState
from ui.shell.dialogs import open_once
from ui.team.libraries import LIBRARY_ERRORS, TeamLibraries, refusal
from ui.team.publish_dialog import READING, Going, PublishDialog
from ui.widgets.figures import count

T = TypeVar("T")

NOT_THERE = "not published"
NOT_ACKNOWLEDGED = "not acknowledged"
"""Of a session that was on its way when its server was lost: it may be there, and publishing it
again is harmless."""


class PublishingController(QObject):
    """One dialog at a time; what it reads and sends ends with it."""

    def __init__(self, state: AppState, libraries: TeamLibraries) -> None:
        super().__init__(state)
        self._state, self._libraries = state, libraries
        self._stop = Event()
        """Set: what is being read or sent ends at its next look."""
        self._dialog: PublishDialog | None = None

    def ask(self, sessions: Sequence[SessionRow], parent: QWidget) -> None:
        """Show what of sessions would go."""
        names = self._libraries.names()
        if not names or not sessions:
            return
        dialog = self._dialog = PublishDialog(sessions, names, parent)
        dialog.library_chosen.connect(lambda _name: self._plan(dialog))
        dialog.publish_asked.connect(lambda: self._send(dialog))
        dialog.stop_asked.connect(lambda: self._stop.set())
        dialog.finished.connect(lambda _code: self._closed())
        open_once(dialog)
        self._plan(dialog)

    def _closed(self) -> None:
        self._dialog = None
        self._stop.set()

    def _begin(self) -> Event:
        """Stop what ran before; what begins looks at this."""
        self._stop.set()
        self._stop = Event()
        return self._stop

    def _plan(self, dialog: PublishDialog) -> None:
        dialog.notice.dismiss()
        for one in dialog.going:
            one.plan, one.state, one.is_there = None, READING, False
        self._state.tasks.start("Reading what would go", self._planned(dialog, self._begin()))

    async def _planned(self, dialog: PublishDialog, stop: Event) -> None:
        bench, name = self._state.bench, dialog.library
        if bench is None:
            return
        dialog.show_reading(0)

        async def plan(team: TeamLibrary) -> None:
            for done, one in enumerate(dialog.going, 1):
                key = one.session.key
                made = await self._run(
                    stop, partial(plan_publishing, bench.store, key, team, stop.is_set)
                )
                if stop.is_set():
                    return
                one.plan, one.is_there = made, made.unchanged
                one.state = "as it is there" if made.unchanged else "to be published"
                dialog.show_reading(done)

        try:
            await self._connected(name, stop, plan)
        except ImportCancelled:
            return
        except LIBRARY_ERRORS as error:
            if not stop.is_set():
                self._refuse(dialog, error, "Nothing has gone.", lambda: self._plan(dialog))
            return
        if not stop.is_set():
            dialog.show_ready()

    def _send(self, dialog: PublishDialog) -> None:
        dialog.notice.dismiss()
        self._state.tasks.start("Publishing", self._sent(dialog, self._begin()))

    async def _sent(self, dialog: PublishDialog, stop: Event) -> None:
        bench, name, loop = self._state.bench, dialog.library, asyncio.get_running_loop()
        if bench is None:
            return
        wanted = dialog.left
        gone = 0

        def show(one: Going, done: int, total: int) -> None:
            # What is called soon may come after the end.
            if not stop.is_set() and not one.is_there:
                dialog.show_going(one, done, total, gone, len(wanted))

        async def send(team: TeamLibrary) -> None:
            nonlocal gone
            for one in wanted:
                shown = partial(show, one)
                shown(0, one.session.entries)
                progress = _from_thread(loop, shown)
                key = one.session.key
                report = await self._run(
                    stop, partial(publish, bench.store, key, team, progress, stop.is_set)
                )
                gone += 1
                one.is_there, one.state = True, f"published as {report.key}"

        try:
            await self._connected(name, stop, send)
        except ImportCancelled:
            self._show_end(dialog, f"Stopped. {_words(gone, len(wanted))}")
        except LIBRARY_ERRORS as error:
            self._show_end(dialog, "")
            if gone < len(wanted):
                wanted[gone].state = NOT_ACKNOWLEDGED
            done = _words(gone, len(wanted)) if gone else "Nothing was acknowledged."
            safe = f"{done} To publish one again is harmless."
            self._refuse(dialog, error, safe, lambda: self._send(dialog))
        else:
            self._show_end(dialog, f"{count(gone, 'session')} published.")
        self._libraries.try_again(name)

    def _show_end(self, dialog: PublishDialog, words: str) -> None:
        for one in dialog.left:
            one.state = NOT_THERE
        if dialog is self._dialog:
            dialog.show_end(words)
        elif words:
            self._state.say(words)

    async def _connected(
        self, name: str, stop: Event, work: Callable[[TeamLibrary], Coroutine[Any, Any, None]]
    ) -> None:
        """Do something with a connection of its own: others do not wait for it."""
        team = await self._run(stop, lambda: connect(name))
        try:
            await work(team)
        finally:
            await self._libraries.run(team.close)

    async def _run(self, stop: Event, work: Callable[[], T]) -> T:
        """On a thread, which is waited for also when the window is closed."""
        thread = asyncio.ensure_future(self._libraries.run(work))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([thread])
            raise

    def _refuse(
        self, dialog: PublishDialog, error: Exception, safe: str, again: Callable[[], None]
    ) -> None:
        if dialog is self._dialog:
            dialog.show_notice(refusal(dialog.library, error, safe, again))
        else:
            self._state.notice("error", str(error), safe)


def _from_thread(loop: asyncio.AbstractEventLoop, shown: Callable[[int, int], None]) -> OnProgress:
    """Progress that is reported on a thread, shown on the window's."""

    def progress(done: int, total: int) -> None:
        loop.call_soon_threadsafe(shown, done, total)

    return progress


def _words(gone: int, wanted: int) -> str:
    if not gone:
        return "Nothing was published."
    return f"{gone:,} of {count(wanted, 'session')} were published and stay."

"""A session of a team in the window: opened to be read, with the notes of the team at its entries
and findings, and copied into the person's own library to go on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QWidget

from explorer.audit.findings import Finding
from explorer.services.changes import SessionsChanged
from explorer.services.team_sessions import TeamSessions
from explorer.store.postgres import TeamLibrary
from explorer.store.rows import ImportCancelled, StoreError
from ui.app_state import AppState
from ui.library.controller import SessionsController
from ui.library.pane import when
from ui.team.libraries import LIBRARY_ERRORS, TeamLibraries, refusal
from ui.team.notes import TeamNotes
from ui.theme import S4, S8, S16
from ui.widgets.labels import ElidedLabel
from ui.widgets.notice import Notice
from ui.widgets.panels import push_button, row_in


class ReadOnlyStrip(QFrame):
    """In the place of the message box: whose session this is, and how to go on from it."""

    go_on_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.words = ElidedLabel("", self)
        self.go_on = push_button(
            "Go on from &here", self, "Copy the session into your own library, and open the copy",
            primary=True,
        )  # fmt: skip
        self.go_on.clicked.connect(self.go_on_asked)
        line = row_in(self, S8, (S16, S4, S16, S4))
        line.addWidget(self.words, 1)
        line.addWidget(self.go_on)
        self.hide()


class TeamController(QObject):
    """Opens sessions of teams, and shows and writes notes on the one that is shown."""

    def __init__(
        self, state: AppState, sessions: SessionsController, libraries: TeamLibraries
    ) -> None:
        super().__init__(state)
        self._state, self._sessions, self._libraries = state, sessions, libraries
        self._opening = asyncio.Lock()
        self._told: Notice | None = None
        self._strip: ReadOnlyStrip | None = None
        self._on_entry: TeamNotes | None = None
        self._on_finding: TeamNotes | None = None
        state.document_changed.connect(self._document_changed)
        state.window.map.selection_changed.connect(lambda _entry: self._show_notes())
        libraries.changed.connect(lambda _name: self._show_notes())

    # opening -------------------------------------------------------------------------------------

    def open(self, name: str, key: int, entry: int = -1) -> None:
        """Open a session of a library; ``entry``: one to show."""
        self._state.tasks.start("Opening the session", self._open(name, key, entry))

    async def _open(self, name: str, key: int, entry: int) -> None:
        state, loop = self._state, asyncio.get_running_loop()
        if state.bench is None:
            return
        bench = state.bench
        work = state.window.progress.begin(f"Reading session {key} of {name}")

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(work.update, done, total)

        def read(team: TeamLibrary) -> int:
            # First the server, which may be gone: to make a database takes its time.
            shared = team.shared_session(key)
            if state.team_sessions is None:
                state.team_sessions = TeamSessions(bench)
            return state.team_sessions.take(team, shared, progress, lambda: work.cancelled)

        try:
            async with self._opening:
                copy = await self._libraries.ask(name, read)
        except ImportCancelled:
            state.say("Cancelled; nothing of the session was kept.")
            return
        except asyncio.CancelledError:
            work.cancel()  # The thread ends at its next look.
            raise
        except LIBRARY_ERRORS as error:
            again = partial(self._again, name, key, entry)
            state.window.notices.show_notice(refusal(name, error, "", again))
            return
        finally:
            work.end()
        await self._sessions.open_now(copy, entry)

    def _again(self, name: str, key: int, entry: int) -> None:
        self._state.window.notices.dismiss()
        self.open(name, key, entry)

    def go_on(self) -> None:
        """Copy the session that is shown into the person's own library, and open the copy."""
        if self._state.team_session is not None:
            self._state.tasks.start("Copying the session", self._go_on())

    async def _go_on(self) -> None:
        state, document, team = self._state, self._state.document, self._state.team_sessions
        if state.bench is None or document is None or team is None:
            return
        entry = state.selected
        try:
            key = await asyncio.to_thread(team.go_on, document.key)
        except StoreError as error:
            state.notice("error", str(error), "Nothing was copied.")
            return
        state.bench.hub.publish(SessionsChanged())
        if state.document is document:
            await self._sessions.open_now(key, entry)
            state.say("This is your own copy; what the team has stays as it is.")

    async def close(self) -> None:
        """Remove what was copied to be read."""
        if self._state.team_sessions is not None:
            await asyncio.to_thread(self._state.team_sessions.close)

    # the session that is shown -------------------------------------------------------------------

    def _document_changed(self) -> None:
        window, shown = self._state.window, self._state.team_session
        window.audit.refuse(self._state.read_only)
        if shown is None:
            for part in (self._strip, self._on_entry, self._on_finding):
                if part is not None:
                    part.hide()
            return
        self._libraries.follow(shown.library)
        self._make_parts()
        assert self._strip is not None
        row = shown.shared
        published = when(row.published_ms, datetime.now().astimezone())
        self._strip.words.setText(
            f"Session {row.row.key} of {shown.library}, published by {row.publisher} {published}."
            " It is only read here."
        )
        self._strip.show()
        self._show_notes()

    def _make_parts(self) -> None:
        """When a session of a team is shown for the first time: nobody else needs them."""
        if self._strip is not None:
            return
        window = self._state.window
        self._strip = ReadOnlyStrip(window.agent)
        self._strip.go_on_asked.connect(self.go_on)
        window.agent.add_foot(self._strip)
        self._on_entry = self._made_notes("the entry", window.entry)
        self._on_entry.write_asked.connect(self._write_on_entry)
        window.entry.add_foot(self._on_entry)
        findings = window.audit.findings
        self._on_finding = self._made_notes("the finding", findings)
        self._on_finding.write_asked.connect(self._write_on_finding)
        findings.add_foot(self._on_finding)
        findings.finding_shown.connect(lambda _finding: self._show_notes())

    def _made_notes(self, name: str, parent: QWidget) -> TeamNotes:
        made = TeamNotes(name, parent)
        made.remove_asked.connect(self._remove)
        return made

    # notes ---------------------------------------------------------------------------------------

    @property
    def _entry_id(self) -> str:
        """The id of the entry that is selected; empty for none."""
        document, entry = self._state.document, self._state.selected
        return document.tree.columns.ids[entry] if document is not None and entry >= 0 else ""

    def _place_of(self, finding: Finding) -> str:
        """The id of the entry that a note on a finding stands at: the last that states it, else
        that of the summary."""
        document, at = self._state.document, finding.fact.last
        if document is None:
            return ""
        shown = self._state.window.audit.findings.shown
        if at < 0 and shown is not None:
            at = shown.entry
        return document.tree.columns.ids[at] if 0 <= at < len(document.tree) else ""

    def _show_notes(self) -> None:
        shown = self._state.team_session
        if shown is None or self._on_entry is None or self._on_finding is None:
            return
        content = self._libraries.content(shown.library)
        person = content.person if content is not None else ""
        notes = [one for one in content.notes if one.key == shown.shared.row.key] if content else []

        def fill(view: TeamNotes, entry_id: str, finding: str) -> None:
            here = [one for one in notes if (one.entry_id, one.finding) == (entry_id, finding)]
            view.show_notes(shown.library, here, person, (shown.published, entry_id, finding))

        if entry_id := self._entry_id:
            fill(self._on_entry, entry_id, "")
        else:
            self._on_entry.hide()
        finding = self._state.window.audit.findings.current
        if finding is not None:
            fill(self._on_finding, self._place_of(finding), finding.id)
        else:
            self._on_finding.hide()

    def _write_on_entry(self, words: str, kind: str) -> None:
        if entry_id := self._entry_id:
            self._write(self._on_entry, lambda team, key: team.add_note(key, words, entry_id, kind))

    def _write_on_finding(self, words: str, kind: str) -> None:
        finding = self._state.window.audit.findings.current
        if finding is None:
            return
        place, name = self._place_of(finding), finding.id
        self._write(
            self._on_finding, lambda team, key: team.add_note(key, words, place, kind, name)
        )

    def _write(self, view: TeamNotes | None, write: Callable[[TeamLibrary, int], int]) -> None:
        self._state.tasks.start("Writing the note", self._written(view, write))

    async def _written(
        self, view: TeamNotes | None, write: Callable[[TeamLibrary, int], int]
    ) -> None:
        shown = self._state.team_session
        if shown is None or view is None:
            return
        words, key = view.box.text(), shown.shared.row.key
        try:
            await self._libraries.ask(shown.library, lambda team: write(team, key))
        except StoreError as error:
            safe = "The note was not written; its words stand where they were."
            self._tell(refusal(shown.library, error, safe))
            return
        self._tell(None)
        if view.box.text() == words:
            view.written()
        self._libraries.try_again(shown.library)

    def _tell(self, notice: Notice | None) -> None:
        """Show what was not done, until something is."""
        strip = self._state.window.notices
        if notice is not None:
            strip.show_notice(notice)
        elif self._told is not None and strip.notice is self._told:
            strip.dismiss()
        self._told = notice

    def _remove(self, number: int) -> None:
        shown = self._state.team_session
        if shown is not None:
            self._state.tasks.start("Taking the note away", self._removed(shown.library, number))

    async def _removed(self, name: str, number: int) -> None:
        try:
            await self._libraries.ask(name, lambda team: team.remove_note(number))
        except StoreError as error:
            self._tell(refusal(name, error, "The note is still there."))
            return
        self._tell(None)
        self._libraries.try_again(name)

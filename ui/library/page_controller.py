"""The window of all sessions: reads the library in threads, filters it, and does what is asked."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from explorer.services.changes import SessionsChanged
from explorer.services.library import Library, LibraryRow, read_library
from explorer.services.related_sessions import started_by
from explorer.services.resume_command import resume_command_of
from explorer.store.rows import SessionRow, StoreError
from explorer.workbench import Workbench
from ui.app_state import AppState
from ui.audit.report import show_folder
from ui.library.arrangement import ArrangementController, Step, named
from ui.library.controller import SessionsController
from ui.library.discovery import DiscoveryController
from ui.library.filters import Filters, filters_from
from ui.library.hits import FoundEntry, progress_words
from ui.library.needed_controller import NeededController
from ui.library.page import LibraryPage
from ui.shell.dialogs import ask_text, confirm, present
from ui.team.controller import TeamController
from ui.team.libraries import TeamLibraries, refusal
from ui.team.publish_controller import PublishingController
from ui.team.shelf import TeamShelf
from ui.widgets.figures import count
from ui.widgets.loader import Loader
from ui.widgets.notice import Notice
from ui.widgets.steps import StepRunner

REST_MS = 250
"""How long the sessions must not change before they are read again."""
FIRST_ROWS = 200
"""Sessions that are shown while the others are being read for the first time."""
WHOLE_AFTER_MS = 60
"""How long the reading of all waits, so that the first rows are painted: it would share the
interpreter with them."""
MOST_HITS = 500
"""Entries that a search finds at most."""


_Values = Mapping[str, Mapping[str, int]]
"""By filter and value: the sessions that have it."""


class LibraryPageController(QObject):
    """Owns the window."""

    def __init__(
        self,
        state: AppState,
        sessions: SessionsController,
        arrangement: ArrangementController,
        discovery: DiscoveryController,
        libraries: TeamLibraries,
        team: TeamController,
        publishing: PublishingController,
    ) -> None:
        super().__init__(state)
        self._libraries, self._team, self._publishing = libraries, team, publishing
        self._shelf: TeamShelf | None = None
        self._state, self._sessions, self._arrangement = state, sessions, arrangement
        self._discovery = discovery
        self.page: LibraryPage | None = None
        self._needed: NeededController | None = None
        self.library: Library | None = None
        """As it was read last, or its first rows while all are read for the first time."""
        self._values: _Values = {}
        self._is_whole = False
        """Whether ``library`` has all sessions."""
        self._rows: Sequence[LibraryRow] = ()
        self._search = 0
        self._searched = ""
        """The words that are looked for in the entries, while their hits are shown."""
        self._asked_from: QWidget | None = None
        """What had the keyboard when they were asked for; the hits take it from there alone."""
        self._found_in: frozenset[int] | None = None
        """The sessions in which they were found; None before the first is known."""
        self._opens_first = False
        """The first session is to be opened as soon as the filters of now are applied."""
        self._is_stale = True
        self._steps = StepRunner(self)
        self._reader, self._filter, self._sums = Loader(self), Loader(self), Loader(self)
        self._reader.loaded.connect(self._take)
        self._reader.failed.connect(self._failed)
        self._filter.loaded.connect(self._show_rows)
        self._sums.loaded.connect(self._show_sums)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._read)
        state.bus.on(SessionsChanged, lambda _change: self._changed())
        state.window.library.all_requested.connect(self.open)
        arrangement.done.connect(self._arranged)
        arrangement.undone.connect(self._unarranged)
        libraries.changed.connect(self._team_changed)

    # opening and reading -------------------------------------------------------------------------

    def open(self) -> None:
        """Show the window, with what was read before until it is read again."""
        if self._state.bench is None:
            return
        if self.page is not None:
            self._present(self.page)
        elif not self._steps.is_running:
            # The first rows are read while the page is made.
            self._read()
            page = LibraryPage(self._state.window)
            self._steps.start(page.building(), lambda: self._built(page))

    def _present(self, page: LibraryPage) -> None:
        if self._shelf is not None:
            if page.team and page.team not in self._libraries.names():
                self._choose_library("")  # It was removed meanwhile.
            self._shelf.show_library(page.team)
        if self._is_stale:
            self._read()
        present(page)

    def _built(self, page: LibraryPage) -> None:
        self.page = page
        self._needed = NeededController(self._state, page, self._libraries, self._open_in)
        self._shelf = TeamShelf(self._state, self._libraries, page)
        self._connect(page)
        self._show()
        self._present(page)

    def _connect(self, page: LibraryPage) -> None:
        arrangement = self._arrangement
        for signal, run in (
            (page.archive_asked, arrangement.archive),
            (page.trash_asked, arrangement.move_to_trash),
            (page.put_back_asked, arrangement.put_back),
        ):
            signal.connect(lambda rows, run=run: run([one.session for one in rows]))
        page.open_asked.connect(self._open_session)
        page.publish_asked.connect(
            lambda rows: self._publishing.ask([one.session for one in rows], page)
        )
        page.note_asked.connect(self._ask_note)
        page.label_asked.connect(self._label)
        page.delete_asked.connect(self._ask_delete)
        page.copy_ids_asked.connect(self._copy_ids)
        page.copy_commands_asked.connect(self._copy_commands)
        page.show_files_asked.connect(self._show_files)
        page.import_again_asked.connect(self._import_again)
        page.undo_asked.connect(arrangement.undo)
        page.import_asked.connect(self._sessions.choose_files)
        page.find_asked.connect(self._discovery.find)
        filters = page.filters
        filters.library_chosen.connect(self._choose_library)
        filters.changed.connect(lambda _filters: self._filters_changed())
        page.hits_hidden.connect(self._end_search)
        filters.search_asked.connect(self._search_entries)
        filters.open_asked.connect(self._open_first)
        filters.save_asked.connect(self._ask_save)
        filters.saved_chosen.connect(self._use_saved)
        filters.forget_asked.connect(self._forget_saved)
        filters.show_saved(self._state.preferences.library_filters)
        page.show_undo(arrangement.last.words if arrangement.last is not None else "")

    def _choose_library(self, name: str) -> None:
        """Show another library, from its beginning."""
        page, shelf = self.page, self._shelf
        if page is None or shelf is None or name == page.team:
            return
        for loader in (self._reader, self._filter, self._sums):
            loader.forget()
        self._end_panels(page)
        self.library, self._is_whole = None, False
        page.show_sums(None)
        shelf.show_library(name)
        page.filters.choose(Filters())
        self._read()

    def _end_panels(self, page: LibraryPage) -> None:
        self._search += 1
        self._searched, self._found_in = "", None
        if page.shows_hits:
            page.hits.hide()
        if page.shows_needed:
            page.hide_needed()

    def _team_changed(self, name: str) -> None:
        if self.page is None or self._shelf is None or name != self.page.team:
            return
        if name not in self._libraries.names():
            self._choose_library("")
            return
        self._shelf.show_library(name)
        self._read()

    def _changed(self) -> None:
        self._is_stale = True
        if self.page is not None and self.page.isVisible():
            self._rest.start()

    def _read(self) -> None:
        bench = self._state.bench
        if bench is None:
            return
        if self.page is not None and self.page.team:
            self._read_team()
            return
        self._is_stale = False
        most = FIRST_ROWS if self.library is None else None
        self._reader.load(lambda: _read(bench, most))

    def _read_team(self) -> None:
        make = self._shelf.library() if self._shelf is not None else None
        if make is not None:
            made = make

            def read() -> tuple[Library, _Values, bool]:
                library = made()
                return library, _values(library.rows), True

            self._reader.load(read)

    def _take(self, found: tuple[Library, _Values, bool]) -> None:
        self.library, self._values, self._is_whole = found
        self._show()

    def _show(self) -> None:
        """Show what was read, and read the rest where that is not all."""
        if self.page is None or self.library is None:
            return
        self.page.filters.show_values(self._values)
        self._apply()
        if not self._is_whole:
            QTimer.singleShot(WHOLE_AFTER_MS, self, self._read)

    def _failed(self, reason: str) -> None:
        self._is_stale = True
        if self.page is not None:
            self.page.notice.show_notice(
                Notice("error", f"The sessions cannot be read. {reason}", "Nothing was changed.")
            )

    # filtering -----------------------------------------------------------------------------------

    def _apply(self) -> None:
        """Filter what was read: the first rows here, all in a thread."""
        page, library = self.page, self.library
        if page is None or library is None:
            return
        filters, keys = page.filters.filters, self._found_in
        if self._searched:
            filters = replace(filters, words="")
        rule = filters.rule(time.time() * 1000)
        if page.team:
            rule = replace(rule, started=True)

        def read() -> tuple[list[LibraryRow], Library]:
            rows = library.filtered(rule)
            if keys is not None:
                rows = [row for row in rows if row.session.key in keys]
            return rows, library

        if self._is_whole:
            self._filter.load(read)
        else:
            self._show_rows(read())

    def _filters_changed(self) -> None:
        """Filter again; a search ends with its words, and is made again within other filters."""
        page = self.page
        if page is None:
            return
        self._opens_first = False
        if not self._searched:
            self._apply()
        elif page.filters.filters.words == self._searched:
            # Until the first is found, all that the other filters let through are listed.
            self._found_in = None
            self._apply()
            self._search_entries(self._searched)
            self._asked_from = None
        else:
            page.hide_hits()

    def _open_first(self) -> None:
        """Whoever types a name and Return means what it lets through, not what is still listed."""
        self._opens_first = self.library is not None
        self._apply()

    def _end_search(self) -> None:
        self._search += 1
        self._searched, self._found_in = "", None
        self._apply()

    def _show_rows(self, found: tuple[list[LibraryRow], Library]) -> None:
        rows, library = found
        if self.page is None:
            return
        self._rows = rows
        self.page.show_sessions(rows, not library.rows)
        if self._opens_first:
            self._opens_first = False
            self.page.open_first()
        if self._is_whole:
            if self._needed is not None:
                self._needed.follow(rows)
            self._sums.load(lambda: library.sums(rows))
        else:
            self._sums.forget()
            self.page.show_sums(None)

    def _show_sums(self, sums: object) -> None:
        if self.page is not None:
            self.page.show_sums(sums)  # type: ignore[arg-type]

    def _search_entries(self, words: str) -> None:
        if self.page is None or self.library is None:
            return
        self._search += 1
        if not words:
            self.page.hide_hits()
            return
        self._searched, self._asked_from = words, self.page.focusWidget()
        self._state.tasks.start("Searching", self._find(words, self._search))

    async def _find(self, words: str, number: int) -> None:
        bench, page, library = self._state.bench, self.page, self.library
        if bench is None or page is None or library is None:
            return
        # The words are looked for in the entries, the other filters hold for their sessions.
        rule = replace(page.filters.filters, words="").rule(time.time() * 1000)
        if page.team:
            rule = replace(rule, started=True)
        rows = await asyncio.to_thread(library.filtered, rule)
        if number != self._search:
            return
        titles = {row.session.key: row.session.title or "Untitled session" for row in rows}
        found: list[FoundEntry] = []
        note = ""
        if page.team:
            await self._find_in_team(page, words, titles, number)
            return
        steps = bench.search(words, titles.keys(), MOST_HITS, lambda: number == self._search)
        try:
            async with aclosing(steps):
                async for step in steps:
                    if number != self._search:
                        return
                    found += [FoundEntry(hit, titles[hit.key]) for hit in step.hits]
                    note = step.note
                    self._show_found(words, found, progress_words(step))
        except StoreError as error:
            if number == self._search:
                page.hide_hits()
            page.notice.show_notice(Notice("error", str(error), "Nothing was changed."))
            return
        if number == self._search:
            self._show_found(words, found, "", note)

    async def _find_in_team(
        self, page: LibraryPage, words: str, titles: Mapping[int, str], number: int
    ) -> None:
        assert self._shelf is not None and self._state.bench is not None
        shown = self._state.bench.privacy.shown
        try:
            hits = await self._shelf.search(words, MOST_HITS, lambda: number != self._search)
        except StoreError as error:
            page.notice.show_notice(refusal(page.team, error, ""))
            return
        if number == self._search:
            found = [
                FoundEntry(replace(hit, snippet=shown(hit.snippet)), titles[hit.key])
                for hit in hits
                if hit.key in titles
            ]
            self._show_found(words, found, "")

    def _show_found(
        self, words: str, found: Sequence[FoundEntry], progress: str, note: str = ""
    ) -> None:
        page, before = self.page, self._found_in
        if page is None:
            return
        page.hits.show_hits(words, found, len(found) >= MOST_HITS, progress, note)
        keys = frozenset(one.hit.key for one in found)
        if not progress or (keys and keys != before):
            self._found_in = keys
            self._apply()
        # Who has gone elsewhere meanwhile stays there: a button that is down would not be clicked.
        asked_from = self._asked_from
        if found and not before and asked_from and page.focusWidget() is asked_from:
            page.hits.table.setFocus()

    # saved filters -------------------------------------------------------------------------------

    def _ask_save(self) -> None:
        assert self.page is not None
        filters = self.page.filters.filters

        def save(name: str) -> None:
            if name:
                self._save({**self._state.preferences.library_filters, name: filters.to_json()})

        ask_text(self.page, "Save filters", "Name of these filters", "", save)

    def _save(self, saved: dict[str, object]) -> None:
        self._state.preferences.library_filters = saved
        if self.page is not None:
            self.page.filters.show_saved(saved)

    def _use_saved(self, name: str) -> None:
        if self.page is None:
            return
        try:
            filters = filters_from(self._state.preferences.library_filters.get(name))
        except ValueError as error:
            self.page.notice.show_notice(
                Notice("error", f"“{name}” cannot be used: {error}.", "No filter was changed.")
            )
            return
        self.page.filters.choose(filters)

    def _forget_saved(self, name: str) -> None:
        saved = self._state.preferences.library_filters
        self._save({one: value for one, value in saved.items() if one != name})

    # what is done with sessions ------------------------------------------------------------------

    def _open_session(self, key: int, entry: int) -> None:
        assert self.page is not None
        self._open_in(self.page.team, key, entry)

    def _open_in(self, name: str, key: int, entry: int) -> None:
        """Open a session of a team's library, or of the person's own where ``name`` is empty."""
        assert self.page is not None
        self.page.hide()
        present(self._state.window)
        if name:
            self._team.open(name, key, entry)
        else:
            self._sessions.open(key, entry)

    def _arranged(self, step: Step) -> None:
        """Offer to take it back where the person looks."""
        shown = self.page is not None and self.page.isVisible()
        strip = self.page.notice if shown and self.page is not None else self._state.window.notices
        safe = "The files of the agents were not touched." if step.field == "trashed_ms" else ""
        strip.show_notice(
            Notice("done", f"{step.words}.", safe, action="&Undo",
                   on_action=self._arrangement.undo)
        )  # fmt: skip
        self._follow_undo()

    def _unarranged(self, step: Step) -> None:
        for strip in (self._state.window.notices, *([self.page.notice] if self.page else [])):
            if strip.notice is not None and strip.notice.what == f"{step.words}.":
                strip.dismiss()
        self._state.say("Taken back.")
        self._follow_undo()

    def _follow_undo(self) -> None:
        if self.page is not None:
            last = self._arrangement.last
            self.page.show_undo(last.words if last is not None else "")

    def _ask_note(self, rows: Sequence[LibraryRow]) -> None:
        if self._shelf is not None and self.page is not None and self.page.team:
            self._shelf.ask_note(rows)
            return
        sessions = [one.session for one in rows]
        notes = {one.note for one in sessions}
        ask_text(
            self.page or self._state.window, "Note", f"Note on {named(sessions)}",
            notes.pop() if len(notes) == 1 else "",
            lambda note: self._arrangement.write_note(sessions, note),
        )  # fmt: skip

    def _label(self, rows: Sequence[LibraryRow], label: str, on: bool) -> None:
        """Put a label on sessions or take it from them; without one, ask for a new one."""
        if self._shelf is not None and self.page is not None and self.page.team:
            self._shelf.label(rows, label, on)
            return
        sessions = [one.session for one in rows]
        if label:
            self._arrangement.label(sessions, label, on)
            return
        ask_text(
            self.page or self._state.window, "New label", f"Label for {named(sessions)}", "",
            lambda text: self._arrangement.label(sessions, text, True),
        )  # fmt: skip

    def _ask_delete(self, rows: Sequence[LibraryRow]) -> None:
        sessions = self._with_agents(rows)
        confirm(
            self.page or self._state.window,
            "Delete for good",
            f"Delete {named([one.session for one in rows], sessions)} for good?",
            "Compactions, branches and labels that were made here go with it, and this cannot be "
            "undone. The files that the agents wrote are not touched.",
            "Delete",
            lambda: self._state.tasks.start(
                "Deleting", self._delete([one.key for one in sessions])
            ),
        )

    def _with_agents(self, rows: Sequence[LibraryRow]) -> list[SessionRow]:
        """Sessions in the trash with the sub-agents that are there with them."""
        sessions = [one.session for one in rows]
        if self.library is None:
            return sessions
        listed = [one.session for one in self.library.rows]
        agents = started_by(listed, {one.key for one in sessions})
        return sessions + [one for one in agents if one.trashed_ms]

    async def _delete(self, keys: Sequence[int]) -> None:
        bench = self._state.bench
        if bench is None:
            return
        for done, key in enumerate(keys):
            try:
                if self._state.document is not None and self._state.document.key == key:
                    self._state.show(None)
                await bench.remove(key)
            except (StoreError, OSError) as error:
                strip = self.page.notice if self.page is not None else self._state.window.notices
                strip.show_notice(Notice(
                    "error", str(error), f"{count(done, 'session')} deleted; the others stay."
                ))  # fmt: skip
                return
        self._state.say(f"{count(len(keys), 'session')} deleted.")

    def _copy_ids(self, rows: Sequence[LibraryRow]) -> None:
        self._copy([one.session.session_id for one in rows], "id")

    def _copy_commands(self, rows: Sequence[LibraryRow]) -> None:
        commands = [resume_command_of(one.session) for one in rows]
        is_windows = sys.platform == "win32"
        lines = [one.line(is_windows) for one in commands if one is not None]
        self._copy(lines, "command")

    def _copy(self, lines: Sequence[str], what: str) -> None:
        assert self.page is not None
        if not lines:
            self.page.notice.show_notice(
                Notice("info", f"There is no {what} to copy.",
                       "The agents of these sessions have no command that goes on with one.")
            )  # fmt: skip
            return
        QGuiApplication.clipboard().setText("\n".join(lines))
        words = f"{count(len(lines), what)} copied."
        self.page.notice.show_notice(Notice("done", words))

    def _show_files(self, rows: Sequence[LibraryRow]) -> None:
        assert self.page is not None
        files = [Path(one.session.path) for one in rows if one.session.path]
        there = {file.parent: file for file in files if file.parent.is_dir()}
        for file in there.values():
            show_folder(file)
        if not there:
            self.page.notice.show_notice(
                Notice("error", f"{files[0].parent} is not there.",
                       "The session itself is in the library.")
            )  # fmt: skip

    def _import_again(self, rows: Sequence[LibraryRow]) -> None:
        files = [(Path(one.session.path), one.session.session_id)
                 for one in rows if one.session.path]  # fmt: skip
        self._state.tasks.start("Importing again", self._import(files))

    async def _import(self, files: Sequence[tuple[Path, str]]) -> None:
        notice = await self._sessions.import_again(files)
        if self.page is not None:
            self.page.notice.show_notice(notice)


def _read(bench: Workbench, most: int | None) -> tuple[Library, _Values, bool]:
    """Called in a thread. The sessions, the values to filter by, and whether it is all of them."""
    library = read_library(bench.store, most, bench.client.info)
    return library, _values(library.rows), most is None or len(library.rows) < most


def _values(rows: Sequence[LibraryRow]) -> _Values:
    """The values of the filters with the sessions that have each."""
    by: Mapping[str, Callable[[LibraryRow], str]] = {
        "agents": lambda row: row.agent,
        "projects": lambda row: row.project,
        "models": lambda row: row.model,
    }
    labels = Counter(label for row in rows for label in row.session.labels)
    return {**{name: Counter(map(of, rows)) for name, of in by.items()}, "labels": labels}

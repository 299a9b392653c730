"""Works out what was needed again in the sessions that the filters let through: in processes, with
what is known already shown at once. Or shows the audits of a folder."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from explorer.services.audit_folder import FolderError, can_write_tables
from explorer.services.bulk_audit import (
    Origin,
    StoredAudits,
    audit_left,
    begun_shared,
    stored_audits,
)
from explorer.services.bulk_report import ManyAudits, Worst, read_many, sum_up
from explorer.services.library import LibraryRow
from explorer.services.process_pool import PoolError
from explorer.services.session_audit import AuditRow, SessionAudit, stamp_of
from explorer.settings.libraries import read_libraries
from explorer.store import SessionRow, Store
from ui.app_state import AppState
from ui.library.needed import NeededState
from ui.library.page import LibraryPage
from ui.shell.dialogs import choose_folder
from ui.team.libraries import LIBRARY_ERRORS, TeamLibraries
from ui.widgets.loader import Loader
from ui.widgets.notice import Notice

REST_MS = 500
"""How long the filters must not change before their sessions are worked out."""
SHOW_MS = 250
"""How often the figures are shown anew while sessions are worked out."""


class NeededController(QObject):
    """Fills the panel of one page."""

    def __init__(
        self,
        state: AppState,
        page: LibraryPage,
        libraries: TeamLibraries,
        open_in: Callable[[str, int, int], object],
    ) -> None:
        """``open_in``: opens a session of a team's library, or of the person's own where its name
        is empty, at an entry."""
        super().__init__(page)
        self._state, self._page, self._libraries, self._open_in = state, page, libraries, open_in
        self._sessions: Sequence[SessionRow] = ()
        """Those that the filters let through and that have a compaction."""
        self._library = ""
        """The name of the team's library that has them; empty of the person's own."""
        self._kept = StoredAudits({}, [])
        self._team: dict[str, dict[int, SessionAudit]] = {}
        """By team library and session: what was worked out since the window was opened."""
        self._folder: tuple[Path, ManyAudits] | None = None
        """What is shown in place of the sessions that are listed."""
        self._failed: set[int] = set()
        self._stop: threading.Event | None = None
        """Set: the run under way ends."""
        self._is_stopped = False
        """Whether the person stopped it: then it goes on only when asked."""
        self._is_asked = False
        """Whether they asked for it just now, and it has not begun."""
        self._loader = Loader(self)
        self._loader.loaded.connect(self._take)
        self._loader.failed.connect(self._refuse)
        self._sums = Loader(self)
        self._sums.loaded.connect(lambda shown: page.needed.show_needs(*shown))
        self._sums.failed.connect(self._refuse)
        self._rest, self._show_later = self._timer(REST_MS), self._timer(SHOW_MS)
        self._rest.timeout.connect(self._read)
        self._show_later.timeout.connect(self._show)
        libraries.changed.connect(self._library_changed)
        page.needed_asked.connect(self.open)
        page.needed_stop_asked.connect(self.stop)
        page.needed_go_on_asked.connect(self._go_on)
        page.needed_hidden.connect(self.stop)
        page.needed_folder_asked.connect(self._show_folder)
        page.needed_opened.connect(
            lambda one: state.tasks.start("Opening the session", self._open(one))
        )

    def _timer(self, interval_ms: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        return timer

    def open(self) -> None:
        """Show the panel with what is known, and work out the rest."""
        self._page.needed.show()
        self._go_on()

    def _go_on(self) -> None:
        self._is_stopped, self._is_asked = False, True
        self._failed.clear()
        self._read()

    def follow(self, rows: Sequence[LibraryRow]) -> None:
        """Other sessions are listed, or they have changed."""
        if self._page.team != self._library:
            self._library, self._kept = self._page.team, StoredAudits({}, [])
        before = {one.key for one in self._sessions}
        self._sessions = [row.session for row in rows if row.session.compactions]
        if not self._page.shows_needed or self._folder is not None:
            return
        if before != {one.key for one in self._sessions}:
            self._end_run()
            self._rest.start()
        elif self._stop is None:
            # One that is written to just now is not worked out again after each of its entries.
            self._is_stopped = not self._is_asked
            self._rest.start()

    def stop(self) -> None:
        """Stop; what was audited stays."""
        self._is_stopped = True
        self._rest.stop()
        self._end_run()
        self._show()

    def _end_run(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    # what is known -------------------------------------------------------------------------------

    def _read(self) -> None:
        bench, sessions, team = self._state.bench, self._sessions, self._library
        if bench is None or self._folder is not None:
            self._show()
        elif team:
            content = self._libraries.content(team)
            shared = content.shared if content is not None else ()
            worked_out = self._team.setdefault(team, {})
            wanted = {one.key for one in sessions}

            def read() -> StoredAudits:
                found = StoredAudits({}, [])
                for row in begun_shared(team, (o for o in shared if o.row.key in wanted), None):
                    audit = worked_out.get(row.session)
                    if audit is not None and stamp_of(audit.row) == stamp_of(row):
                        found.audits[row.session] = audit
                    else:
                        found.left.append(row)
                return found

            self._loader.load(read)
        else:
            self._loader.load(lambda: stored_audits(bench.store, sessions))

    def _take(self, kept: StoredAudits) -> None:
        self._kept, self._is_asked = kept, False
        left = [one for one in kept.left if one.session not in self._failed]
        if left and not self._is_stopped and self._stop is None:
            self._stop = threading.Event()
            self._state.tasks.start(
                "Working out what was needed again", self._work(left, self._stop)
            )
        self._show()

    def _show(self) -> None:
        if self._folder is not None:
            folder, many = self._folder
            self._page.needed.show_needs(
                many,
                NeededState(
                    done=many.sessions - many.failed, failed=many.failed, folder=folder.name
                ),
            )
            return
        wanted = {one.key for one in self._sessions}
        done = [one for key, one in self._kept.audits.items() if key in wanted]
        state = NeededState(
            len(wanted), len(done), len(self._failed & wanted), self._stop is not None
        )
        self._sums.load(lambda: (sum_up(done), state))

    # a folder ------------------------------------------------------------------------------------

    def _show_folder(self, is_wanted: bool) -> None:
        """Ask for a folder with audits, or go back to the sessions that are listed."""
        if not is_wanted:
            self._folder = None
            self._go_on()
        elif can_write_tables():
            choose_folder(
                self._page, "Audits", lambda folder: self._state.tasks.start(
                    "Reading the audits", self._read_folder(Path(folder))
                ),
            )  # fmt: skip
        else:
            need = "Parquet files need pyarrow: pip install 'session-explorer[parquet]'."
            self._page.notice.show_notice(Notice("error", need, "Nothing was read."))

    async def _read_folder(self, folder: Path) -> None:
        try:
            many = await asyncio.to_thread(read_many, folder)
        except (FolderError, OSError) as error:
            self._page.notice.show_notice(
                Notice("error", str(error), "What is shown stays as it was.")
            )
            return
        self.stop()
        self._sums.forget()
        self._folder = folder, many
        self._show()

    async def _open(self, one: Worst) -> None:
        """Open the session of a compaction at it."""
        library, key, entry = one.row["library"], one.row["session"], one.row["compaction"]
        bench = self._state.bench
        assert bench is not None
        if library:
            known = key if library in self._libraries.names() else None
            where = f"The library {library} is not among yours"
        else:
            # A folder may be of another database, where the session has another number.
            known = await asyncio.to_thread(_stored_key, bench.store, key, one.session["id"])
            where = "This session is not in your library"
        if known is not None:
            self._open_in(library, known, entry)
            return
        commands = " or ".join(one.commands)
        self._page.notice.show_notice(
            Notice("info", f"{where}.", f"Where it is, it is opened by: {commands}")
        )

    # working it out ------------------------------------------------------------------------------

    async def _work(self, left: Sequence[AuditRow], stop: threading.Event) -> None:
        bench, loop = self._state.bench, asyncio.get_running_loop()
        assert bench is not None
        store, team = bench.store, self._library

        def run() -> None:
            with contextlib.ExitStack() as ends:
                origin = None
                if team:
                    known = read_libraries()
                    address = known.libraries[known.named(team)]
                    place = tempfile.TemporaryDirectory(prefix="session-explorer-")
                    origin = Origin(Path(ends.enter_context(place)), team, address)
                audits = audit_left(store, left, stop.is_set, origin)
                found = ends.enter_context(contextlib.closing(audits))
                for done, one in enumerate(found, start=1):
                    loop.call_soon_threadsafe(self._add, one, stop)
                    loop.call_soon_threadsafe(work.update, done, len(left))

        work = self._state.window.progress.begin("Working out what was needed again", self.stop)
        thread = asyncio.ensure_future(asyncio.to_thread(run))
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            stop.set()
            await thread
            raise
        except (PoolError, *LIBRARY_ERRORS) as error:
            self._is_stopped = True
            self._refuse(str(error))
        finally:
            work.end()
            if self._stop is stop:
                self._stop = None
                self._show()

    def _add(self, found: SessionAudit, stop: threading.Event) -> None:
        library, key = found.row.library, found.row.session
        is_audited = found.row.status == "audited"
        if library and is_audited:
            self._team[library][key] = found
        if library != self._library:
            return  # Another one was chosen meanwhile.
        if is_audited:
            self._kept.audits[key] = found
        elif library and self._libraries.error(library) is not None:
            self._library_changed(library)
        elif not stop.is_set():
            self._failed.add(key)
        if not self._show_later.isActive():
            self._show_later.start()

    def _library_changed(self, name: str) -> None:
        """End the work when the server is gone, which the page says: those that were not read
        failed for that alone, and the others would, one by one."""
        if name == self._library and self._libraries.error(name) is not None:
            self._failed.clear()
            self.stop()

    def _refuse(self, reason: str) -> None:
        self._page.notice.show_notice(
            Notice("error", f"What was needed again cannot be worked out. {reason}",
                   "What was worked out before is kept.")
        )  # fmt: skip


def _stored_key(store: Store, key: int, session_id: str) -> int | None:
    """The number of a stored session with an id, which most likely is ``key``; None where there is
    none. Raises StoreError."""
    there = [one.key for one in store.sessions(all_places=True) if one.session_id == session_id]
    return key if key in there else next(iter(there), None)

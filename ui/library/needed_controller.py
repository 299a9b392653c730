"""Works out what was needed again in the sessions that the filters let through: in processes, with
what is known already shown at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from explorer.services.bulk_audit import (
    StoredAudits,
    audit_left,
    needs_by_agent,
    stored_audits,
)
from explorer.services.library import LibraryRow
from explorer.services.process_pool import PoolError
from explorer.services.session_audit import AuditRow
from explorer.store import SessionRow
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.library.needed import NeededState
from ui.library.page import LibraryPage
from ui.widgets.loader import Loader
from ui.widgets.notice import Notice

REST_MS = 500
"""How long the filters must not change before their sessions are worked out."""
SHOW_MS = 250
"""How often the figures are shown anew while sessions are worked out."""


class NeededController(QObject):
    """Fills the panel of one page."""

    def __init__(self, state: AppState, page: LibraryPage) -> None:
        super().__init__(page)
        self._state, self._page = state, page
        self._sessions: Sequence[SessionRow] = ()
        """Those that the filters let through and that have a compaction."""
        self._kept = StoredAudits({}, [])
        self._failed: set[int] = set()
        self._stop: threading.Event | None = None
        """Set: the run under way ends."""
        self._is_stopped = False
        """Whether the person stopped it: then it goes on only when asked."""
        self._loader = Loader(self)
        self._loader.loaded.connect(self._take)
        self._loader.failed.connect(self._refuse)
        self._rest, self._show_later = self._timer(REST_MS), self._timer(SHOW_MS)
        self._rest.timeout.connect(self._read)
        self._show_later.timeout.connect(self._show)
        page.needed_asked.connect(self.open)
        page.needed_stop_asked.connect(self.stop)
        page.needed_go_on_asked.connect(self._go_on)
        page.needed_hidden.connect(self.stop)

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
        self._is_stopped = False
        self._failed.clear()
        self._read()

    def follow(self, rows: Sequence[LibraryRow]) -> None:
        """Other sessions pass the filters, or they have changed."""
        before = {one.key for one in self._sessions}
        self._sessions = [row.session for row in rows if row.session.compactions]
        if not self._page.shows_needed:
            return
        if before != {one.key for one in self._sessions}:
            self._end_run()
            self._rest.start()
        elif self._stop is None:
            # One that is written to just now is not worked out again after each of its entries.
            self._is_stopped = True
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
        bench, sessions = self._state.bench, self._sessions
        if bench is not None:
            self._loader.load(lambda: stored_audits(bench.store, sessions))

    def _take(self, kept: StoredAudits) -> None:
        self._kept = kept
        left = [one for one in kept.left if one.session not in self._failed]
        if left and not self._is_stopped and self._stop is None:
            self._stop = threading.Event()
            self._state.tasks.start(
                "Working out what was needed again", self._work(left, self._stop)
            )
        self._show()

    def _show(self) -> None:
        wanted = {one.key for one in self._sessions}
        done = [row for key, row in self._kept.rows.items() if key in wanted]
        state = NeededState(
            len(wanted), len(done), len(self._failed & wanted), self._stop is not None
        )
        self._page.needed.show_needs(needs_by_agent(done), state)

    # working it out ------------------------------------------------------------------------------

    async def _work(self, left: Sequence[AuditRow], stop: threading.Event) -> None:
        bench, loop = self._state.bench, asyncio.get_running_loop()
        assert bench is not None

        def run() -> None:
            with contextlib.closing(audit_left(bench.store, left, stop.is_set)) as rows:
                for done, row in enumerate(rows, start=1):
                    loop.call_soon_threadsafe(self._add, row)
                    loop.call_soon_threadsafe(work.update, done, len(left))

        work = self._state.window.progress.begin("Working out what was needed again", self.stop)
        thread = asyncio.ensure_future(asyncio.to_thread(run))
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            stop.set()
            await thread
            raise
        except (PoolError, StoreError) as error:
            self._is_stopped = True
            self._refuse(str(error))
        finally:
            work.end()
            if self._stop is stop:
                self._stop = None
                self._show()

    def _add(self, row: AuditRow) -> None:
        if row.status == "audited":
            self._kept.rows[row.session] = row
        else:
            self._failed.add(row.session)
        if not self._show_later.isActive():
            self._show_later.start()

    def _refuse(self, reason: str) -> None:
        self._page.notice.show_notice(
            Notice("error", f"What was needed again cannot be worked out. {reason}",
                   "What was worked out before is kept.")
        )  # fmt: skip

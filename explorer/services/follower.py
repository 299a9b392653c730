"""Following what agents write: a session is read again whenever its files change, and sessions are
searched for again whenever something in the places changes where some were found.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path

from watchfiles import Change, watch

from explorer.formats.adapter import FormatError, ReadCancelled
from explorer.services.discovery import SUFFIXES, Places, Scan, scan
from explorer.services.followed_file import FollowedFile
from explorer.store import Store
from explorer.store.rows import ImportCancelled, ImportReport, StoreError
from explorer.workbench import Workbench

_log = logging.getLogger(__name__)
STEP_MS = 50
"""How long nothing more must have been written before it is read."""
PATIENCE_MS = 200
"""How long changes that never pause are waited for, and until the thread sees that it shall end."""


class FolderWatch:
    """Watches folders in a thread, each without those below it, and wakes a coroutine when one of
    some files was written."""

    def __init__(self, folders: Sequence[Path], is_of: Callable[[Path], bool]) -> None:
        self.changed = asyncio.Event()
        """Set once when the watch has begun, so that nothing is missed, and at every change."""
        self._folders, self._is_of = folders, is_of
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="folder-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        begun = False
        try:
            for changes in watch(
                *self._folders,
                watch_filter=lambda kind, name: (
                    kind is not Change.deleted and self._is_of(Path(name))
                ),
                step=STEP_MS,
                debounce=PATIENCE_MS,
                rust_timeout=PATIENCE_MS,
                yield_on_timeout=True,
                stop_event=self._stop,
                raise_interrupt=False,
                recursive=False,
            ):
                if changes or not begun:
                    begun = True
                    self._loop.call_soon_threadsafe(self.changed.set)
        except OSError as error:
            _log.warning("%s is not watched: %s", self._folders[0], error)
        except RuntimeError as error:
            if not self._loop.is_closed():
                _log.warning("%s is not watched: %s", self._folders[0], error)

    async def close(self) -> None:
        """End the thread."""
        self._stop.set()
        await asyncio.to_thread(self._thread.join)


async def follow(
    bench: Workbench, path: Path, session_id: str = ""
) -> AsyncGenerator[ImportReport, None]:
    """Import a session, and again each time its agent has written to it: a report whenever there
    is something new. ``path``: absolute. ``session_id``: which one, of a file that holds several.

    Goes on until it is closed. A file that cannot be read for a moment (it is being replaced) is
    read at its next change. Raises what the first import raises.
    """
    watched = FolderWatch([path.parent], lambda changed: _is_of(path, session_id, changed))
    file, related = FollowedFile(), _RelatedImport(bench, path, session_id)
    try:
        report = await bench.import_file(path, session_id=session_id, followed=file)
        related.start()
        yield report
        while True:
            await watched.changed.wait()
            watched.changed.clear()
            try:
                report = await bench.import_file(path, session_id=session_id, followed=file)
            except (FormatError, OSError, StoreError) as error:
                _log.info("%s is read at its next change: %s", path, error)
                continue
            related.start()
            if report.added or report.replaced:
                yield report
    finally:
        await related.close()
        await watched.close()


class _RelatedImport:
    """Imports the sessions that come with a followed one, beside it: they may be large, and what
    its own agent writes shall not wait for them."""

    def __init__(self, bench: Workbench, path: Path, session_id: str) -> None:
        self._bench, self._path, self._session_id = bench, path, session_id
        self._stop = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = False

    def start(self) -> None:
        """Import them, once more when that is under way."""
        self._is_wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop, and wait until it has stopped."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._is_wanted and not self._stop.is_set():
            self._is_wanted = False
            try:
                await self._bench.import_related(self._path, self._session_id, self._stop.is_set)
            except (FormatError, OSError, StoreError) as error:
                _log.info("what comes with %s is read at its next change: %s", self._path, error)
            except (ImportCancelled, ReadCancelled):
                return


def _is_of(path: Path, session_id: str, changed: Path) -> bool:
    """Whether a file that changed belongs to a session: it is its own, the log of its database, or
    named after it."""
    if changed.name.startswith(path.name):
        return True
    return bool(session_id) and session_id in changed.name


QUIET_S = 3.0
"""How long nothing more must have been written before it is looked at."""
PATIENCE_S = 30.0
"""How long writing that never pauses is waited for."""
_MOST_FOLDERS = 2_000
"""Folders that are watched, those of the newest sessions first: a system allows so many."""


class SessionWatch:
    """Searches again after every change. Lives on the thread of an event loop."""

    def __init__(self, store: Store, places: Places, quiet_s: float = QUIET_S) -> None:
        """``quiet_s``: see ``QUIET_S``."""
        self._store = store
        self._places = places
        self._quiet_s = quiet_s
        self._asked = asyncio.Event()

    def look_again(self) -> None:
        """Search again, though nothing is known to have changed."""
        self._asked.set()

    async def scans(self) -> AsyncGenerator[Scan, None]:
        """What there is now, and again after each change; goes on until it is closed. Raises
        StoreError."""
        folders: list[Path] = []
        watched: FolderWatch | None = None
        try:
            while True:
                self._asked.clear()
                found = await asyncio.to_thread(scan, self._store, self._places)
                now = await asyncio.to_thread(folders_of, found, self._places)
                if now != folders:
                    if watched is not None:
                        await watched.close()
                    folders = now
                    watched = FolderWatch(folders, _is_session_file) if folders else None
                yield found
                await self._next(watched)
        finally:
            if watched is not None:
                await watched.close()

    async def _next(self, watched: FolderWatch | None) -> None:
        """Wait for a change, and then until nothing more changes."""
        events = [self._asked] if watched is None else [self._asked, watched.changed]
        await _any_of(events, None)
        if self._asked.is_set() or watched is None:
            return
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while watched.changed.is_set() and asyncio.get_running_loop().time() < end:
            watched.changed.clear()
            await _any_of([watched.changed], self._quiet_s)
        watched.changed.clear()


async def _any_of(events: Iterable[asyncio.Event], seconds: float | None) -> None:
    """Wait for the first of some events, for so long at most."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waits:
            one.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def folders_of(found: Scan, places: Places) -> list[Path]:
    """The folders in which files of sessions lie and new ones may appear: those of the sessions,
    the folders above them, and the places that were added; never the home itself."""
    never = {places.home, *places.home.parents}
    folders: dict[Path, None] = dict.fromkeys(places.added)
    for one in found.sessions:
        folder = one.found.path.parent
        folders |= dict.fromkeys((folder, folder.parent))
    fit = [folder for folder in folders if folder not in never and folder.is_dir()]
    return sorted(fit[:_MOST_FOLDERS])


def _is_session_file(path: Path) -> bool:
    """Whether what changed may be a session: its file, the log of its database, a new folder."""
    return path.name.removesuffix("-wal").endswith(SUFFIXES) or path.is_dir()

"""Watching the places where sessions were found: a new search whenever something there changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from explorer.services.discovery import SUFFIXES, Places, Scan, scan
from explorer.services.follower import FolderWatch
from explorer.store import Store

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

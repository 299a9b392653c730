"""The team libraries that the person added: a connection to each that is looked at, and what it
holds, kept current."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec import Struct, field
from PySide6.QtCore import QObject, Signal

from explorer.services.publication import connect
from explorer.settings.libraries import LibrariesError, read_libraries
from explorer.store.postgres import Note, Shared, TeamLibrary
from explorer.store.rows import StoreError, UnreachableError
from ui.app_state import AppState
from ui.widgets.notice import Notice

FIRST = 200
"""Sessions that are read first, so that a page of them is seen at once."""
T = TypeVar("T")

AGAIN_S = 2.0
"""Seconds after which a server that is gone is looked for again."""
LIBRARY_ERRORS = (StoreError, LibrariesError, OSError)
"""What a team's library may raise."""
OWN_SAFE = "Your own library is not affected."


def refusal(
    name: str, error: Exception, safe: str, again: Callable[[], None] | None = None
) -> Notice:
    """What to tell of an error of a team's library. ``safe``: what is safe; ``again``: tries it
    again."""
    is_gone = isinstance(error, UnreachableError)
    return Notice(
        "error", f"The server of {name} is not reached." if is_gone else str(error),
        " ".join(filter(None, (safe, OWN_SAFE))), details=str(error) if is_gone else "",
        action="&Try again" if again is not None else "", on_action=again,
    )  # fmt: skip


class TeamContent(Struct, frozen=True):
    """What a library held when it was last read."""

    person: str
    """Who reads it, as its server knows them."""
    role: str
    """One of ``postgres.ROLES``, empty for none of them."""
    shared: tuple[Shared, ...]
    notes: tuple[Note, ...]


class _Followed(Struct):
    """A library that is looked at."""

    name: str
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: it is to be read again."""
    team: TeamLibrary | None = None
    content: TeamContent | None = None
    error: Exception | None = None
    """Why it cannot be read now."""
    keeping: asyncio.Task[None] | None = None
    """Keeps it current."""


class TeamLibraries(QObject):
    """Reads on threads of its own: a server that does not answer holds up nobody else."""

    changed = Signal(str)
    """The name of a library: it holds something else, its server is gone, or is there again."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._followed: dict[str, _Followed] = {}
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="team-reading")

    @staticmethod
    def names() -> list[str]:
        """The libraries that were added."""
        try:
            return sorted(read_libraries().libraries)
        except (LibrariesError, OSError):
            return []

    def follow(self, name: str) -> None:
        """Read a library, and keep what it holds current for as long as the window is open."""
        if name not in self._followed:
            one = self._followed[name] = _Followed(name)
            one.keeping = asyncio.ensure_future(self._keep(one))

    async def forget(self, name: str) -> None:
        """Let go of a library that was removed."""
        if (one := self._followed.pop(name, None)) is not None:
            await self._end([one])
            self.changed.emit(name)

    def try_again(self, name: str) -> None:
        """Look for a lost server now."""
        if name in self._followed:
            self._followed[name].wake.set()

    def content(self, name: str) -> TeamContent | None:
        """What a library that is followed holds; None before it was read."""
        return self._followed[name].content if name in self._followed else None

    def error(self, name: str) -> Exception | None:
        """Why a library that is followed cannot be read now; None where it can."""
        return self._followed[name].error if name in self._followed else None

    async def ask(self, name: str, work: Callable[[TeamLibrary], T]) -> T:
        """Ask something of a library, or write into it. Raises StoreError."""
        self.follow(name)
        return await self.run(lambda: work(self._connected(self._followed[name])))

    async def run(self, work: Callable[[], T]) -> T:
        """Do something that may wait for a server, on a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def close(self) -> None:
        """Let go of all servers."""
        ended = list(self._followed.values())
        await self._end(ended)
        await asyncio.to_thread(self._threads.shutdown)
        # Threads that were about to connect have done so.
        await self._end(ended)

    @staticmethod
    async def _end(followed: Sequence[_Followed]) -> None:
        for one in followed:
            if one.keeping is not None:
                one.keeping.cancel()
                await asyncio.wait([one.keeping])
            if one.team is not None:
                await asyncio.to_thread(one.team.close)

    async def _keep(self, one: _Followed) -> None:
        loop = asyncio.get_running_loop()
        told = partial(loop.call_soon_threadsafe, one.wake.set)
        while True:
            one.wake.clear()
            await asyncio.wait(
                [self._state.tasks.start(f"Reading {one.name}", self._take(one, told))]
            )
            # Who watches is told of what others do, and that a server is gone.
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(one.wake.wait(), AGAIN_S if one.error else None)

    async def _take(self, one: _Followed, told: Callable[[], object]) -> None:
        try:
            most = FIRST if one.content is None else None
            one.content = await self.run(lambda: self._read(one, told, most))
            one.error = None
            if len(one.content.shared) == most:
                self.changed.emit(one.name)
                one.content = await self.run(lambda: self._read(one, told))
        except LIBRARY_ERRORS as error:
            one.error = error
        self.changed.emit(one.name)

    def _read(
        self, one: _Followed, told: Callable[[], object], most: int | None = None
    ) -> TeamContent:
        if one.team is None:
            team = connect(one.name)
            try:
                team.watch(told)
            except StoreError:
                team.close()
                raise
            one.team = team
        team = one.team
        return TeamContent(
            team.person, team.role, tuple(team.shared(most=most)), tuple(team.notes())
        )

    @staticmethod
    def _connected(one: _Followed) -> TeamLibrary:
        """Raises StoreError."""
        if one.team is None:
            raise UnreachableError(f"team library {one.name}", "the server was not reached")
        return one.team

"""Sessions of team libraries that are looked at: copies that are only read, in a database of their
own that is removed in the end."""

from __future__ import annotations

import shutil

from msgspec import Struct

from explorer.services.publication import go_on, pulled
from explorer.settings import paths
from explorer.store import Store
from explorer.store.other_programs import Claim, is_abandoned
from explorer.store.postgres import Shared, TeamLibrary
from explorer.store.rows import IsCancelled, OnProgress
from explorer.workbench import Workbench

FIRST_KEY = 1 << 30
"""Keys from here on are those of copies, here and nowhere else."""


class TeamSession(Struct, frozen=True):
    """Which session of which library a copy is of."""

    library: str
    shared: Shared

    @property
    def published(self) -> tuple[str, int, float]:
        """Tells it from another one, and from the same one published anew."""
        return self.library, self.shared.row.key, self.shared.published_ms


class TeamSessions:
    """The copies of one run of the program. ``bench`` and ``origin`` may be used on the thread of
    the event loop; the other methods block and are meant for a worker thread."""

    def __init__(self, own: Workbench) -> None:
        """Makes the database. ``own``: the workbench of the person's library. Raises StoreError,
        OSError."""
        self._own = own
        place = own.store.path.with_name("team-sessions")
        # What a program that was killed has left is removed by the next one.
        for left in place.parent.glob(f"{place.name}-*"):
            if is_abandoned(place, left.name.removeprefix(f"{place.name}-")):
                shutil.rmtree(left, ignore_errors=True)
        self._claim = Claim.make(place)
        self._folder = place.with_name(f"{place.name}-{self._claim.name}")
        paths.ensure(self._folder)
        self._store = Store.open(self._folder / "team.db")
        self._store.begin_keys_at(FIRST_KEY).result()
        self._copies: dict[int, TeamSession] = {}
        self.bench = Workbench(self._store, own.client, beside=own)
        """Opens the copies."""

    def take(
        self,
        team: TeamLibrary,
        shared: Shared,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> int:
        """Copy a session, unless it is here as it is there; returns the copy's key. ``progress``:
        entries done and in all. Raises StoreError, ImportCancelled."""
        session = TeamSession(team.name, shared)
        for known, copied in list(self._copies.items()):
            if copied.published == session.published:
                self._copies[known] = session
                return known
        there = shared.row.key
        made = go_on(self._store, team, there, session.published, progress, cancelled).key
        self._copies[made] = session
        return made

    def origin(self, key: int) -> TeamSession:
        """What a copy is of."""
        return self._copies[key]

    def go_on(self, key: int) -> int:
        """Copy what is looked at into the person's own library, unless it is there already; returns
        its key there. Needs no server. Raises StoreError."""
        published = self._copies[key].published
        known = pulled(self._own.store).get(published)
        if known is not None:
            return known
        return go_on(self._own.store, self._store, key, published).key

    def close(self) -> None:
        """Remove the copies."""
        self._store.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._claim.release()

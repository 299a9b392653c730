"""The sessions that belong to one: which started it, which it started, and its forks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from explorer.services.session_origins import file_stem, origin_of
from explorer.session.records import STARTED
from explorer.store import Store
from explorer.store.rows import SessionRow


class RelatedSessions(Struct, frozen=True):
    """Sessions of the library that are one step away."""

    parent: SessionRow | None = None
    """The one that this one was forked from or started by, if it is here."""
    started: Mapping[int, tuple[SessionRow, ...]] = field(default_factory=dict)
    """By entry: the agents that a call of this session started, at the call's result."""
    others: tuple[SessionRow, ...] = ()
    """Its forks, and agents of which the file does not say which call started them."""

    @property
    def children(self) -> tuple[SessionRow, ...]:
        """All that name it as their parent, in the order of their calls."""
        started = (row for at in sorted(self.started) for row in self.started[at])
        return (*started, *self.others)


def related_sessions(store: Store, key: int) -> RelatedSessions:
    """The sessions one step away from a stored one. Raises StoreError."""
    rows = [row for row in store.family(key) if row.key == key or not row.trashed_ms]
    this = next((row for row in rows if row.key == key), None)
    if this is None:
        return RelatedSessions()
    parent = origin_of(this, rows) if this.parent_session else None
    children = [row for row in rows if row.parent_session and origin_of(row, [this, row])]
    results = store.results_of(key, [row.parent_call for row in children if row.parent_call])
    started: dict[int, tuple[SessionRow, ...]] = {}
    others: list[SessionRow] = []
    for row in sorted(children, key=lambda one: (one.started_ms, one.key)):
        at = results.get(row.parent_call, -1)
        if at < 0:
            others.append(row)
        else:
            started[at] = (*started.get(at, ()), row)
    return RelatedSessions(parent, started, tuple(others))


def started_by(rows: Iterable[SessionRow], keys: Collection[int]) -> list[SessionRow]:
    """The sub-agents that some sessions started, and those that these started in turn. ``rows``:
    all sessions; a pass over them for each generation."""
    above, left = list[SessionRow](), list[SessionRow]()
    for row in rows:
        if row.key in keys:
            above.append(row)
        elif row.relation in STARTED and row.parent_session:
            left.append(row)
    found: list[SessionRow] = []
    while above:
        names = {name for row in above for name in (row.session_id, row.path) if name}
        above = [row for row in left if names.intersection(_names_of_parent(row))]
        taken = {row.key for row in above}
        left = [row for row in left if row.key not in taken]
        found += above
    return found


def _names_of_parent(row: SessionRow) -> tuple[str, str]:
    """What the parent may be called: as it is named, or by the id that ends a file's name."""
    return row.parent_session, file_stem(row.parent_session).rpartition("_")[2]

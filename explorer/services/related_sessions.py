"""The sessions that belong to one: what it was forked from, which started it, which it started."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from msgspec import Struct, field

from explorer.session.records import STARTED
from explorer.settings import paths
from explorer.store import Store
from explorer.store.rows import SessionRow


def origin_of(fork: SessionRow, rows: Iterable[SessionRow]) -> SessionRow | None:
    """The stored session that a fork names as its parent: by its id, its file, or the id that
    ends the name of a file which was moved; None where it is not here."""
    named = fork.parent_session
    if not named:
        return None
    others = [row for row in rows if row.key != fork.key]
    by_id = [row for row in others if row.session_id == named]
    by_file = [row for row in others if row.path == named]
    stem = file_stem(named)
    by_name = [row for row in others if row.session_id and stem.endswith(f"_{row.session_id}")]
    return next(iter((*by_id, *by_file, *by_name)), None)


def ancestors_of(fork: SessionRow, rows: Iterable[SessionRow]) -> list[SessionRow]:
    """The stored sessions that a session goes back to, the nearest first."""
    listed, found = list(rows), [fork]
    while (above := origin_of(found[-1], listed)) is not None:
        if any(row.key == above.key for row in found):
            break  # the parents stated in files may form a cycle
        found.append(above)
    return found[1:]


def file_stem(name: str) -> str:
    """The name of a file without its folder and its suffix, whichever system wrote the path."""
    pure = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    return pure.stem


def is_imported(row: SessionRow, rows: Callable[[], Sequence[SessionRow]]) -> bool:
    """Whether a session, or one that it was forked from, came from a file: other than the example
    that comes along. Of a fork whose origin is gone too. ``rows``: all sessions; may block."""
    if row.path or not row.parent_session:
        return _is_from_outside(row)
    origins = ancestors_of(row, rows())
    if not origins or any(map(_is_from_outside, origins)):
        return True
    return bool(origins[-1].parent_session) and not origins[-1].path


def _is_from_outside(row: SessionRow) -> bool:
    return bool(row.path) and not Path(row.path).is_relative_to(paths.resource_path("samples"))


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
    parent = origin_of(this, rows)
    children = [row for row in rows if origin_of(row, [this, row])]
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

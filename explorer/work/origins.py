"""Where a fork came from, and what was forked off a session."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath

from explorer.session.tree import SessionTree
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
    stem = _stem(named)
    by_name = [row for row in others if row.session_id and stem.endswith(f"_{row.session_id}")]
    return next(iter((*by_id, *by_file, *by_name)), None)


def ancestors_of(fork: SessionRow, rows: Iterable[SessionRow]) -> list[SessionRow]:
    """The stored sessions that a session goes back to, the nearest first."""
    listed, found = list(rows), [fork]
    while (above := origin_of(found[-1], listed)) is not None:
        if any(row.key == above.key for row in found):
            break  # files may say anything, in a circle too
        found.append(above)
    return found[1:]


def forks_of(origin: SessionRow, rows: Iterable[SessionRow]) -> list[SessionRow]:
    """The stored sessions that name a session as their parent."""
    listed = list(rows)
    return [row for row in listed if (at := origin_of(row, listed)) and at.key == origin.key]


def fork_point(fork: SessionTree, leaf: int, origin: SessionTree) -> int:
    """The entry of the origin at which a fork's path leaves it, or -1: ids are kept, so it is the
    last one on the path that both have."""
    ids, path = fork.columns.ids, fork.path(leaf)
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if ids[path[middle]] in origin:
            low = middle + 1
        else:
            high = middle
    return origin.index_of(ids[path[low - 1]]) if low else -1


def _stem(name: str) -> str:
    pure = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    return pure.stem

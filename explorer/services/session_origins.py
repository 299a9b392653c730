"""Where sessions come from: which one another was forked from, and which came from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from explorer.settings import paths
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

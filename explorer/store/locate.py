"""Which stored session a file belongs to, if any."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from explorer.session.records import SessionSource
from explorer.store.codec import text_in, text_out


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells whether a file is as it was."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: str) -> FileStamp:
        """Raises OSError when the file cannot be asked."""
        found = Path(path).stat()
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Known:
    """A session that was imported before, with what is remembered of its file."""

    key: int
    stamp: FileStamp
    moved: bool
    """The file was at another place then, where there is none any more."""
    last: int
    """Index of the entry that was the file's leaf."""


def find_known(db: sqlite3.Connection, source: SessionSource) -> Known | None:
    """The session that an earlier reading of this file made, or None for a new one.

    It is known by its place and its session id. A file that has gone from its place and turns up
    elsewhere with the same header is the same; a copy beside the first is a session of its own,
    since the two may go different ways. Version 1 files have no ids, so one that was given ids
    since cannot be matched entry by entry and counts as new.
    """
    header = source.header
    rows = db.execute(
        "SELECT o.session, o.size, o.mtime_ns, o.last, o.path, s.header, s.version"
        " FROM sources o JOIN sessions s ON s.key = o.session"
        " WHERE s.complete = 1 AND s.format = ? AND s.session_id = ? ORDER BY o.session DESC",
        (header.format, text_in(header.session_id)),
    ).fetchall()
    place = str(Path(source.path).absolute())
    for key, size, mtime_ns, last, path, _, version in rows:
        if _is_same(text_out(path), place) and (version < 2) == (header.version < 2):
            return Known(key, FileStamp(size, mtime_ns), False, last)
    for key, size, mtime_ns, last, path, raw, _ in rows:
        if header.raw and text_out(raw) == header.raw and not Path(text_out(path)).exists():
            return Known(key, FileStamp(size, mtime_ns), True, last)
    return None


def _is_same(path: str, place: str) -> bool:
    """Whether both name one file: through ``..``, a link, or in other letters where the system
    makes no difference between them."""
    if path == place:
        return True
    try:
        return os.path.samefile(path, place)
    except (OSError, ValueError):
        return False  # one of them is not there

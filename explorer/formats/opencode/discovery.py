"""Finding opencode's sessions where it keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from explorer.formats.adapter import FoundSession
from explorer.formats.errors import FormatError
from explorer.formats.opencode.database import opened
from explorer.formats.opencode.documents import StorageTree
from explorer.formats.opencode.stored import StoredSession
from explorer.session.records import SessionHeader

NAME = "opencode"


def header_of(session: StoredSession) -> SessionHeader:
    """What a session's description says, and what was found out about its origin."""
    info = session.info
    fork = session.fork
    version = info.get("version")
    return SessionHeader(
        session.id,
        NAME,
        1,
        _text(info.get("directory")),
        session.time_ms("created"),
        session.parent_id or (fork.origin if fork is not None else ""),
        session.raw,
        _text(info.get("title")),
        "subagent" if session.parent_id else "fork" if fork is not None else "",
        session.parent_call,
        _text(version),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def find_sessions(home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
    """The sessions of a person, newest first. What was moved from the older folder into the
    database is listed once."""
    base = environment.get("XDG_DATA_HOME") or ""
    folder = (Path(base) if base else home / ".local" / "share") / "opencode"
    found: dict[str, FoundSession] = {}
    for path in _databases(folder, environment.get("OPENCODE_DB") or ""):
        for one in _in_database(path):
            found.setdefault(one.session_id, one)
    for one in _in_folder(folder / "storage" / "session"):
        name = one.header.session_id if one.header is not None else str(one.path)
        found.setdefault(name, one)
    yield from sorted(found.values(), key=lambda one: -one.modified_ms)


def _databases(folder: Path, chosen: str) -> list[Path]:
    """The databases: one for each channel that opencode is installed from, and the one that a
    variable names."""
    named = [folder / chosen] if chosen and chosen != ":memory:" else []
    try:
        usual = sorted(folder.glob("opencode*.db"))
    except OSError:
        usual = []
    return [path for path in dict.fromkeys((*named, *usual)) if path.is_file()]


def _in_database(path: Path) -> list[FoundSession]:
    try:
        size = path.stat().st_size
        with opened(path) as database:
            sessions = database.sessions()
    except (FormatError, OSError):
        return []
    return [_found(path, one, size, one.time_ms("updated"), one.id) for one in sessions]


def _in_folder(folder: Path) -> Iterator[FoundSession]:
    try:
        paths = sorted(folder.glob("*/*.json"))
    except OSError:
        return
    for path in paths:
        try:
            status = path.stat()
            session = StorageTree(path).described(path)
        except (FormatError, OSError):
            continue
        changed = session.time_ms("updated") or status.st_mtime_ns / 1e6
        yield _found(path, session, status.st_size, changed)


def _found(
    path: Path, session: StoredSession, size: int, modified_ms: float, session_id: str = ""
) -> FoundSession:
    header = header_of(session)
    return FoundSession(path, NAME, header.cwd, size, modified_ms, header, session_id)

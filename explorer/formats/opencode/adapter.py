"""opencode as a format that is read: its database, its older folder, and its exports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, Related
from explorer.formats.errors import FormatError
from explorer.formats.opencode.branches import SessionEntries
from explorer.formats.opencode.database import MAGIC, Database, is_opencode, log_of, opened
from explorer.formats.opencode.discovery import NAME, find_sessions, header_of
from explorer.formats.opencode.documents import (
    StorageTree,
    is_export,
    is_session_file,
    read_export,
)
from explorer.formats.opencode.entries import read_record
from explorer.formats.opencode.forks import find_origin, has_copies, says_fork
from explorer.formats.opencode.stored import StoredSession
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.records import FormatName, SessionHeader


@dataclass(frozen=True, slots=True)
class OpencodeAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = NAME
    title: str = "opencode"
    unknown: tuple[str, ...] = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        if head.startswith(MAGIC) or (not head and log_of(path).is_file()):
            return is_opencode(path)
        return is_session_file(path, head) or is_export(head)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. All of the session is read at once: a database may change meanwhile."""
        session = _stored(Path(path), session_id)
        entries = SessionEntries(session)
        return TypedSource(
            path, header_of(session), entries, progress, cancelled, files=session.files
        )

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``."""
        if _is_database(path):
            with opened(path) as database:
                sessions = database.sessions()
            if session_id:
                return [Related(path, one.id) for one in _below(session_id, sessions)]
            shown = _default(path, sessions)
            return [Related(path, one.id) for one in sessions if one is not shown]
        if not is_session_file(path, b"{"):
            return ()
        tree = StorageTree(path)
        session_id = tree.described(path).id
        return [Related(Path(one.files[0]), "") for one in _below(session_id, tree.sessions())]

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``."""
        return ("opencode", "-s", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``."""
        return find_sessions(home, environment)


OPENCODE = OpencodeAdapter()


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    return head == MAGIC or (not head and log_of(path).is_file())


def _stored(path: Path, session_id: str) -> StoredSession:
    """A session with all that its store holds of it. Raises FormatError, OSError."""
    if _is_database(path):
        with opened(path) as database:
            return _from_database(path, database, session_id)
    with path.open("rb") as file:
        head = file.read(64)
    if is_session_file(path, head):
        tree = StorageTree(path)
        return _from_folder(path, tree, session_id)
    session = read_export(path)
    _name_lost_origin(session)
    return session


def _from_database(path: Path, database: Database, session_id: str) -> StoredSession:
    sessions = database.sessions()
    if session_id:
        chosen = next((one for one in sessions if one.id == session_id), None)
        if chosen is None:
            raise FormatError(str(path), 1, f"the database has no session {session_id!r}")
    else:
        chosen = _default(path, sessions)
    session = database.session(chosen)
    if has_copies(session):
        sharing = database.sharing_time(session.id, session.messages[0].time_ms)
        others = [one for one in sessions if one.id in sharing]
        session.fork = find_origin(session, others, lambda one: database.session(one).messages)
    _name_lost_origin(session)
    return session


def _from_folder(path: Path, tree: StorageTree, session_id: str) -> StoredSession:
    described = tree.described(path)
    if session_id and session_id != described.id:
        place = tree.file_of(session_id)
        if place is None:
            raise FormatError(str(path), 1, f"the folder has no session {session_id!r}")
        described = tree.described(place)
    session = tree.session(described)
    if has_copies(session):
        first = session.messages[0].time_ms
        others = (one for one in tree.sessions() if one.time_ms("created") <= first)
        session.fork = find_origin(session, others, lambda one: tree.session(one).messages)
    _name_lost_origin(session)
    return session


def _name_lost_origin(session: StoredSession) -> None:
    if session.fork is None and says_fork(session) and has_copies(session):
        session.problems.append(
            "the session is a fork, and the one that it was made from is not in the same store"
        )


def _default(path: Path, sessions: Sequence[StoredSession]) -> StoredSession:
    """The session that was used last, of those that no other one started."""
    if not sessions:
        raise FormatError(str(path), 1, "the database has no sessions")
    return next((one for one in sessions if not one.parent_id), sessions[0])


def _below(
    session_id: str, sessions: Iterator[StoredSession] | Sequence[StoredSession]
) -> list[StoredSession]:
    """The sessions that one started, and those that they started."""
    listed, found, ids = list(sessions), [], {session_id}
    while fresh := [one for one in listed if one.parent_id in ids and one.id not in ids]:
        found += fresh
        ids |= {one.id for one in fresh}
    return found

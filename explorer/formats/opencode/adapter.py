"""opencode as a format that is read: where it keeps its sessions, its database, its older folder,
its exports, and where a forked session comes from.

opencode copies the messages of a fork under new ids, with their old times, and records no link: the
origin is the session that has the same messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    Related,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.opencode.branches import SessionEntries
from explorer.formats.opencode.database import MAGIC, Database, is_opencode, log_of, opened
from explorer.formats.opencode.entries import read_record
from explorer.formats.opencode.stored import (
    Fork,
    Message,
    StorageTree,
    StoredSession,
    is_called,
    is_export,
    is_session_file,
    read_export,
)
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.records import FormatName, SessionHeader

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


_TITLE = re.compile(r"(.*?)(?: \(fork #(\d{1,9})\))?", re.DOTALL)
_Key = tuple[object, ...]


def has_copies(session: StoredSession) -> bool:
    """Whether it holds messages from before it was created."""
    created = session.time_ms("created")
    first = session.messages[0].time_ms if session.messages else 0
    return 0 < first < created and not session.parent_id


def says_fork(session: StoredSession) -> bool:
    """Whether its title is that of a fork."""
    return _numbered(session)[1] > 0


def find_origin(
    session: StoredSession,
    others: Iterable[StoredSession],
    load: Callable[[StoredSession], Sequence[Message]],
) -> Fork | None:
    """The session that has most of the messages of a fork; None where none has any. ``load``: the
    messages of one of the others."""
    copies = {
        _key(one): one.id for one in session.messages if one.time_ms < session.time_ms("created")
    }
    best: tuple[tuple[object, ...], Fork] | None = None
    for other in others:
        if other.id == session.id or other.time_ms("created") >= session.time_ms("created"):
            continue
        found = frozenset(copies[key] for key in map(_key, load(other)) if key in copies)
        if not found:
            continue
        # A fork of a fork has the same messages as the first: its number is one higher.
        rank = len(found), _is_before(other, session), other.time_ms("created")
        if best is None or rank > best[0]:
            best = rank, Fork(other.id, found)
    return best[1] if best is not None else None


def _is_before(origin: StoredSession, fork: StoredSession) -> bool:
    (name, number), (fork_name, fork_number) = _numbered(origin), _numbered(fork)
    return name == fork_name and number + 1 == fork_number


def _numbered(session: StoredSession) -> tuple[str, int]:
    """A title without its number of a fork, and that number; 0 for none."""
    found = _TITLE.fullmatch(text_field(session.info, "title"))
    return (found[1], int(found[2] or 0)) if found else ("", 0)


def _key(message: Message) -> _Key:
    """What a message and its copy have in common. Tool results are left out: they may have been
    pruned in one of the two since."""
    texts: list[object] = []
    for part in message.parts:
        if is_called(part, "tool"):
            texts.append((text_field(part, "callID"), text_field(part, "tool")))
        elif is_called(part, "text") or is_called(part, "reasoning"):
            texts.append(text_field(part, "text"))
        elif is_called(part, "file"):
            texts.append(text_field(part, "filename"))
    model = text_field(message.info, "modelID"), object_field(message.info, "model").get("modelID")
    return str(message.info.get("role")), message.time_ms, str(model), tuple(texts)


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

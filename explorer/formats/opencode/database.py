"""opencode's database, read without writing: its sessions, one of them whole, and what was deleted,
from its log of changes: opencode deletes the messages that a person took back as soon as the next
prompt is sent.

The database is in WAL mode, and what the agent wrote last is in the file beside it. A missing table
or column is that of another version; rows that cannot be read are named.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from explorer import private_files
from explorer.formats.adapter import FormatError
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.opencode.stored import (
    Json,
    Message,
    RemovedParts,
    StoredSession,
    read_object,
    started_by,
)


def read_event(text: str) -> Json:
    """An event's data; empty where it is no JSON object."""
    value, is_sound = read_object(text, {})
    return value if is_sound else {}


class _Logged(Struct):
    """A message as the log has it so far."""

    created_at: int
    info: Json = {}
    parts: dict[str, Json] = {}
    removed: list[tuple[int, Json]] = []
    """Parts that were deleted, each with its position in the log."""
    removed_at: int | None = None


class EventLog:
    """The changes of one session."""

    def __init__(self, events: Iterable[tuple[int, str, Json]]) -> None:
        """``events``: position, type with its version, and data of each, in order."""
        self._logged: dict[str, _Logged] = {}
        for number, name, data in events:
            self._take(number, name.rpartition(".")[0], data)

    def restore(self, messages: dict[str, Message]) -> None:
        """Add the messages and parts that were deleted, and when the others were created."""
        for message_id, logged in self._logged.items():
            there = messages.get(message_id)
            if there is not None:
                there.created_at = logged.created_at
                present = {text_field(part, "id") for part in there.parts}
                there.removed_parts = _together(logged, present)
            elif logged.removed_at is not None and logged.info:
                messages[message_id] = Message(
                    logged.info,
                    [logged.parts[name] for name in sorted(logged.parts)],
                    logged.created_at,
                    logged.removed_at,
                    _together(logged, set(logged.parts)),
                )

    def _take(self, number: int, name: str, data: Json) -> None:
        match name:
            case "message.updated":
                info = object_field(data, "info")
                self._of(number, info, "id").info = info
            case "message.part.updated":
                part = object_field(data, "part")
                self._of(number, part, "messageID").parts[text_field(part, "id")] = part
            case "message.removed":
                self._of(number, data, "messageID").removed_at = number
            case "message.part.removed":
                logged = self._of(number, data, "messageID")
                part = logged.parts.pop(text_field(data, "partID"), {})
                if part:
                    logged.removed.append((number, part))

    def _of(self, number: int, names: Json, key: str) -> _Logged:
        return self._logged.setdefault(text_field(names, key), _Logged(number))


def _together(logged: _Logged, present: set[str]) -> list[RemovedParts]:
    """Parts that were deleted one right after the other."""
    found: list[RemovedParts] = []
    last = -1
    for number, part in logged.removed:
        if text_field(part, "id") in present:
            continue
        if found and number == last + 1:
            found[-1] = RemovedParts(found[-1].at, (*found[-1].parts, part))
        else:
            found.append(RemovedParts(number, (part,)))
        last = number
    return found


MAGIC = b"SQLite format 3\0"
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""What reading raises: SQLite's words about a damage may quote a name that is no UTF-8."""
_TABLES = ("session", "message", "part")
_BESIDE = {
    "todo": "the agent's list of tasks",
    "session_message": "a message of a newer kind",
    "session_input": "a prompt that waits",
    "session_context_epoch": "a context of a newer kind",
}
"""Tables of which rows are put aside."""
_REMOVALS = ("message.removed.%", "message.part.removed.%")


def log_of(path: Path) -> Path:
    """The file that holds what was written last."""
    return path.with_name(f"{path.name}-wal")


def files_of(path: Path) -> tuple[str, ...]:
    """All files that the database is read from."""
    log = log_of(path)
    return (str(path), str(log)) if log.is_file() else (str(path),)


def is_opencode(path: Path) -> bool:
    """Whether a database has the tables of opencode. One that is damaged is known by its name."""
    try:
        with opened(path) as database:
            return all(one in database.tables for one in _TABLES)
    except (FormatError, OSError):
        return path.name.startswith("opencode")


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """The database for reading; nothing is left beside it. Raises FormatError, OSError."""
    with tempfile.TemporaryDirectory(prefix="session-explorer-") as folder:
        try:
            with closing(_connect(path, Path(folder))) as connection:
                yield Database(path, connection)
        except _DAMAGE as error:
            raise FormatError(str(path), 1, f"the database cannot be read: {error}") from error


def _connect(path: Path, folder: Path) -> sqlite3.Connection:
    """Without a log the file is all there is, and nobody writes to it. With one and its index it is
    read as any other reader does; without the index, which SQLite would make, from a copy."""
    log = log_of(path)
    if not log.is_file() or not log.stat().st_size:
        return _checked(f"{path.absolute().as_uri()}?immutable=1")
    if path.with_name(f"{path.name}-shm").is_file():
        try:
            return _checked(f"{path.absolute().as_uri()}?mode=ro")
        except sqlite3.OperationalError:
            # The index cannot be opened, in a folder that may only be read for instance.
            return _copied(path, folder)
    return _copied(path, folder)


def _copied(path: Path, folder: Path) -> sqlite3.Connection:
    copy = folder / "copy.db"
    for one, name in ((path, copy), (log_of(path), log_of(copy))):
        with one.open("rb") as source, private_files.create(name) as target:
            shutil.copyfileobj(source, target)
    return _checked(copy.as_uri())


def _checked(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5)
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        # One transaction: the agent may write meanwhile.
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except _DAMAGE:
        connection.close()
        raise
    return connection


@dataclass(slots=True)
class Database:
    """An open database. Its methods raise what ``opened`` turns into a FormatError where nothing of
    it can be read; what else is damaged is named in the session's problems."""

    path: Path
    connection: sqlite3.Connection = field(repr=False)
    _columns: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def tables(self) -> frozenset[str]:
        """Names of the tables."""
        rows = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(str(name) for (name,) in rows)

    def sessions(self) -> list[StoredSession]:
        """Descriptions of all sessions, the one that was used last first. Raises FormatError for
        a database that has none."""
        if not self._has("session", "id"):
            raise FormatError(str(self.path), 1, "the database has no sessions of opencode")
        found = [_described(row) for row in self._rows("SELECT * FROM session", (), [])]
        return sorted(found, key=lambda one: (one.time_ms("updated"), one.id), reverse=True)

    def session(self, described: StoredSession) -> StoredSession:
        """A session with its messages, those that were deleted among them."""
        problems = described.problems
        messages = {one.id: one for one in self._messages(described.id, problems)}
        self._add_parts(described, messages)
        if self._has("event", "aggregate_id") and self._removals(described.id):
            EventLog(self._events(described.id, problems)).restore(messages)
        for table, what in _BESIDE.items():
            self._put_aside(described, table, what)
        if described.parent_id:
            described.parent_call = self._parent_call(described.parent_id, described.id)
        described.messages = sorted(messages.values(), key=lambda one: one.order)
        described.files = files_of(self.path)
        return described

    def sharing_time(self, session_id: str, time_ms: float) -> frozenset[str]:
        """Other sessions with a message of the same time."""
        if not self._has("message", "time_created"):
            return frozenset()
        sql = "SELECT DISTINCT session_id FROM message WHERE time_created = ? AND session_id != ?"
        return frozenset(
            str(row["session_id"]) for row in self._rows(sql, (int(time_ms), session_id), [])
        )

    def _has(self, table: str, *names: str) -> bool:
        if table not in self._columns:
            # A view of that name would be a query of somebody else's.
            is_table = table in self.tables
            rows = self.connection.execute(f'PRAGMA table_info("{table}")') if is_table else ()
            self._columns[table] = frozenset(str(row[1]) for row in rows)
        return self._columns[table].issuperset(names)

    def _rows(self, sql: str, values: tuple[Any, ...], problems: list[str]) -> Iterator[Json]:
        """Rows as far as they can be read."""
        count = 0
        try:
            cursor = self.connection.execute(sql, values)
            names = [str(one[0]) for one in cursor.description]
            for row in cursor:
                count += 1
                yield dict(zip(names, row, strict=True))
        except _DAMAGE as error:
            table = sql.partition(" FROM ")[2].partition(" ")[0]
            problems.append(f"the database is damaged ({error}): {count} rows of {table} were read")

    def _messages(self, session_id: str, problems: list[str]) -> Iterator[Message]:
        if not self._has("message", "id", "session_id", "data"):
            problems.append("the database has no messages of opencode")
            return
        sql = "SELECT * FROM message WHERE session_id = ?"
        for row in self._rows(sql, (session_id,), problems):
            ids = {"id": _text(row["id"]), "sessionID": session_id}
            info, is_sound = read_object(_text(row["data"]), ids)
            if not is_sound:
                info["time"] = {"created": row.get("time_created")}
                problems.append(f"the message {ids['id']!r} is no JSON object; it was kept")
            yield Message(info, [])

    def _add_parts(self, session: StoredSession, messages: dict[str, Message]) -> None:
        if not self._has("part", "id", "message_id", "data"):
            session.problems.append("the database has no parts of messages")
            return
        chosen = "session_id = ?"
        if not self._has("part", "session_id"):
            chosen = "message_id IN (SELECT id FROM message WHERE session_id = ?)"
        sql = f"SELECT * FROM part WHERE {chosen} ORDER BY id"
        for row in self._rows(sql, (session.id,), session.problems):
            owner = _text(row["message_id"])
            ids = {"id": _text(row["id"]), "sessionID": session.id, "messageID": owner}
            part, is_sound = read_object(_text(row["data"]), ids)
            if not is_sound:
                problem = f"the part {ids['id']!r} is no JSON object; it was kept"
                session.problems.append(problem)
            if owner in messages:
                messages[owner].parts.append(part)
            else:
                session.asides.append((_dumps(part), "a part of a message that is not there"))

    def _removals(self, session_id: str) -> bool:
        if not self._has("event", "type", "seq", "data"):
            return False
        sql = "SELECT 1 FROM event WHERE aggregate_id = ? AND (type LIKE ? OR type LIKE ?) LIMIT 1"
        return any(True for _ in self._rows(sql, (session_id, *_REMOVALS), []))

    def _events(self, session_id: str, problems: list[str]) -> Iterator[tuple[int, str, Json]]:
        sql = "SELECT seq, type, data FROM event WHERE aggregate_id = ? ORDER BY seq"
        for row in self._rows(sql, (session_id,), problems):
            number = row["seq"] if isinstance(row["seq"], int) else 0
            yield number, _text(row["type"]), read_event(_text(row["data"]))

    def _put_aside(self, session: StoredSession, table: str, what: str) -> None:
        if not self._has(table, "session_id"):
            return
        sql = f"SELECT * FROM {table} WHERE session_id = ?"
        rows = [_dumps(row) for row in self._rows(sql, (session.id,), session.problems)]
        session.asides += [(row, what) for row in rows]
        if rows and table == "session_message":
            problem = f"{len(rows)} rows of the table {table!r} are not known; they are kept"
            session.problems.append(problem)

    def _parent_call(self, parent: str, child: str) -> str:
        """The call is in the parent's parts; of a turn that was taken back, in the log alone."""
        parts: list[Json] = []
        if self._has("part", "session_id", "data"):
            sql = "SELECT data FROM part WHERE session_id = ? AND instr(data, ?) > 0"
            rows = self._rows(sql, (parent, child), [])
            parts += [read_object(_text(row["data"]), {})[0] for row in rows]
        if not parts and self._has("event", "aggregate_id", "type", "data"):
            sql = "SELECT data FROM event WHERE aggregate_id = ? AND instr(data, ?) > 0"
            rows = self._rows(sql, (parent, child), [])
            parts += [object_field(read_event(_text(row["data"])), "part") for row in rows]
        return started_by(child, parts)


def _described(row: Json) -> StoredSession:
    """A row of the table of sessions in the form of an export."""
    info: Json = {
        "id": _text(row["id"]),
        "projectID": row.get("project_id"),
        "parentID": row.get("parent_id"),
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }
    if text_field(row, "revert"):
        revert, _ = read_object(row["revert"], {})
        info["revert"] = revert
    return StoredSession(info, _dumps({name: one for name, one in row.items() if one is not None}))


def _text(value: object) -> str:
    """A column as text: SQLite takes any type in any column."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _dumps(value: Json) -> str:
    return orjson.dumps(value, default=_text).decode()

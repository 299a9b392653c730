"""A session as opencode stores it, whatever the store: one description with its messages, each with
its parts, in the form of ``opencode export``; and opencode's JSON files: what that writes, and the
folder of small files that it kept its sessions in before it had a database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.formats.adapter import FormatError
from explorer.formats.json_fields import compact, object_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.session.json_values import MAX_DEPTH, is_too_deep, time_ms

Json = dict[str, Any]
_ADDED_LEVELS = 3
"""A record is deeper than the stored object by these levels: the message, the list of its parts."""


class RemovedParts(NamedTuple):
    """Parts that were deleted together while their message stayed."""

    at: int
    """Position in the event log."""
    parts: Sequence[Json]


class Message(Struct):
    """One message with its parts."""

    info: Json
    """With its id and its session's; with ``data`` in place of the rest where that is no JSON."""
    parts: list[Json]
    created_at: int = 0
    """Position in the event log; 0 for one that is older than the log."""
    removed_at: int | None = None
    """Position in the event log; None for one that is there."""
    removed_parts: list[RemovedParts] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id; empty where none is recorded."""
        return text_field(self.info, "id")

    @property
    def time_ms(self) -> float:
        """When it was begun, in milliseconds since 1970."""
        return time_ms(object_field(self.info, "time").get("created"))

    @property
    def order(self) -> tuple[float, str]:
        """By what opencode sorts messages."""
        return self.time_ms, self.id


class Fork(NamedTuple):
    """Where a copied session comes from."""

    origin: str
    """The other session's id."""
    copied: frozenset[str]
    """Ids of the messages that are copies of messages there."""


class StoredSession(Struct):
    """Everything that a store holds of one session."""

    info: Json
    """As ``opencode export`` describes it."""
    raw: str
    """The description as it was stored."""
    messages: list[Message] = field(default_factory=list)
    """Sorted; those that were deleted among them."""
    problems: list[str] = field(default_factory=list)
    asides: list[tuple[str, str]] = field(default_factory=list)
    """What else is stored with it, each with what it is."""
    files: tuple[str, ...] = ()
    fork: Fork | None = None
    parent_call: str = ""
    """The call of the parent session's tool that started it."""

    @property
    def id(self) -> str:
        """The session's id; empty where none is recorded."""
        return text_field(self.info, "id")

    @property
    def parent_id(self) -> str:
        """The session that started it as a sub-agent."""
        return text_field(self.info, "parentID")

    def time_ms(self, name: str) -> float:
        """``created`` or ``updated``, in milliseconds since 1970."""
        return time_ms(object_field(self.info, "time").get(name))


def is_called(part: Any, kind: str) -> bool:
    """Whether a part is of a type."""
    return isinstance(part, dict) and part.get("type") == kind


def read_object(text: str | bytes, ids: Json) -> tuple[Json, bool]:
    """A stored JSON object with its ids set, and whether it could be read; what is no object is
    carried as ``data``."""
    try:
        raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        value = parse(raw)
    except BadLine:
        raw, value = b"", None
    if isinstance(value, dict) and not is_too_deep(raw, value, MAX_DEPTH - _ADDED_LEVELS):
        return {**value, **{name: one for name, one in ids.items() if one}}, True
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return {**ids, "data": shown}, False


def started_by(child: str, parts: Sequence[Any]) -> str:
    """The call among these parts that started a sub-agent's session; empty for none."""
    for part in parts:
        if not is_called(part, "tool"):
            continue
        metadata = object_field(object_field(part, "state"), "metadata")
        if child and child in (metadata.get("sessionId"), metadata.get("sessionID")):
            return text_field(part, "callID") or text_field(part, "id")
    return ""


_NOTICE = b"Exporting session"
"""Begins a line that ``opencode export`` prints before the JSON."""
_EXPORT = re.compile(rb'\s*\{\s*"(?:info"\s*:\s*\{|messages"\s*:\s*\[\s*(?:\]|\{\s*"info"\s*:))')


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is an export."""
    return _EXPORT.match(_without_notice(head)) is not None


def is_session_file(path: Path, head: bytes) -> bool:
    """Whether a file is the description of a session in the older folder."""
    places = path.absolute().parts[-4:-2]
    is_json = head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{")
    return places == ("storage", "session") and path.suffix == ".json" and is_json


def read_export(path: Path) -> StoredSession:
    """The session of an export. Raises FormatError, OSError."""
    data = _without_notice(path.read_bytes())
    try:
        document = parse(data)
    except BadLine as error:
        raise FormatError(str(path), 1, str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        raise FormatError(str(path), 1, "not an export of opencode: it has no list of messages")
    info = object_field(document, "info")
    session = StoredSession(info, compact(info), files=(str(path),))
    for number, value in enumerate(document["messages"], 1):
        if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
            session.asides.append((compact(value), f"message {number}, which says nothing"))
            session.problems.append(f"message {number} is no message; it was put aside")
            continue
        parts = value.get("parts")
        session.messages.append(Message(value["info"], parts if isinstance(parts, list) else []))
    if not session.id:
        ids = (text_field(one.info, "sessionID") for one in session.messages)
        info["id"] = next(filter(None, ids), path.stem)
    others = {name: one for name, one in document.items() if name not in ("info", "messages")}
    if others:
        session.asides.append((compact(others), "other fields of the export"))
    session.messages.sort(key=lambda one: one.order)
    return session


def _without_notice(data: bytes) -> bytes:
    data = data.removeprefix(BYTE_ORDER_MARK)
    return data.partition(b"\n")[2] if data.startswith(_NOTICE) else data


class StorageTree:
    """The folder ``storage``: ``session/PROJECT/ID.json``, ``message/SESSION/ID.json`` and
    ``part/MESSAGE/ID.json``."""

    def __init__(self, session_file: Path) -> None:
        """``session_file``: the description of one of its sessions."""
        self._project = session_file.parent
        self._root = session_file.parents[2]

    def sessions(self) -> Iterator[StoredSession]:
        """Descriptions of the sessions of the same project; what cannot be read is passed over."""
        for path in _json_files(self._project):
            try:
                yield self.described(path)
            except (FormatError, OSError):
                continue

    def described(self, path: Path) -> StoredSession:
        """A session as its file describes it. Raises FormatError, OSError."""
        raw = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
        info, is_sound = read_object(raw, {})
        if not is_sound:
            raise FormatError(str(path), 1, "not a session of opencode: no JSON object")
        if not text_field(info, "id"):
            info["id"] = path.stem
        return StoredSession(info, raw.decode("utf-8", "replace"), files=(str(path),))

    def session(self, described: StoredSession) -> StoredSession:
        """A session with its messages. Raises OSError."""
        files = list(described.files)
        for path in _json_files(self._root / "message" / _name(described.id)):
            files.append(str(path))
            ids = {"sessionID": described.id}
            info, is_sound = read_object(path.read_bytes().removeprefix(BYTE_ORDER_MARK), ids)
            if not is_sound:
                described.problems.append(f"{path} is no JSON object; it was kept")
            if not text_field(info, "id"):
                if info.get("id") is not None:
                    text = path.read_text("utf-8", "replace")
                    described.asides.append((text, "a message whose id is no text"))
                info["id"] = path.stem
            message = Message(info, [])
            files += self._add_parts(message, described.problems)
            described.messages.append(message)
        todo = self._root / "todo" / f"{_name(described.id)}.json"
        if todo.is_file():
            files.append(str(todo))
            text = todo.read_text("utf-8", "replace")
            described.asides.append((text, "the agent's list of tasks"))
        if described.parent_id:
            described.parent_call = self._parent_call(described)
        described.messages.sort(key=lambda one: one.order)
        described.files = tuple(files)
        return described

    def _add_parts(self, message: Message, problems: list[str]) -> Iterator[str]:
        """Read a message's parts; gives their files."""
        for path in _json_files(self._root / "part" / _name(message.id)):
            raw = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
            part, is_sound = read_object(raw, {"messageID": message.id})
            if not is_sound:
                problems.append(f"{path} is no JSON object; it was kept")
            part.setdefault("id", path.stem)
            message.parts.append(part)
            yield str(path)

    def _parent_call(self, session: StoredSession) -> str:
        parent = StoredSession({"id": session.parent_id}, "")
        parts: list[Json] = [
            part for one in self.session(parent).messages for part in one.parts
        ]  # fmt: skip
        return started_by(session.id, parts)

    def file_of(self, session_id: str) -> Path | None:
        """The description of a session of the same project; None where there is none."""
        path = self._project / f"{_name(session_id)}.json"
        if path.is_file():
            return path
        return next((Path(one.files[0]) for one in self.sessions() if one.id == session_id), None)


def _name(identifier: str) -> str:
    """An id as the name of a file: it names nothing in another folder."""
    return identifier.replace("/", "_").replace("\\", "_").replace("\0", "_").strip(".") or "_"


def _json_files(folder: Path) -> list[Path]:
    """The JSON files of a folder by name; none where there is no folder."""
    try:
        with os.scandir(folder) as found:
            names = sorted(one.name for one in found if one.name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in names]

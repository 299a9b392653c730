"""Tasks of the editor extensions Cline and Roo Code: a folder with the messages that are sent, and
with what the editor shows, which has the times and costs; and where VS Code and the editors that
are built on it keep what their extensions store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.adapter import FormatError
from explorer.formats.json_fields import UnknownTypes, compact, read_document, text_at
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.formats.tagged_messages import (
    is_compaction,
    pieces,
    read_record,
    request_usage,
)
from explorer.formats.typed_source import ReadEntry
from explorer.session.entries import CompactionSummary
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem

_EDITIONS = (
    "Code", "Code - Insiders", "Code - Exploration", "Code - OSS", "VSCodium",
    "VSCodium - Insiders", "Cursor", "Windsurf",
)  # fmt: skip
_SERVERS = (
    ".vscode-server", ".vscode-server-insiders", ".vscode-server-oss", ".vscodium-server",
    ".vscodium-server-insiders", ".vscode-remote", ".cursor-server", ".windsurf-server",
)  # fmt: skip


def editor_folders(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """The folders of settings of all editors, on Linux, macOS and Windows, each once; they need not
    be there. ``XDG_CONFIG_HOME``, ``APPDATA`` and ``VSCODE_PORTABLE`` name further places."""
    bases = [home / ".config", home / "Library" / "Application Support", home / "AppData/Roaming"]
    bases += [
        Path(found) for name in ("XDG_CONFIG_HOME", "APPDATA") if (found := environment.get(name))
    ]
    folders = [base / edition / "User" for base in bases for edition in _EDITIONS]
    folders += [home / server / "data" / "User" for server in _SERVERS]
    if portable := environment.get("VSCODE_PORTABLE"):
        folders.append(Path(portable) / "user-data" / "User")
    yield from dict.fromkeys(folders)


MESSAGES = "api_conversation_history.json"
SHOWN = "ui_messages.json"
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \((.+?)\) Files")


class Cut(Struct):
    """A compaction: where it is, and what it keeps."""

    at: int
    """Index of its message; where it has none, of the last message before it."""
    order: float
    """Where the messages are read in this order, behind which it comes."""
    first_kept: int = -1
    """Index of the message that its kept tail begins with; -1 for none."""
    shown: Mapping[str, Any] | None = None
    """What the editor shows of it."""
    has_message: bool = True
    name: str = ""
    """Id of its entry, where the message's own would not stay."""


class Task(Struct):
    """The files of a task."""

    path: Path
    messages: list[Any]
    shown: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, ...]:
        """All that it is read from."""
        beside = self.path.with_name(SHOWN)
        return (str(self.path), *([str(beside)] if beside.is_file() else []))

    @property
    def shown_objects(self) -> list[dict[str, Any]]:
        """What the editor shows, without what is no object."""
        return [one for one in self.shown if isinstance(one, dict)]

    def time_of(self, index: int) -> float:
        """Milliseconds since 1970 of a message; 0 where none is recorded."""
        message = self.messages[index]
        return time_ms(message.get("ts")) if isinstance(message, dict) else 0.0

    @property
    def cwd(self) -> str:
        """The working folder, as the first messages name it; empty where none does."""
        for message in self.messages[:4]:
            if isinstance(message, dict) and (found := _FOLDER.search(compact(message))):
                return found.group(1)
        return ""


def open_task(path: Path, agent: str) -> Task:
    """The task that a file of messages belongs to. Raises FormatError, OSError."""
    value = read_document(path)
    if not isinstance(value, list):
        raise FormatError(str(path), 1, f"not a task of {agent}: no list of messages")
    task = Task(path, value)
    beside = path.with_name(SHOWN)
    try:
        shown = parse(beside.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except FileNotFoundError:
        shown = []
    except (OSError, BadLine) as error:
        shown = []
        task.problems.append(Problem(0, f"{SHOWN} cannot be read: {error}"))
    if isinstance(shown, list):
        task.shown = shown
    else:
        task.problems.append(Problem(0, f"{SHOWN} is not a list"))
    return task


def requests_of(task: Task) -> dict[int, dict[str, Any]]:
    """By index of a reply: the request of the editor that it answers. Both are in order; a request
    without an answer was tried again, which the times tell where there are any."""
    requests = [one for one in task.shown_objects if request_usage(one) is not None]
    replies = [
        at
        for at, one in enumerate(task.messages)
        if isinstance(one, dict) and one.get("role") == "assistant" and not is_compaction(one)
    ]
    found: dict[int, dict[str, Any]] = {}
    spare = len(requests) - len(replies)
    at = 0
    for reply in replies:
        time = task.time_of(reply)
        while spare > 0 and time and _is_passed(requests, at, time):
            at += 1
            spare -= 1
        if at < len(requests):
            found[reply] = requests[at]
            at += 1
    return found


def _is_passed(requests: Sequence[dict[str, Any]], at: int, time: float) -> bool:
    """Whether the request after this one began before a reply came, too."""
    return at + 1 < len(requests) and 0 < time_ms(requests[at + 1].get("ts")) <= time


def read_task(task: Task, cuts: Sequence[Cut]) -> Iterator[ReadEntry | Aside | Problem]:
    """The entries of a task with its compactions, then what the editor shows and no entry has."""
    yield from task.problems
    requests = requests_of(task)
    unknown = UnknownTypes("message")
    reader = _Reader(task)
    by_message = {cut.at: cut for cut in cuts if cut.has_message}
    steps: list[tuple[float, int, Cut | None]] = [
        (float(at), at, None) for at in range(len(task.messages)) if at not in by_message
    ]
    steps += [(cut.order, len(task.messages), cut) for cut in cuts]
    for _, at, cut in sorted(steps, key=lambda step: step[:2]):
        if cut is not None:
            yield reader.compaction(cut)
            continue
        message = task.messages[at]
        if not isinstance(message, dict):
            yield Aside(at + 1, compact(message).encode(), "the message is not a JSON object")
            reason = "it is not a JSON object and was kept aside"
            yield Problem(at + 1, reason, unit="message")
            continue
        if message.get("role") not in ("user", "assistant"):
            unknown.add(text_at(message, "role") or text_at(message, "type"), at + 1)
        yield from reader.message(at, message, requests.get(at))
    yield from unknown.problems()
    used = {id(one) for one in requests.values()} | {id(cut.shown) for cut in cuts}
    for number, one in enumerate(task.shown, len(task.messages) + 1):
        if id(one) not in used:
            yield Aside(number, compact(one).encode(), "shown by the editor")


class _Reader:
    """Makes entries of messages, one below the other."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._last_id = ""
        self._first_ids: dict[int, str] = {}
        self._ids: set[str] = set()

    def message(
        self, at: int, message: Mapping[str, Any], request: Mapping[str, Any] | None
    ) -> Iterator[ReadEntry]:
        """The entries of a message."""
        base = self._new_id(at, message)
        for piece in pieces(message):
            record = compact(piece.message)
            if request is not None:
                record += "\n" + compact(request)
            yield self._put(at, base + piece.suffix, record, ())
            self._first_ids.setdefault(at, self._last_id)

    def compaction(self, cut: Cut) -> ReadEntry:
        """The entry of a compaction."""
        own = self._task.messages[cut.at] if cut.has_message else {}
        parts = [own] if cut.has_message else []
        if cut.shown is not None:
            parts.append(cut.shown)
        entry_id = cut.name or f"cut-{cut.at}"
        if cut.has_message and not cut.name:
            entry_id = self._new_id(cut.at, own)
        kept = self._first_ids.get(cut.first_kept, "")
        record = "\n".join(map(compact, parts))
        return self._put(cut.at, entry_id, record, ("first_kept_id",), kept)

    def _new_id(self, at: int, message: Mapping[str, Any]) -> str:
        """The message's id, else one of its time, which stays when others are removed."""
        name = text_at(message, "id")
        if not name and (time := time_ms(message.get("ts"))):
            name = f"{text_at(message, 'role')}-{time:.0f}"
        name = name or f"message-{at}"
        return f"{name}@{at}" if name in self._ids else name

    def _put(
        self, at: int, entry_id: str, record: str, noted: tuple[str, ...], kept: str = ""
    ) -> ReadEntry:
        entry = read_record(record)
        while entry_id in self._ids:
            entry_id += "+"
        body = entry.body
        if kept and isinstance(body, CompactionSummary):
            body = replace(body, first_kept_id=kept)
        entry = replace(entry, body=body, id=entry_id, parent_id=self._last_id or None)
        self._last_id = entry_id
        self._ids.add(entry_id)
        return ReadEntry(entry, record, at + 1, noted=noted)


def time_of_name(name: str) -> float:
    """When a task began, which is its folder's name; 0 for another name."""
    return time_ms(float(name)) if name.isascii() and name.isdecimal() else 0.0


def task_folders(
    home: Path, environment: Mapping[str, str], extension: str
) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of messages of an extension's tasks in all editors, in no order."""
    for base in editor_folders(home, environment):
        tasks = base / "globalStorage" / extension / "tasks"
        try:
            folders = [one.path for one in os.scandir(tasks)]
        except OSError:
            # This editor or extension is not there.
            continue
        for folder in folders:
            path = Path(folder) / MESSAGES
            try:
                yield path, path.stat()
            except OSError:
                # A task without messages.
                continue

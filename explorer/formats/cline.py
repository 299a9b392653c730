"""Cline's sessions: those of version 3, a folder with the messages and the latest compaction, and
the older tasks of the editor extension."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    Related,
)
from explorer.formats.json_fields import compact, read_document, text_at
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.formats.roo import is_roo_task
from explorer.formats.tagged_messages import is_compaction, read_record
from explorer.formats.task_folder import (
    MESSAGES,
    Cut,
    Task,
    open_task,
    read_task,
    task_folders,
    time_of_name,
)
from explorer.formats.typed_source import ReadEntry, TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem, SessionHeader, remark

_SESSION = ".messages.json"
_SIGN = re.compile(rb'\{\s*"version"\s*:.{0,400}?"(?:agent|sessionId)"\s*:', re.DOTALL)
_EXTENSION = "saoudrizwan.claude-dev"


class ClineAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name, title = "cline", "Cline"
    unknown = ("the descriptions of the tools", "the system prompt, of tasks of the extension")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
        if path.name == MESSAGES:
            return start.startswith(b"[") and not is_roo_task(path, head)
        is_session = path.name.endswith(_SESSION) or bool(_SIGN.match(start))
        return is_session and start.startswith(b"{") and b'"messages"' in head

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. A file holds one session."""
        place = Path(path)
        if place.name == MESSAGES:
            task = open_task(place, self.title)
            cuts = _removed_ranges(task)
            header = _task_header(
                place, _listed_tasks(place).get(place.absolute().parent.name, {}), task
            )
            return TypedSource(path, header, read_task(task, cuts), progress, cancelled, task.files)
        session = _open_session(place)
        return TypedSource(
            path, _header(session), _read_session(session), progress, cancelled, session.files
        )

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``. An agent's session begins with the id of the one that started it."""
        if path.name == MESSAGES:
            return []
        own = text_at(read_document(path), "sessionId") or _name_of(path)
        found = []
        for one in sorted(path.parent.glob(f"*{_SESSION}")):
            if one != path and _parent_of(_head_of(one), one) == own:
                found.append(Related(one, ""))
        return found

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. A task of the extension is gone on with in the editor."""
        if header.relation or header.version == 0:
            return ()
        return ("cline", "--id", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. ``CLINE_SESSION_DATA_DIR``, ``CLINE_DATA_DIR`` and ``CLINE_DIR`` move
        the sessions."""
        found = [*_session_files(home, environment), *task_folders(home, environment, _EXTENSION)]
        found.sort(key=lambda one: one[1].st_mtime, reverse=True)
        listed: dict[Path, dict[str, dict[str, Any]]] = {}
        for path, stat in found:
            if path.name == MESSAGES:
                tasks = path.parents[1]
                if tasks not in listed:
                    listed[tasks] = _listed_tasks(path)
                header = _task_header(path, listed[tasks].get(path.parent.name, {}), None)
            else:
                header = _header(_Session(path, _head_of(path), _manifest_of(path), {}))
            yield FoundSession.at(path, self.name, stat, header)


CLINE = ClineAdapter()

# sessions of version 3 ----------------------------------------------------------------------------


class _Session(Struct, frozen=True):
    """The files of a session."""

    path: Path
    value: Mapping[str, Any]
    manifest: Mapping[str, Any]
    compaction: Mapping[str, Any]
    faults: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All that it is read from."""
        beside = (_beside(self.path, ".json"), _beside(self.path, ".compaction.json"))
        return (str(self.path), *(str(one) for one in beside if one.is_file()))


def _open_session(path: Path) -> _Session:
    value = read_document(path)
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise FormatError(str(path), 1, "not a session of Cline: no messages")
    faults: list[str] = []
    manifest = _object_in(_beside(path, ".json"), faults)
    compaction = _object_in(_beside(path, ".compaction.json"), faults)
    return _Session(path, value, manifest, compaction, tuple(faults))


def _name_of(path: Path) -> str:
    return path.name.removesuffix(_SESSION)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(_name_of(path) + ending)


def _object_in(path: Path, faults: list[str]) -> dict[str, Any]:
    """The JSON object of a file that need not be there."""
    try:
        value = parse(path.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except FileNotFoundError:
        return {}
    except (OSError, BadLine) as error:
        faults.append(f"{path.name} cannot be read: {error}")
        return {}
    if not isinstance(value, dict):
        faults.append(f"{path.name} is not a JSON object")
        return {}
    return value


def _manifest_of(path: Path) -> dict[str, Any]:
    return _object_in(_beside(path, ".json"), [])


def _without_messages(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != "messages"}


def _header(session: _Session) -> SessionHeader:
    value, manifest = session.value, session.manifest
    session_id = text_at(value, "sessionId") or text_at(manifest, "session_id")
    parent = _parent_of(value, session.path)
    messages = value.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    started = time_ms(manifest.get("started_at"))
    if not started and isinstance(first, dict):
        started = time_ms(first.get("ts"))
    lead = _object_in(session.path.with_name(f"{parent}.json"), []) if parent else manifest
    version = text_at(value, "origin", "version")
    return SessionHeader(
        session_id or _name_of(session.path),
        CLINE.name,
        1,
        text_at(lead, "cwd") or text_at(lead, "workspace_root"),
        started,
        parent,
        compact(_without_messages(value)),
        text_at(manifest, "metadata", "title"),
        "subagent" if parent else "",
        _call_of(session.path, parent, first) if parent and first is not None else "",
        version or text_at(manifest, "metadata", "sessionHistoryOrigin", "version"),
    )


def _parent_of(value: Mapping[str, Any], path: Path) -> str:
    """The session that started an agent; empty for a session that a person started."""
    session_id = text_at(value, "sessionId") or _name_of(path)
    named = text_at(value, "origin", "parentThreadId")
    is_agent = (
        text_at(value, "agent") == "subagent" or text_at(value, "origin", "mode") == "subagent"
    )
    if not is_agent and "__" not in session_id:
        return ""
    return session_id.rpartition("__")[0] or named


def _call_of(path: Path, parent: str, first: Any) -> str:
    """The call that started an agent: the one whose task is its first message. Cline does not
    record it, so it is empty where several calls give the same task."""
    blocks = first.get("content") if isinstance(first, dict) else None
    task = blocks if isinstance(blocks, str) else ""
    if isinstance(blocks, list) and blocks:
        task = text_at(blocks[0], "text")
    lead = _object_in(path.with_name(parent + _SESSION), [])
    messages = lead.get("messages")
    calls = [
        text_at(block, "id")
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and isinstance(message.get("content"), list)
        for block in message["content"]
        if task and text_at(block, "input", "task") == task
    ]
    return calls[0] if len(calls) == 1 else ""


def _read_session(session: _Session) -> Iterator[ReadEntry | Aside | Problem]:
    """The messages with the compaction that is in force, and the other files put aside."""
    task = Task(session.path, list(session.value["messages"]))
    task.problems += [Problem(0, fault) for fault in session.faults]
    count = len(task.messages)
    cuts, left = _compaction(session.compaction, task)
    yield from read_task(task, cuts)
    for number, (value, reason) in enumerate(
        [(session.manifest, "the session's own file"), *left], count + len(cuts) + 1
    ):
        if value:
            yield Aside(number, compact(value).encode(), reason)


def _compaction(state: Mapping[str, Any], task: Task) -> tuple[list[Cut], list[tuple[Any, str]]]:
    """The latest compaction, whose message is put behind the others of the task, and what of its
    file is no entry. It is in force as long as the messages that it was made from are there."""
    messages = state.get("messages")
    count = state.get("source_message_count")
    own = _without_messages(state)
    if not isinstance(messages, list) or not isinstance(count, int) or isinstance(count, bool):
        return [], [(state, "the compaction file")]
    last = task.messages[count - 1] if 0 < count <= len(task.messages) else None
    key = text_at(state, "source_last_message_key")
    is_other = key.startswith("id:") and key[3:] != text_at(last, "id")
    if last is None or is_other:
        reason = "the compaction file is of other messages than these: it is not in force"
        task.problems.append(Problem(0, reason))
        return [], [(state, "the compaction file")]
    places = {text_at(one, "id"): at for at, one in enumerate(task.messages[:count])}
    kept = [places[name] for one in messages if (name := text_at(one, "id")) in places]
    left: list[tuple[Any, str]] = [(own, "the compaction file")]
    for one in messages:
        at = places.get(text_at(one, "id"), -1)
        if not _is_summary(one) and (at < 0 or task.messages[at] != one):
            left.append((one, "a message as the compaction keeps it"))
    first = kept[0] if kept else -1
    if kept != list(range(first, count)) and kept:
        reason = "the compaction keeps single messages; shown as kept is all from the first of them"
        task.problems.append(remark(count, reason, "message"))
    summary = next((one for one in messages if _is_summary(one)), None)
    if summary is None:
        summary = {"metadata": {"kind": "compaction_summary"}, "role": "user"}
    task.messages.append(summary)
    name = f"compaction-{count}"
    return [Cut(len(task.messages) - 1, count - 0.5, first, name=name)], left


def _is_summary(message: Any) -> bool:
    return isinstance(message, dict) and is_compaction(message)


def _head_of(path: Path) -> dict[str, Any]:
    """What stands before the messages of a session."""
    try:
        with path.open("rb") as file:
            head = file.read(16 << 10)
    except OSError:
        return {}
    start = head.removeprefix(BYTE_ORDER_MARK).split(b'"messages"')[0].rstrip().rstrip(b",")
    try:
        value = parse(start + b"}")
    except BadLine:
        return {}
    return value if isinstance(value, dict) else {}


def _session_files(
    home: Path, environment: Mapping[str, str]
) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of messages of all sessions, those of agents among them."""
    own = environment.get("CLINE_DIR")
    data = environment.get("CLINE_DATA_DIR")
    folder = Path(data) if data else (Path(own) if own else home / ".cline") / "data"
    moved = environment.get("CLINE_SESSION_DATA_DIR")
    for path in (Path(moved) if moved else folder / "sessions").glob(f"*/*{_SESSION}"):
        try:
            yield path, path.stat()
        except OSError:
            # Removed meanwhile.
            continue


# tasks of the editor extension --------------------------------------------------------------------


def _listed_tasks(path: Path) -> dict[str, dict[str, Any]]:
    """The list of all tasks, beside their folders, by id: it has their titles and folders."""
    try:
        storage = path.absolute().parent.parent.parent
        value = parse((storage / "state" / "taskHistory.json").read_bytes())
    except (OSError, BadLine):
        # Older versions had it in the editor's own database.
        return {}
    items = value if isinstance(value, list) else []
    return {text_at(one, "id"): one for one in items if isinstance(one, dict)}


def _task_header(path: Path, item: Mapping[str, Any], task: Task | None) -> SessionHeader:
    name = path.absolute().parent.name
    cwd = text_at(item, "cwdOnTaskInitialization") or (task.cwd if task is not None else "")
    raw = compact(item) if item else ""
    title = text_at(item, "task").strip()[:200]
    return SessionHeader(name, CLINE.name, 0, cwd, time_of_name(name), "", raw, title)


def _removed_ranges(task: Task) -> list[Cut]:
    """The ranges of messages that were sent no more from some time on: what the editor shows
    names the range then in force."""
    cuts: list[Cut] = []
    before: Any = None
    last = len(task.messages) - 1
    for shown in task.shown_objects:
        found: Any = shown.get("conversationHistoryDeletedRange")
        if found == before or not _is_range(found):
            continue
        before = found
        at = shown.get("conversationHistoryIndex")
        end = found[1]
        at = min(max(at if type(at) is int else last, end), last)
        if at < 0:
            continue
        first = end + 1 if end < at else -1
        cuts.append(Cut(at, at + 0.5 + len(cuts) / 1e6, first, shown, has_message=False))
        if found[0]:
            reason = f"still sent of what is before the messages that it replaces: {found[0]}"
            task.problems.append(Problem(at + 1, reason, unit="message"))
    if cuts:
        reason = "what the editor shows has ranges of messages that were left out: shown as a cut"
        task.problems.append(remark(cuts[0].at + 1, reason, "message"))
    return cuts


def _is_range(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(one) is int and one >= 0 for one in value)
        and value[0] <= value[1]
    )

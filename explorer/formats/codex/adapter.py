"""Codex CLI as a format, of which rollouts are only read: what a file is by its first bytes, the
usual places, and what a thread's header says: which session it is, and whose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    Related,
)
from explorer.formats.codex.entry import read_record
from explorer.formats.codex.files import (
    COMPRESSED,
    FOLDERS,
    Meta,
    Rollout,
    Shelf,
    folders_of,
    head_value,
    is_id,
    plan_thread,
    read_meta,
    rollout,
    rollouts,
    titles,
    value_of,
)
from explorer.formats.codex.lines import LINE_TYPES, call_id_of, payload_of
from explorer.formats.codex.thread import Copy, ThreadReader
from explorer.formats.json_fields import first_text, object_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, is_blank, line_groups
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, Relation, SessionHeader


def make_header(
    meta: Meta, path: Path, title: str = "", parent_call: str = "", origin: str = ""
) -> SessionHeader:
    """The header of a thread. ``origin``: the session whose records it begins with, as far as its
    files tell."""
    payload = meta.payload
    relation, parent = relation_of(payload, origin)
    return SessionHeader(
        session_id=meta.thread_id or rollout(path).thread_id or path.stem,
        format="codex",
        version=1 if payload.get("history_mode") == "paginated" else 0,
        cwd=text_field(payload, "cwd"),
        time_ms=time_ms(payload.get("timestamp")) or time_ms(meta.value.get("timestamp")),
        parent_session=parent,
        raw=meta.raw.decode("utf-8", "replace"),
        title=title,
        relation=relation,
        parent_call=parent_call,
        agent_version=text_field(payload, "cli_version"),
    )


def relation_of(payload: Mapping[str, Any], origin: str = "") -> tuple[Relation, str]:
    """What a session is to another one, and to which. An agent that begins with a copy of its
    parent is an agent and no fork."""
    source = object_field(payload, "source")
    parent = parent_of(payload)
    forked = text_field(payload, "forked_from_id") or origin
    if source.get("subagent") == "compact":
        return "compactor", parent or forked
    if "subagent" in source or parent:
        return "subagent", parent or forked
    return ("fork", forked) if forked else ("", "")


def parent_of(payload: Mapping[str, Any]) -> str:
    """The thread that started an agent; empty for a session of its own."""
    source = object_field(payload, "source")
    spawned = object_field(object_field(source, "subagent"), "thread_spawn")
    return text_field(payload, "parent_thread_id") or text_field(spawned, "parent_thread_id")


def spawning_call(shelf: Shelf, parent: str, thread_id: str) -> str:
    """The call of the parent that started an agent, by the first line of the parent's files that
    names it; empty where none does."""
    files = [one for one in shelf.of_thread(parent) if not one.is_compressed]
    found = shelf.find(parent) if parent and not files else None
    for one in files or ([found] if found is not None and not found.is_compressed else []):
        call = _call_in(one, thread_id.encode())
        if call:
            return call
    return ""


def _call_in(one: Rollout, thread_id: bytes) -> str:
    try:
        with one.path.open("rb") as file:
            for lines, _ in line_groups(file):
                for raw in lines:
                    if thread_id in raw:
                        call = _spawn_of(value_of(raw))
                        if call:
                            return call
    except OSError:
        return ""
    return ""


def _spawn_of(value: Mapping[str, Any] | None) -> str:
    payload = payload_of(value or {})
    kind = text_field(payload, "type")
    item = text_field(object_field(payload, "item"), "type")
    if kind.endswith("_output") or "spawn" in kind or item.startswith("Collab"):
        return call_id_of(payload)
    return ""


_START = rb'\s*\{\s*(?:"(?:timestamp|ordinal)"\s*:\s*[^,{}]*,\s*)*"type"\s*:\s*'
_CUT_HEADER = re.compile(_START + rb'"session_meta"\s*,')
_CUT_LINE = re.compile(
    _START + rb'"(?:%s)"\s*,\s*"payload"\s*:\s*\{' % "|".join(sorted(LINE_TYPES)).encode()
)
"""Begin a header, and another first line, that is longer than what is looked at."""


def is_rollout(path: Path, head: bytes) -> bool:
    """Whether a file that begins with these bytes is a rollout, a compressed one included."""
    if head.startswith(COMPRESSED):
        return path.name.endswith(".jsonl.zst")
    head = head.removeprefix(BYTE_ORDER_MARK)
    first = head.partition(b"\n")[0]
    if _CUT_HEADER.match(head) or (_CUT_LINE.match(head) and value_of(first) is None):
        return True
    for line in head.split(b"\n"):
        value = value_of(line) if line[:1] == b"{" else None
        if value and text_field(value, "type") in LINE_TYPES and payload_of(value):
            return True
    return False


class _File(NamedTuple):
    rollout: Rollout
    size: int
    modified_ms: float


def find_threads(home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
    """The threads in the agent's home, newest first: of the files of one thread the first, with
    the sizes of all and the time of the newest."""
    moved = environment.get("CODEX_HOME")
    top = Path(moved) if moved else home / ".codex"
    folders = [top / name for name in FOLDERS]
    threads: dict[str, list[_File]] = {}
    for one in rollouts(folders):
        try:
            status = one.path.stat()
        except OSError:
            continue
        file = _File(one, status.st_size, status.st_mtime * 1000)
        threads.setdefault(one.thread_id or str(one.path), []).append(file)
    named = titles(folders)
    found = sorted(threads.values(), key=lambda one: -max(file.modified_ms for file in one))
    for files in found:
        yield _found(sorted(files, key=lambda one: one.rollout.path.name), named)


def _found(files: Sequence[_File], named: Mapping[str, str]) -> FoundSession:
    first = next((one for one in files if not one.rollout.is_compressed), files[0]).rollout
    header = None
    if not first.is_compressed:
        value = head_value(first.path)
        if value.get("type") == "session_meta" and payload_of(value):
            meta = Meta(1, b"", value)
            header = make_header(meta, first.path, named.get(meta.thread_id, ""))
    return FoundSession(
        first.path,
        "codex",
        header.cwd if header is not None else "",
        sum(one.size for one in files),
        max(one.modified_ms for one in files),
        header,
    )


def started_by(path: Path) -> list[Related]:
    """The agents that a thread started, in the order of their files. Raises OSError, FormatError.

    An agent's file is younger than its parent's, and the names begin with the time.
    """
    parent_id = read_meta(path).thread_id
    shelf = Shelf(path)
    files = shelf.of_thread(parent_id)
    oldest = min((one.path.name for one in files), default="")
    found: dict[str, Path] = {}
    for one in shelf.files:
        if one.is_compressed or one.thread_id == parent_id.lower() or not parent_id:
            continue
        if one.thread_id and one.path.name < oldest:
            continue
        payload = payload_of(head_value(one.path))
        if parent_of(payload) == parent_id:
            found.setdefault(first_text(payload, "id", "session_id"), one.path)
    return [Related(place, name) for name, place in found.items()]


@dataclass(frozen=True, slots=True)
class CodexAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = "codex"
    title: str = "Codex CLI"
    unknown: tuple[str, ...] = ("the descriptions of the tools",)

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        return is_rollout(path, head)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. Any file of a thread opens all of it."""
        place = Path(path)
        with place.open("rb") as file:
            head = file.read(1 << 16)
        if head.startswith(COMPRESSED):
            reason = f"the session is compressed; decompress it first: zstd -d {place}"
            raise FormatError(str(place), 1, reason)
        asked, shelf = read_meta(place), Shelf(place)
        if not asked.line and not is_rollout(place, head):
            raise FormatError(str(place), 1, "the file holds no records of Codex")
        plan = plan_thread(place, asked, shelf)
        meta, on = plan.first.meta, plan.first.on
        copied = copied_from(plan.first.path, meta)
        origin = copied or (on.meta.thread_id if on is not None and on.is_foreign else "")
        header = make_header(meta, plan.first.path, origin=origin)
        call = ""
        relation, parent = relation_of(meta.payload, origin)
        if relation == "subagent" and parent:
            call = spawning_call(shelf, parent, header.session_id)
        title = titles(folders_of(place.resolve())).get(header.session_id, "")
        header = make_header(meta, plan.first.path, title, call, origin)
        copy = None
        if copied:
            found = shelf.find(copied)
            known = found.path if found is not None and not found.is_compressed else None
            copy = Copy(header.session_id, known, time_ms(meta.value.get("timestamp")))
        files = [str(part.path) for part in plan.parts]
        reader = ThreadReader(plan, copy)
        # One thread is one session, whichever of its files is asked for.
        if len(files) == 1 and not plan.first.cuts:
            return TypedSource(plan.first.path, header, reader, progress, cancelled)
        return TypedSource(plan.first.path, header, reader.read(), progress, cancelled, files)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``: the agents that the thread started."""
        return started_by(path)

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``."""
        return ("codex", "resume", header.session_id) if is_id(header.session_id) else ()

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``."""
        return find_threads(home, environment)


def copied_from(path: Path, meta: Meta) -> str:
    """The session whose lines follow a file's header: the next line is its header. Empty for
    none. Raises OSError, FormatError."""
    number = 0
    with path.open("rb") as file:
        for lines, _ in line_groups(file):
            for raw in lines:
                number += 1
                if number <= meta.line or is_blank(raw):
                    continue
                value = value_of(raw) or {}
                found = first_text(payload_of(value), "id", "session_id")
                is_other = value.get("type") == "session_meta" and found != meta.thread_id
                return found if is_other and meta.line else ""
            break
    return ""


CODEX = CodexAdapter()

"""Codex CLI as a format: rollouts are only read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, Related
from explorer.formats.codex.discovery import find_threads, is_rollout, started_by
from explorer.formats.codex.entry import read_record
from explorer.formats.codex.files import (
    COMPRESSED,
    Meta,
    Shelf,
    folders_of,
    is_id,
    plan_thread,
    read_meta,
    titles,
    value_of,
)
from explorer.formats.codex.header import make_header, relation_of, spawning_call
from explorer.formats.codex.lines import payload_of
from explorer.formats.codex.thread import Copy, ThreadReader
from explorer.formats.errors import FormatError
from explorer.formats.json_fields import first_text
from explorer.formats.jsonl import is_blank, line_groups
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, SessionHeader


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

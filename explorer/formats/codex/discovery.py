"""Rollouts in their usual places, and what a file is by its first bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from explorer.formats.adapter import FoundSession, Related
from explorer.formats.codex.files import (
    COMPRESSED,
    FOLDERS,
    Meta,
    Rollout,
    Shelf,
    head_value,
    read_meta,
    rollouts,
    titles,
    value_of,
)
from explorer.formats.codex.header import make_header, parent_of
from explorer.formats.codex.lines import LINE_TYPES, payload_of
from explorer.formats.json_fields import first_text, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK

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

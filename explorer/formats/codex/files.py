"""Rollout files: where they lie, what their names and first lines say, and of which of them a
thread consists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.formats.codex.lines import payload_of
from explorer.formats.json_fields import first_text, object_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, line_groups, parse
from explorer.session.json_values import read_json

FOLDERS = ("sessions", "archived_sessions")
INDEX = "session_index.jsonl"
COMPRESSED = b"\x28\xb5\x2f\xfd"
"""Begins a file that zstd compressed."""
HEAD_BYTES = 1 << 18
"""How much of a file is read for its header; the agent's instructions stand in it."""
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAME = re.compile(rf"(?:^|[-_])({_ID})(?:_({_ID}))?\.jsonl(\.zst)?$", re.I)
_IS_ID = re.compile(_ID, re.I)
_FEW = 200
"""Files of a folder whose headers are read when no name says which one is meant."""


class Rollout(NamedTuple):
    """A file, by its name."""

    path: Path
    thread_id: str
    """Empty where the name says none."""
    segment_id: str
    """Of a file that goes on after a revert; empty for a thread's first file."""
    is_compressed: bool


class Meta(NamedTuple):
    """The first ``session_meta`` of a file."""

    line: int
    """0 where there is none."""
    raw: bytes
    value: Mapping[str, Any]

    @property
    def payload(self) -> Mapping[str, Any]:
        """What it says."""
        return payload_of(self.value)

    @property
    def thread_id(self) -> str:
        """Empty where it says none."""
        return first_text(self.payload, "id", "session_id")


class Base(NamedTuple):
    """Where a file goes on from another one."""

    name: str
    """A thread's id, or a segment's."""
    ordinal: int | None
    """Of the first record that is no part of it; None for all of them."""
    offset: int | None
    """The same in bytes."""


class Part(Struct):
    """One file of a thread."""

    path: Path
    meta: Meta
    base: Base | None
    on: Part | None = None
    """The file that it goes on from, where that is there."""
    is_foreign: bool = False
    """It is another thread's: its records are the origin's."""
    cuts: list[Base] = field(default_factory=list)
    """Where others go on from it."""


class Plan(Struct, frozen=True):
    """What is read, in this order, and what is missing."""

    parts: Sequence[Part]
    first: Part
    """The thread's own first file that is there."""
    last: Part
    """The thread's own newest file."""
    problems: Sequence[str]


def is_id(text: str) -> bool:
    """Whether a text is an id of a thread."""
    return _IS_ID.fullmatch(text) is not None


def rollout(path: Path) -> Rollout:
    """What a file's name says."""
    found = _NAME.search(path.name)
    is_compressed = path.name.endswith(".zst")
    if found is None:
        return Rollout(path, "", "", is_compressed)
    return Rollout(path, found.group(1).lower(), (found.group(2) or "").lower(), is_compressed)


def read_meta(path: Path) -> Meta:
    """The first ``session_meta`` of a file, as far as its first lines have one. Raises OSError,
    FormatError for a line that is too long."""
    number = 0
    with path.open("rb") as file:
        for lines, _ in line_groups(file):
            for raw in lines:
                number += 1
                value = value_of(raw)
                if value is not None and value.get("type") == "session_meta" and payload_of(value):
                    return Meta(number, raw, value)
            break
    return Meta(0, b"", {})


def value_of(raw: bytes) -> dict[str, Any] | None:
    """The object of a line; None where it is none."""
    try:
        value = parse(raw.removeprefix(BYTE_ORDER_MARK))
    except BadLine:
        return None
    return value if isinstance(value, dict) else None


def folders_of(path: Path) -> list[Path]:
    """The folders in which the agent keeps sessions, for a file there; else the file's own."""
    for above in path.parents:
        if above.name in FOLDERS:
            return [above.parent / name for name in FOLDERS if (above.parent / name).is_dir()]
    return [path.parent]


def rollouts(folders: Sequence[Path]) -> Iterator[Rollout]:
    """The files below folders that may be rollouts; what cannot be read is passed over."""
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith((".jsonl", ".jsonl.zst")) and name != INDEX:
                    yield rollout(Path(folder, name))


class Shelf:
    """The rollouts beside a file, listed when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: list[Rollout] | None = None

    @property
    def files(self) -> list[Rollout]:
        """All of them, in the order of their names."""
        if self._files is None:
            found = rollouts(folders_of(self._path.resolve()))
            self._files = sorted(found, key=lambda one: one.path.name)
        return self._files

    def of_thread(self, thread_id: str) -> list[Rollout]:
        """The files of a thread."""
        wanted = thread_id.lower()
        return [one for one in self.files if wanted and one.thread_id == wanted]

    def find(self, name: str) -> Rollout | None:
        """The file of a segment, or the first one of a thread; None where there is none. A file
        whose name says nothing is known by its header."""
        wanted = name.lower()
        for one in self.files:
            if one.segment_id == wanted or (one.thread_id == wanted and not one.segment_id):
                return one
        near = [one for one in self.files if not one.thread_id and not one.is_compressed][:_FEW]
        for one in near:
            if self._thread_of(one.path) == name:
                return one
        return None

    def _thread_of(self, path: Path) -> str:
        value = head_value(path)
        return first_text(payload_of(value), "id", "session_id")


def head_value(path: Path) -> dict[str, Any]:
    """The first line of a file, read quickly; empty where it is no object or cannot be read."""
    try:
        with path.open("rb") as file:
            line = file.readline(HEAD_BYTES)
    except OSError:
        return {}
    return value_of(line) or {}


# a thread's files ---------------------------------------------------------------------------------


def plan_thread(path: Path, meta: Meta, shelf: Shelf) -> Plan:
    """Which files a thread consists of. Raises OSError, FormatError."""
    return _Planner(path, meta, shelf).plan()


class _Planner:
    def __init__(self, path: Path, meta: Meta, shelf: Shelf) -> None:
        self._path = path
        self._meta = meta
        self._shelf = shelf
        self._parts: list[Part] = []
        self._known: dict[Path, Part] = {}
        self._under_way: set[Path] = set()
        self._thread_paths: set[Path] = set()
        self._problems: list[str] = []

    def plan(self) -> Plan:
        paths = self._thread_files()
        self._thread_paths = {one.resolve() for one in paths}
        for one in paths:
            self._add(one)
        parts = [self._known[one.resolve()] for one in paths]
        for part in self._parts:
            part.is_foreign = part.path.resolve() not in self._thread_paths
        return Plan(self._parts, parts[0], parts[-1], self._problems)

    def _thread_files(self) -> list[Path]:
        name = rollout(self._path)
        payload = self._meta.payload
        is_paged = payload.get("history_mode") == "paginated" or "history_base" in payload
        thread = self._meta.thread_id or name.thread_id
        if not (is_paged or name.segment_id) or not thread:
            return [self._path]
        found = {self._path.name: self._path}
        for one in self._shelf.of_thread(thread):
            if one.is_compressed:
                self._problems.append(_compressed(one.path))
            else:
                found.setdefault(one.path.name, one.path)
        return [found[one] for one in sorted(found)]

    def _add(self, path: Path) -> Part | None:
        place = path.resolve()
        if place in self._known or place in self._under_way:
            return self._known.get(place)
        self._under_way.add(place)
        meta = self._meta if path == self._path else read_meta(path)
        part = Part(path, meta, base_of(meta.payload))
        if part.base is not None:
            part.on = self._base(part.base)
            if part.on is not None:
                part.on.cuts.append(part.base)
        self._known[place] = part
        self._parts.append(part)
        return part

    def _base(self, base: Base) -> Part | None:
        found = self._shelf.find(base.name)
        if found is None:
            self._problems.append(
                f"the file of {base.name}, which this one goes on from, is not here; what was said "
                "before is missing"
            )
            return None
        if found.is_compressed:
            self._problems.append(_compressed(found.path))
            return None
        return self._add(found.path)


def _compressed(path: Path) -> str:
    return f"{path.name} is compressed and was left out; decompress it first: zstd -d {path}"


def base_of(payload: Mapping[str, Any]) -> Base | None:
    """What a file's header says of the file that it goes on from."""
    found = object_field(payload, "history_base")
    name = first_text(found, "thread_id", "segment_id")
    if not name:
        return None
    return Base(
        name, _whole(found.get("end_ordinal_exclusive")), _whole(found.get("end_byte_offset"))
    )


def _whole(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def titles(folders: Sequence[Path]) -> dict[str, str]:
    """The names of threads, by id: of two for one thread the later one."""
    found: dict[str, str] = {}
    for home in {folder.parent for folder in folders if folder.name in FOLDERS}:
        try:
            with (home / INDEX).open("rb") as file:
                lines = file.read().split(b"\n")
        except OSError:
            continue
        for line in lines:
            value = _index_line(line)
            name, title = text_field(value, "id"), text_field(value, "thread_name")
            if name and title:
                found[name] = title
    return found


def _index_line(line: bytes) -> dict[str, Any]:
    try:
        value = read_json(line) if line.strip() else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def with_cuts_in_order(part: Part) -> list[Base]:
    """Where others go on from a file, the earliest first."""
    far = float("inf")
    return sorted(set(part.cuts), key=lambda one: far if one.ordinal is None else one.ordinal)

"""One value per entry, in arrays: what a session is without its payloads.

An entry is named by its index everywhere inside the program; a parent's index is always below its
child's, so every algorithm over the tree is one loop. ``SessionColumns`` only stores; the tree's
questions are in ``tree``.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from explorer.session.describe import BranchFacts, CompactionFacts, Facts, OpKind

OP_KINDS: tuple[OpKind, ...] = ("read", "write", "edit")


@dataclass(slots=True)
class FileOpColumns:
    """All file operations of a session, ordered by entry (A28)."""

    entry: array[int] = field(default_factory=lambda: array("i"))
    kind: bytearray = field(default_factory=bytearray)
    """Index into ``OP_KINDS``."""
    path: array[int] = field(default_factory=lambda: array("i"))
    """Index into ``paths``."""
    failed: bytearray = field(default_factory=bytearray)
    """1 when the call's result was an error (B17)."""
    paths: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SessionColumns:
    """The columns of one session. Absent values: parent -1, usage -1, model 0, label absent."""

    ids: list[str] = field(default_factory=list)
    parent: array[int] = field(default_factory=lambda: array("i"))
    kind: bytearray = field(default_factory=bytearray)
    flags: array[int] = field(default_factory=lambda: array("H"))
    time: array[float] = field(default_factory=lambda: array("d"))
    """Milliseconds since 1970."""
    estimate: array[int] = field(default_factory=lambda: array("i"))
    """Tokens of the entry's message: ceil(UTF-16 units / 4) (B8)."""
    usage: array[int] = field(default_factory=lambda: array("i"))
    """Context tokens that the provider reported with the reply, or -1."""
    model: array[int] = field(default_factory=lambda: array("H"))
    """Index into ``models``; 0 is none."""
    user_images: dict[int, int] = field(default_factory=dict)
    models: list[str] = field(default_factory=lambda: [""])
    compactions: dict[int, CompactionFacts] = field(default_factory=dict)
    branches: dict[int, BranchFacts] = field(default_factory=dict)
    thinking: dict[int, str] = field(default_factory=dict)
    labels: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Label entries: index of the label entry -> (target id, label)."""
    names: dict[int, str] = field(default_factory=dict)
    ops: FileOpColumns = field(default_factory=FileOpColumns)

    def __len__(self) -> int:
        return len(self.parent)


class ColumnBuilder:
    """Appends entries to columns, interning models and paths and marking failed calls."""

    def __init__(self, columns: SessionColumns | None = None) -> None:
        self.columns = columns if columns is not None else SessionColumns()
        self._models = {name: at for at, name in enumerate(self.columns.models)}
        self._paths = {name: at for at, name in enumerate(self.columns.ops.paths)}
        self._calls: dict[str, int] = {}

    def append(self, entry_id: str, parent: int, facts: Facts, estimate: int) -> int:
        """Add one entry below the index ``parent`` (-1: a root) and return its index.

        Raises ValueError when the parent is not an earlier entry.
        """
        columns = self.columns
        index = len(columns.parent)
        if not -1 <= parent < index:
            raise ValueError(f"entry {entry_id!r}: parent index {parent} is not an earlier entry")
        columns.ids.append(entry_id)
        columns.parent.append(parent)
        columns.kind.append(facts.kind)
        columns.flags.append(facts.flags)
        columns.time.append(facts.time_ms)
        columns.estimate.append(estimate)
        columns.usage.append(facts.usage)
        columns.model.append(self._model(facts.model) if facts.model else 0)
        self._append_few(index, facts)
        return index

    def _model(self, name: str) -> int:
        at = self._models.get(name)
        if at is None:
            at = self._models[name] = len(self.columns.models)
            self.columns.models.append(name)
        return at

    def _append_ops(self, index: int, found: Sequence[tuple[OpKind, str, str]]) -> None:
        ops = self.columns.ops
        for kind, path, call_id in found:
            at = self._paths.get(path)
            if at is None:
                at = self._paths[path] = len(ops.paths)
                ops.paths.append(path)
            if call_id:
                self._calls[call_id] = len(ops.entry)
            ops.entry.append(index)
            ops.kind.append(OP_KINDS.index(kind))
            ops.path.append(at)
            ops.failed.append(0)

    def _close_call(self, call_id: str, flags: int) -> None:
        row = self._calls.pop(call_id, None)
        if row is not None and flags & 1:
            self.columns.ops.failed[row] = 1

    def _append_few(self, index: int, facts: Facts) -> None:
        """What few entries have."""
        columns = self.columns
        if facts.ops:
            self._append_ops(index, facts.ops)
        elif facts.call_id:
            self._close_call(facts.call_id, facts.flags)
        if facts.user_images:
            columns.user_images[index] = facts.user_images
        if facts.compaction is not None:
            columns.compactions[index] = facts.compaction
        if facts.branch is not None:
            columns.branches[index] = facts.branch
        if facts.thinking_level:
            columns.thinking[index] = facts.thinking_level
        if facts.label is not None:
            columns.labels[index] = facts.label
        if facts.name is not None:
            columns.names[index] = facts.name

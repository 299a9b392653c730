"""One value per entry, in arrays: what a session is without its payloads.

An entry is named by its index everywhere in the program; a parent's index is always below its
child's, so every algorithm over the tree is one loop. ``SessionColumns`` only stores; the tree's
questions are in ``tree``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from explorer.session.describe import BranchFacts, CompactionFacts, Facts
from explorer.session.edit_entries import PruneFacts, ShapeFacts
from explorer.session.file_tools import FileOp, KnownBy, OpKind
from explorer.session.kinds import Flag

OP_KINDS: tuple[OpKind, ...] = ("read", "write", "edit", "create", "delete")
KNOWN: tuple[KnownBy, ...] = ("tool", "argument", "result")
_CREATE, _WRITE = OP_KINDS.index("create"), OP_KINDS.index("write")
OFFLINE = "offline/"
"""How the names of models begin that this program answers for."""
_BY_RESULT = KNOWN.index("result")
_ERROR, _CREATED = int(Flag.ERROR), int(Flag.CREATED)


class FileOpColumns(Struct):
    """All file operations of a session, ordered by entry (A28)."""

    entry: array[int] = field(default_factory=lambda: array("i"))
    kind: bytearray = field(default_factory=bytearray)
    """Index into ``OP_KINDS``."""
    path: array[int] = field(default_factory=lambda: array("i"))
    """Index into ``paths``."""
    failed: bytearray = field(default_factory=bytearray)
    """1 when the call's result was an error (B17)."""
    result: array[int] = field(default_factory=lambda: array("i"))
    """The entry of the call's result, or -1 while there is none."""
    part: array[int] = field(default_factory=lambda: array("i"))
    """Which part of the file a read asked for: index into ``parts``; 0 is all of it."""
    known: bytearray = field(default_factory=bytearray)
    """How the kind is known: index into ``KNOWN``."""
    wide: bytearray = field(default_factory=bytearray)
    """1 when pi, which looks at three tools, does not see it."""
    paths: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=lambda: [""])

    def by_row(self) -> Iterator[tuple[str, Any]]:
        """The columns that hold one value for each operation, by name."""
        for name in ("entry", "kind", "path", "failed", "result", "part", "known", "wide"):
            yield name, getattr(self, name)


class SessionColumns(Struct):
    """The columns of one session. Absent values: parent -1, usage -1, model 0, label absent."""

    ids: list[str] = field(default_factory=list)
    parent: array[int] = field(default_factory=lambda: array("i"))
    kind: bytearray = field(default_factory=bytearray)
    flags: array[int] = field(default_factory=lambda: array("I"))
    time: array[float] = field(default_factory=lambda: array("d"))
    """Milliseconds since 1970."""
    estimate: array[int] = field(default_factory=lambda: array("i"))
    """Tokens of the entry's message: ceil(UTF-16 units / 4) (B8)."""
    usage: array[int] = field(default_factory=lambda: array("i"))
    """Context tokens that were reported with the reply, or -1: by its provider, unless
    ``is_counted_here``."""
    model: array[int] = field(default_factory=lambda: array("H"))
    """Index into ``models``; 0 is none."""
    user_images: dict[int, int] = field(default_factory=dict)
    models: list[str] = field(default_factory=lambda: [""])
    tool: array[int] = field(default_factory=lambda: array("H"))
    """Of a tool result: index into ``tools``; 0 is none."""
    tools: list[str] = field(default_factory=lambda: [""])
    errors: dict[int, int] = field(default_factory=dict)
    """Tool results that are errors: a mark that those which say the same have in common."""
    prunes: dict[int, PruneFacts] = field(default_factory=dict)
    shapes: dict[int, ShapeFacts] = field(default_factory=dict)
    """Pins, omissions and rules of kept messages."""
    compactions: dict[int, CompactionFacts] = field(default_factory=dict)
    branches: dict[int, BranchFacts] = field(default_factory=dict)
    thinking: dict[int, str] = field(default_factory=dict)
    labels: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Label entries: index of the label entry -> (target id, label)."""
    names: dict[int, str] = field(default_factory=dict)
    ops: FileOpColumns = field(default_factory=FileOpColumns)
    open_calls: dict[str, tuple[int, int]] = field(default_factory=dict)
    """File calls without a result yet: call id -> (first row of ``ops``, number of rows)."""

    def __len__(self) -> int:
        return len(self.parent)

    def is_size_unknown(self, entry: int) -> bool:
        """Whether nobody can say how many tokens an entry takes: a compaction whose summary is
        encrypted or was not recorded."""
        facts = self.compactions.get(entry)
        return facts is not None and facts.certainty == "unreadable" and not self.estimate[entry]

    def is_counted_here(self, entry: int) -> bool:
        """Whether this program counted what a reply reports: its offline models have no
        provider."""
        return self.models[self.model[entry]].startswith(OFFLINE)

    @property
    def few(self) -> tuple[dict[int, Any], ...]:
        """What few entries have, by entry, in their order."""
        return (
            self.user_images, self.errors, self.prunes, self.shapes, self.compactions,
            self.branches, self.thinking, self.labels, self.names,
        )  # fmt: skip


class ColumnBuilder:
    """Appends entries to columns, interning names and joining calls with their results.

    All that it must remember between two entries is in the columns, so that it goes on where
    another left off.
    """

    def __init__(self, columns: SessionColumns | None = None) -> None:
        self.columns = columns if columns is not None else SessionColumns()
        self._models = {name: at for at, name in enumerate(self.columns.models)}
        self._tools = {name: at for at, name in enumerate(self.columns.tools)}
        self._paths = {name: at for at, name in enumerate(self.columns.ops.paths)}
        self._parts = {name: at for at, name in enumerate(self.columns.ops.parts)}

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
        columns.tool.append(self._tool(facts.tool) if facts.tool else 0)
        self._append_few(index, facts)
        return index

    def replace(self, index: int, facts: Facts, estimate: int) -> None:
        """Say an entry anew, in its place: its agent has written more of it. Its id and parent
        stay. Raises IndexError when there is no such entry."""
        columns = self.columns
        if not 0 <= index < len(columns):
            raise IndexError(f"there is no entry {index}")
        columns.kind[index] = facts.kind
        columns.flags[index] = facts.flags
        columns.time[index] = facts.time_ms
        columns.estimate[index] = estimate
        columns.usage[index] = facts.usage
        columns.model[index] = self._model(facts.model) if facts.model else 0
        columns.tool[index] = self._tool(facts.tool) if facts.tool else 0
        for few in columns.few:
            few.pop(index, None)
        self._replace_ops(index, facts.ops)
        self._append_few(index, facts._replace(ops=()) if facts.ops else facts)
        for few in columns.few:
            if index in few and next(reversed(few)) == index:
                # Those that came later were there before it: the order is that of the entries.
                ordered = sorted(few.items())
                few.clear()
                few.update(ordered)

    def _replace_ops(self, index: int, found: Sequence[FileOp]) -> None:
        """Other file operations of one entry. A result that came already stays with its call,
        which is known by the file."""
        columns, ops = self.columns, self.columns.ops
        first, stop = bisect_left(ops.entry, index), bisect_right(ops.entry, index)
        answered = {
            ops.paths[ops.path[row]]: (ops.result[row], ops.failed[row], ops.kind[row])
            for row in range(first, stop)
            if ops.result[row] >= 0
        }
        later = {name: column[stop:] for name, column in ops.by_row()}
        for _, column in ops.by_row():
            del column[first:]
        moved = {
            call: (row, count) for call, (row, count) in columns.open_calls.items() if row < first
        }
        after = {
            call: (row, count) for call, (row, count) in columns.open_calls.items() if row >= stop
        }
        columns.open_calls.clear()
        columns.open_calls.update(moved)
        self._append_ops(index, found)
        for row in range(first, len(ops.entry)):
            if (known := answered.get(ops.paths[ops.path[row]])) is not None:
                ops.result[row], ops.failed[row], ops.kind[row] = known
        calls = dict(columns.open_calls)
        for call, (row, _) in calls.items():
            if row >= first and ops.result[row] >= 0:
                del columns.open_calls[call]
        by = len(ops.entry) - stop
        for name, column in ops.by_row():
            column.extend(later[name])
        columns.open_calls.update({call: (row + by, count) for call, (row, count) in after.items()})

    def _model(self, name: str) -> int:
        return _interned(self._models, self.columns.models, name)

    def _tool(self, name: str) -> int:
        return _interned(self._tools, self.columns.tools, name)

    def _append_ops(self, index: int, found: Sequence[FileOp]) -> None:
        ops = self.columns.ops
        for kind, path, call_id, part, known, wide in found:
            row = len(ops.entry)
            if call_id:
                first, count = self.columns.open_calls.get(call_id, (row, 0))
                # The rows of one call lie together; an id given out again is another call.
                goes_on = first + count == row and (not count or ops.entry[first] == index)
                self.columns.open_calls[call_id] = (first, count + 1) if goes_on else (row, 1)
            ops.entry.append(index)
            ops.kind.append(OP_KINDS.index(kind))
            ops.path.append(_interned(self._paths, ops.paths, path))
            ops.failed.append(0)
            ops.result.append(-1)
            ops.part.append(_interned(self._parts, ops.parts, part))
            ops.known.append(KNOWN.index(known))
            ops.wide.append(wide)

    def _close_call(self, call_id: str, index: int, flags: int) -> None:
        """The entry ``index`` is the result of a call."""
        opened = self.columns.open_calls.pop(call_id, None)
        if opened is None:
            return
        ops = self.columns.ops
        for row in range(opened[0], sum(opened)):
            ops.result[row] = index
            if flags & _ERROR:
                ops.failed[row] = 1
            elif flags & _CREATED and ops.kind[row] in (_WRITE, _CREATE):
                ops.kind[row], ops.known[row] = _CREATE, _BY_RESULT

    def _append_few(self, index: int, facts: Facts) -> None:
        """What few entries have."""
        columns = self.columns
        if facts.ops:
            self._append_ops(index, facts.ops)
        elif facts.call_id:
            self._close_call(facts.call_id, index, facts.flags)
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
        if facts.error:
            columns.errors[index] = facts.error
        if facts.prune is not None:
            columns.prunes[index] = facts.prune
        if facts.shape is not None:
            columns.shapes[index] = facts.shape


def _interned(known: dict[str, int], names: list[str], name: str) -> int:
    at = known.get(name)
    if at is None:
        at = known[name] = len(names)
        names.append(name)
    return at

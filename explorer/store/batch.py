"""Many entries at once, turned from records into columns: the import's fast lane."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from operator import lt
from typing import Any

from explorer.session.columns import ColumnBuilder
from explorer.session.describe import Facts
from explorer.session.entry_batch import EntryBatch, Ops
from explorer.session.file_tools import FileOp
from explorer.session.kinds import Kind
from explorer.session.records import EntryRecord
from explorer.store.codec import ENTRY_WIDTH, rare_json, shown, sound_record, text_in, to_json

_INT_MAX = 2**31 - 1
_NOTHING = (0, (), None, None, "", None, None, 0, None, None)
"""images, ops, compaction, branch, thinking level, label, name, error, prune, shape of an entry
that has none."""


class Batch:
    """The columns of some records. Numbers fit and texts can be stored, whatever came in."""

    def __init__(self, records: Sequence[EntryRecord]) -> None:
        if isinstance(records, EntryBatch):
            self._take(records)
        else:
            self._transpose(records)
            if not self._fits():
                self._transpose([sound_record(record) for record in records])

    def _take(self, batch: EntryBatch) -> None:
        self.ids, self.parents, self.lines = batch.ids, batch.parents, batch.lines
        self.raws: Sequence[str | bytes] = batch.raws
        self.kinds, self.flags, self.times = batch.kinds, batch.flags, batch.times
        self.usages, self.models, self.previews = batch.usages, batch.models, batch.previews
        self.calls, self.tools, self.estimates = batch.calls, batch.tools, batch.estimates
        self.ops: Mapping[int, Ops] = batch.ops
        """By position: the file operations of entries that are not in ``rare``."""
        self.rare: Mapping[int, Facts] = batch.rare
        """By position: all facts of the entries that have some which few have."""
        self.characters = batch.characters

    def _transpose(self, records: Sequence[EntryRecord]) -> None:
        self.ids, self.parents, self.lines, self.raws, facts, self.estimates = zip(
            *records, strict=True
        )
        kinds, self.flags, self.times, self.usages, self.models, self.previews, *rest = zip(
            *facts, strict=True
        )
        self.kinds = bytes(kinds)
        images, ops, self.calls, self.tools, *rare = rest
        self.ops = {}
        self.rare = {
            at: facts[at]
            for at, found in enumerate(zip(images, ops, *rare, strict=True))
            if found != _NOTHING
        }
        self.characters = sum(map(len, self.raws))

    def _fits(self) -> bool:
        return (
            math.isfinite(sum(self.times))
            and max(self.usages) <= _INT_MAX
            and min(self.usages) >= -1
            and max(self.estimates) <= _INT_MAX
            and isinstance(text_in("".join(self.previews)), str)
            and isinstance(text_in("".join(self.models)), str)
            and isinstance(text_in("".join(self.calls)), str)
            and isinstance(text_in("".join(self.tools)), str)
        )

    def __len__(self) -> int:
        return len(self.ids)

    def entry_values(self, first_id: int, parents: Sequence[int] | None = None) -> list[Any]:
        """The values of all rows of ``entries``, row after row, named from ``first_id`` on."""
        count = len(self)
        extra: list[str | None] = [None] * count
        for at, ops in self.ops.items():
            extra[at] = to_json({"ops": ops})
        for at, facts in self.rare.items():
            extra[at] = rare_json(facts)
        values: list[Any] = [None] * (count * ENTRY_WIDTH)
        columns: tuple[Sequence[Any], ...] = (
            range(first_id, first_id + count),
            self.ids,
            self.parents if parents is None else parents,
            self.lines,
            self.kinds,
            self.flags,
            self.times,
            self.estimates,
            self.usages,
            [model or None for model in self.models],
            self.previews,
            [call or None for call in self.calls],
            extra,
            [tool or None for tool in self.tools],
        )
        for at, column in enumerate(columns):
            values[at::ENTRY_WIDTH] = column
        return values

    def payload_values(self, first_id: int) -> list[Any]:
        """The values of all rows of ``payloads``."""
        count = len(self)
        values: list[Any] = [None] * (count * 2)
        values[0::2] = range(first_id, first_id + count)
        values[1::2] = self.raws
        return values

    def labels(self) -> list[tuple[int, tuple[str, str]]]:
        """The label entries: position in the batch, (target id, label)."""
        found = ((at, facts.label) for at, facts in self.rare.items())
        return [(at, label) for at, label in found if label is not None]

    def name(self) -> str | None:
        """The last name that the entries give the session, None when they give none."""
        names = [facts.name for facts in self.rare.values() if facts.name is not None]
        return shown(names[-1]) if names else None

    def first_said(self) -> str:
        """The first line of the first message of a person, or empty."""
        at = self.kinds.find(Kind.USER)
        while at >= 0 and not self.previews[at]:
            at = self.kinds.find(Kind.USER, at + 1)
        return self.previews[at] if at >= 0 else ""


class BatchBuilder(ColumnBuilder):
    """A builder of columns that takes batches."""

    def extend(self, batch: Batch) -> int:
        """Add all entries of a batch; returns the index of the first.

        Raises ValueError when a parent is not an earlier entry.
        """
        columns = self.columns
        first = len(columns)
        parents = batch.parents
        if min(parents) < -1 or not all(map(lt, parents, range(first, first + len(batch)))):
            wrong = next(at for at, one in enumerate(parents) if not -1 <= one < first + at)
            raise ValueError(
                f"entry {batch.ids[wrong]!r}: parent index {parents[wrong]} is not an earlier entry"
            )
        columns.ids.extend(batch.ids)
        columns.parent += array("i", parents)
        columns.kind.extend(batch.kinds)
        columns.flags += array("H", batch.flags)
        columns.time += array("d", batch.times)
        columns.estimate += array("i", batch.estimates)
        columns.usage += array("i", batch.usages)
        known = self._models
        for name in dict.fromkeys(batch.models):
            if name not in known:
                self._model(name)
        columns.model += array("H", [known[name] for name in batch.models])
        tools = {"": 0} | {name: self._tool(name) for name in set(batch.tools) if name}
        columns.tool += array("H", [tools[name] for name in batch.tools])
        self._extend_rare(first, batch)
        return first

    def _extend_rare(self, first: int, batch: Batch) -> None:
        ops, rare = batch.ops, batch.rare
        answers = [at for at, call in enumerate(batch.calls) if call and at not in rare]
        # Three runs that are in order each: sorting only merges them.
        for at in sorted([*rare, *ops, *answers]):
            if at in ops:
                self._append_ops(first + at, [FileOp(*op) for op in ops[at]])
            elif at not in rare:
                self._close_call(batch.calls[at], first + at, batch.flags[at])
            else:
                self._append_few(first + at, rare[at])

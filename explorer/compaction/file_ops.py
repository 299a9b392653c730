"""Which files the summarized entries read and modified (A28, B17)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from explorer.compaction.profile import Profile
from explorer.session.columns import OP_KINDS
from explorer.session.tree import SessionTree

_READ = OP_KINDS.index("read")


def javascript_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names sorted as JavaScript sorts them: by UTF-16 units."""
    unique = set(names)
    if all(name.isascii() for name in unique):
        return tuple(sorted(unique))
    return tuple(sorted(unique, key=lambda name: name.encode("utf-16-be", "surrogatepass")))


@dataclass(slots=True)
class FileOperations:
    """Files as they are collected; read them from the properties."""

    _read: set[str] = field(default_factory=set)
    _modified: set[str] = field(default_factory=set)
    _failed: set[str] = field(default_factory=set)

    def add_details(self, read: Iterable[str], modified: Iterable[str]) -> None:
        """Files that an earlier summary recorded."""
        self._read.update(read)
        self._modified.update(modified)

    def add_calls(self, tree: SessionTree, ranges: Iterable[range], profile: Profile) -> None:
        """The file tools called in these ranges of entries."""
        ops = tree.columns.ops
        apart = profile.failed_calls == "apart"
        for part in ranges:
            first = bisect_left(ops.entry, part.start)
            last = bisect_left(ops.entry, part.stop, first)
            rows = slice(first, last)
            # Sessions touch few files many times over.
            for path, kind, failed, wide in set(
                zip(ops.path[rows], ops.kind[rows], ops.failed[rows], ops.wide[rows], strict=True)
            ):
                name = ops.paths[path]
                if wide and not apart:
                    continue
                if apart and failed:
                    self._failed.add(name)
                elif kind == _READ:
                    self._read.add(name)
                else:
                    self._modified.add(name)

    @property
    def read(self) -> tuple[str, ...]:
        """Files only read."""
        return javascript_order(self._read - self._modified)

    @property
    def modified(self) -> tuple[str, ...]:
        """Files written or edited."""
        return javascript_order(self._modified)

    @property
    def failed(self) -> tuple[str, ...]:
        """Files whose every call failed."""
        return javascript_order(self._failed - self._read - self._modified)

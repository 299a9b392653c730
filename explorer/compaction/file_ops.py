"""Which files the summarized entries read and changed, and how that is known (A28, B17)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from explorer.compaction.profile import Profile
from explorer.session.columns import KNOWN, OP_KINDS
from explorer.session.describe import BranchFacts, CompactionFacts
from explorer.session.file_tools import KnownBy
from explorer.session.tree import SessionTree

FileChangeKind = Literal["created", "updated", "deleted"]
HowKnown = Literal["tool", "argument", "result", "summary"]
"""Who says what became of a file: the tool does nothing else, an argument of the call or its
result says so, or an earlier summary."""

_READ = OP_KINDS.index("read")
_CREATE, _DELETE = OP_KINDS.index("create"), OP_KINDS.index("delete")
_LASTING = frozenset({_CREATE, _DELETE})


class FileChange(NamedTuple):
    """What became of a file in the end."""

    path: str
    change: FileChangeKind
    known: HowKnown


def javascript_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names sorted as JavaScript sorts them: by UTF-16 units."""
    unique = set(names)
    if all(name.isascii() for name in unique):
        return tuple(sorted(unique))
    return tuple(sorted(unique, key=lambda name: name.encode("utf-16-be", "surrogatepass")))


def _without(ranges: Iterable[range], omitted: Collection[int]) -> Iterator[range]:
    """The ranges with holes where something is omitted."""
    for part in ranges:
        start = part.start
        for entry in sorted(at for at in omitted if at in part):
            yield range(start, entry)
            start = entry + 1
        yield range(start, part.stop)


class FileOperations:
    """Files as they are collected, the earlier before the later; read them from the properties."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._failed: set[str] = set()
        self._changed: dict[str, tuple[FileChangeKind, HowKnown]] = {}
        self._made: set[str] = set()
        """Those that are known to have been made since the first of what is collected."""

    def add_summary(self, facts: CompactionFacts | BranchFacts) -> None:
        """Add files that an earlier summary recorded, unless an extension made it."""
        if facts.from_extension:
            return
        self._read.update(facts.read_files)
        for name in facts.modified_files:
            self._changed.setdefault(name, ("updated", "summary"))
        for name in facts.created_files:
            self._changed[name] = ("created", "summary")
            self._made.add(name)
        for name in facts.deleted_files:
            self._changed[name] = ("deleted", "summary")

    def add_calls(
        self,
        tree: SessionTree,
        ranges: Iterable[range],
        profile: Profile,
        omitted: Collection[int] = (),
    ) -> None:
        """Add the file tools called in these ranges of entries, which are in order; not those of
        replies that are omitted."""
        ops = tree.columns.ops
        for part in _without(ranges, omitted) if omitted else ranges:
            first = bisect_left(ops.entry, part.start)
            last = bisect_left(ops.entry, part.stop, first)
            if first < last:
                self._add_rows(tree, first, last, profile)

    def _add_rows(self, tree: SessionTree, first: int, last: int, profile: Profile) -> None:
        ops = tree.columns.ops
        apart, narrow = profile.failed_calls == "apart", profile.file_tools == "pi"
        rows = slice(first, last)
        # Sessions touch few files many times over.
        changes = set(
            zip(ops.path[rows], ops.kind[rows], ops.failed[rows], ops.wide[rows], strict=True)
        )
        if narrow:
            changes = {one for one in changes if not one[3]}
        followed = set()
        if not narrow:
            followed = {path for path, kind, _, _ in changes if kind in _LASTING}
        for path, kind, failed, _ in changes:
            name = ops.paths[path]
            if apart and failed:
                self._failed.add(name)
            elif kind == _READ:
                self._read.add(name)
            elif path not in followed:
                self._update(name)
        if followed:
            self._follow(tree, first, last, followed, counts_failed=not apart)

    def _update(self, name: str) -> None:
        change, _known = self._changed.get(name, ("", ""))
        if change == "deleted":
            self._changed[name] = ("created" if name in self._made else "updated", "tool")
        elif not change:
            self._changed[name] = ("updated", "tool")

    def _follow(
        self, tree: SessionTree, first: int, last: int, paths: set[int], *, counts_failed: bool
    ) -> None:
        """The files that were made or deleted on the way, call by call: the last word counts."""
        ops = tree.columns.ops
        before: dict[int, list[int]] = {}
        for row, path in enumerate(ops.path[:last]):
            if path not in paths or (ops.failed[row] and not counts_failed):
                continue
            name, kind, known = ops.paths[path], ops.kind[row], KNOWN[ops.known[row]]
            if row >= first and kind == _DELETE:
                self._changed[name] = ("deleted", known)
            elif row >= first and kind == _CREATE:
                self._create(tree, row, name, known, before.get(path, ()))
            elif row >= first and kind != _READ:
                self._update(name)
            if kind != _DELETE:
                before.setdefault(path, []).append(row)

    def _create(
        self, tree: SessionTree, row: int, name: str, known: KnownBy, before: Sequence[int]
    ) -> None:
        """A tool that makes files may also overwrite them: the result knows, or what came before
        (rows of the same file, from whichever branch)."""
        change = self._changed.get(name, ("", ""))[0]
        entry = tree.columns.ops.entry
        was_there = change in ("created", "updated") or (
            not change and any(tree.is_ancestor(entry[at], entry[row]) for at in reversed(before))
        )
        # What was deleted and made again is there as it was before, only changed.
        if change == "deleted" or (was_there and known != "result"):
            self._update(name)
            return
        self._changed[name] = ("created", known)
        self._made.add(name)

    @property
    def read(self) -> tuple[str, ...]:
        """Files only read."""
        return javascript_order(self._read - self._changed.keys())

    @property
    def modified(self) -> tuple[str, ...]:
        """Files changed in any way: created, updated or deleted."""
        return javascript_order(self._changed)

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """What became of each of the modified files."""
        return tuple(FileChange(name, *self._changed[name]) for name in self.modified)

    @property
    def failed(self) -> tuple[str, ...]:
        """Files whose every call failed."""
        return javascript_order(self._failed - self._read - self._changed.keys())

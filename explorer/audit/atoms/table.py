"""Entries scanned once, and what the compactions of a session ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from explorer.audit.atoms.entries import Voice
from explorer.audit.atoms.items import Item
from explorer.audit.atoms.known import Known
from explorer.audit.atoms.model import Atom, AtomKind, Atoms, ReadEntries, Span
from explorer.audit.atoms.scanning import EMPTY, EntryAtoms, scan_entry
from explorer.audit.atoms.shortened import is_cut, whole_lines
from explorer.audit.atoms.superseding import superseded

_ASKING = (AtomKind.REQUEST, AtomKind.QUESTION)
_OTHERWISE = frozenset({AtomKind.REQUEST, AtomKind.CONSTRAINT, AtomKind.TODO})
AT_ONCE = 256
"""Entries that are read and scanned between two looks at ``cancelled``."""


class ScanCancelled(Exception):
    """The scan was stopped; nothing of it is kept."""


class AtomTable:
    """What each scanned entry holds. Never changes: ``scan`` makes a larger one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[int, EntryAtoms] | None = None) -> None:
        self._entries = dict(entries or {})

    def __contains__(self, index: object) -> bool:
        return index in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, index: int) -> EntryAtoms:
        """What an entry holds; nothing for one that was not scanned."""
        return self._entries.get(index, EMPTY)

    def atoms(self, indices: Iterable[int]) -> Atoms:
        """The atoms of these entries, each once, what was changed later marked stale."""
        wanted = sorted(set(indices))
        merged: dict[tuple[AtomKind, str], list[tuple[int, Item]]] = {}
        offered: frozenset[str] = frozenset()
        for index in wanted:
            one = self.entry(index)
            for item in (*one.items, *_answers(one, offered)):
                merged.setdefault((item.kind, item.key), []).append((index, item))
            if one.speaks is not None:
                offered = one.offers
        _join_cut_lines(merged)
        stale = superseded(self, wanted)
        items = tuple(_atom(mentions, stale) for mentions in merged.values())
        return Atoms(items, self._latest(wanted, items))

    def _latest(self, wanted: Sequence[int], items: Sequence[Atom]) -> Atom | None:
        """What the last message of the user's that asks for something asks."""
        for index in reversed(wanted):
            asked = [
                item
                for item in self.entry(index).items
                if item.voice is Voice.USER and item.kind in _ASKING
            ]
            if asked:
                last = max(asked, key=lambda item: (item.kind is AtomKind.REQUEST, item.start))
                wanted_key = (last.kind, last.key)
                return next((atom for atom in items if (atom.kind, atom.key) == wanted_key), None)
        return None

    def mentions(self, indices: Iterable[int]) -> set[str]:
        """The keys of all that these entries mention anywhere."""
        found: set[str] = set()
        for index in indices:
            found |= self.entry(index).mentions
        return found


def _join_cut_lines(merged: dict[tuple[AtomKind, str], list[tuple[int, Item]]]) -> None:
    """Counts an error line that a tool cut off as a mention of the whole one near it."""
    lines = {
        key: (mentions[0][1].text, [index for index, _ in mentions])
        for (kind, key), mentions in merged.items()
        if kind is AtomKind.ERROR
    }
    for cut, whole in whole_lines(lines).items():
        merged[AtomKind.ERROR, whole] += merged.pop((AtomKind.ERROR, cut))
        merged[AtomKind.ERROR, whole].sort(
            key=lambda mention: (mention[0], is_cut(mention[1].text))
        )


NO_TABLE = AtomTable()


def _answers(one: EntryAtoms, offered: frozenset[str]) -> tuple[Item, ...]:
    """The sentence that answers what was asked before, unless the words decide by themselves."""
    if not offered:
        return ()
    decided = [item for item in one.items if item.kind is AtomKind.DECISION]
    if decided:
        # A word or two before them may settle something else.
        first = min(item.start for item in decided)
        return tuple(
            item
            for answer, item in one.answers
            if answer.short and item.end <= first and len(item.text.split()) <= 2
        )[:1]
    taken = [(item.block, item.start, item.end) for item in one.items if item.kind in _OTHERWISE]
    for answer, item in one.answers:
        is_other = any(
            item.block == block and item.start < end and start < item.end
            for block, start, end in taken
        )
        if answer.takes_up(offered) and (answer.short or not is_other):
            return (item,)
    return ()


def _atom(mentions: list[tuple[int, Item]], stale: Mapping[tuple[int, int, str], str]) -> Atom:
    first = mentions[0][1]
    if first.kind is AtomKind.ERROR and is_cut(first.text):
        first = next((item for _, item in mentions if not is_cut(item.text)), first)
    spans = tuple(
        Span(index, item.start, item.end, item.block, item.argument) for index, item in mentions
    )
    last_index, last = mentions[-1]
    # Said again after it was changed, it holds again.
    replaced = stale.get((last_index, last.start, f"{last.kind}{last.block}{last.argument}"))
    return Atom(
        first.kind,
        first.text,
        first.key,
        tuple(dict.fromkeys(index for index, _ in mentions)),
        spans,
        replaced is not None,
        replaced or "",
    )


def scan(
    indices: Iterable[int],
    read: ReadEntries,
    table: AtomTable = NO_TABLE,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> AtomTable:
    """A table with these entries, those that ``table`` has already taken over from it.

    ``progress`` is told the entries done and their number. Raises ScanCancelled as soon as
    ``cancelled`` says so.
    """
    missing = sorted({index for index in indices if index not in table})
    if not missing:
        return table
    entries = {index: table.entry(index) for index in table._entries}
    known = Known()
    for at in range(0, len(missing), AT_ONCE):
        if cancelled():
            raise ScanCancelled
        part = missing[at : at + AT_ONCE]
        for index, entry in zip(part, read(part), strict=True):
            entries[index] = scan_entry(entry, known)
        progress(at + len(part), len(missing))
    return AtomTable(entries)


def extract(entries: Sequence[Mapping[str, Any]]) -> Atoms:
    """The atoms of entries given as JSON, in order; their indices count from 0."""
    table = scan(range(len(entries)), lambda wanted: [entries[index] for index in wanted])
    return table.atoms(range(len(entries)))

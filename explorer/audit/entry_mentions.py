"""What many entries mention and say together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from explorer.facts import FactKind, FactTable, Mention
from explorer.facts.figures import Figure, figure


class EntryMentions:
    """All that some entries mention and say, for one range of entries after the other.

    The compactions of a path know ever more of the same entries: those of the range before are
    not read again when the next one holds them all. The sets are those of the last range asked
    for. For one session, and one thread at a time.
    """

    __slots__ = ("_figures", "_read", "mentions", "newest", "paths")

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.mentions: set[str] = set()
        """The keys of all that the entries mention anywhere."""
        self.paths: list[str] = []
        """Those of the keys that may be paths."""
        self.newest: dict[str, int] = {}
        """The last entry that mentions a value, by the key of the value."""
        self._figures: dict[int, list[tuple[Figure, Mention]]] = {}
        self._read: set[int] = set()

    def read(self, table: FactTable, indices: Collection[int]) -> None:
        """Gathers what exactly these entries say."""
        wanted = set(indices)
        if not self._read <= wanted:
            self._forget()
        mentions: set[str] = set()
        for index in wanted - self._read:
            if index in table:
                self._read.add(index)
                entry = table.entry(index)
                mentions |= entry.mentions
                for key in entry.mentions:
                    if key.startswith("#"):
                        self.newest[key] = max(index, self.newest.get(key, -1))
                figures = [
                    (value, item)
                    for item in entry.items
                    if item.kind is FactKind.NUMBER and (value := figure(item.text))
                ]
                if figures:
                    self._figures[index] = figures
        mentions -= self.mentions
        self.mentions |= mentions
        self.paths += [mention for mention in mentions if "/" in mention or "." in mention]

    def figures(self, indices: Sequence[int]) -> Iterator[tuple[Figure, Mention, int]]:
        """The figures of these entries, of those that were read, in their order, each with its
        mention and its entry."""
        for index in filter(self._figures.__contains__, indices):
            for value, item in self._figures[index]:
                yield value, item, index

"""Finding words in the whole conversation: in a thread, item by item, from the newest up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from explorer.services.document import Document
from ui.conversation.view.calls import CallStates
from ui.conversation.view.item_reader import parts_of, read_item
from ui.conversation.view.items import Snapshot
from ui.conversation.view.parts import Code, Diff, ItemPart, Note, Prose, Row
from ui.widgets.loader import READ_ERRORS

_REPORT_MS = 60
"""Between two words of how far it is."""
_BREATH_S = 0.001
_EVERY = 8
"""Items between two pauses, in which the window gets its turn."""

_LINK = re.compile(r"!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?:\s[^)\n]{0,500})?\)")
_MARKS = re.compile(
    r"^[ \t]{0,12}(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,9}[.)][ \t]+|>[ \t]?)+"
    r"|\*\*|__|~~|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)"
    r"|^[ \t]*\|?(?:[ \t]*+:?-{2,}+:?[ \t]*+\|?)++$",
    re.MULTILINE,
)


class TextHit(NamedTuple):
    """One place where the words occur: the part, and which of its places it is."""

    entry: int
    key: str
    number: int

    @property
    def place(self) -> tuple[int, str]:
        return self.entry, self.key


class Hits:
    """Hits that only become more, at the front: the search goes from the newest message up.

    One thread adds while another reads; ``count`` is taken once, and what is below it stays.
    """

    def __init__(self) -> None:
        self._newest_first: list[TextHit] = []
        self._places: dict[TextHit, int] = {}

    def add(self, hits: Sequence[TextHit]) -> None:
        """Hits of the next item above, in the order of reading."""
        for hit in reversed(hits):
            self._places[hit] = len(self._newest_first)
            self._newest_first.append(hit)

    def __len__(self) -> int:
        return len(self._newest_first)

    def __getitem__(self, at: int) -> TextHit:
        """A hit by its number in the order of reading."""
        count = len(self._newest_first)
        if not 0 <= at < count:
            raise IndexError(f"there is no hit {at}")
        return self._newest_first[count - 1 - at]

    def number(self, hit: TextHit | None) -> int:
        """Which hit it is in the order of reading, or -1."""
        at = self._places.get(hit, -1) if hit is not None else -1
        return len(self._newest_first) - 1 - at if at >= 0 else -1

    def beside(self, hit: TextHit | None, step: int) -> TextHit | None:
        """The next hit (1) or the one before (-1), round at the ends; None where there is none.

        From no hit it goes to the first of all, or to the last.
        """
        count = len(self._newest_first)
        if not count:
            return None
        at = self._places.get(hit, -1) if hit is not None else -1
        if at < 0:
            at = count if step > 0 else -1
        return self._newest_first[(at - step) % count]

    def last_until(self, entry: int) -> TextHit | None:
        """The last hit that is not below an entry; the first of all where there is none."""
        if not self._newest_first:
            return None
        for hit in self._newest_first:
            if hit.entry <= entry:
                return hit
        return self._newest_first[-1]


class SearchProgress(NamedTuple):
    """How far a search is."""

    hits: Hits
    looked_at: int
    of: int


def shown_words(part: ItemPart) -> str:
    """What of a part can be found: its words without the marks that Markdown leaves out."""
    if isinstance(part, Prose):
        return _MARKS.sub("", _LINK.sub(r"\1", part.text))
    if isinstance(part, Row):
        return part.text
    if isinstance(part, Diff):
        return "\n".join(f"{line.sign.replace('@', ' ')} {line.text}" for line in part.lines)
    return part.text if isinstance(part, Code | Note) else ""


def count_in(text: str, query: str) -> int:
    """How often a text holds the words, whatever their case."""
    return text.casefold().count(query.casefold())


def hits_in(entry: int, parts: Sequence[ItemPart], query: str) -> list[TextHit]:
    """All hits of an item."""
    return [
        TextHit(entry, part.key, number)
        for part in parts
        for number in range(count_in(shown_words(part), query))
    ]


class Search:
    """One search over a path; ``run`` belongs to a thread, ``stop`` may be called from any."""

    def __init__(
        self,
        document: Document,
        items: Snapshot,
        query: str,
        on_found: Callable[[SearchProgress], None],
    ) -> None:
        self._document, self._items, self._query, self._on_found = document, items, query, on_found
        self._stopped = False
        words = re.findall(r"[a-z0-9]+", query.casefold()) if query.isascii() else []
        self._word = max(words, key=len, default="")
        """What the line of an item that has a hit must hold."""

    def stop(self) -> None:
        self._stopped = True

    def run(self) -> SearchProgress:
        """Look through all items, newest first; what was found."""
        found = Hits()
        last, count = time.monotonic(), len(self._items)
        for number in range(count):
            if self._stopped:
                break
            entry, results = self._items[count - 1 - number]
            if hits := self._look(entry, results):
                found.add(hits)
            if number % _EVERY == 0:
                time.sleep(_BREATH_S)
            if (time.monotonic() - last) * 1000 > _REPORT_MS:
                last = time.monotonic()
                self._on_found(SearchProgress(found, number + 1, count))
        return SearchProgress(found, count, count)

    def _look(self, entry: int, results: Sequence[int]) -> list[TextHit]:
        try:
            if self._word and not self._may_hold((entry, *results)):
                return []
            item = read_item(self._document, entry, results, CallStates(), whole=True)
            return hits_in(entry, parts_of(item, lambda _key: True), self._query)
        except READ_ERRORS:
            # An entry that cannot be read is reported where it is shown; it holds no words.
            return []

    def _may_hold(self, entries: Sequence[int]) -> bool:
        """Whether the stored lines hold a word of what is looked for."""
        payloads = self._document.payloads.shown
        return any(self._word in payloads.raw(at).casefold() for at in entries)

"""What is selected in the conversation, and its words for the clipboard: plain or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from explorer.services.document import Document
from ui.conversation.view.boxes import WHOLE
from ui.conversation.view.calls import CallStates
from ui.conversation.view.find import shown_words
from ui.conversation.view.flow import Flow
from ui.conversation.view.item_reader import FIGURES, parts_of, read_item
from ui.conversation.view.items import Snapshot
from ui.conversation.view.parts import Code, ItemPart, Note, Row, markdown_of
from ui.widgets.loader import READ_ERRORS


class TextPlace(NamedTuple):
    """A character: the item's entry, the part's key, the position in the part."""

    entry: int
    key: str
    at: int


class Spot(NamedTuple):
    """A place as it lies now; spots compare as they are read."""

    item: int
    part: int
    at: int


class Selection:
    """Two places; nothing is selected while they are one."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._from: TextPlace | None = None
        self._to: TextPlace | None = None

    def clear(self) -> None:
        self._from = self._to = None

    def begin(self, place: TextPlace) -> None:
        """Start a selection."""
        self._from = self._to = place

    def extend(self, place: TextPlace) -> None:
        """Extend the selection to a place."""
        if self._from is None:
            self._from = place
        self._to = place

    def set(self, first: TextPlace, last: TextPlace) -> None:
        self._from, self._to = first, last

    @property
    def is_begun(self) -> bool:
        return self._from is not None

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return self.span() is None

    def _spot(self, place: TextPlace) -> Spot | None:
        item = self._flow.item_of(place.entry)
        if item < 0:
            return None
        laid = self._flow.laid(item)
        part = laid.places.get(place.key, -1)
        return Spot(item, part, place.at) if part >= 0 else None

    def span(self) -> tuple[Spot, Spot] | None:
        """The first and the last spot, or None; what is not there any more is not selected."""
        if self._from is None or self._to is None or self._from == self._to:
            return None
        first, last = self._spot(self._from), self._spot(self._to)
        if first is None or last is None:
            return None
        return (first, last) if first <= last else (last, first)

    @staticmethod
    def within(span: tuple[Spot, Spot], item: int, part: int) -> tuple[int, int] | None:
        """Which characters of a part a span holds."""
        first, last = span
        if not (first.item, first.part) <= (item, part) <= (last.item, last.part):
            return None
        low = first.at if (item, part) == (first.item, first.part) else 0
        high = last.at if (item, part) == (last.item, last.part) else WHOLE
        return (low, high) if low < high else None


def joined(parts: Sequence[ItemPart], words: Callable[[ItemPart], str]) -> str:
    """Parts one below the other; pieces of one block of code without a gap."""
    found = ""
    for at, part in enumerate(parts):
        text = words(part)
        if not text.strip() and not isinstance(part, Code):
            continue
        if found:
            before = parts[at - 1]
            goes_on = isinstance(part, Code) and isinstance(before, Code) and not part.opens
            rows = isinstance(part, Row) and isinstance(before, Row)
            found += "\n" if goes_on or rows else "\n\n"
        found += text
    return found


def plain_words(part: ItemPart) -> str:
    """A part as it is read."""
    if isinstance(part, Row):
        name = part.role.name if part.role is not None else ""
        return "  ".join(word for word in (name, part.text, part.tail) if word)
    return shown_words(part) or part.words


def item_markdown(parts: Sequence[ItemPart]) -> str:
    """A message with who says it."""
    shown = [part for part in parts if not (isinstance(part, Note) and part.key == FIGURES)]
    role = next((part.role for part in shown if part.role is not None), None)
    text = joined(shown, markdown_of)
    if role is None or role.name not in ("You", "Agent"):
        return text
    return f"**{role.name}**\n\n{text}"


def conversation_markdown(document: Document, items: Snapshot, first: int, end: int) -> str:
    """The conversation as Markdown; belongs to a thread. What cannot be read is named."""
    found = []
    for at in range(first, end):
        entry, results = items[at]
        try:
            read = read_item(document, entry, results, CallStates(), whole=True)
        except READ_ERRORS as error:
            found.append(f"*(#{entry} could not be read: {type(error).__name__})*")
            continue
        found.append(item_markdown(parts_of(read, lambda _key: False)))
    return "\n\n".join(text for text in found if text) + "\n"


def conversation_words(flow: Flow) -> str:
    """The conversation as plain words, with what is arriving."""
    found = []
    for item in range(flow.count):
        parts = [p for p in flow.laid(item).parts if p.key != FIGURES]
        found.append(joined(parts, plain_words))
    return "\n\n".join(text for text in found if text)


def _word_of(words: dict[str, str], part: ItemPart) -> str:
    return words[part.key]


def selected_words(flow: Flow, span: tuple[Spot, Spot], *, markdown: bool) -> str:
    """What is selected, from items that are read already or are read now."""
    first, last = span
    found = []
    for item in range(first.item, last.item + 1):
        laid, chosen = flow.laid(item), []
        words: dict[str, str] = {}
        for at, part in enumerate(laid.parts):
            within = Selection.within(span, item, at)
            if within is None or (part.key == FIGURES and span[0][:2] != span[1][:2]):
                continue
            chosen.append(part)
            whole = within[0] <= 0 and (item, at) != (last.item, last.part)
            if whole:
                words[part.key] = markdown_of(part) if markdown else plain_words(part)
            else:
                box = laid.box(at, flow.pictures)
                shown = box.markdown(*within) if markdown else box.text(*within)
                if markdown and within[0] <= 0 and within[1] >= box.length():
                    shown = markdown_of(part)
                words[part.key] = shown
        found.append(joined(chosen, partial(_word_of, words)))
    return "\n\n".join(text for text in found if text)

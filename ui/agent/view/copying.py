"""Words for the clipboard: a selection, a message, the whole conversation; plain or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ui.agent.view.calls import CallStates
from ui.agent.view.finding import shown_words
from ui.agent.view.flow import Flow
from ui.agent.view.items import Snapshot
from ui.agent.view.parts import Code, Note, Part, Row, markdown_of
from ui.agent.view.reader import ShownDocument, read_item
from ui.agent.view.reading import FIGURES, parts_of
from ui.agent.view.selecting import Selection, Spot
from ui.inspector.gather import READ_ERRORS


def joined(parts: Sequence[Part], words: Callable[[Part], str]) -> str:
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


def plain_words(part: Part) -> str:
    """A part as it is read."""
    if isinstance(part, Row):
        name = part.role.name if part.role is not None else ""
        return "  ".join(word for word in (name, part.text, part.tail) if word)
    return shown_words(part) or part.words


def item_markdown(parts: Sequence[Part]) -> str:
    """A message with who says it."""
    told = [part for part in parts if not (isinstance(part, Note) and part.key == FIGURES)]
    role = next((part.role for part in told if part.role is not None), None)
    text = joined(told, markdown_of)
    if role is None or role.name not in ("You", "Agent"):
        return text
    return f"**{role.name}**\n\n{text}"


def conversation_markdown(document: ShownDocument, items: Snapshot, first: int, end: int) -> str:
    """Everything that is said; belongs to a thread. What cannot be read is named."""
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
    """Everything that is said, as plain words, with what is arriving."""
    found = []
    for item in range(flow.count):
        parts = [p for p in flow.laid(item).parts if p.key != FIGURES]
        found.append(joined(parts, plain_words))
    return "\n\n".join(text for text in found if text)


def _word_of(words: dict[str, str], part: Part) -> str:
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

"""One entry read once: its atoms, and all else that it mentions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.audit.atoms.answers import Answer, answers, offers
from explorer.audit.atoms.entries import Text, Voice, texts_of
from explorer.audit.atoms.errors import error_lines
from explorer.audit.atoms.items import Item, exact_things, item
from explorer.audit.atoms.keys import path_key, statement_key
from explorer.audit.atoms.known import Known
from explorer.audit.atoms.letters import units, wide_places
from explorer.audit.atoms.message import Message
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.prose import read_prose
from explorer.audit.atoms.taken import Taken
from explorer.session.text import PROSE_LIMIT, as_prose

SHORT_RESULT = 8
"""Lines of an output that is short enough for all that it names to be worth keeping."""
_PROSE = frozenset({Voice.USER, Voice.ASSISTANT, Voice.SUMMARY})
_IN_RESULTS = frozenset({AtomKind.VERSION, AtomKind.URL, AtomKind.HASH})
_OUTPUT = frozenset({Voice.RESULT, Voice.ERROR})
_IN_PATHS = frozenset({AtomKind.URL})


@dataclass(frozen=True, slots=True)
class EntryAtoms:
    """What one entry holds."""

    items: tuple[Item, ...] = ()
    mentions: frozenset[str] = frozenset()
    """Keys of every exact thing that stands anywhere in it; of figures the bare value,
    ``#1500``. What a summary says of these is not invented."""
    words: frozenset[str] = frozenset()
    """Of prose: its different words in lower case, marks and all."""
    speaks: Voice | None = None
    """Who wrote prose in it; None where nobody did."""
    offers: frozenset[str] = frozenset()
    """Of a reply that ends with a question that leaves a choice: its telling words."""
    answers: tuple[tuple[Answer, Item], ...] = ()
    """Of the user's words: what is a decision after a question that it takes up."""


EMPTY = EntryAtoms()


def scan_entry(entry: Mapping[str, Any], known: Known) -> EntryAtoms:
    """Reads an entry's JSON. ``known`` is shared by all entries of a scan."""
    items: list[Item] = []
    mentions: set[str] = set()
    said: frozenset[str] = frozenset()
    speaks: Voice | None = None
    offered: frozenset[str] = frozenset()
    answered: tuple[tuple[Answer, Item], ...] = ()
    for text in texts_of(entry):
        if text.voice in _PROSE:
            if len(text.text) > PROSE_LIMIT:
                mentions |= known.words.mentions((text.text,))
            text = text._replace(text=as_prose(text.text))
            message = Message(text.text)
            speaks = text.voice
            said = said | message.said if said else message.said
            found = read_prose(text, message, known, mentions)
            if text.voice is Voice.ASSISTANT:
                offered = offers(text.text)
            elif text.voice is Voice.USER:
                answered = answered or _answers(text)
        elif text.voice in _OUTPUT:
            found = _from_result(text, known, mentions)
        else:
            mentions |= known.words.mentions(text.text.split("\n"))
            found = _from_call(text, known)
        if found:
            items += _in_units(text.text, found)
    if not (items or mentions or speaks):
        return EMPTY
    return EntryAtoms(tuple(items), frozenset(mentions), said, speaks, offered, answered)


def _answers(text: Text) -> tuple[tuple[Answer, Item], ...]:
    found = answers(text.text)
    items = []
    for one in found:
        said = text.text[one.start : one.end]
        items.append(item(AtomKind.DECISION, text, one.start, said, statement_key(said)))
    return tuple(zip(found, _in_units(text.text, items), strict=True))


def scan_text(text: str, voice: Voice) -> EntryAtoms:
    """Reads a text that is no entry, such as a candidate for a summary."""
    text = as_prose(text)
    mentions: set[str] = set()
    message = Message(text)
    found = read_prose(Text(voice, text), message, Known(), mentions)
    return EntryAtoms(tuple(_in_units(text, found)), frozenset(mentions), message.said, voice)


def _from_result(text: Text, known: Known, mentions: set[str]) -> list[Item]:
    body = text.text
    lines = body.split("\n")
    distinct = set(lines)
    mentions |= known.words.mentions(distinct)
    telling = known.lines.telling(distinct)
    found = [
        item(AtomKind.ERROR, text, start, line, statement_key(line))
        for start, line in error_lines(lines, telling, is_error=text.voice is Voice.ERROR)
    ]
    if len(body) < 4000 and len(lines) <= SHORT_RESULT + 1:
        taken = Taken((one.start, one.end) for one in found)
        held = known.words.holding(body.split())
        found += exact_things(text, held, _IN_RESULTS, taken)
    return found


def _from_call(text: Text, known: Known) -> list[Item]:
    if text.voice is Voice.COMMAND:
        return _from_command(text)
    return _from_path(text, known) if text.voice is Voice.PATH else []


def _from_command(text: Text) -> list[Item]:
    # Of a script the line that runs it.
    body = text.text.strip().partition("\n")[0]
    if not body:
        return []
    return [item(AtomKind.COMMAND, text, text.text.find(body), body, statement_key(body))]


def _from_path(text: Text, known: Known) -> list[Item]:
    body = text.text.strip()
    if not body or len(body) > 1000 or "\n" in body:
        return []
    if "://" in body:
        return exact_things(text, known.words.holding(body.split()), _IN_PATHS, Taken())
    return [item(AtomKind.PATH, text, text.text.find(body), body, path_key(body))]


def _in_units(body: str, found: list[Item]) -> list[Item]:
    """Offsets in UTF-16 units, which differ from characters only beyond the basic plane."""
    wide = wide_places(body) if found else ()
    if not wide:
        return found
    return [one._replace(start=units(one.start, wide), end=units(one.end, wide)) for one in found]

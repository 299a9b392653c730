"""Mentions of atoms, and where in a text the exact things stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from explorer.audit.atoms.entries import Text, Voice
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.taken import Taken
from explorer.audit.atoms.tokens import Piece

_AROUND = 60
"""Characters before and after a figure that tell what it is of."""


class Item(NamedTuple):
    """One mention of an atom; offsets in UTF-16 units of its text."""

    kind: AtomKind
    text: str
    key: str
    start: int
    end: int
    block: int = 0
    argument: str = ""
    voice: Voice = Voice.ASSISTANT
    context: str = ""
    """Of an exact thing in prose: what stands before it in its line, a line break, what follows."""


def item(kind: AtomKind, text: Text, start: int, found: str, key: str, context: str = "") -> Item:
    """A mention in a text; offsets still in characters."""
    end = start + len(found)
    return Item(kind, found, key, start, end, text.block, text.argument, text.voice, context)


def exact_things(
    text: Text,
    held: Mapping[str, tuple[Piece, ...]],
    kinds: frozenset[AtomKind],
    taken: Taken,
) -> list[Item]:
    """Where the exact things stand: each once, where it is said first outside of ``taken``."""
    body = text.text
    found = []
    for word, pieces in held.items():
        if not any(piece.kind in kinds for piece in pieces):
            continue
        at = _word_at(body, word, taken)
        if at < 0:
            continue
        for piece in pieces:
            if piece.kind in kinds and at + piece.at not in taken:
                start = at + piece.at
                context = around(body, start, start + len(piece.text))
                found.append(item(piece.kind, text, start, piece.text, piece.key, context))
    found.sort(key=lambda one: one.start)
    return found


def around(body: str, start: int, end: int) -> str:
    """What stands before a stretch in its line, a line break, what follows in its line."""
    before = body[max(0, start - _AROUND) : start].rpartition("\n")[2]
    after = body[end : end + _AROUND].partition("\n")[0]
    return f"{before}\n{after}"


def _word_at(body: str, word: str, taken: Taken) -> int:
    """The first place where a word stands by itself, outside of ``taken``; -1 for none."""
    at = body.find(word)
    while at >= 0:
        end = at + len(word)
        alone = (at == 0 or body[at - 1].isspace()) and (end == len(body) or body[end].isspace())
        if alone and at not in taken:
            return at
        at = body.find(word, at + 1)
    return -1

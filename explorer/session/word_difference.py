"""Two texts with the words marked that the other one has not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from typing import NamedTuple

MOST_WORDS = 2_500
"""Words of a text that are compared one by one; longer texts are compared line by line."""
MOST_LINES = 4_000
"""Lines that are compared; of texts longer still only the equal beginning is found."""
FEWEST_ALIKE = 3
"""Words in a row that count as said by both where they stand between words that are not: a lone
"the" in the middle of two other sentences is nothing that they have in common."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of a text, and whether the other text has it not."""

    text: str
    differs: bool


def differing(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces; the pieces of a text put together are that text."""
    mine, theirs = _WORD.findall(one), _WORD.findall(other)
    if max(len(mine), len(theirs)) > MOST_WORDS:
        mine, theirs = one.splitlines(keepends=True), other.splitlines(keepends=True)
    if max(len(mine), len(theirs)) > MOST_LINES:
        same = 0
        while same < min(len(mine), len(theirs)) and mine[same] == theirs[same]:
            same += 1
        return _pieces(mine, [(0, same)]), _pieces(theirs, [(0, same)])
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    kept = [
        block
        for block in blocks
        if not _is_between(block, mine, theirs)
        or sum(word.strip() != "" for word in mine[block.a : block.a + block.size]) >= FEWEST_ALIKE
    ]
    return (
        _pieces(mine, [(block.a, block.size) for block in kept]),
        _pieces(theirs, [(block.b, block.size) for block in kept]),
    )


def _is_between(block: Match, mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether equal words stand neither at the beginning nor at the end of both texts."""
    begins = block.a == block.b == 0
    ends = block.a + block.size == len(mine) and block.b + block.size == len(theirs)
    return not (begins or ends)


def _pieces(words: Sequence[str], equal: Sequence[tuple[int, int]]) -> tuple[Piece, ...]:
    """``equal``: where stretches that both have start, and how many words they are."""
    found: list[Piece] = []
    at = 0
    for start, size in (*equal, (len(words), 0)):
        _add(found, "".join(words[at:start]), True)
        _add(found, "".join(words[start : start + size]), False)
        at = start + size
    return tuple(found)


def _add(found: list[Piece], text: str, differs: bool) -> None:
    if not text:
        return
    if differs and not text.strip():
        differs = False  # a space more is nothing to look at
    if found and found[-1].differs == differs:
        found[-1] = Piece(found[-1].text + text, differs)
    else:
        found.append(Piece(text, differs))

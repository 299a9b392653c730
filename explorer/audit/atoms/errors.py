"""Lines that tell of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from explorer.audit.atoms.failing import ASCII_WORDS, WORDS, is_failure
from explorer.audit.atoms.letters import even_lower

LONGEST = 600
"""Characters; a longer line is data, and only its beginning is kept."""
MOST = 40
"""Failures of one output that are kept: the first half of them and the last."""
_KNOWN = 8192
"""Lines that are remembered."""

_PLACE_ALONE = re.compile(r"\bpanicked at \S+:\d+:\d+:\s*$")
"""The first line of a failure whose message is the next."""


class KnownLines:
    """Which lines tell of a failure; made for one scan: the outputs of a session repeat their
    lines."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def telling(self, lines: set[str]) -> dict[str, str]:
        """Those of these lines that tell of a failure, with what of them is kept."""
        known = self._known
        fresh = lines.difference(known)
        found = {line: bare for line in lines - fresh if (bare := known[line])}
        if fresh:
            told = _telling(fresh)
            if len(known) + len(fresh) > _KNOWN:
                known.clear()
            for line in fresh:
                if len(line) <= LONGEST:
                    known[line] = told.get(line, "")
            found |= told
        return found


def error_lines(
    lines: Sequence[str], telling: Mapping[str, str], *, is_error: bool = False
) -> list[tuple[int, str]]:
    """The lines of a text that tell of a failure, with where they begin (characters).

    ``telling``: what ``KnownLines`` says of the lines. ``is_error``: the text is the result of a
    call that failed; where no line of it tells so, its first and its last line are taken for it.
    """
    telling = _with_messages(lines, telling)
    if not telling:
        text = "\n".join(lines) if is_error else ""
        return _ends(text) if text.strip() else []
    found: list[tuple[int, str]] = []
    start = after = 0
    for number, bare in _some(
        [(number, telling[line]) for number, line in enumerate(lines) if line in telling]
    ):
        start += sum(map(len, lines[after:number])) + number - after
        after = number
        found.append((start + lines[number].find(bare), bare))
    return found


def error_lines_among(lines: Sequence[tuple[int, str]], known: KnownLines) -> list[tuple[int, str]]:
    """Those of some lines, given with where they begin, that tell of a failure."""
    told = known.telling({line for _, line in lines})
    telling = _with_messages([line for _, line in lines], told)
    found = [
        (start + line.find(telling[line]), telling[line])
        for start, line in lines
        if line in telling
    ]
    return _some(found)


def _with_messages(lines: Sequence[str], telling: Mapping[str, str]) -> Mapping[str, str]:
    """The same with the lines that say what went wrong after one that tells only where."""
    if not any(_PLACE_ALONE.search(line) for line in telling):
        return telling
    told = dict(telling)
    for line, after in pairwise(lines):
        if line in telling and (bare := after[:LONGEST].strip()) and _PLACE_ALONE.search(line):
            told.setdefault(after, bare)
    return told


def _some(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Each of them once; of very many the first and the last."""
    if len(found) > MOST:
        found = [*found[: MOST // 2], *found[-(MOST - MOST // 2) :]]
    first: dict[str, int] = {}
    for start, line in found:
        first.setdefault(line, start)
    return [(start, line) for line, start in first.items()]


def _telling(lines: Iterable[str]) -> dict[str, str]:
    # A line break before the first line, so that a word may begin with one.
    text = "\n" + "\n".join(lines)
    low = even_lower(text)
    starts: set[int] = set()
    for word in WORDS if not text.isascii() else ASCII_WORDS:
        at = low.find(word)
        while at >= 0:
            inside = at + len(word) - 1
            starts.add(low.rfind("\n", 0, inside))
            # One hit tells of the line; go on in the next, whose break a word may begin with.
            at = low.find("\n", inside)
            at = low.find(word, at) if at >= 0 else -1
    found = {}
    for start in starts:
        end = text.find("\n", start + 1)
        line = text[start + 1 : end if end >= 0 else len(text)]
        told = line[:LONGEST]
        bare = told.strip()
        if len(bare) >= 4 and is_failure(told):
            found[line] = bare
    return found


def _ends(text: str) -> list[tuple[int, str]]:
    first = text.lstrip()
    start = len(text) - len(first)
    head = first.split("\n", 1)[0][:LONGEST].rstrip()
    tail = text.rstrip()
    last_at = tail.rfind("\n") + 1
    last = tail[last_at:][:LONGEST]
    bare = last.strip()
    ends = [(start, head)]
    if last_at > start and bare and bare != head:
        ends.append((last_at + last.find(bare), bare))
    return ends

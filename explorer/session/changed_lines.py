"""Two texts line by line: what only the first has, what only the second has, what both have."""

from __future__ import annotations

import difflib
from typing import Literal, NamedTuple

Sign = Literal["+", "-", " ", "@"]
AROUND = 3
"""Lines that both have which are shown around a difference."""
MOST_LINES = 4_000
"""Lines of a text that are compared; of longer ones all old are removed and all new added."""


class Line(NamedTuple):
    """One line and its sign; ``@`` stands for lines left out that both texts have."""

    sign: Sign
    text: str


def changed_lines(old: str, new: str, around: int = AROUND) -> tuple[Line, ...]:
    """The differences of two texts with ``around`` lines of what both have; empty for none."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > MOST_LINES:
        removed = [Line("-", line) for line in before]
        return (*removed, *(Line("+", line) for line in after))
    found: list[Line] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(around):
        if found:
            found.append(Line("@", "…"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                found += [Line(" ", line) for line in before[a:b]]
                continue
            found += [Line("-", line) for line in before[a:b]]
            found += [Line("+", line) for line in after[c:d]]
    return tuple(found)

"""Finding file names by some of their letters, in order: ``rtry`` finds ``src/retry.py``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

MOST_OFFERED = 12
_ASKED_EVERY = 512
"""Names between two looks at whether anybody still wants to know."""


def score(typed: str, name: str) -> int | None:
    """How badly a name fits what was typed, 0 at best; None where it does not at all."""
    folded, low = name.casefold(), typed.casefold()
    if not low:
        return len(name)
    base = folded.rsplit("/", 1)[-1]
    if base.startswith(low):
        return len(name)
    if low in base:
        return 1_000 + base.index(low) + len(name)
    if low in folded:
        return 2_000 + folded.index(low) + len(name)
    letters = _expression(low)
    for place, points in ((base, 3_000), (folded, 4_000)):
        if found := letters.search(place):
            return points + 4 * (found.end() - found.start() - len(low)) + len(name)
    return None


@lru_cache(maxsize=64)
def _expression(low: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(letter) for letter in low if not letter.isspace()))


def best(
    typed: str,
    names: Sequence[str],
    most: int = MOST_OFFERED,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str]:
    """The names that fit best, the best first; nothing when it is cancelled meanwhile."""
    rated: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        if at % _ASKED_EVERY == 0 and cancelled():
            return []
        points = score(typed, name)
        if points is not None:
            rated.append((points, name))
    rated.sort()
    return [name for _, name in rated[:most]]

"""Tokens per entry as a tokenizer has counted them so far."""

from __future__ import annotations

from array import array
from collections.abc import Sequence


def counted(weights: Sequence[int]) -> array[int]:
    """Those up to the last entry that is counted; entries that are not are -1."""
    found = array("i", weights)
    at = len(found)
    while at and found[at - 1] < 0:
        at -= 1
    del found[at:]
    return found

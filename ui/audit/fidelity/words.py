"""The textures of fates, and the words of the audit beside them."""

from __future__ import annotations

from explorer.audit.findings import Fate
from explorer.audit.words import (
    FATE_TITLES,
    KIND_TITLES,
    ONE_KIND,
    SHORT_BOUND,
    UPPER_BOUND,
    file_words,
    finding_words,
    headline,
    kind_title,
    percent,
    request_words,
    section_words,
    size_words,
)
from ui.theme.verdicts import KEPT, LOST, NOT_SENT, PRUNED, TO_SUMMARIZE, TURN_PREFIX

__all__ = [
    "BAR",
    "FATE_TITLES",
    "KIND_TITLES",
    "ONE_KIND",
    "SHORT_BOUND",
    "TEXTURES",
    "UPPER_BOUND",
    "file_words",
    "finding_words",
    "headline",
    "kind_title",
    "percent",
    "request_words",
    "section_words",
    "size_words",
]

TEXTURES = {
    Fate.KEPT: KEPT,
    Fate.EXACT: TO_SUMMARIZE,
    Fate.NORMALIZED: TURN_PREFIX,
    Fate.RECOVERABLE: PRUNED,
    Fate.LOST: LOST,
    Fate.INVENTED: NOT_SENT,
    Fate.MUTATED: NOT_SENT,
    Fate.STALE: NOT_SENT,
}
"""The verdict whose texture shows a fate: what is in a summary is hatched, what is kept solid."""
BAR = (Fate.KEPT, Fate.EXACT, Fate.NORMALIZED, Fate.RECOVERABLE, Fate.LOST)
"""What a bar is made of, from left to right."""

"""A request's prompt in parts that know their entries, and what is left of that when it changes.

Offsets are Python characters, as in ``SourceSpan``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from explorer.compaction.messages import SourceSpan
from explorer.extensions.events import Part

_UNAMBIGUOUS_LENGTH = 24
"""Characters from which on an equal text in another place is taken for the same one."""


class RequestPrompt(NamedTuple):
    """A prompt and where its stretches came from."""

    text: str
    spans: list[SourceSpan]


def parts_of(prompt: RequestPrompt, ids: Sequence[str]) -> tuple[list[Part], list[int]]:
    """The prompt in parts that join to it again, and the entry of each (-1: words of ours)."""
    parts: list[Part] = []
    entries: list[int] = []
    at = 0
    for span in prompt.spans:
        start, end = max(span.start, at), min(span.end, len(prompt.text))
        if start >= end:
            continue
        if start > at:
            parts.append(Part(prompt.text[at:start], ""))
            entries.append(-1)
        parts.append(Part(prompt.text[start:end], ids[span.entry]))
        entries.append(span.entry)
        at = end
    if at < len(prompt.text):
        parts.append(Part(prompt.text[at:], ""))
        entries.append(-1)
    return parts, entries


def joined(texts: Sequence[str], entries: Sequence[int]) -> RequestPrompt:
    """Parts put together again; every part of an entry keeps it."""
    spans: list[SourceSpan] = []
    at = 0
    for text, entry in zip(texts, entries, strict=True):
        if entry >= 0 and text:
            spans.append(SourceSpan(at, at + len(text), entry))
        at += len(text)
    return RequestPrompt("".join(texts), spans)


def relocated(before: RequestPrompt, text: str) -> RequestPrompt:
    """A prompt that was changed as a whole, with the sources that can still be determined.

    A stretch that is found again word for word, in order, keeps its entry. One that is not takes
    the place between its neighbours when it is alone there; otherwise nothing is claimed of it.
    """
    head, tail = _same_ends(before.text, text)
    shift = len(text) - len(before.text)
    found: list[tuple[int, int] | None] = []
    at = 0
    for span in before.spans:
        start = -1
        if span.end <= head:
            start = span.start
        elif span.start >= len(before.text) - tail:
            start = span.start + shift
        else:
            start = _find_again(before.text[span.start : span.end], text, at, len(text) - tail)
        place = (start, start + span.end - span.start) if start >= 0 else None
        found.append(place)
        at = place[1] if place is not None else at
    return RequestPrompt(text, _filled(before, text, found))


def _same_ends(before: str, after: str) -> tuple[int, int]:
    """How many characters two texts share at their beginning, and then at their end."""
    head = _common_prefix_length(before, after)
    rest = min(len(before), len(after)) - head
    old, new = before[len(before) - rest :], after[len(after) - rest :]
    tail = _common_prefix_length(old[::-1], new[::-1])
    return head, tail


def _common_prefix_length(one: str, other: str) -> int:
    """How many characters two texts begin with alike; by halves, since C compares slices."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _find_again(words: str, text: str, start: int, end: int) -> int:
    """Where words are found again; -1 for nowhere, and for short ones in several places."""
    at = text.find(words, start, end) if words else -1
    if at >= 0 and len(words) < _UNAMBIGUOUS_LENGTH and text.find(words, at + 1, end) >= 0:
        return -1
    return at


def _filled(
    before: RequestPrompt, text: str, found: Sequence[tuple[int, int] | None]
) -> list[SourceSpan]:
    spans: list[SourceSpan] = []
    for number, (span, place) in enumerate(zip(before.spans, found, strict=True)):
        start, end = place if place is not None else _between(before, text, found, number)
        if start < end:
            spans.append(SourceSpan(start, end, span.entry))
    return spans


def _between(
    before: RequestPrompt, text: str, found: Sequence[tuple[int, int] | None], number: int
) -> tuple[int, int]:
    """The room that a changed stretch has to itself; an empty one when there is none."""
    last = len(found) - 1
    left = found[number - 1] if number > 0 else (0, 0)
    right = found[number + 1] if number < last else (len(text), len(text))
    if left is None or right is None:
        return 0, 0
    spans = before.spans
    opening = before.text[spans[number - 1].end if number > 0 else 0 : spans[number].start]
    ending = before.text[
        spans[number].end : spans[number + 1].start if number < last else len(before.text)
    ]
    room = text[left[1] : right[0]]
    if not room.startswith(opening) or not room.endswith(ending):
        return 0, 0
    return left[1] + len(opening), right[0] - len(ending)

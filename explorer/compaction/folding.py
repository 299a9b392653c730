"""A conversation that is too long for one request, in windows that each fit (C6).

Windows end at message boundaries. One message that is larger than a window is cut between
characters, and its later pieces say that they go on. Sizes in tokens, by the estimate.
"""

from __future__ import annotations

from bisect import bisect_right

from explorer.compaction.serialize import Serialized, Span
from explorer.tokens.javascript import utf16_prefix, utf16_units

GOES_ON = "[The message before goes on:]\n"
"""Stands before a piece whose beginning was in the window before."""
SMALLEST_WINDOW = 64
"""Tokens of a conversation below which a window is not worth a request."""
_UNITS_PER_TOKEN = 4
_LINE_SEARCH = 0.75
"""A giant message is cut at the last line end behind this share of the window, if there is one."""


def take_window(conversation: Serialized, start: int, limit: int) -> tuple[Serialized, int]:
    """The window that begins at a character and takes at most ``limit`` tokens, and where the
    next one begins: at the end of the text when this is the last.

    At least a character of a message is taken, so that going on always ends. Of the text nothing
    is lost and nothing is twice; every stretch keeps the entry that it came from.
    """
    text, spans = conversation
    number = bisect_right(spans, start, key=lambda span: span.end)
    if number == len(spans):
        return Serialized(text[start:], []), len(text)
    start = max(start, spans[number].start)
    opening = GOES_ON if start > spans[number].start else ""
    room = limit * _UNITS_PER_TOKEN - len(opening)
    taken, at, last = 0, start, number
    while last < len(spans):
        units = utf16_units(text[at : spans[last].end])
        if taken + units > room:
            break
        taken, at, last = taken + units, spans[last].end, last + 1
    if last == number:
        end = _within(text[start : spans[number].end], room) + start
        last = number + (end == spans[number].end)
    else:
        end = at
    pieces = [Span(max(a, start), min(b, end), who) for a, b, who in spans[number : last + 1]]
    shift = len(opening) - start
    window = Serialized(
        opening + text[start:end],
        [Span(a + shift, b + shift, who) for a, b, who in pieces if a < b],
    )
    return window, spans[last].start if last < len(spans) and end <= spans[last].start else end


def _within(message: str, room: int) -> int:
    """Characters of a message that take at most ``room`` UTF-16 units; at the end of a line where
    one is near, and at least one."""
    piece = utf16_prefix(message, max(room, 1), keep_pairs=True)
    line = piece.rfind("\n", int(len(piece) * _LINE_SEARCH)) + 1
    return max(1, line or len(piece))


def windows_of(conversation: Serialized, limit: int) -> list[Serialized]:
    """All windows of a conversation, in order; see ``take_window``."""
    windows: list[Serialized] = []
    at = 0
    while at < len(conversation.text):
        window, at = take_window(conversation, at, limit)
        windows.append(window)
    return windows


def newest_within(conversation: Serialized, limit: int) -> Serialized:
    """The last messages that take at most ``limit`` tokens; of one that is larger its end."""
    text, spans = conversation
    room = limit * _UNITS_PER_TOKEN
    if utf16_units(text) <= room or not spans:
        return conversation
    at, number, units = len(text), len(spans), 0
    while number:
        units += utf16_units(text[spans[number - 1].start : at])
        if units > room:
            break
        number -= 1
        at = spans[number].start
    if number == len(spans):
        span = spans[-1]
        piece = text[max(span.start, span.end - max(1, room // 2)) : span.end]
        return Serialized(piece, [Span(0, len(piece), span.entry)])
    return Serialized(text[at:], [Span(a - at, b - at, who) for a, b, who in spans[number:]])

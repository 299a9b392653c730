"""The kinds of entries, and the flags that the columns of a session carry (A1, A2, A4)."""

from __future__ import annotations

import sys
from array import array
from enum import IntEnum, IntFlag


class Kind(IntEnum):
    """What an entry is: its type, and for message entries the role of the message."""

    UNKNOWN = 0
    USER = 1
    ASSISTANT = 2
    TOOL_RESULT = 3
    BASH_EXECUTION = 4
    CUSTOM_ROLE = 5
    """A message of role ``custom`` (older files: ``hookMessage``)."""
    SYSTEM = 6
    PYTHON_EXECUTION = 7
    FILE_MENTION = 8
    COMPACTION_SUMMARY_ROLE = 9
    """A message of role ``compactionSummary`` that was stored as a message."""
    BRANCH_SUMMARY_ROLE = 10
    OTHER_ROLE = 11
    CUSTOM_MESSAGE = 12
    BRANCH_SUMMARY = 13
    COMPACTION = 14
    CUSTOM = 15
    LABEL = 16
    SESSION_INFO = 17
    MODEL_CHANGE = 18
    THINKING_LEVEL_CHANGE = 19
    RESET_BOUNDARY = 20
    """oh-my-pi: the context starts anew after it."""
    CONTEXT_EDIT = 21


class Flag(IntFlag):
    """Facts about one entry that decisions and the map need without its payload."""

    NONE = 0
    ERROR = 1
    """A tool result with isError, or a reply with stopReason ``error``."""
    ABORTED = 2
    LENGTH_STOP = 4
    EXCLUDED = 8
    """A bash execution that the person kept out of the context."""
    EMPTY_SUMMARY = 16
    HAS_TEXT = 32
    HAS_THINKING = 64
    HAS_TOOL_CALL = 128
    HAS_IMAGE = 256
    FROM_EXTENSION = 512
    HIDDEN = 1024
    """A custom message with display false: sent to the model, not shown in the conversation."""
    LARGE = 2048
    """The payload is over 64 KB: views load it in pieces."""
    FOUND_NOTHING = 4096
    """A tool result that is empty, or says that nothing was found."""
    CREATED = 8192
    """A tool result that says that its file is new."""
    PRUNING = 16384
    """A tool result whose text its own agent replaced by a note in the file, or an entry that
    prunes (A13)."""
    PINNING = 32768
    """An entry that pins others, or pins them no longer."""
    INHERITED = 65536
    """An entry that its file repeats from the session that it was forked from: it counts there."""
    SYNTHETIC = 131072
    """A message in the user's place that nobody typed."""
    RECORDED = 262144
    """With ``PRUNING`` of a tool result: its record holds the text that its agent sends no more."""
    PLACEHOLDER = 524288
    """With ``ERROR`` of a reply: its program wrote it in a model's place, and nothing failed."""


MESSAGE_KINDS = frozenset(
    {
        Kind.USER,
        Kind.ASSISTANT,
        Kind.TOOL_RESULT,
        Kind.BASH_EXECUTION,
        Kind.CUSTOM_ROLE,
        Kind.SYSTEM,
        Kind.PYTHON_EXECUTION,
        Kind.FILE_MENTION,
        Kind.COMPACTION_SUMMARY_ROLE,
        Kind.BRANCH_SUMMARY_ROLE,
        Kind.OTHER_ROLE,
    }
)
"""Kinds whose entry type is ``message``."""

CONTEXT_KINDS = MESSAGE_KINDS | {Kind.CUSTOM_MESSAGE, Kind.BRANCH_SUMMARY}
"""Kinds that put a message into the rebuilt context (A5)."""

METADATA_KINDS = frozenset(Kind) - CONTEXT_KINDS - {Kind.COMPACTION}

TURN_START_KINDS = frozenset(
    {Kind.USER, Kind.BASH_EXECUTION, Kind.CUSTOM_MESSAGE, Kind.BRANCH_SUMMARY}
)
"""Kinds that start a turn (A18)."""


def selector(kinds: frozenset[Kind] | set[Kind]) -> bytes:
    """A table for ``bytes.translate`` that turns the given kinds into 1 and all others into 0."""
    return bytes(1 if value in kinds else 0 for value in range(256))


_TURN_STARTS = selector(TURN_START_KINDS)
_INSERTED_BYTE = 2
"""Which byte of the flags, the lowest first, holds ``SYNTHETIC``."""
_INSERTED_MARK = int(Flag.SYNTHETIC) >> 8 * _INSERTED_BYTE
_IS_INSERTED = bytes(1 if value & _INSERTED_MARK else 0 for value in range(256))


def inserted(flags: array[int]) -> bytes:
    """1 for every entry that a program put in the user's place, whole columns at a time."""
    width = flags.itemsize
    at = _INSERTED_BYTE if sys.byteorder == "little" else width - 1 - _INSERTED_BYTE
    return flags.tobytes()[at::width].translate(_IS_INSERTED)


def turn_starts(kinds: bytes | bytearray, flags: array[int]) -> bytes:
    """1 for every entry that begins a turn as people count them: with what somebody said, not
    with what a program put in the user's place. Where a cut may fall is another question (A18)."""
    rules, others = kinds.translate(_TURN_STARTS), inserted(flags)
    if not others.count(1):
        return bytes(rules)
    found = int.from_bytes(rules, "little") & ~int.from_bytes(others, "little")
    return found.to_bytes(len(rules), "little")

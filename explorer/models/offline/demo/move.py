"""What a piece of work consists of: moves with the tools that they want, and their results."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

_EXIT = re.compile(r"\b(?:exit(?:ed)?|exit code|status)\b\D{0,20}(\d+)", re.IGNORECASE)
_REFUSED = re.compile(
    r"\bnothing was done\b|\bdid not allow\b|\b(?:denied|refused|declined|not allowed)\b", re.I
)
_FAILED = re.compile(
    r"no such file|outside the workspace|not found|cannot|could not|must be|failed|does not exist"
    r"|is a folder|is not a folder|there is no tool|not run|timed out",
    re.I,
)


class Wanted(NamedTuple):
    """A tool that is to run."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """One reply: a thought, a text, and the tools that it wants to run beside each other."""

    thinking: str
    text: str
    wants: tuple[Wanted, ...] = ()


T = TypeVar("T")
Part: TypeAlias = Generator[Move, tuple[str, ...], T]
"""A part of a piece of work, with what it found out."""
Work: TypeAlias = Generator[Move, tuple[str, ...], str]
"""Yields moves, is sent their results in the order of the calls, returns what to say at the end."""


def exit_code(result: str) -> int:
    """The status that a command ended with, as its result tells it; 0 where it tells of none."""
    found = _EXIT.findall(result[-400:])
    return int(found[-1]) if found else 0


def was_refused(result: str) -> bool:
    """Whether the person, or the mode that tools run in, did not let it happen."""
    return len(result) < 2_000 and _REFUSED.search(result) is not None


def is_unread(result: str) -> bool:
    """Whether a result says, in its one line, that a file could not be read."""
    return "\n" not in result.strip() and did_fail(result)


def did_fail(result: str) -> bool:
    """Whether the result of a tool that changes a file says that it did not."""
    return was_refused(result) or (len(result) < 2_000 and _FAILED.search(result) is not None)

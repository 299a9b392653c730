"""What commands and searches printed, as an agent knows it: what was shown since, by whatever."""

from __future__ import annotations

import re

from msgspec import Struct

from explorer.session.late_pattern import late_pattern
from explorer.session.tool_actions import ToolAction

DIGITS = re.compile(r"\d+")
_SHAPED = late_pattern(
    r"""\s*(?:\d?>&\d|\d?>\s*/dev/null"""
    r"""|\|\s*(?:head|tail|[ef]?grep|rg|cat|tee|sed|awk|sort|uniq|wc|less)\b"""
    r"""(?:[^|;&<>'"]|\d?>&\d|'[^']*'|"[^"]*")*)\s*$"""
)
"""What only chooses of the output of a command, at its end."""
_LONGEST = 2_000
"""Characters of a command whose end is looked at."""
_SHARED_WORDS = 0.5
"""The share of its words that a command has in common with the one that solves it."""


class KnownOutput(Struct):
    """What was last seen of outputs."""

    lines: dict[int, int] = {}
    """By mark of a line: the last entry that shows it."""
    named: dict[str, int] = {}
    """By command, however its output was cut, or by error: where it was last met."""

    def learn(self, index: int, text: str, name: str) -> int:
        """Remember an output; the entry from which on all of it was shown before, -1 for none."""
        marks = _line_marks(text)
        shown = min((self.lines.get(mark, -1) for mark in marks), default=-1)
        last = self.named.get(_uncut(name), -1)
        self.lines.update(dict.fromkeys(marks, index))
        self.named[_uncut(name)] = index
        return max(shown, last)

    def show(self, index: int, text: str, name: str = "") -> None:
        """Know again what something shows of the outputs that are remembered."""
        if name:
            self.named[_uncut(name)] = index
        if self.lines:
            known = (mark for mark in _line_marks(text) if mark in self.lines)
            self.lines.update(dict.fromkeys(known, index))


class Failure(Struct):
    """A failure that was met."""

    entry: int
    action: ToolAction
    mark: int
    changes: int
    """How many changes of files there had been by then."""
    solved: bool = False

    def is_alike(self, other: ToolAction) -> bool:
        """Whether a command is the one that failed, or another way to the same."""
        if self.action.key == other.key:
            return True
        words, given = (frozenset(one.text.split()) for one in (self.action, other))
        return len(words & given) >= _SHARED_WORDS * max(len(words), len(given), 1)


def first_words(text: str) -> str:
    """The first line of a failure that says what it was."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    telling = (one for one in lines if not re.match(r"Exit code|\[", one))
    found = re.sub(r"</?tool_use_error>", "", next(telling, lines[0] if lines else ""))
    return found[:160]


def _uncut(command: str) -> str:
    """A command without what only chooses of its output."""
    while len(command) < _LONGEST and (cut := _SHAPED.search(command)):
        command = command[: cut.start()]
    return command


def _line_marks(text: str) -> list[int]:
    """Marks of the lines that tell something, alike for those that differ in numbers."""
    lines = DIGITS.sub("#", text).split("\n")
    return [hash(line.strip()) for line in lines if line.strip("# \t\r")]

"""One file as an agent knows it: what it was shown, and what its own edits made of it since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from explorer.session.tool_actions import ToolAction

_MOST_PLACES = 1_000
"""Places that one edit changes at once, at most, for it to be followed."""


class KnownFile(Struct):
    """What was last seen of one file."""

    path: str
    marks: dict[int, int] = {}
    """By line number: a mark of its text; empty after a change."""
    shown_at: dict[int, int] = {}
    """By line number: the entry that showed it."""
    text: str | None = None
    """All of the file as the agent knows it: as it was last read or written, with its own edits
    since; None where that is not known to the letter."""
    edited: int = -1
    """The last of these edits."""
    used: int = -1
    """The last entry at which the agent's own tools read, wrote or edited it; -1 for none."""
    changed: int = -1
    """The last one at which they wrote or edited it; -1 for none."""
    refused: str | None = None
    """What a refused edit would take out, until the file is read; None for no such edit."""

    def clear(self) -> None:
        """Forget what it holds."""
        self.marks.clear()
        self.text, self.edited = None, -1

    def lines_among(
        self, output: Sequence[Collection[int]], places: Mapping[int, Sequence[int]]
    ) -> set[int]:
        """The numbers of the lines that an output shows. ``output``: of each of its lines the
        marks that it may have; ``places``: by mark, where lines stand in it that tell something.

        Lines that tell nothing, such as empty ones, or that the file has several times, are shown
        where they stand beside another that is, as they do in the file."""
        times = Counter(self.marks.values())
        found: set[int] = set()
        for number, mark in self.marks.items():
            for place in places.get(mark, ()) if times[mark] == 1 else ():
                found.add(number)
                for step in (-1, 1):
                    line, at = number + step, place + step
                    while 0 <= at < len(output) and line not in found:
                        if self.marks.get(line) not in output[at]:
                            break
                        found.add(line)
                        line, at = line + step, at + step
        return found

    def apply(self, action: ToolAction, at: int) -> bool:
        """Put an edit (entry ``at``) into what is known. False where that is not all of the file,
        or where it does not tell to the letter what the edit made of it."""
        text = self.text
        if text is None:
            return False
        count = text.count("\n") + 1
        shown = [self.shown_at.get(number, at) for number in range(1, count + 1)]
        for old, new in action.parts or ((action.removed, action.added),):
            text = text and _put(text, old, new, action, shown, at)
        if not text:
            return False
        lines = text.split("\n")
        self.text, self.edited = text, at
        self.marks = dict(enumerate(map(hash, lines), 1))
        self.shown_at = dict(enumerate(shown, 1))
        return True

    def is_to_the_letter(
        self,
        lines: Sequence[str],
        before: Sequence[int | None],
        same: Sequence[bool],
        is_whole: bool,
    ) -> bool:
        """Whether a read shows what the agent's edits made of it, and all of it where the read is
        of the whole file; empty lines at the end, which not every tool shows, aside."""
        shown = len(lines)
        while shown and before[shown - 1] is None and not lines[shown - 1]:
            shown -= 1
        if not all(same[:shown]) or not shown:
            return False
        rest = (self.text or "").split("\n")[len(lines) :]
        return not is_whole or not any(rest)


def _put(
    text: str, old: str, new: str, action: ToolAction, shown: list[int], at: int
) -> str | None:
    """The text with ``new`` in the place of ``old``, and ``shown`` for its lines; None where that
    is not one place or what the edit allows."""
    if not old or not 1 <= text.count(old) <= (_MOST_PLACES if action.everywhere else 1):
        return None
    start = text.find(old)
    if action.parts and start and text[start - 1] != "\n":
        return None
    while start >= 0:
        line = text.count("\n", 0, start)
        shown[line : line + old.count("\n") + 1] = [at] * (new.count("\n") + 1)
        text = text[:start] + new + text[start + len(old) :]
        start = text.find(old, start + len(new)) if action.everywhere else -1
    return text

"""What an agent knows of the contents around it: one file, by what it was shown and what its own
edits made of it since, and what commands and searches printed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from msgspec import Struct

from explorer.session.entries import PutBack
from explorer.session.late_pattern import late_pattern
from explorer.session.shell_commands import FileLines
from explorer.session.tool_actions import ToolAction
from explorer.tokens.estimate import estimate_text

LEAST_LINES = 3
"""Lines with words that a read has in common with an earlier one at least."""
_MOST_PLACES = 1_000
"""Places that one edit changes at once, at most, for it to be followed."""
_MOST_ALIKE = 50
"""Lines of an output that are the same, at most, for one of them to be looked for."""
_MOST_UNTOLD = 16
"""Outputs that are remembered of a file until its lines in them are known."""


def is_telling(line: str) -> bool:
    """Whether a line has a letter or a digit."""
    return any(map(str.isalnum, line))


class UntoldLines(NamedTuple):
    """An output that shows lines of a file, which cannot be told from others there."""

    entry: int
    asked: FileLines | None
    """None: it only names the file."""
    lines: tuple[str, ...]
    """The lines of the output, or of the part of it in which they stand."""
    is_first: bool = False
    """The output begins with them."""

    def place(self, marks: Mapping[int, int]) -> range | None:
        """Where they stand, by lines of the file that are known: by number, a mark of each. None
        unless all that are known of what was asked for stand there, from the first one on, and
        enough of them tell something."""
        if self.asked is None or not marks:
            return None
        first, end = self.asked.first, max(marks)
        if marks[end] == hash(""):
            end -= 1  # Behind the last line break.
        last = min(self.asked.last or end, end)
        known = {number: mark for number, mark in marks.items() if first <= number <= last}
        if not known or (first not in known and not self.is_first):
            return None
        size = max(known) - first + 1
        for start in self._starts(known):
            shown = [self.lines[start + number - first] for number in known
                     if start + number - first < len(self.lines)]  # fmt: skip
            if [*map(hash, shown)] == [*known.values()]:
                is_enough = sum(map(is_telling, shown)) >= LEAST_LINES
                return range(start, start + size) if is_enough else None
        return None

    def _starts(self, known: Mapping[int, int]) -> Sequence[int]:
        """Where the first line that was asked for may stand."""
        if self.is_first or self.asked is None:
            return [0]
        times = Counter(map(hash, self.lines))
        rarest = min(known, key=lambda number: times[known[number]])
        if times[known[rarest]] > _MOST_ALIKE:
            return []
        places = (at for at, line in enumerate(self.lines) if hash(line) == known[rarest])
        return [start for at in places if (start := at - rarest + self.asked.first) >= 0]


class KnownFile(Struct):
    """What was last seen of one file."""

    path: str
    marks: dict[int, int] = {}
    """By line number: a mark of its text; empty after a change."""
    shown_at: dict[int, int] = {}
    """By line number: the entry that showed it."""
    lengths: dict[int, int] = {}
    """By line number: its characters."""
    text: str | None = None
    """All of the file as the agent knows it: as it was last read or written, with its own edits
    since; None where that is not known to the letter."""
    edited: int = -1
    """The last of these edits."""
    used: int = -1
    """The last entry at which the agent's own tools read, wrote or edited it; -1 for none."""
    changed: int = -1
    """The last one at which they wrote or edited it; -1 for none."""
    back: int = -1
    """The entry before which the agent's program may have put it back, unrecorded; -1 for none."""
    refused: str | None = None
    """What a refused edit would take out, until the file is read; None for no such edit."""
    untold: list[UntoldLines] = []
    """Outputs whose lines are known when the file is read again, in order."""

    def clear(self) -> None:
        """Forget what it holds."""
        self.marks.clear()
        self.lengths.clear()
        self.untold.clear()
        self.text, self.edited = None, -1

    @property
    def least_tokens(self) -> int:
        """So many tokens it has at least, by the estimate."""
        if self.text is not None:
            return estimate_text(self.text)
        return (sum(self.lengths.values()) + len(self.lengths)) // 4

    def show(self, at: int, numbers: Sequence[int], lines: Sequence[str]) -> None:
        """Know lines that an entry shows."""
        self.marks.update(zip(numbers, map(hash, lines), strict=True))
        self.lengths.update(zip(numbers, map(len, lines), strict=True))
        self.shown_at.update(dict.fromkeys(numbers, at))

    def remember(self, output: UntoldLines) -> None:
        """Keep an output until the file's lines in it are known. What only names the file is kept
        where there is something before it."""
        if output.asked is not None or self.untold:
            self.untold.append(output)
        if len(self.untold) > _MOST_UNTOLD:
            self.untold.clear()

    def learn_earlier(self, numbers: Sequence[int], lines: Sequence[str]) -> None:
        """Know what earlier outputs showed, by lines of the file that are read now."""
        marks = self.marks | dict(zip(numbers, map(hash, lines), strict=True))
        latest: dict[str, int] = {}
        # Whatever shows the same line since may show this one.
        for at, output in reversed([*enumerate(self.untold)]):
            place = output.place(marks)
            if place is not None and output.asked is not None:
                shown = output.lines[place.start :]
                self.untold[at] = output._replace(lines=shown, is_first=True)
                for number, line in enumerate(shown[: len(place)], output.asked.first):
                    if marks.get(number) == hash(line):
                        since = latest.get(line, -1) if is_telling(line) else -1
                        entry = max(output.entry, since, self.shown_at.get(number, -1))
                        self.marks[number], self.shown_at[number] = marks[number], entry
            for line in output.lines:
                latest.setdefault(line, output.entry)

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
        """Put an edit (entry ``at``) into what is known. False where that does not tell to the
        letter what the edit made of it."""
        text = self.text
        if text is None:
            return self._apply_to_lines(action, at)
        count = text.count("\n") + 1
        shown = [self.shown_at.get(number, at) for number in range(1, count + 1)]
        for old, new in action.parts or ((action.removed, action.added),):
            text = text and _put(text, old, new, action, shown, at)
        if not text:
            return False
        lines = text.split("\n")
        self.text, self.edited = text, at
        self.untold.clear()
        self.marks = dict(enumerate(map(hash, lines), 1))
        self.lengths = dict(enumerate(map(len, lines), 1))
        self.shown_at = dict(enumerate(shown, 1))
        return True

    def _apply_to_lines(self, action: ToolAction, at: int) -> bool:
        """The same where not all of the file is known: for an edit of whole lines that are, and
        that stand in the file once, as tools for edits demand."""
        old, new = action.removed.split("\n"), action.added.split("\n")
        if not old[-1] and (not new[-1] or not action.added):
            old, new = old[:-1], new[:-1]
        if not any(old) or action.parts or action.everywhere:
            return False
        wanted = [*map(hash, old)]
        starts = [first for first, mark in self.marks.items() if mark == wanted[0] and all(
            self.marks.get(number) == one for number, one in enumerate(wanted, first)
        )]  # fmt: skip
        if len(starts) != 1:
            return False
        first, stop = starts[0], starts[0] + len(old)

        def moved(known: dict[int, int], values: Iterable[int]) -> dict[int, int]:
            by = len(new) - len(old)
            kept = {number + by * (number >= stop): value for number, value in known.items()
                    if not first <= number < stop}  # fmt: skip
            return kept | dict(enumerate(values, first))

        self.marks = moved(self.marks, map(hash, new))
        self.lengths = moved(self.lengths, map(len, new))
        self.shown_at = moved(self.shown_at, [at] * len(new))
        self.edited = at
        self.untold.clear()
        return True

    def is_to_the_letter(
        self,
        lines: Sequence[str],
        before: Sequence[int | None],
        same: Sequence[bool],
        is_whole: bool,
    ) -> bool:
        """Whether a read shows what the agent's edits made of it, and all of it where the read is
        of the whole file; empty lines at the end, which not every tool shows, aside. Where only
        some lines are known: whether these are the same."""
        if self.text is None:
            return sum(same) == len(before) - before.count(None)
        shown = len(lines)
        while shown and before[shown - 1] is None and not lines[shown - 1]:
            shown -= 1
        if not all(same[:shown]) or not shown:
            return False
        rest = (self.text or "").split("\n")[len(lines) :]
        return not is_whole or not any(rest)


def put_back(files: Iterable[KnownFile], back: PutBack, at: int) -> None:
    """Count files that the agent's program may have put back after a compaction as shown before
    entry ``at``. Which order it goes by is not certain: the last ones used, or changed."""
    known = list(files)
    used = nlargest(back.files, (one for one in known if one.used >= 0), key=lambda one: one.used)
    changed = (one for one in known if one.changed >= 0)
    for one in (*used, *nlargest(back.files, changed, key=lambda one: one.changed)):
        if one.least_tokens <= back.tokens:
            one.back = at


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


def shows_whole(action: ToolAction | FileLines, numbers: Sequence[int]) -> bool:
    """Whether a read shows a file from its first line on without a gap, and asked for no fewer
    lines than there are. That the tool left out the end is told when it is read again."""
    is_all = len(numbers) > 0 and numbers[0] == 1 and numbers[-1] == len(numbers)
    return is_all and action.first == 1 and (not action.last or len(numbers) < action.last)


def line_difference(removed: str, added: str) -> tuple[str, str]:
    """The lines that only one of two texts has."""
    old, new = ([line.strip() for line in text.split("\n")] for text in (removed, added))
    return (
        "\n".join(line for line in old if line and line not in new),
        "\n".join(line for line in new if line and line not in old),
    )


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

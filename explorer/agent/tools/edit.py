"""The tools ``write`` and ``edit``: where the old text stands, what would change, and then, when
that is allowed, the change.

A text is found exactly, or but for invisible differences; else the passage most like it is named.
Nothing is written in the first step, and in the second only when the file still is what it was in
the first.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from explorer.agent.tools.content import (
    NEW_FILE,
    TextFile,
    decode,
    displayable,
    is_text,
    split_lines,
)
from explorer.agent.tools.port import (
    Arguments,
    ToolContext,
    ToolError,
    ToolOutcome,
    content_of,
    path_of,
)
from explorer.agent.workspace import mark_of, read_whole, replace_whole
from explorer.session.text_difference import FileDiff, file_diff

Tolerance = Literal["", "line ends", "white space at line ends", "quotes, dashes and spaces"]
"""What was looked past to find a text; empty when it stands there exactly."""

_TOLERANCES: tuple[Tolerance, ...] = (
    "line ends", "white space at line ends", "quotes, dashes and spaces",
)  # fmt: skip
_SAME = {
    "'": "\u2018\u2019\u201a\u201b\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
}
_PLAIN_SIGNS = str.maketrans({sign: plain for plain, signs in _SAME.items() for sign in signs})
"""One character for one, so that places in a line stay what they are."""
MOST_PLACES = 20
"""Places listed for a text that occurs several times."""


class PassageSpan(Struct, frozen=True):
    """A piece of a text, and what was looked past to find it."""

    start: int
    end: int
    tolerance: Tolerance = ""


class FoundPassages(Struct, frozen=True):
    """Every place that a text stands in; the first tolerance that finds any decides."""

    spans: tuple[PassageSpan, ...]

    @property
    def only(self) -> PassageSpan | None:
        """The only occurrence; None where there are none or several."""
        return self.spans[0] if len(self.spans) == 1 else None


def places_of(text: str, wanted: str) -> FoundPassages:
    """Where ``wanted``, which is not empty, stands in ``text``."""
    exact = tuple(PassageSpan(at, at + len(wanted)) for at in _starts(text, wanted))
    if exact:
        return FoundPassages(exact)
    for tolerance in _TOLERANCES:
        places = _Lines(text, tolerance).places(wanted)
        if places:
            return FoundPassages(places)
    return FoundPassages(())


def line_at(text: str, position: int) -> int:
    """The number of the line that a position is on, counted from 1."""
    return text.count("\n", 0, position) + 1


def plain_line(line: str) -> str:
    """A line as the widest tolerance sees it."""
    return line.translate(_PLAIN_SIGNS).rstrip()


def _starts(text: str, wanted: str) -> list[int]:
    """Up to one more place than is listed, overlapping ones too."""
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(found) <= MOST_PLACES:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


class _Lines:
    """A text line by line as a tolerance sees it, with the way back to what stands there."""

    def __init__(self, text: str, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._raw = re.split(r"(?<=\n)", text) if text else [""]
        self._seen = [self._look(line) for line in self._raw]
        self._raw_starts = [0, *accumulate(len(line) for line in self._raw)]
        self._starts = [0, *accumulate(len(line) + 1 for line in self._seen)]

    def _look(self, line: str) -> str:
        line = line.removesuffix("\n")
        if self._tolerance == "line ends":
            return line.removesuffix("\r")
        if self._tolerance == "quotes, dashes and spaces":
            line = line.translate(_PLAIN_SIGNS)
        return line.rstrip()

    def places(self, wanted: str) -> tuple[PassageSpan, ...]:
        seen = "\n".join(self._look(line) for line in wanted.split("\n"))
        if not seen.strip():
            return ()
        joined = "\n".join(self._seen)
        return tuple(
            PassageSpan(self._back(at), self._back(at + len(seen), end=True), self._tolerance)
            for at in _starts(joined, seen)
        )

    def _back(self, position: int, end: bool = False) -> int:
        """The place in the text. An end at the end of a line takes the white space after it
        along, and not the line end."""
        line = min(bisect_right(self._starts, position) - 1, len(self._raw) - 1)
        column = position - self._starts[line]
        if end and column == len(self._seen[line]) and column:
            ending = "\r\n" if self._raw[line].endswith("\r\n") else "\n"
            return self._raw_starts[line] + len(self._raw[line].removesuffix(ending))
        return self._raw_starts[line] + column


_ALIKE = 0.6
"""From 0 to 1: how alike a line must be to be taken for the one that was meant."""
_MOST_COMPARED = 20_000
"""Lines that are compared letter by letter."""
_MOST_SHOWN = 30
_LONGEST = 300
_COMPARED = 199
"""Characters of a line that are compared; from 200 on ``difflib`` ignores frequent ones."""


def nearest_passage(text: str, wanted: str) -> str:
    """What stands there instead, with line numbers, and what differs; empty for nothing alike."""
    rows = [row.removesuffix("\r") for row in split_lines(text)]
    meant = [row.removesuffix("\r") for row in split_lines(wanted)]
    while meant and not meant[0].strip():
        meant = meant[1:]
    while meant and not meant[-1].strip():
        meant.pop()
    if not rows or not meant:
        return ""
    start = _same_lines(rows, meant)
    if start is None:
        start = _alike_line(rows, meant)
    if start is None:
        return ""
    start = max(0, min(start, len(rows) - 1))
    there = rows[start : start + len(meant)]
    return f"{_passage(there, start)}\n{_differences(there, meant, start)}"


def _same_lines(rows: list[str], meant: list[str]) -> int | None:
    """Where the most lines stand that are the same but for what is around them."""
    where: dict[str, list[int]] = {}
    for number, row in enumerate(meant):
        if len(row.strip()) > 2:
            where.setdefault(plain_line(row).strip(), []).append(number)
    votes: Counter[int] = Counter()
    for at, row in enumerate(rows):
        for number in where.get(plain_line(row).strip(), ()):
            votes[at - number] += 1
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _alike_line(rows: list[str], meant: list[str]) -> int | None:
    """Where a line stands that is like the longest one."""
    number, longest = max(enumerate(meant), key=lambda item: len(item[1].strip()))
    compared = [row.strip()[:_COMPARED] for row in rows[:_MOST_COMPARED]]
    alike = get_close_matches(longest.strip()[:_COMPARED], compared, n=1, cutoff=_ALIKE)
    return compared.index(alike[0]) - number if alike else None


def _passage(there: list[str], start: int) -> str:
    shown = [f"{start + at + 1}: {row[:_LONGEST]}" for at, row in enumerate(there[:_MOST_SHOWN])]
    if len(there) > _MOST_SHOWN:
        shown.append(f"... {len(there) - _MOST_SHOWN} more lines")
    return "\n".join(shown)


def _differences(there: list[str], meant: list[str], start: int) -> str:
    """Up to three lines that differ, in words and side by side."""
    differences: list[str] = []
    for at, row in enumerate(meant):
        stands = there[at] if at < len(there) else None
        if stands is None:
            differences.append(f"The file ends before your line {at + 1}.")
            break
        if plain_line(stands) == plain_line(row):
            continue
        if len(differences) == 3:
            differences.append("More lines differ.")
            break
        differences.append(
            f"Line {start + at + 1} {_how(stands, row)}: there is {stands[:_LONGEST]!r},"
            f" you have {row[:_LONGEST]!r}."
        )
    return "\n".join(differences)


def _how(stands: str, row: str) -> str:
    if stands.strip() == row.strip():
        tabs = ("\t" in stands) != ("\t" in row)
        return "is indented otherwise" + (", by tabs and spaces" if tabs else "")
    if "".join(stands.split()) == "".join(row.split()):
        return "is spaced otherwise"
    if stands.lower() == row.lower():
        return "differs in upper and lower case"
    return "differs"


class PlannedChange(Struct, frozen=True):
    """What a call would do to a file."""

    kind: Literal["write", "edit"]
    path: Path
    name: str
    before: str | None
    """The mark of what is there now; None where nothing is."""
    data: bytes
    diff: FileDiff
    report: str
    """What the model is report when it is done."""

    @property
    def is_new(self) -> bool:
        """Whether the file is not there yet."""
        return self.before is None


class _Replacement(Struct, frozen=True):
    old: str
    new: str


def plan_write(context: ToolContext, arguments: Arguments) -> PlannedChange:
    """What ``write`` would do. Raises ToolError, WorkspaceError and OSError."""
    content = content_of(arguments, "content")
    path, name = _target(context, arguments)
    current = read_whole(context.workspace, path)
    if current is None:
        data = NEW_FILE.encoded(content)
        count = len(split_lines(content))
        lines = "1 line" if count == 1 else f"{count:,} lines"
        report = f"Created file {name}: {lines}, {len(data):,} bytes."
        return PlannedChange(
            "write", path, name, None, data, file_diff(name, None, displayable(content)), report
        )
    if context.seen.changed(path, current.mark):
        raise ToolError(
            f"{name} was changed on disk since you read it, by someone else or by a command."
            " Nothing was written; read it again first."
        )
    if not is_text(current.data):
        raise ToolError(f"{name} is there already and not a text file; nothing was written")
    file = decode(current.data)
    text = file.with_line_ends(content.removeprefix("\ufeff"))
    data, diff = file.encoded(text), file_diff(name, displayable(file.text), displayable(text))
    if data == current.data:
        raise ToolError(f"{name} holds exactly that already; nothing was written")
    added = "1 line" if diff.added == 1 else f"{diff.added:,} lines"
    report = f"Updated {name}: {added} added, {diff.removed:,} removed."
    return PlannedChange("write", path, name, current.mark, data, diff, report)


def plan_edit(context: ToolContext, arguments: Arguments) -> PlannedChange:
    """What ``edit`` would do. Raises ToolError, WorkspaceError and OSError."""
    replacements = _replacements(arguments)
    path, name = _target(context, arguments)
    current = read_whole(context.workspace, path)
    if current is None:
        raise ToolError(f"{name}: no such file; use write to make it")
    if not is_text(current.data):
        raise ToolError(f"{name} is not a text file")
    file = decode(current.data)
    changed = context.seen.changed(path, current.mark)
    spans = [
        _find_passage(file.text, one, name, _ordinal(number, replacements), changed)
        for number, one in enumerate(replacements)
    ]
    text = _replaced(file, replacements, spans, name)
    data, diff = file.encoded(text), file_diff(name, displayable(file.text), displayable(text))
    if data == current.data:
        raise ToolError(f"nothing changes in {name}: the new text is what stands there already")
    report = f"Edited {name}: {len(spans)} passage{'s' * (len(spans) > 1)} replaced."
    past = sorted({span.tolerance for span in spans if span.tolerance})
    if past:
        report += f" To find the old text, differences in {' and '.join(past)} were looked past."
    if changed:
        report += (
            " The file was changed on disk since you read it, by someone else or by a command;"
            " your edit was made to it as it is now. Read it again before you rely on the rest."
        )
    return PlannedChange("edit", path, name, current.mark, data, diff, report)


def apply_change(context: ToolContext, change: PlannedChange) -> ToolOutcome:
    """Do it. Raises WorkspaceError when the file is not what it was any more, and OSError."""
    replace_whole(context.workspace, change.path, change.data, change.before)
    context.seen.keep(change.path, mark_of(change.data))
    details: dict[str, Any] = {}
    if change.kind == "edit" or not change.is_new:
        details = {"diff": change.diff.numbered, "patch": change.diff.unified}
        if change.diff.first_line is not None:
            details["firstChangedLine"] = change.diff.first_line
    return ToolOutcome(change.report, details=details)


def _target(context: ToolContext, arguments: Arguments) -> tuple[Path, str]:
    path = context.workspace.target(path_of(arguments))
    name = context.workspace.shown(path)
    if path.is_dir():
        raise ToolError(f"{name} is a folder")
    return path, name


def _replacements(arguments: Arguments) -> list[_Replacement]:
    """Both forms that pi knows: ``edits``, and one pair of texts beside the path."""
    given: Any = arguments.get("edits")
    if isinstance(given, str):
        # Some models send the list as a text.
        try:
            given = json.loads(given)
        except ValueError as error:
            raise ToolError(f"the argument 'edits' is not a list: {error}") from error
    if isinstance(given, Mapping):
        given = [given]
    pairs = list(given) if isinstance(given, list) else []
    if "oldText" in arguments or "newText" in arguments:
        pairs.append(arguments)
    if not pairs:
        raise ToolError("the argument 'edits' must be a list of {oldText, newText}")
    found = []
    for number, pair in enumerate(pairs):
        where = f"edits[{number}]" if given else "the call"
        if not isinstance(pair, Mapping):
            raise ToolError(f"{where} must be an object with oldText and newText")
        old, new = pair.get("oldText"), pair.get("newText")
        if not isinstance(old, str) or not isinstance(new, str):
            raise ToolError(f"{where} must have the texts oldText and newText")
        if not old:
            raise ToolError(f"oldText of {where} is empty; use write to make a file")
        found.append(_Replacement(old, new))
    return found


def _ordinal(number: int, replacements: list[_Replacement]) -> str:
    return f"edits[{number}]: " if len(replacements) > 1 else ""


def _find_passage(
    text: str, wanted: _Replacement, name: str, which: str, changed: bool
) -> PassageSpan:
    """The only occurrence of an old text. Raises ToolError that says why there is none."""
    places = places_of(text, wanted.old)
    span = places.only
    if span is not None and not (changed and span.tolerance):
        return span
    again = ""
    if changed:
        again = " The file was changed on disk since you read it; read it again."
    if places.spans and span is None:
        lines = [str(line_at(text, one.start)) for one in places.spans]
        more = "more than " if len(lines) > MOST_PLACES else ""
        listed = ", ".join(lines[:MOST_PLACES])
        raise ToolError(
            f"{which}oldText stands in {more}{min(len(lines), MOST_PLACES)} places of {name},"
            f" at lines {listed}. Nothing was changed; add lines around it so that it stands in"
            f" one place only.{again}"
        )
    if span is not None:
        raise ToolError(f"{which}oldText does not stand exactly in {name}.{again}")
    passage = nearest_passage(text, wanted.old)
    if not passage:
        raise ToolError(
            f"{which}oldText was not found in {name}, nor anything like it. Nothing was"
            f" changed.{again or ' Read the file again.'}"
        )
    raise ToolError(
        f"{which}oldText was not found in {name}. Nothing was changed.{again} The nearest"
        f" passage:\n{passage}"
    )


def _replaced(
    file: TextFile, replacements: list[_Replacement], spans: list[PassageSpan], name: str
) -> str:
    order = sorted(range(len(spans)), key=lambda number: spans[number].start)
    parts: list[str] = []
    at = 0
    for place, number in enumerate(order):
        span = spans[number]
        if span.start < at:
            raise ToolError(
                f"edits[{order[place - 1]}] and edits[{number}] meet in {name} at line"
                f" {line_at(file.text, span.start)}. Nothing was changed; make one edit of them."
            )
        parts += [file.text[at : span.start], file.with_line_ends(replacements[number].new)]
        at = span.end
    parts.append(file.text[at:])
    return "".join(parts)

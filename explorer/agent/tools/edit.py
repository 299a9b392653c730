"""The tools ``write`` and ``edit``: what would change, and then, when that is allowed, the change.

Nothing is written in the first step, and in the second only when the file still is what it was in
the first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from explorer.agent.confined_files import mark_of, read_whole, replace_whole
from explorer.agent.tools.context import ToolContext
from explorer.agent.tools.file_content import NEW_FILE, TextFile, decode, displayable, is_text
from explorer.agent.tools.passages import (
    MOST_PLACES,
    PassageSpan,
    line_at,
    nearest_passage,
    places_of,
)
from explorer.agent.tools.port import Arguments, ToolError, ToolOutcome, content_of, path_of
from explorer.agent.tools.truncation import split_lines
from explorer.session.text_difference import FileDiff, file_diff


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

"""The tool ``grep``: lines of files that a pattern is found in."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import regex

from explorer.agent.inside import opened
from explorer.agent.tools.arguments import Arguments, ToolError, number_of, text_of, yes_or_no
from explorer.agent.tools.desk import Desk, Job
from explorer.agent.tools.globs import Glob, glob_of
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.tools.results import listed
from explorer.agent.tools.textfile import is_text
from explorer.agent.walking import Walk
from explorer.agent.workspace import WorkspaceError

MOST_HITS = 100
LONGEST_LINE = 500
"""Characters of a line that are shown."""
_LARGEST_FILE = 64 * 1024 * 1024
_PATIENCE_S = 1.0
"""Seconds of work for one line, so that no pattern can keep a thread busy for ever."""
_MOST_S = 60.0
"""Seconds for a search."""


class _Search:
    """One search while it goes through files."""

    def __init__(self, desk: Desk, arguments: Arguments, job: Job) -> None:
        self._desk = desk
        self._job = job
        self._until = time.monotonic() + _MOST_S
        self._pattern = text_of(arguments, "pattern")
        self._expression = _compiled(
            self._pattern, yes_or_no(arguments, "literal"), yes_or_no(arguments, "ignoreCase")
        )
        self._around = number_of(arguments, "context", 0, least=0)
        self.most = number_of(arguments, "limit", MOST_HITS)
        self.lines: list[str] = []
        self.hits = 0
        self.shortened = False
        self.skipped: list[str] = []

    @property
    def full(self) -> bool:
        """One hit more than is wanted was seen, and is not among the lines."""
        return self.hits > self.most

    @property
    def late(self) -> bool:
        """It has taken too long."""
        return time.monotonic() > self._until

    @property
    def over(self) -> bool:
        """Nothing more is to be looked for."""
        return self.full or self.late or self._job.cancel.cancelled

    def look_into(self, path: Path) -> None:
        """Add the hits of one file; one that cannot be read or is no text has none."""
        data = self._data(path)
        if data is None or not is_text(data):
            return
        rows = data.decode("utf-8", "replace").split("\n")
        if not rows[-1]:
            rows.pop()
        found: list[int] = []
        for number, row in enumerate(rows):
            if self._met(row.removesuffix("\r")):
                self.hits += 1
                if not self.full:
                    found.append(number)
            if self.over:
                break
        self._show(self._desk.workspace.shown(path), rows, found)

    def _data(self, path: Path) -> bytes | None:
        shown = self._desk.workspace.shown(path)
        try:
            with opened(self._desk.workspace, path) as descriptor:
                if os.fstat(descriptor).st_size > _LARGEST_FILE:
                    self.skipped.append(f"{shown} is too large")
                    return None
                with os.fdopen(os.dup(descriptor), "rb") as file:
                    return file.read()
        except WorkspaceError as error:
            self.skipped.append(str(error))
        except OSError as error:
            self.skipped.append(f"{shown}: {error.strerror}")
        return None

    def _met(self, row: str) -> bool:
        try:
            return self._expression.search(row, timeout=_PATIENCE_S, concurrent=True) is not None
        except TimeoutError as error:
            raise ToolError(
                f"the pattern {self._pattern!r} takes too long on some lines; make it simpler"
            ) from error

    def _show(self, name: str, rows: list[str], found: list[int]) -> None:
        hits, shown_to = set(found), -1
        for number in found:
            first = max(number - self._around, shown_to + 1, 0)
            if self._around and shown_to >= 0 and first > shown_to + 1:
                self.lines.append("--")
            for at in range(first, min(number + self._around + 1, len(rows))):
                mark = ":" if at in hits else "-"
                self.lines.append(f"{name}{mark}{at + 1}{mark} {self._short(rows[at])}")
                shown_to = at
        if found and self._around:
            self.lines.append("--")

    def _short(self, row: str) -> str:
        row = row.removesuffix("\r")
        if len(row) <= LONGEST_LINE:
            return row
        self.shortened = True
        met = self._expression.search(row, timeout=_PATIENCE_S, concurrent=True)
        start = max(0, met.start() - LONGEST_LINE // 2) if met else 0
        part = row[start : start + LONGEST_LINE]
        return f"{'…' if start else ''}{part}{'…' if start + LONGEST_LINE < len(row) else ''}"


def grep(desk: Desk, arguments: Arguments, job: Job) -> ToolOutcome:
    """Search files. Raises ToolError, WorkspaceError and OSError."""
    search = _Search(desk, arguments, job)
    start = desk.workspace.resolve(text_of(arguments, "path", "."))
    pattern = text_of(arguments, "glob", "")
    glob: Glob | None = glob_of(pattern) if pattern else None
    base = start if start.is_dir() else start.parent
    walk = Walk(desk.workspace.root, start, lambda: search.over)
    for path in walk.files():
        if search.over:
            break
        name = path.relative_to(base).as_posix()
        if glob is None or glob.matches(name) or glob.matches(desk.workspace.shown(path)):
            search.look_into(path)
    return _told(desk, job, search, walk.cut)


def _told(desk: Desk, job: Job, search: _Search, cut: bool) -> ToolOutcome:
    lines = search.lines[:-1] if search.lines[-1:] == ["--"] else search.lines
    notes: list[str] = []
    details: dict[str, Any] = {}
    if search.full:
        details["matchLimitReached"] = search.most
        notes.append(f"stopped at {search.most:,} hits; ask with a higher limit or narrow it")
    if search.shortened:
        details["linesTruncated"] = True
        notes.append(f"long lines are shown around the hit, {LONGEST_LINE} characters of each")
    if search.skipped:
        more = f" and {len(search.skipped) - 3} more" if len(search.skipped) > 3 else ""
        notes.append(f"not searched: {', '.join(search.skipped[:3])}{more}")
    if cut:
        notes.append("the folder holds too many files to look at them all; name a path below it")
    if search.late:
        notes.append(f"ended after {_MOST_S:.0f} seconds; name a path or make it simpler")
    if job.cancel.cancelled:
        notes.append("stopped by the person")
    if not lines:
        return ToolOutcome("\n".join(["No matches found.", *(f"[{note}]" for note in notes)]))
    return listed(desk, job, lines, notes, details)


def _compiled(pattern: str, literal: bool, ignore_case: bool) -> Any:
    flags = regex.IGNORECASE if ignore_case else 0
    try:
        return regex.compile(regex.escape(pattern) if literal else pattern, flags)
    except (regex.error, RecursionError) as error:
        raise ToolError(f"the pattern {pattern!r} is not valid: {error}") from error

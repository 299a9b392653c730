"""The tools that only look: ``read`` gives a passage of a text file, or a picture; ``ls``, ``find``
and ``grep`` names in a folder, files by name, lines by pattern; and globs as they and allowed
patterns take them, on ``wcmatch``: ``*`` and ``?`` stay in one folder, ``**`` does not.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import regex
from msgspec import Struct
from wcmatch import glob
from wcmatch._wcparse import PatternLimitException  # it has no public name

from explorer.agent.tools.content import (
    BOM,
    LARGEST_IMAGE,
    MOST_BYTES,
    MOST_LINES,
    SNIFFED,
    Truncated,
    head,
    is_text,
    list_outcome,
    picture,
    picture_type,
)
from explorer.agent.tools.port import (
    Arguments,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolRun,
    flag_of,
    number_of,
    path_of,
    text_of,
)
from explorer.agent.workspace import Walk, WorkspaceError, opened

_BLOCK = 1 << 20


class _Passage(Struct):
    """Lines of a file from ``first`` on, and how many it has in all."""

    first: int
    most: int
    data: bytearray
    lines: int = 0
    ends_open: bool = False
    mark: str = ""

    @property
    def text(self) -> str:
        """The lines, without carriage returns at their ends."""
        rows = self.data.decode("utf-8", "replace").split("\n")
        if rows and not rows[-1]:
            rows.pop()
        return "\n".join(row.removesuffix("\r") for row in rows[: self.most])


def read(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """Read a file. Raises ToolError, WorkspaceError and OSError."""
    path = context.workspace.readable(path_of(arguments))
    name = context.workspace.shown(path)
    if path.is_dir():
        raise ToolError(f"{name} is a folder; use ls")
    with opened(context.workspace, path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        start = file.read(SNIFFED)
        file.seek(0)
        if kind := picture_type(start):
            data = file.read(LARGEST_IMAGE + 1)
            size = os.fstat(descriptor).st_size
            image = picture(name, kind, data)
            return ToolOutcome(f"{name}: {kind}, {size:,} bytes.", images=(image,))
        if not is_text(start):
            size = os.fstat(descriptor).st_size
            raise ToolError(f"{name} is not a text file ({size:,} bytes)")
        first = number_of(arguments, "offset", 1)
        wanted = number_of(arguments, "limit", MOST_LINES)
        passage = _passage(file, first, min(wanted, MOST_LINES), job)
    context.seen.keep(path, passage.mark)
    return _outcome(passage, name)


def _passage(file: BinaryIO, first: int, most: int, job: ToolRun) -> _Passage:
    """Read to the end, in blocks, and keep what is wanted."""
    passage = _Passage(first, most, bytearray())
    digest, ended, begun = sha256(), 0, first == 1
    while block := file.read(_BLOCK):
        if job.cancel.cancelled:
            raise ToolError("stopped by the person")
        digest.update(block)
        if passage.ends_open is False and ended == 0 and not passage.data and first == 1:
            block = block.removeprefix(BOM)
        if begun:
            _append(passage, block)
        elif ended + block.count(b"\n") >= first - 1:
            at = -1
            for _ in range(first - 1 - ended):
                at = block.index(b"\n", at + 1)
            begun = True
            _append(passage, block[at + 1 :])
        ended += block.count(b"\n")
        passage.ends_open = not block.endswith(b"\n")
    passage.lines = ended + passage.ends_open
    passage.mark = digest.hexdigest()
    if first > max(1, passage.lines):
        raise ToolError(f"line {first} is past the end ({passage.lines} lines)")
    return passage


def _append(passage: _Passage, block: bytes) -> None:
    """Keep a little more than a result may hold, so that cutting it is seen."""
    room = 2 * MOST_BYTES - len(passage.data)
    if room > 0:
        passage.data += block[:room]


def _outcome(passage: _Passage, name: str) -> ToolOutcome:
    if not passage.lines:
        return ToolOutcome(f"{name} is empty.")
    cut = head(passage.text)
    last = passage.first + cut.lines - 1
    details: dict[str, Any] = {}
    if cut.by is not None:
        details["truncation"] = cut.details() | {"totalLines": passage.lines}
    if cut.partial:
        return ToolOutcome(_one_long_line(passage, cut), details=details)
    if last >= passage.lines:
        return ToolOutcome(cut.text, details=details)
    note = f"[Lines {passage.first}-{last} of {passage.lines:,}. Go on with offset={last + 1}.]"
    if cut.by is None and cut.lines == MOST_LINES:
        details["truncation"] = {
            **cut.details(), "truncated": True, "truncatedBy": "lines",
            "totalLines": passage.lines,
        }  # fmt: skip
    return ToolOutcome(f"{cut.text}\n\n{note}", details=details)


def _one_long_line(passage: _Passage, cut: Truncated) -> str:
    more = "" if passage.first >= passage.lines else f" Go on with offset={passage.first + 1}."
    return (
        f"{cut.text}\n\n[Line {passage.first} of {passage.lines:,} is longer than {MOST_BYTES:,}"
        f" bytes; only its beginning is shown. Use grep to find what matters in it.{more}]"
    )


_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX
_TIMEOUT_S = 0.5
"""Seconds for one name, so that no pattern can keep a thread busy; ``re`` has no time limit, so the
expression is compiled by ``regex``."""


class Glob(Struct, frozen=True):
    """A parsed glob."""

    pattern: str
    by_name: bool
    """It holds no slash and is matched by the last part of a path, in any folder."""
    _expression: Any

    def matches(self, path: str) -> bool:
        """Whether a path with forward slashes, relative to where is searched, matches. Raises
        ToolError for a pattern that takes too long."""
        name = path.rsplit("/", 1)[-1] if self.by_name else path
        try:
            return self._expression.fullmatch(name, timeout=_TIMEOUT_S) is not None
        except TimeoutError as error:
            raise ToolError(f"the pattern {self.pattern!r} takes too long to match") from error


@lru_cache(maxsize=256)
def glob_of(pattern: str) -> Glob:
    """Parse a glob: ``*``, ``?``, ``**``, ``[a-z]``, ``{one,two}``. Raises ToolError."""
    plain = pattern.removeprefix("./").removeprefix("/")
    try:
        alternatives, _ = glob.translate(plain, flags=_FLAGS)
        expression = regex.compile("|".join(alternatives))
    except (PatternLimitException, regex.error, RecursionError) as error:
        raise ToolError(f"the pattern {pattern!r} is not valid: {error}") from error
    return Glob(pattern, "/" not in plain, expression)


MOST_NAMES = 500
MOST_FILES_FOUND = 1_000


def ls(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """List a folder. Raises ToolError, WorkspaceError and OSError."""
    folder = context.workspace.resolve(text_of(arguments, "path", "."))
    if not folder.is_dir():
        raise ToolError(f"{context.workspace.shown(folder)} is not a folder")
    most = number_of(arguments, "limit", MOST_NAMES)
    names = sorted(
        (item.name + ("/" if item.is_dir() else "") for item in folder.iterdir()),
        key=lambda name: (name.lower(), name),
    )
    if not names:
        return ToolOutcome("(empty folder)")
    left = len(names) - most
    notes = [f"{left:,} more names; ask with limit={len(names)} for all"] if left > 0 else []
    details: dict[str, Any] = {"entryLimitReached": most} if left > 0 else {}
    return list_outcome(context, job, names[:most], notes, details)


def find(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """Find files by a glob. Raises ToolError, WorkspaceError and OSError."""
    glob = glob_of(text_of(arguments, "pattern"))
    start = context.workspace.resolve(text_of(arguments, "path", "."))
    most = number_of(arguments, "limit", MOST_FILES_FOUND)
    walk = Walk(context.workspace.root, start, lambda: job.cancel.cancelled)
    base = start if start.is_dir() else start.parent
    names: list[str] = []
    notes: list[str] = []
    details: dict[str, Any] = {}
    for path in walk.files():
        shown = context.workspace.shown(path)
        # A pattern is matched from the folder that is searched, or from the workspace.
        if not (glob.matches(path.relative_to(base).as_posix()) or glob.matches(shown)):
            continue
        if len(names) == most:
            details["resultLimitReached"] = most
            notes.append(f"stopped at {most:,} files; ask with a higher limit or narrow it")
            break
        names.append(shown)
    if walk.cut:
        notes.append("the folder holds too many files to look at them all; name a path below it")
    if not names:
        return ToolOutcome("\n".join(["No files found.", *(f"[{note}]" for note in notes)]))
    return list_outcome(context, job, names, notes, details)


MOST_HITS = 100
LONGEST_LINE = 500
"""Characters of a line that are shown."""
_LARGEST_FILE = 64 * 1024 * 1024
_MATCH_TIMEOUT_S = 1.0
"""Seconds of work for one line, so that no pattern can keep a thread busy for ever."""
_MOST_S = 60.0
"""Seconds for a search."""


class _Search:
    """One search while it goes through files."""

    def __init__(self, context: ToolContext, arguments: Arguments, job: ToolRun) -> None:
        self._context = context
        self._job = job
        self._until = time.monotonic() + _MOST_S
        self._pattern = text_of(arguments, "pattern")
        self._expression = _compiled(
            self._pattern, flag_of(arguments, "literal"), flag_of(arguments, "ignoreCase")
        )
        self._context_lines = number_of(arguments, "context", 0, least=0)
        self.most = number_of(arguments, "limit", MOST_HITS)
        self.lines: list[str] = []
        self.hits = 0
        self.shortened = False
        self.skipped: list[str] = []

    @property
    def full(self) -> bool:
        """Whether more hits were found than are wanted."""
        return self.hits > self.most

    @property
    def late(self) -> bool:
        """Whether the time limit has passed."""
        return time.monotonic() > self._until

    @property
    def over(self) -> bool:
        """Whether the search ends: enough hits, out of time, or cancelled."""
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
            if self._matches(row.removesuffix("\r")):
                self.hits += 1
                if not self.full:
                    found.append(number)
            if self.over:
                break
        self._show(self._context.workspace.shown(path), rows, found)

    def _data(self, path: Path) -> bytes | None:
        shown = self._context.workspace.shown(path)
        try:
            with opened(self._context.workspace, path) as descriptor:
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

    def _matches(self, row: str) -> bool:
        try:
            return (
                self._expression.search(row, timeout=_MATCH_TIMEOUT_S, concurrent=True) is not None
            )
        except TimeoutError as error:
            raise ToolError(
                f"the pattern {self._pattern!r} takes too long on some lines; make it simpler"
            ) from error

    def _show(self, name: str, rows: list[str], found: list[int]) -> None:
        hits, last_shown = set(found), -1
        for number in found:
            first = max(number - self._context_lines, last_shown + 1, 0)
            if self._context_lines and last_shown >= 0 and first > last_shown + 1:
                self.lines.append("--")
            for at in range(first, min(number + self._context_lines + 1, len(rows))):
                mark = ":" if at in hits else "-"
                self.lines.append(f"{name}{mark}{at + 1}{mark} {self._short(rows[at])}")
                last_shown = at
        if found and self._context_lines:
            self.lines.append("--")

    def _short(self, row: str) -> str:
        row = row.removesuffix("\r")
        if len(row) <= LONGEST_LINE:
            return row
        self.shortened = True
        match = self._expression.search(row, timeout=_MATCH_TIMEOUT_S, concurrent=True)
        start = max(0, match.start() - LONGEST_LINE // 2) if match else 0
        part = row[start : start + LONGEST_LINE]
        return f"{'…' if start else ''}{part}{'…' if start + LONGEST_LINE < len(row) else ''}"


def grep(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """Search files. Raises ToolError, WorkspaceError and OSError."""
    search = _Search(context, arguments, job)
    start = context.workspace.resolve(text_of(arguments, "path", "."))
    pattern = text_of(arguments, "glob", "")
    glob: Glob | None = glob_of(pattern) if pattern else None
    base = start if start.is_dir() else start.parent
    walk = Walk(context.workspace.root, start, lambda: search.over)
    for path in walk.files():
        if search.over:
            break
        name = path.relative_to(base).as_posix()
        if glob is None or glob.matches(name) or glob.matches(context.workspace.shown(path)):
            search.look_into(path)
    return _grep_outcome(context, job, search, walk.cut)


def _grep_outcome(context: ToolContext, job: ToolRun, search: _Search, cut: bool) -> ToolOutcome:
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
    return list_outcome(context, job, lines, notes, details)


def _compiled(pattern: str, literal: bool, ignore_case: bool) -> Any:
    flags = regex.IGNORECASE if ignore_case else 0
    try:
        return regex.compile(regex.escape(pattern) if literal else pattern, flags)
    except (regex.error, RecursionError) as error:
        raise ToolError(f"the pattern {pattern!r} is not valid: {error}") from error

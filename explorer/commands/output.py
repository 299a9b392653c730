"""How commands print and end: aligned tables for people, one JSON document for programs, streams on
which no text of a session controls the terminal, and what ends a command before it is done, each
with its exit status.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from typing import Any, TextIO, cast

from explorer.session.visible_text import escaped, visible, visible_line, width_of


class VisibleStream:
    """Writes to another stream, with hidden characters marked. All else is that stream's."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text; returns its length."""
        self.stream.write(visible(text))
        return len(text)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Standard output and standard error through `VisibleStream` for as long as it lasts."""
    out, errors = VisibleStream(sys.stdout), VisibleStream(sys.stderr)
    with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, errors)):
        yield


def write_progress(text: str) -> None:
    """Put a line on the terminal of standard error in the place of the one before it; empty: take
    that away."""
    stream: Any = sys.stderr
    if isinstance(stream, VisibleStream):
        stream = stream.stream
    stream.write(f"\r{visible(text)}\x1b[K")
    stream.flush()


class ProgressLine:
    """Says on standard error how far something is: on one line of a terminal, else a line for each
    tenth of it."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._tenth = 0

    def show(self, done: int, total: int, words: str) -> None:
        """``words``: the same for people."""
        if self._is_terminal:
            write_progress(words)
        elif (tenth := 10 * done // max(1, total)) > self._tenth:
            self._tenth = tenth
            print(words, file=sys.stderr)

    def end(self) -> None:
        """Take the line away."""
        if self._is_terminal:
            write_progress("")


def print_json(value: Any) -> None:
    """One JSON document on standard output, in ASCII where that takes nothing else. What a terminal
    would obey is escaped."""
    text = escaped(json.dumps(value, ensure_ascii=False, indent=2))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    sys.stdout.write(text)
    sys.stdout.write("\n")


def local_time(time_ms: float) -> str:
    """A moment in milliseconds since 1970 by the clock here; empty for none, and for one that no
    calendar of this system holds."""
    try:
        return datetime.fromtimestamp(time_ms / 1000).strftime("%Y-%m-%d %H:%M") if time_ms else ""
    except (OSError, OverflowError, ValueError):
        return ""


def _cut(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return text + "…"


def print_table(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()
) -> None:
    """Print a table whose last column takes what room is left. ``right`` names right-aligned
    columns."""
    cells = [[visible_line(_cell_text(cell)) for cell in row] for row in rows]
    widths = [
        max([width_of(head), *(width_of(row[at]) for row in cells)])
        for at, head in enumerate(heads)
    ]
    room = shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 10_000
    widths[-1] = max(12, min(widths[-1], room - sum(widths[:-1]) - 2 * (len(widths) - 1)))
    for row in ([*heads], *cells):
        parts = []
        for at, text in enumerate(row):
            shown = _cut(text, widths[at])
            gap = " " * (widths[at] - width_of(shown))
            parts.append(gap + shown if at in right else shown + gap)
        print("  ".join(parts).rstrip())


def _cell_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)


INTERRUPTED = 130
"""Exit status after Ctrl+C."""


class UsageError(Exception):
    """The command line asks for something that does not exist (exit status 2)."""


class CommandFailed(Exception):
    """The command was understood and could not be done (exit status 1). Has a sentence for each
    thing that went wrong."""

    status = 1


class CommandStopped(CommandFailed):
    """The person stopped it; what it had done is in good order (exit status 128 and the signal)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

"""The streams that commands print to, on which nothing of a session steers a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from explorer.session.visible_text import visible


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

"""Where in an extension something went wrong, and how it is told."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

MOST_WORDS = 500
"""Characters of a reason that are told."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an extension is not loaded or a handler failed."""

    file: str
    line: int
    """0 where no line is known."""
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.reason}"


def problem_of(error: BaseException, root: Path) -> Problem:
    """The problem that an error of an extension is. ``root``: its file, or its package's folder.

    The line is the innermost one of the extension's own.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return Problem(error.filename, error.lineno or 0, f"{type(error).__name__}: {error.msg}")
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if Path(f.filename) == root or root in Path(f.filename).parents]
    if not inside:
        return Problem(str(root), 0, told(error))
    return Problem(inside[-1].filename, inside[-1].lineno or 0, told(error))


def told(error: BaseException) -> str:
    """An error in one line, whatever it is."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 -- an extension's own error may not even tell itself
        words = ""
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        return "SystemExit: it tried to end the program"
    return f"{kind}: {words}"[:MOST_WORDS] if words else kind

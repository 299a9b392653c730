"""What can go wrong with a file as a whole. Damage within a file is reported, not raised."""

from __future__ import annotations


class FormatError(ValueError):
    """A file that cannot be opened as a session: which, at which line, and why."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")
        self.path = path
        self.line = line
        """Line number counted from 1."""
        self.reason = reason


class ReadCancelled(Exception):
    """The person stopped a reading or writing before its end."""

"""What went wrong while files were imported, put into one notice."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui.widgets.figures import count
from ui.widgets.notice import Notice


@dataclass(slots=True)
class ImportNotes:
    """Files that could not be imported, and lines that were not as expected."""

    failed: list[str] = field(default_factory=list)
    """One sentence for each file; it names the file and the reason."""
    odd: list[tuple[str, int, str]] = field(default_factory=list)
    """File name, line counted from 1, and what was wrong with it."""

    def notice(self) -> Notice | None:
        """What to tell the person; None when all went well."""
        lines = [f"{name}, line {line}: {reason}" for name, line, reason in self.odd]
        everything = "\n".join([*self.failed, *lines])
        if self.failed:
            more = len(self.failed) - 1
            what = self.failed[0] + (f" (and {count(more, 'file')} more)" if more else "")
            return Notice(
                "error",
                what,
                "Nothing of it was kept; the sessions that are here are as they were.",
                "Look whether it is a session file of pi or oh-my-pi.",
                details=everything if more or lines else "",
            )
        if not lines:
            return None
        names = sorted({name for name, _, _ in self.odd})
        where = names[0] if len(names) == 1 else count(len(names), "file")
        what = lines[0]
        if len(lines) > 1:
            what = f"{where}: {len(lines):,} lines were not as expected."
        return Notice(
            "warning",
            what,
            "Everything else was imported. What could not be understood is kept aside, byte for "
            "byte, and is in an export again.",
            details=everything if len(lines) > 1 else "",
        )

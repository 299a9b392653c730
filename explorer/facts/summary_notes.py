"""What the offline summarizer says of itself in a summary: no part of what the summary states."""

from __future__ import annotations

import re

NOT_FOLLOWED = "Picked by rules, without a language model, which cannot follow this instruction"
"""Begins a line that quotes an instruction."""
_NOTE = re.compile(rf"^[ \t]*- {re.escape(NOT_FOLLOWED)}: .*$", re.MULTILINE)


def without_notes(summary: str) -> str:
    """A summary with blanks in the place of such notes, so that every place in it stays one in
    UTF-16 units."""
    if NOT_FOLLOWED not in summary:
        return summary
    return _NOTE.sub(
        lambda note: " " * (len(note[0].encode("utf-16-le", "surrogatepass")) // 2), summary
    )

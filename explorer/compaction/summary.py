"""Answers of a summarizer, merged and finished with the files (A20, A28)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from explorer.compaction.prepare import Preparation

SPLIT_HEADING = "**Turn Context (split turn):**"
EARLIER_HEADING = "**Earlier turn context:**"
"""What the heading becomes when a summary that holds one is carried into the next (E20)."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FILE_BLOCK = re.compile(
    r"\s*^<(read-files|modified-files|failed-files)>\n.*?^</\1>[ \t]*$", re.DOTALL | re.MULTILINE
)


def merge_summaries(history: str, prefix: str) -> str:
    """The summary of the history and that of a split turn's first part, as one (A20)."""
    if not prefix:
        return history
    turn = f"{SPLIT_HEADING}\n\n{prefix}"
    return f"{history}\n\n---\n\n{turn}" if history else turn


def footer(read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()) -> str:
    """The file lists that end a summary (A28), with the blank line before them; empty for none.

    ``failed``: files that only failed calls named (B17).
    """
    blocks = [
        f"<{name}-files>\n{chr(10).join(files)}\n</{name}-files>"
        for name, files in (("read", read), ("modified", modified), ("failed", failed))
        if files
    ]
    return "".join(f"\n\n{block}" for block in blocks)


def strip_files(text: str) -> str:
    """A summary without its file lists."""
    return _FILE_BLOCK.sub("", text) if "-files>" in text else text


def finish(
    preparation: Preparation,
    history: str,
    prefix: str = "",
    previous_summary: str | None = None,
) -> str:
    """The summary as it is stored: the answers merged, the files at the end.

    An empty ``history`` means that none was asked for; in the corrected profile the previous
    summary then stands in its place, word for word (B7, E2).
    """
    profile = preparation.profile
    if profile.prefix_only == "carry":
        if not history and previous_summary:
            history = previous_summary
        history = _with_earlier_turns(strip_files(history).strip())
        prefix = strip_files(prefix).strip()
    text = merge_summaries(history, prefix)
    return text + footer(
        preparation.read_files, preparation.modified_files, preparation.failed_files
    )


def _with_earlier_turns(history: str) -> str:
    """A history whose split turns are over: their notes stay, without headings of their own, so
    that those of the turn that is split now are there once (E20)."""
    before, found, turns = history.partition(SPLIT_HEADING)
    if not found:
        return history
    turns = turns.replace(SPLIT_HEADING, EARLIER_HEADING)
    return f"{before}{EARLIER_HEADING}{_HEADING.sub(_as_label, turns)}"


def _as_label(heading: re.Match[str]) -> str:
    return f"**{heading.group(1)}**"


def details(
    read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()
) -> dict[str, Any]:
    """The ``details`` of a stored summary (A1, A2)."""
    found: dict[str, Any] = {"readFiles": list(read), "modifiedFiles": list(modified)}
    if failed:
        found["failedFiles"] = list(failed)
    return found

"""Answers of a summarizer, merged and finished with the files (A20, A28)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from explorer.compaction.file_ops import FileChange, FileChangeKind
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile

SPLIT_HEADING = "**Turn Context (split turn):**"
EARLIER_HEADING = "**Earlier turn context:**"
"""What the heading becomes when a summary that holds one is carried into the next (E20)."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FILE_BLOCK = re.compile(
    r"\s*^<((?:read|modified|created|updated|deleted|failed)-files)>\n.*?^</\1>[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


def merge_summaries(history: str, prefix: str) -> str:
    """The summary of the history and that of a split turn's first part, as one (A20)."""
    if not prefix:
        return history
    turn = f"{SPLIT_HEADING}\n\n{prefix}"
    return f"{history}\n\n---\n\n{turn}" if history else turn


class WithFiles(Protocol):
    """A preparation, as far as its files go."""

    @property
    def read_files(self) -> Sequence[str]: ...
    @property
    def modified_files(self) -> Sequence[str]: ...
    @property
    def failed_files(self) -> Sequence[str]: ...
    @property
    def file_changes(self) -> Sequence[FileChange]: ...
    @property
    def profile(self) -> Profile: ...


def changed(changes: Sequence[FileChange], change: FileChangeKind) -> list[str]:
    """The files that a change befell."""
    return [one.path for one in changes if one.change == change]


def footer(read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()) -> str:
    """The file lists that end a summary (A28), with the blank line before them; empty for none.

    ``failed``: files that only failed calls named (B17).
    """
    return _lists(("read", read), ("modified", modified), ("failed", failed))


def files_footer(prepared: WithFiles) -> str:
    """The file lists of a preparation, in the way of its profile."""
    if prepared.profile.file_footer == "read-modified":
        return footer(prepared.read_files, prepared.modified_files, prepared.failed_files)
    changes = prepared.file_changes
    return _lists(
        ("read", prepared.read_files),
        ("created", changed(changes, "created")),
        ("updated", changed(changes, "updated")),
        ("deleted", changed(changes, "deleted")),
        ("failed", prepared.failed_files),
    )


def _lists(*lists: tuple[str, Sequence[str]]) -> str:
    blocks = [
        f"<{name}-files>\n{chr(10).join(files)}\n</{name}-files>" for name, files in lists if files
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
    return text + files_footer(preparation)


def _with_earlier_turns(history: str) -> str:
    """A history whose split turns are over: their notes stay, without headings, so
    that those of the turn that is split now are there once (E20)."""
    before, found, turns = history.partition(SPLIT_HEADING)
    if not found:
        return history
    turns = turns.replace(SPLIT_HEADING, EARLIER_HEADING)
    return f"{before}{EARLIER_HEADING}{_HEADING.sub(_as_label, turns)}"


def _as_label(heading: re.Match[str]) -> str:
    return f"**{heading.group(1)}**"

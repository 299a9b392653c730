"""What the file lists of a compaction tell about the range that it was given, and what commands
tell about files.

A compaction's entry lists the files of all calls that it summarized, and those of the one before. A
file that only calls of a certain range touched is in the list when that range was summarized, and
is missing when it was not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from explorer.session.describe import CompactionFacts
from explorer.session.tree import Path, SessionTree

_PARTS = re.compile(r"&&|\|\||[;|\n]")
_WORDS = re.compile(r"\d?>>?&?|\"[^\"]*\"|'[^']*'|[^\s\"'>]+")
_INTO = frozenset({">", ">>", "1>", "1>>", "2>", "2>>"})
_CHANGING = frozenset({"cp", "install", "ln", "mv", "patch", "rm", "tee", "touch", "truncate"})
_IN_PLACE = re.compile(
    r"\b(?:sed|perl)\b.*\s-\w*i|\bgit\s+(?:apply|checkout|mv|restore|rm)\b"
    r"|\b(?:black|gofmt|prettier|rustfmt|ruff)\b"
)


class FilesTell(NamedTuple):
    """Whether a range was summarized, by the file lists."""

    summarized: bool
    why: str
    """A sentence."""


def range_was_summarized(
    tree: SessionTree, path: Path, compaction: int, previous: int, kept: range, newer: range
) -> FilesTell | None:
    """Whether ``kept`` (positions that the compaction ``previous`` kept) was summarized by
    ``compaction``; None when the lists do not tell.

    ``newer``: positions that it summarized in any case. Files that these or the previous list hold
    say nothing, and neither does a list that misses a file of ``newer``: it was made otherwise.
    """
    facts = tree.columns.compactions
    listed, before = _files(facts[compaction]), _files(facts[previous])
    if not listed or facts[compaction].from_extension:
        return None
    sure = _touched(tree, path, newer)
    if not (sure | (set() if facts[previous].from_extension else before)) <= listed:
        return None
    telling = _touched(tree, path, kept) - sure - before
    if not telling:
        return None
    there, missing = telling & listed, telling - listed
    if there and missing:
        return None
    name, kept_by = min(there or missing), f"entries that #{previous} had kept"
    whose = f"Compaction #{compaction}'s own file list"
    if there:
        return FilesTell(
            True,
            f"{whose} names {name}, which only {kept_by} name: so these went to the summarizer.",
        )
    return FilesTell(
        False, f"{whose} lacks {name}, which {kept_by} name: so these did not go to the summarizer."
    )


def _files(facts: CompactionFacts) -> set[str]:
    return {*facts.read_files, *facts.modified_files}


def _touched(tree: SessionTree, path: Path, positions: range) -> set[str]:
    """Files that the three file tools of pi named in a range of positions."""
    ops, found = tree.columns.ops, set()
    for part in path[positions.start : max(positions.start, positions.stop)].ranges:
        low = bisect_left(ops.entry, part.start)
        for row in range(low, bisect_left(ops.entry, part.stop, low)):
            if not ops.wide[row]:
                found.add(ops.paths[ops.path[row]])
    return found

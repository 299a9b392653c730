"""Error lines that a tool cut off at its column: "AssertionE...", "assert 3 == ..."."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from explorer.audit.atoms.keys import statement_key

NEAR = 2
"""Entries that the whole line may stand away: a call stands between two results."""
_SHORTEST = 5
"""Letters that a cut line must have left to be known again."""
_LEAD = re.compile(r"^\s*(?:E\s+|>\s+)?")
_LISTED = re.compile(r"^(?:FAILED|ERROR)\s+(?P<test>\S.*?)\s+-\s+(?P<what>.*)$", re.DOTALL)
_CUT = re.compile(r"\s*(?:\.\.\.|…)\s*$")


def is_cut(text: str) -> bool:
    """Whether a line ends where a tool cut it off."""
    return _CUT.search(text) is not None


def beginning(text: str) -> str:
    """The key of what is left of a cut line, or of a whole one without the mark before it."""
    return statement_key(_CUT.sub("", _LEAD.sub("", text, count=1)))


def listed_test(text: str) -> str:
    """The test that a line of a list of failures names; empty of any other line."""
    found = _LISTED.match(text)
    return found["test"] if found else ""


def whole_lines(lines: Mapping[str, tuple[str, Iterable[int]]]) -> dict[str, str]:
    """For keys of cut lines, the key of the line that stands whole in the same entry or near it.

    ``lines``: by key, the text of a line and the entries that it stands in.
    """
    cut = {key: text for key, (text, _) in lines.items() if is_cut(text)}
    if not cut:
        return {}
    whole = sorted((beginning(text), key) for key, (text, _) in lines.items() if key not in cut)
    entries = {key: tuple(where) for key, (_, where) in lines.items()}
    found: dict[str, str] = {}
    for key, text in cut.items():
        listed = _LISTED.match(text)
        for left in (beginning(text), beginning(listed["what"]) if listed else ""):
            other = _whole_of(left, key, whole, entries) if len(left) >= _SHORTEST else ""
            if other:
                found[key] = other
                break
    return found


def _whole_of(
    left: str, key: str, whole: list[tuple[str, str]], entries: Mapping[str, tuple[int, ...]]
) -> str:
    for text, other in whole[bisect_left(whole, (left, "")) :]:
        if not text.startswith(left):
            return ""
        if any(abs(one - far) <= NEAR for one in entries[key] for far in entries[other]):
            return other
    return ""

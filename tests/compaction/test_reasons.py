"""The words in which reasons are put."""

from __future__ import annotations

import pytest

from explorer.compaction.reasons import count_text


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (1, "entry", "1 entry"),
        (0, "entry", "0 entries"),
        (2, "reply", "2 replies"),
        (2, "day", "2 days"),
        (1204, "message", "1,204 messages"),
    ],
)
def test_a_count_with_its_noun(count: int, noun: str, words: str) -> None:
    assert count_text(count, noun) == words

"""How many words in a row count as said by both texts when words are compared."""

from __future__ import annotations

import pytest

from explorer.session.text_difference import word_differences


def alike(one: str, other: str) -> list[str]:
    """What the first text has in common with the other."""
    return [piece.text.strip() for piece in word_differences(one, other)[0] if not piece.differs]


@pytest.mark.parametrize(
    ("shared", "counts"),
    [
        ("queue", False),
        ("the queue", False),
        ("the queue lock", True),
        ("run the queue lock", True),
    ],
)
def test_three_words_in_a_row_count_between_words_that_differ(shared: str, counts: bool) -> None:
    found = alike(f"Alpha beta {shared} gamma delta", f"Sigma {shared} tau omega phi")
    assert found == ([shared] if counts else [])


def test_fewer_words_count_at_the_beginning_and_at_the_end() -> None:
    assert alike("Keep alpha beta now", "Keep gamma now") == ["Keep", "now"]
    assert alike("alpha keep it", "gamma keep it delta") == []
    assert alike("alpha keep it delta", "gamma keep it") == []
    assert alike("keep it alpha", "gamma keep it delta") == []

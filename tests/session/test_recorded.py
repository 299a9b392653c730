"""What is made of commands, texts, values and trees is what ``recorded`` wrote down."""

from __future__ import annotations

from tests.session.recorded import PLACE, table


def test_what_is_made_of_values_is_what_was_recorded() -> None:
    assert table().split("\n") == PLACE.read_text(encoding="utf-8").split("\n")

"""What a search makes of texts is what ``recorded`` wrote down."""

from __future__ import annotations

from tests.store.recorded import PLACE, table


def test_what_a_search_makes_of_texts_is_what_was_recorded() -> None:
    assert table().split("\n") == PLACE.read_text(encoding="utf-8").split("\n")

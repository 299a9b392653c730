"""Filters are stored and read again, and what is damaged is refused."""

from __future__ import annotations

import json

import pytest

from explorer.services.library import LibraryFilter
from ui.library.filters import DAY_MS, Filters, filters_from

CHOSEN = Filters(frozenset({"pi"}), frozenset({"quay", ""}), days=7, compacted=True, words="a b")


def test_filters_are_the_same_after_they_were_stored() -> None:
    assert filters_from(json.loads(json.dumps(CHOSEN.to_json()))) == CHOSEN
    assert Filters().to_json() == {} and filters_from({}) == Filters()


@pytest.mark.parametrize(
    "stored", [None, [], {"days": "7"}, {"days": 3}, {"place": "attic"}, {"agents": "pi"}]
)
def test_what_cannot_be_used_is_refused(stored: object) -> None:
    with pytest.raises(ValueError):
        filters_from(stored)


def test_a_span_counts_back_from_now() -> None:
    rule = CHOSEN.rule(100.0 * DAY_MS)
    assert rule.since_ms == 93.0 * DAY_MS and rule.words == "a b"
    assert Filters().rule(5.0) == LibraryFilter()
    assert CHOSEN.is_narrowed and not Filters(place="trash").is_narrowed

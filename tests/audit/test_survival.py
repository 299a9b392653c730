"""The offline summarizer, judged by the audit, over five generations of summaries of summaries."""

from __future__ import annotations

import pytest

from explorer.facts import FactKind
from explorer.session.kinds import Kind
from tests.audit.survival import entries_of, measure
from tests.models.survival import story_sets


@pytest.mark.parametrize("name", list(story_sets()))
def test_at_30_percent_of_the_text_hardly_anything_planted_is_lost(name: str) -> None:
    tally = measure(story_sets()[name], 0.30)
    assert tally.planted > 50
    # Failures that were solved are planted too, and told no more.
    assert tally.alive >= 0.92 * tally.planted, tally.lost
    assert not tally.wrong
    for kind in (FactKind.CONSTRAINT, FactKind.HASH, FactKind.URL):
        assert tally.told[kind] == tally.facts[kind], kind
    assert tally.told[FactKind.DECISION] >= 0.95 * tally.facts[FactKind.DECISION]


def test_both_ways_of_writing_a_conversation_are_read() -> None:
    ours = entries_of('[User]: Fix it.\n\n[Assistant tool calls]: read(path="a.py", offset=1)')
    assert [entry.kind for entry in ours] == [Kind.USER, Kind.ASSISTANT]
    assert ours[1].calls[0].arguments == {"path": "a.py"}
    theirs = entries_of("[USER]\nFix it.\n\n---\n\n[TOOL_RESULT]\nok")
    assert [entry.kind for entry in theirs] == [Kind.USER, Kind.TOOL_RESULT]

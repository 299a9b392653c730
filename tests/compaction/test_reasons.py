"""The words in which reasons are put."""

from __future__ import annotations

import pytest

from explorer.compaction.preparation import PreparationRefusal
from explorer.compaction.reasons import count_text, tokens_text
from tests.compaction.sessions import Session


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


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (999, "999"),
        (1000, "1k"),
        (9949, "9.9k"),
        (9950, "9.9k"),
        (18_500, "18.5k"),
        (41_200, "41.2k"),
        (1_050_000, "1.05M"),
        (999_990_000, "999.99M"),
        (999_995_000, "1B"),
        (3_338_260_000, "3.34B"),
    ],
)
def test_tokens_for_a_sentence(tokens: int, words: str) -> None:
    assert tokens_text(tokens) == words


def test_a_compaction_at_the_root_is_the_last_one() -> None:
    session = Session()
    session.compaction(kept=0)
    session.user(1)
    refusal = session.prepare(1000)
    assert isinstance(refusal, PreparationRefusal)
    assert "since the last compaction" in refusal.reason

"""Cuts by rounds: what Copilot keeps (A49, A53)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.partition import Verdict
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import PROFILES, Settings
from tests.compaction.sessions import Session, with_verdict

COPILOT = PROFILES["copilot"]


def _rounds(session: Session, count: int = 1) -> Preparation | None:
    found = prepare(session.tree, session.leaf, COPILOT, Settings(keep_rounds=count))
    return found if isinstance(found, Preparation) else None


def _round(session: Session, tokens: int = 5) -> int:
    reply = session.reply(tokens, calls=[("read", "a.py")])
    session.result(tokens, call=f"c{reply}.0")
    return reply


def test_a49_of_several_rounds_the_last_is_kept_and_the_rest_summarized() -> None:
    session = Session()
    asked = session.user(5)
    first, second = _round(session), _round(session)
    found = _rounds(session)
    assert found is not None
    assert found.first_kept == second
    assert found.history == [asked, first, first + 1]
    assert found.turn_prefix == []
    assert found.is_split_turn
    assert "the newest round is kept, from the reply #3 on" in found.reason
    assert "the one summary tells its first part too" in found.reason


def test_a49_a_turn_of_one_round_stays_whole() -> None:
    session = Session()
    session.user(5)
    _round(session)
    _round(session)
    asked = session.user(5)
    _round(session)
    found = _rounds(session)
    assert found is not None
    assert found.first_kept == asked
    assert not found.is_split_turn


def test_a49_a_message_that_nothing_answered_yet_counts_as_a_round() -> None:
    session = Session()
    session.user(5)
    _round(session)
    asked = session.user(5)
    found = _rounds(session)
    assert found is not None
    assert found.first_kept == asked
    assert len(found.history) == 3


def test_a49_however_large_the_last_round_is_it_is_kept() -> None:
    session = Session()
    session.user(5)
    _round(session)
    last = _round(session, 90_000)
    found = _rounds(session)
    assert found is not None
    assert found.first_kept == last


@pytest.mark.parametrize("count", [1, 2, 9])
def test_one_round_alone_leaves_nothing_to_summarize(count: int) -> None:
    session = Session()
    session.user(5)
    _round(session)
    found = prepare(session.tree, session.leaf, COPILOT, Settings(keep_rounds=count))
    assert not isinstance(found, Preparation)
    assert found.code == "fits"
    assert "no more than the" in found.reason


def test_more_rounds_reach_into_the_turns_before() -> None:
    session = Session()
    first = session.user(5)
    second = _round(session)
    third = _round(session)
    asked = session.user(5)
    _round(session)
    kept = [found.first_kept if (found := _rounds(session, n)) else -1 for n in (1, 2, 3)]
    assert kept == [asked, third, -1]
    assert first < second


def test_a53_nothing_before_an_earlier_summary_comes_back() -> None:
    session = Session()
    session.user(5)
    _round(session)
    kept = _round(session)
    earlier = session.compaction(kept, "what was")
    _round(session)
    last = _round(session)
    found = _rounds(session)
    assert found is not None
    assert found.previous_compaction == earlier
    assert found.first_kept == last
    assert found.history == [kept, kept + 1, earlier + 1, earlier + 2]
    shown = session.partition(1, COPILOT)
    assert with_verdict(shown, Verdict.LOST) == []


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_a_round_more_never_keeps_less(turns: list[int]) -> None:
    session = Session()
    for rounds in turns:
        session.user(3)
        for _ in range(rounds):
            _round(session)
    kept = []
    for count in range(1, 8):
        found = prepare(session.tree, session.leaf, COPILOT, Settings(keep_rounds=count))
        kept.append(found.cut if isinstance(found, Preparation) else 0)
    assert kept == sorted(kept, reverse=True)


def test_two_summaries_of_a_round_cut_are_a_switch_away() -> None:
    session = Session()
    session.user(5)
    _round(session)
    _round(session)
    two = replace(COPILOT, split="two-summaries")
    found = prepare(session.tree, session.leaf, two, Settings())
    assert isinstance(found, Preparation)
    assert found.history == []
    assert len(found.turn_prefix) == 3

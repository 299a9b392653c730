"""Where a path is cut (A14 to A18, B3 to B6) and the sentences that say why."""

from __future__ import annotations

import pytest

from explorer.compaction.partition import partition
from explorer.compaction.preparation import PreparationRefusal
from tests.compaction.sessions import EXPLORER, PI, Session


def turns(count: int, tokens: int = 10) -> Session:
    """Turns of a user message and a reply, of so many tokens each."""
    session = Session()
    for _ in range(count):
        session.user(tokens)
        session.reply(tokens)
    return session


def test_a14_nothing_to_prepare_on_an_empty_path() -> None:
    refusal = turns(1).refused(1, leaf=-1)
    assert refusal.code == "empty"


@pytest.mark.parametrize("profile", [EXPLORER, PI], ids=lambda profile: profile.name)
def test_a14_nothing_to_prepare_right_after_a_compaction(profile: object) -> None:
    session = turns(3)
    session.compaction(kept=4)
    refusal = session.refused(10, profile)  # type: ignore[arg-type]
    assert refusal.code == "just-compacted"
    assert "compaction" in refusal.reason


def test_a14_nothing_to_prepare_without_a_valid_cut() -> None:
    session = Session()
    session.result(5000)
    assert session.refused(10).code == "no-cut"


def test_a15_the_walk_stops_when_at_least_keep_recent_is_reached() -> None:
    session = turns(5)
    assert session.prepared(20).first_kept == 8
    assert session.prepared(21).first_kept == 7
    assert "#8, where a cut is valid" in session.prepared(20).reason


def test_a16_never_a_tool_result() -> None:
    session = turns(2)
    call = session.called("read", "a.py")
    session.reply(10)
    prepared = session.prepared(11)
    assert prepared.first_kept == call + 2
    why = "a tool result, and no cut comes between a call and its result"
    assert f"#{call + 1}, {why}; the next valid cut down is" in prepared.reason
    assert f"the next valid cut down is #{call + 2}" in prepared.reason


def test_a16_a_cut_chosen_by_hand_is_never_a_tool_result() -> None:
    session = turns(2)
    call = session.called("read", "a.py")
    refusal = session.refused(1, cut=call + 1)
    assert refusal.code == "not-a-cut"
    assert "stay with its call" in refusal.reason


def test_a16_no_cut_between_a_call_and_its_result() -> None:
    """A note that was written while the tool ran looks like a cut point."""
    session = turns(2)
    call = session.reply(calls=[("read", "a.py")])
    note = session.note()
    session.result(100)
    session.reply(10)
    assert note not in session.partition(50).valid_cuts
    assert note in session.partition(50, PI).valid_cuts
    assert session.prepared(110).first_kept == call + 3
    assert "would part a tool result from its call" in session.refused(1, cut=note).reason


@pytest.mark.parametrize("make", ["user", "reply", "bash", "note", "branch_summary"])
def test_a16_every_other_message_is_a_valid_cut(make: str) -> None:
    session = turns(1)
    entry = getattr(session, make)()
    assert entry in session.partition(1).valid_cuts
    assert entry in session.partition(1, PI).valid_cuts


def test_a17_metadata_before_the_cut_goes_to_the_kept_side() -> None:
    session = turns(2)
    first = session.metadata()
    session.metadata()
    session.user(10)
    prepared = session.prepared(10)
    assert (prepared.first_kept, prepared.cut_point) == (first, first + 2)
    assert "2 entries before it join the kept side" in prepared.reason


def test_a17_only_metadata_is_pulled_over_while_pi_pulls_notes_too() -> None:
    session = turns(2)
    note = session.note(5)
    cut = session.user(10)
    assert session.prepared(10).first_kept == cut
    assert session.prepared(10, PI).first_kept == note


def test_a18_a_cut_inside_a_turn_splits_it() -> None:
    session = turns(2)
    start = session.user(10)
    session.called("read", "a.py")
    session.called("read", "b.py")
    cut = session.reply(10)
    prepared = session.prepared(10)
    assert prepared.is_split_turn
    assert (prepared.turn_start, prepared.first_kept) == (start, cut)
    assert prepared.history == [0, 1, 2, 3]
    assert prepared.turn_prefix == list(range(start, cut))
    assert "inside turn 3, so the turn is split: its first 5 entries get" in prepared.reason
    assert f"The next valid cut up is #{cut - 2}, which keeps " in prepared.reason


@pytest.mark.parametrize("make", ["user", "bash", "note", "branch_summary"])
def test_a18_a_cut_at_the_start_of_a_turn_splits_nothing(make: str) -> None:
    session = turns(2)
    start = getattr(session, make)()
    session.reply(10)
    prepared = session.prepared(11)
    assert prepared.first_kept == start
    assert not prepared.is_split_turn
    assert prepared.turn_prefix == []


def test_a18_turns_are_numbered_from_one() -> None:
    parts = turns(3).partition(10)
    turn = parts.preparation.cuts.view.turn
    assert [turn(position) for position in range(6)] == [1, 1, 2, 2, 3, 3]


def test_a_turn_is_numbered_by_what_somebody_said_and_cut_by_the_rules() -> None:
    """What a program put in the user's place begins no turn for people; pi cuts there all the
    same."""
    session = turns(1)
    session.message(role="user", content="<task-notification>", synthetic=True)
    session.reply(10)
    session.user()
    parts = session.partition(11)
    turn = parts.preparation.cuts.view.turn
    assert [turn(position) for position in range(len(session.tree))] == [1, 1, 1, 1, 2]
    assert session.prepared(12).first_kept == 2 and not session.prepared(12).is_split_turn


def test_b3_a_tiny_session_is_refused_where_pi_prepares_a_request_about_nothing() -> None:
    session = turns(2)
    refusal = session.refused(20_000)
    assert refusal.code == "fits"
    assert "40 tokens" in refusal.reason
    assert "20k" in refusal.reason
    prepared = session.prepared(20_000, PI)
    assert prepared.history == prepared.turn_prefix == []


def test_b4_e3_an_oversized_trailing_result_does_not_block_compaction() -> None:
    session = turns(3)
    session.user(10)
    call = session.called("read", "big.log")
    session.result(50_000)
    prepared = session.prepared(20_000)
    assert prepared.first_kept == call
    assert "so that they stay with their call" in prepared.reason
    faithful = session.prepared(20_000, PI)
    assert faithful.first_kept == 0
    assert faithful.history == []
    assert "nothing is gained" in faithful.reason


def test_b5_the_turn_is_judged_before_metadata_is_pulled_over() -> None:
    session = turns(2)
    session.metadata()
    session.user(10)
    prepared = session.prepared(10)
    assert not prepared.is_split_turn
    assert prepared.history == [0, 1, 2, 3]
    misjudged = session.prepared(10, PI)
    assert misjudged.is_split_turn
    assert misjudged.turn_prefix == [2, 3]


def test_a_cut_chosen_by_hand_moves_history_and_tells_what_is_kept() -> None:
    session = turns(5)
    prepared = session.prepared(20, cut=4)
    assert prepared.first_kept == 4
    assert prepared.history == [0, 1, 2, 3]
    assert "#4 was chosen by hand: 60 tokens are kept" in prepared.reason


def test_metadata_before_a_valid_cut_can_be_pointed_at() -> None:
    session = turns(2)
    first = session.metadata()
    session.user(10)
    assert session.prepared(10, cut=first).cut_point == first + 1


@pytest.mark.parametrize(
    ("cut", "code"), [(99, "not-a-cut"), (-1, "not-a-cut"), (0, "nothing-before")]
)
def test_a_wrong_cut_is_refused_in_words(cut: int, code: str) -> None:
    refusal = turns(3).refused(10, cut=cut)
    assert isinstance(refusal, PreparationRefusal)
    assert refusal.code == code
    assert refusal.reason.endswith(".")


def test_a_refusal_keeps_the_whole_context() -> None:
    session = turns(2)
    parts = partition(session.refused(20_000))
    assert parts.cut == -1
    assert parts.tokens_kept == parts.tokens_after_estimate == 40


def test_measured_weights_take_the_place_of_the_estimate() -> None:
    session = turns(5)
    measured = [100] * len(session.tree)
    assert session.prepared(200, weights=measured).first_kept == 8
    assert session.prepared(20).first_kept == 8
    # Where nothing was counted yet the estimate stands in.
    measured[9] = -1
    assert session.prepared(110, weights=measured).first_kept == 8

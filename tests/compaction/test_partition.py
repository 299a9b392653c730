"""One verdict, weight and reason for every entry of the path."""

from __future__ import annotations

from explorer.compaction.partition import Verdict, partition
from explorer.session.entries import PutBack
from tests.compaction.sessions import PI, Session, with_verdict
from tests.compaction.test_requests import prefix_only


def session_of_all() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.compaction(kept=1, summary="word" * 30)
    session.metadata()
    session.user(10)
    session.bash(10, excluded=True)
    session.user(10)
    session.reply(10)
    session.reply(10)
    return session


def test_every_kind_of_entry_gets_its_verdict() -> None:
    parts = session_of_all().partition(10)
    assert with_verdict(parts, Verdict.SUMMARIZED_EARLIER) == [0]
    assert with_verdict(parts, Verdict.TO_SUMMARIZE) == [1, 2, 4]
    assert with_verdict(parts, Verdict.NOT_SENT) == [3, 5]
    assert with_verdict(parts, Verdict.TURN_PREFIX) == [6, 7]
    assert with_verdict(parts, Verdict.KEPT) == [8]
    assert (parts.cut, parts.boundary) == (8, 1)


def test_tokens_per_verdict_add_up() -> None:
    parts = session_of_all().partition(10)
    assert parts.tokens[Verdict.TO_SUMMARIZE] == 10 + 30 + 10
    assert parts.tokens[Verdict.TURN_PREFIX] == 20
    assert parts.tokens[Verdict.KEPT] == parts.tokens_kept == 10
    assert parts.tokens[Verdict.NOT_SENT] == 0
    assert parts.weight(2) == 30
    # The estimate of the context is what the partition divides.
    assert parts.tokens_before == parts.context_estimate == 80


def test_the_size_afterwards_is_guessed_as_what_is_kept_and_a_summary() -> None:
    parts = session_of_all().partition(10)
    # An update is as long as what it updates and a fiftieth of what is new.
    assert parts.tokens_after_estimate == 10 + 30
    longer = session_of_all()
    longer.user(5_000)
    longer.user(10)
    assert longer.partition(10).tokens_after_estimate == 10 + 30 + 5_050 // 50
    longer.user(1_000_000)
    longer.user(10)
    assert longer.partition(10).tokens_after_estimate == 10 + 16_384 * 4 // 5
    dropped = prefix_only().partition(10, PI)
    assert dropped.tokens_updated == dropped.tokens_after_estimate - dropped.tokens_kept == 0


def test_of_a_summary_with_files_put_back_beside_it_half_is_guessed_to_stay() -> None:
    session = session_of_all()
    known = session.tree.columns.compactions
    (at,) = known
    known[at] = known[at]._replace(put_back=PutBack(3, 5_000))
    parts = session.partition(10)
    assert parts.tokens_updated == 30
    assert parts.tokens_after_estimate == 10 + 15


def test_reasons_tell_each_verdict_in_a_sentence() -> None:
    parts = session_of_all().partition(10)
    reasons = [parts.reason(position) for position in range(len(parts.path))]
    cut = "Keep recent is 10 tokens: counted from the newest entry, the cut falls at #8"
    assert reasons[0] == (
        "Compaction #2 kept the newest 10 tokens, from #1 on. #0 is older: it went to the "
        "summarizer, and the model sees only what that summary says of it."
    )
    assert reasons[1] == f"{cut}. #1 is older, so it goes into the summary (10 tokens)."
    assert "goes to the summarizer and is updated" in reasons[2]
    assert "never sent" in reasons[3]
    assert "kept out of the context" in reasons[5]
    assert reasons[6].startswith(f"{cut}, inside turn 4, which is split: #6 is in its first part")
    assert reasons[8] == f"The first kept message: from here to the end are 10 tokens. {cut}."
    by_hand = session_of_all().partition(10, cut=8)
    assert by_hand.reason(1).startswith("The cut was put at #8 by hand. #1 is older")
    assert all(reason.endswith(".") for reason in reasons)


def test_valid_cuts_are_where_a_cut_chosen_by_hand_is_taken() -> None:
    session = session_of_all()
    parts = session.partition(10)
    assert parts.valid_cuts == [1, 4, 5, 6, 7, 8]
    for cut in parts.valid_cuts[1:]:
        assert session.prepared(10, cut=cut).cut_point == cut


def test_b7_what_becomes_of_the_previous_summary_is_told() -> None:
    session = prefix_only()
    carried = session.partition(10)
    assert Verdict(carried.verdicts[3]) is Verdict.TO_SUMMARIZE
    assert "carried over word for word" in carried.reason(3)
    dropped = session.partition(10, PI)
    assert Verdict(dropped.verdicts[3]) is Verdict.LOST
    assert "dropped" in dropped.reason(3)


def test_a_refusal_divides_into_what_is_gone_and_what_stays() -> None:
    session = session_of_all()
    refusal = session.refused(100_000)
    parts = partition(refusal)
    assert with_verdict(parts, Verdict.KEPT) == [1, 2, 4, 6, 7, 8]
    assert parts.reason(2) == "The summary in force: the context starts with it."
    assert parts.reason(4) == "Kept: nothing is compacted."
    assert parts.tokens_after_estimate == parts.tokens_before == parts.tokens_kept

"""The size of a context by a provider's reports, and what a compaction frees of it (A7, B9)."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.audit.provenance import context_known, usage_known
from explorer.compaction.context_size import ContextSize, context_size
from explorer.compaction.profile import PROFILES
from explorer.session.context import context_at
from explorer.session.entries import PutBack
from tests.compaction.sessions import EXPLORER, Session

SYSTEM = 30_000
"""What every prompt of these sessions holds beside the entries."""


def reported(session: Session, ratio: float, entries: int) -> None:
    """A reply of a token whose provider counts ``ratio`` for each of the entries up to it."""
    session.reply(1, usage=round(SYSTEM + ratio * (entries + 1)))


def size_of(session: Session) -> ContextSize:
    return context_size(session.tree, context_at(session.tree, session.leaf), EXPLORER)


@pytest.mark.parametrize("ratio", [0.75, 1.0, 1.5])
def test_what_a_compaction_frees_is_counted_as_the_provider_counts(ratio: float) -> None:
    session, taken = Session(), 0
    for tokens in (100, 5_000, 15_000):
        session.user(tokens)
        reported(session, ratio, taken + tokens)
        taken += tokens + 1
    size = size_of(session)
    assert size.ratio == pytest.approx(ratio, abs=0.001)
    shown = session.partition(100)
    assert shown.context_estimate == taken == 20_103
    assert shown.whole_before == round(SYSTEM + ratio * taken)
    freed = shown.context_estimate - shown.after(500)
    assert shown.whole_with(500) == pytest.approx(shown.whole_before - ratio * freed, abs=15)
    # The system prompt was there from the first reply: no compaction frees it.
    assert shown.whole_with(0) > SYSTEM


def test_a_token_between_two_reports_is_enough_to_compare_them() -> None:
    session = Session()
    session.user(1)
    session.reply(1, usage=10)
    session.reply(1, usage=12)
    assert size_of(session).ratio == 2.0


def test_right_after_a_compaction_the_size_goes_by_the_reports_before_it() -> None:
    session = Session()
    session.user(100)
    reported(session, 1.5, 100)
    session.user(19_000)
    reported(session, 1.5, 19_101)
    kept = session.user(400)
    session.compaction(kept, "word" * 200)
    size = size_of(session)
    assert (size.usage_tokens, size.tokens) == (0, 600)
    # The newest came after the last report.
    assert size.shown == pytest.approx(SYSTEM + 1.5 * 200 + 400, abs=15)


@pytest.mark.parametrize("ratio", [0.75, 1.5])
def test_what_the_preview_promised_holds_once_it_is_made(ratio: float) -> None:
    session, taken = Session(), 0
    for tokens in (100, 5_000, 15_000):
        session.user(tokens)
        reported(session, ratio, taken + tokens)
        taken += tokens + 1
    newest = session.user(12_000)  # that no provider has counted, and the cut keeps
    shown = session.partition(100)
    session.compaction(newest, "word" * 200)
    assert size_of(session).shown == pytest.approx(shown.whole_with(200), abs=2)


def compacted(session: Session, **facts: Any) -> ContextSize:
    """The size right after a compaction that kept nothing, of which these facts are recorded."""
    at = session.compaction(session.leaf + 1, "word" * 200)
    known = session.tree.columns.compactions
    known[at] = known[at]._replace(**facts)
    return size_of(session)


def test_what_an_agent_puts_back_after_a_compaction_is_expected() -> None:
    session = Session()
    session.user(100)
    reported(session, 1.0, 100)
    taken = 101
    for path, tokens in (("old.py", 700), ("large.py", 9_000), ("a.py", 400), ("b.py", 50)):
        reply = session.reply(calls=[("read", path)])
        session.result(tokens, call=f"c{reply}.0")
        taken += session.tree.columns.estimate[reply] + tokens
    reported(session, 1.0, taken)
    leaf = session.leaf
    assert compacted(session).shown == pytest.approx(SYSTEM + 200, abs=2)
    # The three that were read last, of which one is too large; and what the record lists itself.
    session.leaf = leaf
    back = compacted(session, put_back=PutBack(3, 5_000), repeated_tokens=80)
    assert back.shown == pytest.approx(SYSTEM + 200 + 450 + 80, abs=2)
    assert back.tokens == 200
    # Where the files are recorded, they are entries.
    content = {"path": "a.py", "content": "word" * 400}
    session.message(role="fileMention", files=[content])
    assert size_of(session).shown == pytest.approx(
        SYSTEM + 200 + 80 + session.tree.columns.estimate[session.leaf], abs=2
    )


def test_what_was_put_back_after_one_compaction_is_freed_by_the_next() -> None:
    session = Session()
    session.user(100)
    reported(session, 1.0, 100)
    reply = session.reply(calls=[("read", "a.py")])
    session.result(4_000, call=f"c{reply}.0")
    reported(session, 1.0, 4_101 + session.tree.columns.estimate[reply])
    compacted(session, put_back=PutBack(3, 5_000))
    session.user(800)
    newest = session.user(1_000)
    reported(session, 1.0, 4_000 + 200 + 1_800)
    shown = session.partition(1_000)
    assert shown.whole_before == SYSTEM + 6_001
    promised = shown.whole_with(300)
    assert promised == pytest.approx(SYSTEM + shown.after(300), abs=2)
    session.compaction(newest, "word" * 300)
    assert size_of(session).shown == pytest.approx(promised, abs=2)


def test_what_is_too_much_for_a_system_prompt_is_not_expected() -> None:
    session = Session()
    session.user(10)
    session.reply(1, usage=150_000)
    assert compacted(session).shown == 200


def test_a_few_turns_tell_little_of_all_entries() -> None:
    session = Session()
    session.user(19_999)
    session.reply(1, usage=50_000)
    session.user(999)
    session.reply(1, usage=52_000)
    # 1,000 of 21,000 came between the reports; a quarter would tell, and the rest counts as it is.
    assert size_of(session).ratio == pytest.approx((2_000 + 4_250) / 5_250, abs=0.001)


def test_one_report_or_a_wild_one_frees_what_is_counted_here() -> None:
    session = Session()
    session.user(1_000)
    session.reply(1, usage=90_000)
    assert size_of(session).ratio == 1.0
    session.user(10)
    session.reply(1, usage=190_000)
    assert 1.0 < size_of(session).ratio < 1.2, "a few tokens tell little of a thousand"
    session.user(10)
    session.reply(1, usage=1_000)
    assert size_of(session).ratio == 1.0, "less was sent, which tells nothing of a token"


def test_where_less_is_sent_again_the_ratio_is_that_before_the_compaction() -> None:
    session, taken = Session(), 0
    for tokens in (100, 5_000, 15_000):
        session.user(tokens)
        reported(session, 1.5, taken + tokens)
        taken += tokens + 1
    kept = session.user(400)
    session.compaction(kept, "word" * 200)
    for tokens, usage in ((2_000, 40_000), (3_000, 44_000), (100, 36_000)):
        session.user(tokens)
        session.reply(1, usage=usage)
    assert size_of(session).ratio == pytest.approx(1.5, abs=0.001)


def test_what_an_offline_model_reports_was_counted_here() -> None:
    """Rules of others go by it; the size is a provider's count and what was counted since."""
    session = Session()
    session.user(5_000)
    first = session.reply(1, usage=21_000, model="offline/demo")
    size = size_of(session)
    assert (size.tokens, size.source, size.beyond, size.ratio) == (5_001, "estimate", 0, 1)
    theirs = context_size(session.tree, context_at(session.tree, first), PROFILES["pi"])
    assert (theirs.tokens, theirs.source) == (21_000, "estimate")
    assert "no provider" in context_known(theirs.source).basis
    assert usage_known(21_000, session.tree.columns.is_counted_here(first)).provenance == "inferred"
    reported(session, 1.5, 5_001)
    session.user(9_000)
    reported(session, 1.5, 14_002)
    told = size_of(session).tokens
    session.reply(1, usage=16_000, model="offline/demo")
    size = size_of(session)
    assert (size.tokens, size.source) == (told + 1, "provider + estimate of 1 newer")
    assert size.ratio == pytest.approx(1.5, abs=0.01), "between the provider's own"

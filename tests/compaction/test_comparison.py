"""Profiles side by side at one place of a session."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.context_size import context_size, counted_size
from explorer.compaction.partition import Verdict
from explorer.compaction.profile import BASES, PROFILES
from explorer.compaction.profile_comparison import causes, compare_profiles
from explorer.session.context import context_at
from tests.compaction.sessions import Session

SMALL = {
    name: replace(profile, keep_recent_tokens=40) for name, profile in PROFILES.items()
}  # fmt: skip


def _long_turns() -> Session:
    session = Session()
    for _ in range(3):
        session.user(10)
        for _ in range(3):
            reply = session.reply(10, calls=[("read", "a.py")])
            session.result(20, call=f"c{reply}.0")
        session.reply(10)
    return session


def test_every_profile_is_there_in_order_with_its_own_sizes() -> None:
    session = _long_turns()
    found = compare_profiles(session.tree, session.leaf, PROFILES.values())
    assert [one.profile.name for one in found] == list(PROFILES)
    assert [one.settings.keep_recent_tokens for one in found][3] == 16_384
    assert {one.shown.path[0] for one in found} == {0}


def test_one_window_for_all_moves_every_limit() -> None:
    session = _long_turns()
    found = compare_profiles(session.tree, session.leaf, PROFILES.values(), context_window=50_000)
    assert {one.settings.context_window for one in found} == {50_000}
    assert [one.limit for one in found] == [33_616, 33_616, 33_616, 41_808, 33_616]


def test_an_outcome_adds_up() -> None:
    session = _long_turns()
    for one in compare_profiles(session.tree, session.leaf, SMALL.values()):
        shown = one.shown
        assert one.compacts
        assert one.kept == shown.verdicts.count(Verdict.KEPT)
        assert one.first_kept == shown.path[shown.cut]
        prepared = shown.verdicts.count(Verdict.TO_SUMMARIZE) + one.turn_prefix
        assert prepared == one.messages
        assert one.kept + one.messages == len(shown.path)
        assert one.tokens_after < one.context_tokens


def test_the_whole_context_is_what_the_gauge_shows_under_each_profile() -> None:
    session = _long_turns()
    session.reply(1, usage=30_000)
    context = context_at(session.tree, session.leaf)
    for one in compare_profiles(session.tree, session.leaf, SMALL.values()):
        entries = counted_size(session.tree, context, one.profile)
        if one.profile.prompt_budget is None:
            gauge = context_size(session.tree, context, one.profile).shown
            assert one.whole_before == gauge == 30_000
            assert one.tokens_after < one.whole_after < one.whole_before
        else:
            # Its prompts are measured by their own count.
            assert (one.whole_before, one.whole_after) == (entries, one.tokens_after)


def test_a_refusal_says_why_and_changes_nothing() -> None:
    session = Session()
    session.user(5)
    for one in compare_profiles(session.tree, session.leaf, [PROFILES["explorer"]]):
        assert not one.compacts
        assert one.first_kept == -1
        assert one.messages == 0
        assert one.reason.startswith("Nothing to summarize")
        assert one.tokens_after == one.context_tokens == 5


def test_b1_what_an_earlier_compaction_kept_is_lost_under_some() -> None:
    session = Session()
    session.user(50)
    kept = session.user(50)
    session.reply(50)
    session.compaction(kept, "what was")
    session.user(50)
    session.reply(50)
    lost = {
        one.profile.name: one.lost
        for one in compare_profiles(session.tree, session.leaf, [*SMALL.values(), BASES["pi-0.58"]])
    }
    # omp: the earlier summary too, for only a split turn's beginning is summarized (B7).
    assert lost == {"explorer": 0, "pi": 0, "omp": 3, "pyagent": 0, "copilot": 0, "pi-0.58": 2}


def test_the_rules_that_make_the_difference_are_named() -> None:
    session = Session()
    session.user(50)
    kept = session.user(50)
    session.reply(50)
    session.compaction(kept, "what was")
    session.user(50)
    session.reply(50)
    found = causes(session.tree, session.leaf, SMALL["omp"], SMALL["explorer"])
    told = {cause.key: cause for cause in found}
    assert "boundary" in told
    assert told["boundary"].says == "after the previous compaction: what it kept is silently lost"
    assert told["boundary"].instead_of.startswith("from the first entry")
    # Rules that tell nothing here are not named.
    assert "long_results" not in told
    assert "oversized_tail" not in told


def test_how_much_is_kept_is_a_cause_too() -> None:
    session = _long_turns()
    other = replace(PROFILES["explorer"], keep_recent_tokens=100)
    found = causes(session.tree, session.leaf, SMALL["explorer"], other)
    assert [(cause.key, cause.says, cause.instead_of) for cause in found] == [
        ("keep_recent_tokens", "40 tokens", "100 tokens")
    ]


def test_a_profile_compared_with_itself_has_no_causes() -> None:
    session = _long_turns()
    assert causes(session.tree, session.leaf, SMALL["omp"], SMALL["omp"]) == []

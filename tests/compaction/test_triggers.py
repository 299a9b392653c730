"""When a context is compacted by itself, and what holds that back (A8 to A12, B13, B14, C3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES
from explorer.compaction.triggers import (
    COOLDOWN_MS,
    MOST_FAILURES,
    Decision,
    Guards,
    LastReply,
    TriggerSituation,
    cooling_ms,
    decide,
    manual_now,
    may_continue,
    resting_words,
    shrinks,
)

EXPLORER = PROFILES["explorer"]
MODEL = "openai/a"
ANSWERED = LastReply(MODEL, "answered", 90_000)
FULL = TriggerSituation(
    tokens=185_000, counted=184_000, threshold=183_616, window=200_000, model=MODEL,
    reply=ANSWERED, new_messages=4, now_ms=1_000_000,
)  # fmt: skip
OVERFLOW = replace(FULL, tokens=50_000, reply=LastReply(MODEL, "overflow"))
OPEN = Guards(failures=MOST_FAILURES, reason="The answer is empty.", failed_at_ms=0)


def decided(now: TriggerSituation, guards: Guards | None = None, enabled: bool = True) -> Decision:
    return decide(now, (guards or Guards()).observed(now), EXPLORER, enabled)


@pytest.mark.parametrize(("tokens", "compacts"), [(183_615, 0), (183_616, 0), (183_617, 1)])
def test_a8_the_threshold_is_strict(tokens: int, compacts: int) -> None:
    decision = decided(replace(FULL, tokens=tokens))
    assert decision.compacts == bool(compacts)
    assert f"{tokens:,}" in decision.reason


@pytest.mark.parametrize("outcome", ["failed", "stopped"])
def test_a8_only_a_turn_that_went_well_is_followed_by_a_compaction(outcome: str) -> None:
    reply = LastReply(MODEL, outcome)  # type: ignore[arg-type]
    assert not decided(replace(FULL, reply=reply)).compacts


def test_a10_an_overflow_is_recovered_from_whatever_the_size() -> None:
    decision = decided(OVERFLOW)
    assert (decision.trigger, decision.retry) == ("overflow", True)


def test_a11_the_threshold_does_not_make_the_reply_again() -> None:
    assert decided(FULL) == Decision("threshold", False, decided(FULL).reason)


def test_b13_an_overflow_counts_for_its_model_and_its_context_only() -> None:
    reply = LastReply(MODEL, "overflow")
    assert not decided(replace(OVERFLOW, reply=replace(reply, model="openai/b"))).compacts
    assert not decided(replace(OVERFLOW, reply=replace(reply, before_compaction=True))).compacts
    # With the size above the threshold it is compacted for that, and nothing is made again.
    other = decided(replace(FULL, reply=replace(reply, model="openai/b")))
    assert (other.trigger, other.retry) == ("threshold", False)


def test_b13_one_recovery_per_message_of_the_person() -> None:
    guards = replace(Guards(), recovered=True)
    assert decided(OVERFLOW, guards).blocked_by == "recovered"
    assert decided(OVERFLOW, guards.person_spoke()).trigger == "overflow"


@pytest.mark.parametrize(("read", "trigger"), [(200_000, None), (200_001, "overflow")])
def test_b14_an_answer_to_more_than_the_window_is_an_overflow(
    read: int, trigger: str | None
) -> None:
    now = replace(OVERFLOW, reply=LastReply(MODEL, "answered", read))
    assert decided(now).trigger == trigger


def test_a12_e18_off_stops_both_and_not_what_was_asked_for() -> None:
    assert decided(FULL, enabled=False).blocked_by == "off"
    assert decided(OVERFLOW, enabled=False).blocked_by == "off"
    assert decided(replace(FULL, requested=True), enabled=False).trigger == "requested"


def test_a_profile_may_have_no_recovery() -> None:
    decision = decide(OVERFLOW, Guards(), PROFILES["pyagent"], True)
    assert decision.blocked_by == "no-recovery"


def test_a8_a_request_goes_before_everything_but_needs_something_new() -> None:
    small = replace(FULL, tokens=10, requested=True)
    assert decided(small, OPEN).trigger == "requested"
    assert decided(replace(small, new_messages=0)).blocked_by == "nothing-new"


def test_e15_never_twice_without_a_new_message() -> None:
    assert decided(replace(FULL, new_messages=0)).blocked_by == "nothing-new"


def test_c3_three_failures_in_a_row_open_the_breaker_until_it_is_reset() -> None:
    guards, now = Guards(), FULL
    for _ in range(MOST_FAILURES):
        now = replace(now, now_ms=now.now_ms + 10 * COOLDOWN_MS)
        assert decided(now, guards).compacts
        guards = guards.failed("The answer is empty.", now.now_ms)
    now = replace(now, now_ms=now.now_ms + 10 * COOLDOWN_MS)
    assert decided(now, guards).blocked_by == "breaker"
    assert decided(replace(OVERFLOW, tokens=now.tokens), guards).blocked_by == "breaker"
    assert "The answer is empty." in resting_words(guards)
    assert decided(now, guards.reset()).trigger == "threshold"
    assert resting_words(guards.reset()) == ""


def test_c3_a_context_below_its_threshold_ends_the_row() -> None:
    guards = Guards().failed("no", 0).failed("no", 0)
    assert guards.observed(replace(FULL, tokens=10)).failures == 0
    assert guards.observed(FULL).failures == 2


def test_c3_after_a_failure_the_next_attempt_waits() -> None:
    guards = Guards().failed("no", FULL.now_ms)
    assert decided(FULL, guards).blocked_by == "cooldown"
    later = replace(FULL, now_ms=FULL.now_ms + COOLDOWN_MS)
    assert decided(later, guards).compacts
    twice = guards.failed("no", FULL.now_ms)
    assert cooling_ms(twice, FULL.now_ms) == 2 * COOLDOWN_MS
    assert cooling_ms(guards, FULL.now_ms - 10**9) == COOLDOWN_MS, "a clock set back"
    # A person who waits for an answer does not wait for that.
    assert decided(replace(OVERFLOW, tokens=FULL.tokens), guards).trigger == "overflow"


def test_c3_what_a_person_took_back_does_not_happen_again() -> None:
    guards = Guards().rest("It was taken back.")
    assert decided(FULL, guards).blocked_by == "breaker"
    assert resting_words(guards) == "It was taken back."
    assert resting_words(guards.observed(replace(FULL, tokens=10))) == "It was taken back."


def test_e13_a_provider_that_counts_otherwise_is_found_out() -> None:
    """The entries are few, the provider reports a full window after every compaction."""
    liar = replace(FULL, counted=5_000)
    guards = Guards().compacted().observed(liar)
    assert (guards.failures, guards.unproven) == (1, False)
    assert "185,000" in guards.reason and "5,000" in guards.reason
    honest = Guards().compacted().observed(FULL)
    assert honest.failures == 0, "a context that is really full again is compacted again"


@pytest.mark.parametrize(("after", "good"), [(99, True), (100, False), (101, False)])
def test_e16_only_what_shrinks_is_stored(after: int, good: bool) -> None:
    assert shrinks(100, after) is good


def test_e17_a_finished_turn_is_left_alone_but_where_the_profile_prompts_always() -> None:
    omp = PROFILES["omp"]
    assert not may_continue(EXPLORER, True, Guards(), finished=True)
    assert may_continue(EXPLORER, True, Guards(), finished=False)
    assert not may_continue(EXPLORER, EXPLORER.auto_continue, Guards(), finished=False)
    assert may_continue(omp, omp.auto_continue, Guards(), finished=True)
    assert not may_continue(omp, False, Guards(), finished=True)
    assert not may_continue(omp, True, replace(Guards(), continued=True), finished=False)


def test_a9_by_hand_while_a_turn_runs() -> None:
    assert manual_now(PROFILES["omp"], True) == "abort"
    assert manual_now(PROFILES["pyagent"], True) == "refuse"
    assert {manual_now(profile, False) for profile in PROFILES.values()} == {"run"}


@given(
    st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 3),
    st.sampled_from(["answered", "overflow", "failed", "stopped"]), st.booleans(), st.booleans(),
    st.integers(0, 5), st.integers(-1, 10**9),
)  # fmt: skip
def test_every_decision_says_why_and_a_held_one_does_nothing(
    tokens: int, threshold: int, read: int, new: int, outcome: str, enabled: bool, asked: bool,
    failures: int, failed_at: int,
) -> None:  # fmt: skip
    now = replace(
        FULL, tokens=tokens, counted=tokens, threshold=threshold, new_messages=new,
        reply=LastReply(MODEL, outcome, read), requested=asked,  # type: ignore[arg-type]
    )  # fmt: skip
    guards = Guards(failures=failures, reason="No.", failed_at_ms=failed_at).observed(now)
    decision = decide(now, guards, EXPLORER, enabled)
    assert decision.reason.endswith(".")
    assert not (decision.compacts and decision.blocked_by)
    if decision.trigger == "threshold":
        assert enabled and new and tokens > threshold and not guards.resting
    if decision.trigger == "overflow":
        assert enabled and not guards.resting and not guards.recovered
    if not enabled and not asked:
        assert not decision.compacts

"""The state machine of summaries made ahead (A47, A48, E21)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.compaction.background import (
    Applied,
    Apply,
    BackgroundEvent,
    DiscardRun,
    Exceeded,
    Failed,
    Foreground,
    Machine,
    ModelChanged,
    Rendered,
    Rendering,
    RunCancelled,
    RunFinished,
    RunState,
    Start,
    Stop,
    Wait,
    step,
    trigger_line,
)
from explorer.compaction.profile.rules import Background

POLICY = Background()


class Fixed:
    """Draws the same number every time, and counts how often."""

    def __init__(self, number: float = 0.5) -> None:
        self.number = number
        self.drawn = 0

    def random(self) -> float:
        self.drawn += 1
        return self.number


def after(*events: BackgroundEvent, draws: Fixed | None = None) -> tuple[Machine, list[object]]:
    machine, done = Machine(), []
    for event in events:
        machine, actions = step(machine, event, POLICY, draws or Fixed())
        done += actions
    return machine, done


@pytest.mark.parametrize(
    ("ratio", "warm", "starts"),
    [
        (0.79, True, False), (0.80, True, True), (0.81, True, True),
        (0.80, False, False), (0.899, False, False), (0.90, False, True), (1.3, False, True),
    ],
)  # fmt: skip
def test_a47_warm_by_the_drawn_line_cold_at_ninety(ratio: float, warm: bool, starts: bool) -> None:
    machine, done = after(Rendered(ratio, warm))
    assert done == ([Start(1)] if starts else [])
    assert machine.state is (RunState.IN_PROGRESS if starts else RunState.IDLE)
    assert f"{ratio * 100:.0f} %" in machine.note


def test_a47_the_warm_line_lies_between_78_and_82_and_only_it_is_drawn() -> None:
    draws = Fixed(0.0)
    assert trigger_line(POLICY, True, draws) == 0.78
    assert trigger_line(POLICY, True, Fixed(0.999999)) < 0.82
    assert trigger_line(POLICY, False, draws) == 0.90
    assert draws.drawn == 1
    random = Random(3)
    lines = {trigger_line(POLICY, True, random) for _ in range(200)}
    assert len(lines) > 150
    assert all(0.78 <= line < 0.82 for line in lines)


def test_a47_one_run_at_a_time() -> None:
    machine, done = after(Rendered(0.85, True), Rendered(0.95, True), Rendered(0.97, False))
    assert done == [Start(1)]
    assert machine.ratio == 0.97


def test_a47_a_finished_summary_is_applied_before_the_next_prompt() -> None:
    machine, done = after(Rendered(0.85, True), RunFinished(1), Rendering(0.85))
    assert machine.state is RunState.COMPLETED
    assert done == [Start(1), Apply(1)]
    machine, _ = step(machine, Applied(1), POLICY, Fixed())
    assert machine.state is RunState.IDLE


@pytest.mark.parametrize(("ratio", "applied"), [(0.65, True), (0.6499, False), (0.2, False)])
def test_a47_with_room_by_then_it_is_thrown_away(ratio: float, applied: bool) -> None:
    machine, done = after(Rendered(0.85, True), RunFinished(1), Rendering(ratio))
    assert done[1] == (Apply(1) if applied else DiscardRun(1))
    assert machine.state is (RunState.COMPLETED if applied else RunState.IDLE)


def test_a47_a_prompt_that_does_not_fit_waits_for_the_run_under_way() -> None:
    machine, done = after(Rendered(0.85, True), Exceeded())
    assert done == [Start(1), Wait(1)]
    assert machine.state is RunState.IN_PROGRESS
    _, done = after(Rendered(0.85, True), RunFinished(1), Exceeded())
    assert done == [Start(1), Apply(1)]
    _, done = after(Rendered(0.85, True), Failed(1, "no"), Exceeded())
    assert done == [Start(1), Foreground()]
    assert after(Exceeded())[1] == [Foreground()]


def test_a47_a_failed_run_is_tried_again_at_the_next_prompt() -> None:
    machine, done = after(Rendered(0.85, True), Failed(1, "no key"), Rendered(0.85, True))
    assert done == [Start(1), Start(2)]
    assert machine.state is RunState.IN_PROGRESS
    failed, _ = after(Rendered(0.85, True), Failed(1, "no key"))
    assert (failed.state, failed.problem) == (RunState.FAILED, "no key")


def test_a47_a_summary_that_cannot_be_applied_has_failed() -> None:
    machine, _ = after(Rendered(0.85, True), RunFinished(1), Rendering(0.9), Failed(1, "gone on"))
    assert machine.state is RunState.FAILED


def test_e21_cancel_ends_whatever_there_is() -> None:
    assert after(Rendered(0.85, True), RunCancelled())[1] == [Start(1), Stop(1)]
    assert after(Rendered(0.85, True), RunFinished(1), RunCancelled())[1] == [
        Start(1),
        DiscardRun(1),
    ]
    machine, _ = after(Rendered(0.85, True), RunCancelled(), RunFinished(1), Failed(1, "late"))
    assert machine.state is RunState.IDLE
    assert not machine.problem


def test_another_model_ends_a_run_and_keeps_a_finished_summary() -> None:
    assert after(Rendered(0.85, True), ModelChanged())[1] == [Start(1), Stop(1)]
    machine, done = after(Rendered(0.85, True), RunFinished(1), ModelChanged())
    assert (machine.state, done) == (RunState.COMPLETED, [Start(1)])


runs = st.integers(0, 4)
ratios = st.floats(0, 2)
events = st.one_of(
    st.builds(Rendered, ratios, st.booleans()),
    st.builds(Rendering, ratios),
    st.just(Exceeded()),
    st.builds(RunFinished, runs),
    st.builds(Failed, runs, st.just("no")),
    st.builds(Applied, runs),
    st.just(RunCancelled()),
    st.just(ModelChanged()),
)


@given(st.lists(events, max_size=30), st.integers())
def test_e21_no_order_of_events_leaves_it_stuck(order: list[BackgroundEvent], seed: int) -> None:
    """Runs never overlap, words of old runs change nothing, and from anywhere it can begin
    anew."""
    machine, random, open_run = Machine(), Random(seed), 0
    for event in order:
        before = machine
        machine, actions = step(machine, event, POLICY, random)
        for action in actions:
            if isinstance(action, Start):
                assert not open_run
                assert action.run == before.run + 1
                open_run = action.run
            elif isinstance(action, Stop):
                assert action.run == open_run
        if machine.state is not RunState.IN_PROGRESS:
            open_run = 0
        stale = isinstance(event, RunFinished | Failed | Applied) and event.run != before.run
        assert not stale or machine == before
        assert (machine.state is RunState.FAILED) == bool(machine.problem)
    for event in (RunCancelled(), Rendered(1.0, False)):
        machine, actions = step(machine, event, POLICY, random)
    assert machine.state is RunState.IN_PROGRESS
    assert actions == (Start(machine.run),)

"""The procedures of automatic compaction, step by step (A8, A10, A13)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from explorer.compaction.automatic import (
    Automatic,
    Compact,
    Outcome,
    Preview,
    Prune,
    Recover,
    StepFailed,
    Switches,
    is_quiet,
    run,
)
from explorer.compaction.profile import PROFILES
from explorer.compaction.triggers import Guards, LastReply, TriggerSituation

OMP = PROFILES["omp"]
FULL = TriggerSituation(900, 900, 500, 1_000, "m", None, new_messages=3, now_ms=0)
RULES, CALM = Switches(OMP, enabled=True, auto_continue=True), Guards()
ANSWERED, REFUSED = LastReply("m", "answered"), LastReply("m", "overflow")


@dataclass
class Watched:
    """A session whose steps are only noted; ``saves``: what a prune takes off its context;
    ``works``: whether what else is done succeeds."""

    now: TriggerSituation = FULL
    rules: Switches = RULES
    guards: Guards = CALM
    saves: int = 0
    works: bool = True
    steps: list[Any] = field(default_factory=list)

    def situation(self) -> TriggerSituation:
        return self.now

    def perform(self, step: Any) -> Any:
        self.steps.append(step)
        if isinstance(step, Prune):
            self.now = replace(self.now, tokens=self.now.tokens - self.saves)
            return self.saves > 0
        return Outcome(self.works)


def kinds(session: Watched) -> list[type]:
    return [type(step) for step in session.steps]


def test_a13_it_is_pruned_before_it_is_decided() -> None:
    enough, little = Watched(saves=500), Watched(saves=100)
    for session in (enough, little):
        run(Automatic(session).before_message(), session.perform)
    assert kinds(enough) == [Prune]
    assert kinds(little) == [Prune, Compact]


def test_a_policy_that_prunes_what_is_needed_waits_for_the_threshold() -> None:
    rules = Switches(PROFILES["explorer"], enabled=True)
    within = Watched(replace(FULL, tokens=400), rules)
    run(Automatic(within).before_message(), within.perform)
    over = Watched(rules=rules)
    run(Automatic(over).before_message(), over.perform)
    assert within.steps == []
    assert over.steps[0] == Prune(400)


def test_a_turn_that_failed_is_followed_by_nothing() -> None:
    session = Watched()
    failed = LastReply("m", "failed")
    assert not run(Automatic(session).after_turn(failed), session.perform)
    assert session.steps == []


def test_e17_the_agent_goes_on_once_for_each_message() -> None:
    session = Watched()
    assert run(Automatic(session).after_turn(ANSWERED, finished=False), session.perform)
    assert not run(Automatic(session).after_turn(ANSWERED, finished=False), session.perform)
    failing = Watched(works=False)
    assert not run(Automatic(failing).after_turn(ANSWERED, finished=False), failing.perform)
    assert kinds(failing) == [Prune, Compact] and not failing.guards.continued


def test_a10_a_recovery_is_held_by_an_open_breaker_with_its_reason() -> None:
    session = Watched(guards=Guards().rest("It was undone."))
    found = run(Automatic(session).make_room(REFUSED), session.perform)
    assert (found.done, found.problem, found.blocked_by) == (False, "It was undone.", "breaker")
    assert session.steps == []


def test_a10_a_recovery_prunes_everything_and_is_noted() -> None:
    session = Watched()
    run(Automatic(session).recovery(Recover("Too large.", again=True)), session.perform)
    assert session.steps == [Prune(None), Compact("overflow", "Too large.", again=True)]
    assert session.guards.recovered


def test_a_look_that_comes_to_nothing_is_known_before() -> None:
    assert is_quiet(500, 500, Guards()) and is_quiet(1, 500, CALM)
    assert not is_quiet(501, 500, CALM) and not is_quiet(1, 500, Guards(failures=1))


def test_only_what_happens_automatically_opens_the_breaker() -> None:
    for trigger, failures in (("threshold", 1), ("manual", 0)):
        session = Watched()
        steps = Automatic(session).compaction(trigger)  # type: ignore[arg-type]
        assert isinstance(next(steps), Preview)
        try:
            steps.throw(StepFailed("No model."))
        except StopIteration as end:
            assert end.value == Outcome(False, "No model.")
        assert session.guards.failures == failures

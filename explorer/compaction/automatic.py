"""Automatic compaction as procedures: what is done in which order, and what holds it back.

A procedure is a generator. It yields a step; the runner performs the step and sends back what
came of it. A live session performs steps with its store and its models, a walk of a recorded one on
counted columns; both run these procedures. Nothing here waits, reads a clock or looks at a session
other than through ``Watched``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.partition import Partition, is_possible
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile
from explorer.compaction.triggers import (
    Decision,
    Guards,
    Hold,
    LastReply,
    Trigger,
    TriggerSituation,
    decide,
    looks_between_rounds,
    may_continue,
    shrinks,
)

AUTOMATIC: frozenset[Trigger] = frozenset({"threshold", "overflow"})
"""Triggers of automatic compactions: their failures open the breaker."""

_UNTOUCHED = Guards()
_Result = TypeVar("_Result")
Steps = Generator[Any, Any, _Result]


class StepFailed(Exception):
    """A step came to nothing; the reason as a sentence."""


def run(steps: Steps[_Result], perform: Callable[[Any], Any]) -> _Result:
    """Perform the steps of a procedure, one after the other."""
    result = None
    try:
        while True:
            result = perform(steps.send(result))
    except StopIteration as end:
        outcome: _Result = end.value
        return outcome


async def run_async(steps: Steps[_Result], perform: Callable[[Any], Awaitable[Any]]) -> _Result:
    """``run`` with steps that are waited for. The procedure sees StepFailed; what else a step
    raises ends it."""
    try:
        step = next(steps)
        while True:
            try:
                result = await perform(step)
            except StepFailed as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        outcome: _Result = end.value
        return outcome


# steps -------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How a compaction, or a recovery, ended."""

    done: bool
    problem: str = ""
    blocked_by: Hold | None = None
    """Which rule blocked it, where it was not tried; then ``problem`` says why not."""


class Prune(Struct, frozen=True):
    """Replace old tool results by notes; whether any was. ``needed``: tokens to save, None for all
    that can be."""

    needed: int | None


class Recover(Struct, frozen=True):
    """Leave the reply that was too large, run ``recovery``, and go back to the reply when nothing
    comes of it; the ``Outcome``. ``again``: the reply is made again afterwards."""

    reason: str
    again: bool


class Compact(Struct, frozen=True):
    """Run ``compaction``; the ``Outcome``. ``again``: see ``Recover``."""

    trigger: Trigger
    reason: str
    again: bool = False


class Preview(Struct, frozen=True):
    """Look what would be summarized; the ``Partition``."""


class Summarize(Struct, frozen=True):
    """Have the summary written; its tokens. May fail."""

    shown: Partition


class Discard(Struct, frozen=True):
    """Throw the summary away."""


class Commit(Struct, frozen=True):
    """Put the summary into the session. May fail."""


# procedures --------------------------------------------------------------------------------------


class Switches(NamedTuple):
    """The switches of the moment."""

    profile: Profile
    enabled: bool
    auto_continue: bool = False


class Watched(Protocol):
    """A session, as the procedures look at it."""

    guards: Guards

    @property
    def rules(self) -> Switches:
        """Read anew for every decision."""

    def situation(self) -> TriggerSituation:
        """How full the context is; without a reply."""


class Automatic:
    """When one session is compacted automatically: by the threshold, after an overflow, or after a
    turn on the user's request."""

    def __init__(self, session: Watched) -> None:
        self._session = session

    def before_message(self, refused: LastReply | None = None) -> Steps[None]:
        """Make room before a message is sent, if the last turn left none: it may have failed, or
        been stopped, or the rules may have changed since. ``refused``: the reply at the leaf, if
        the model refused the context with it."""
        if refused is None:
            yield from self._prune()
        decision = self.decide(refused)
        if decision.trigger == "overflow":
            yield Recover(decision.reason, again=False)
        elif decision.trigger is not None:
            yield Compact(decision.trigger, decision.reason)

    def between_rounds(self) -> Steps[None]:
        """Look at the context before a request that follows another, where the profile does."""
        if looks_between_rounds(self._session.rules.profile):
            yield from self.before_message()

    def make_room(self, reply: LastReply) -> Steps[Outcome]:
        """Recover from a reply that was too large, once for each message of the user (A10)."""
        decision = self.decide(reply)
        if decision.trigger != "overflow":
            return Outcome(False, decision.reason, decision.blocked_by)
        recovered: Outcome = yield Recover(decision.reason, again=True)
        return recovered

    def recovery(self, step: Recover) -> Steps[Outcome]:
        """Make room before the reply that was too large: prune, and compact where that can be."""
        session = self._session
        session.guards = replace(session.guards, recovered=step.again)
        if (yield from self._prune(everything=True)) and impossible((yield Preview())):
            return Outcome(True)
        result: Outcome = yield Compact("overflow", step.reason, step.again)
        return result

    def after_turn(
        self, reply: LastReply, *, finished: bool = True, requested: bool = False
    ) -> Steps[bool]:
        """Look at the context after a turn; whether the agent is to be prompted to go on.

        ``finished``: the turn ended normally rather than at a limit. ``requested``: the user
        ordered a compaction while it ran.
        """
        if reply.outcome == "answered":
            yield from self._prune()
        decision = self.decide(reply, requested)
        if decision.trigger is None:
            return False
        ended: Outcome = yield Compact(decision.trigger, decision.reason)
        if not ended.done or decision.trigger != "threshold":
            return False
        session = self._session
        profile, _enabled, auto_continue = session.rules
        if not may_continue(profile, auto_continue, session.guards, finished):
            return False
        session.guards = replace(session.guards, continued=True)
        return True

    def compaction(self, trigger: Trigger) -> Steps[Outcome]:
        """Summarize and commit, unless that changes nothing for the better (E16)."""
        session = self._session
        try:
            shown = yield Preview()
            if problem := impossible(shown):
                raise StepFailed(problem)
            taken = yield Summarize(shown)
            before, after = shown.context_estimate, shown.after(taken)
            if not shrinks(before, after):
                yield Discard()
                raise StepFailed(f"The context would take {after:,} tokens instead of {before:,}.")
            yield Commit()
        except StepFailed as error:
            if trigger in AUTOMATIC:
                now_ms = session.situation().now_ms
                session.guards = session.guards.failed(str(error), now_ms)
            return Outcome(False, str(error))
        if trigger == "manual":
            session.guards = session.guards.reset()
        else:
            now = session.situation()
            session.guards = session.guards.ended(now.counted, now.threshold, now.now_ms)
        return Outcome(True)

    def decide(self, reply: LastReply | None, requested: bool = False) -> Decision:
        """Whether to compact now. What the context shows of earlier compactions is recorded."""
        session = self._session
        profile, enabled, _continue = session.rules
        now = replace(session.situation(), reply=reply, requested=requested)
        session.guards = session.guards.observed(now)
        decision = decide(now, session.guards, profile, enabled)
        if decision.trigger == "threshold" and profile.prompt_budget is not None:
            return Decision(None, False, "The prompt is brought within its budget when it is sent.")
        return decision

    def _prune(self, everything: bool = False) -> Steps[bool]:
        """Prune before anything is decided (A13); whether anything was pruned.

        A policy that prunes no more than needed waits until the context is over its threshold.
        """
        session = self._session
        profile, enabled, _continue = session.rules
        policy = profile.pruning
        if policy is None or not enabled or session.guards.resting:
            return False
        needed = None
        if not everything and policy.amount != "everything":
            now = session.situation()
            needed = now.tokens - now.threshold
            if needed <= 0:
                return False
        pruned: bool = yield Prune(needed)
        return pruned


def is_quiet(tokens: int, threshold: int, guards: Guards) -> bool:
    """Whether a look at a context of so many tokens, of which nothing is to be pruned, comes to
    nothing and notes nothing."""
    return tokens <= threshold and (guards is _UNTOUCHED or guards == _UNTOUCHED)


def impossible(shown: Partition) -> str:
    """Why there is nothing that a compaction could do; empty where there is."""
    if not isinstance(shown.preparation, Preparation):
        return shown.preparation.reason
    if not is_possible(shown):
        return "All that the context holds is recent: nothing can be summarized."
    return ""

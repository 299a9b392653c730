"""What a policy does to a context while a session is walked: the engine's own decisions.

The order in which it is asked is that of ``explorer.services.auto_compaction.controller``; what is
decided there by ``triggers``, ``prepare``, ``partition`` and ``plan_pruning`` is decided here by
the same functions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from explorer.audit.simulation.meter import Meter
from explorer.audit.simulation.policy import Assumptions, Policy
from explorer.audit.simulation.recorded_path import LONG_RESULT, Past
from explorer.audit.simulation.result import Cause, Compacted, NotDone, PrunedThen
from explorer.audit.simulation.simulated_context import RunningContext, shape
from explorer.audit.simulation.simulated_pruning import Pruner
from explorer.audit.simulation.walked_tree import Made, MadeCompaction, MadePrune, Overlay
from explorer.compaction.partition import Partition, Verdict, is_possible, partition, summary_guess
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.pruning import PruningPlan
from explorer.compaction.requests import purposes_of
from explorer.compaction.triggers import (
    Decision,
    Guards,
    LastReply,
    Situation,
    decide,
    limits_of,
    looks_between_rounds,
    shrinks,
)
from explorer.session.edit_entries import note_tokens
from explorer.session.kinds import Flag

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_CALM = Guards()


class _Told(NamedTuple):
    """The last reply with a provider's report: its position, and tokens."""

    position: int
    total: int
    prompt: int


_NOTHING_TOLD = _Told(-1, -1, -1)


@dataclass(slots=True)
class Happened:
    """What a walk brought about."""

    compactions: list[Compacted]
    prunes: list[PrunedThen]
    not_done: list[NotDone]


class Keeper:
    """Watches one walk. Positions are the track's."""

    def __init__(self, past: Past, policy: Policy, taken: Assumptions) -> None:
        self.past = past
        self.track = past.track
        self.policy = policy
        self.profile = policy.profile
        self.weighed = past.weighed_for(policy)
        self.measure = past.measure_for(policy)
        self.context = RunningContext(self.track, self.profile, self.weighed)
        self.limits = limits_of(self.profile, policy.settings, None)
        self.meter = Meter(taken.cache_minutes)
        self.taken = taken
        self.summaries = past.summaries(taken)
        self.happened = Happened([], [], [])
        self.guards = _CALM
        self._made = Made()
        self._told = _NOTHING_TOLD
        self._omitted: frozenset[int] = frozenset()
        self._long = past.long_results_for(policy)
        results = past.results_for(policy)
        self.pruner = None if results is None else Pruner(self.track, results)
        self._is_shaped = bool(self.track.shapes) or self.profile.keep_user_tokens > 0
        self._between = looks_between_rounds(self.profile)
        self.on_changed: Callable[[int], None] = lambda _start: None
        """Told when the context does not hold what it held, with the first position in it."""

    @property
    def is_calm(self) -> bool:
        """Nothing that happened holds anything back."""
        return self.guards is _CALM

    @property
    def omitted(self) -> frozenset[int]:
        """Positions that a person left out."""
        return self._omitted

    # what a turn asks --------------------------------------------------------------------------

    def person_spoke(self) -> None:
        """A message of the person."""
        if self.guards is not _CALM:
            self.guards = self.guards.person_spoke()

    def before_message(self) -> None:
        """Make room before a message is sent, if the last turn left none."""
        self._look(None)

    def between_rounds(self) -> None:
        """Look at the context before a request that follows another, where the profile does."""
        if self._between:
            self._look(None)

    def after_turn(self) -> None:
        """Look at the context after a turn that went well."""
        self._look(LastReply("", "answered"))

    def make_room(self) -> bool:
        """A request was larger than the window; whether it can be made again."""
        decision = self._decide(LastReply("", "overflow"))
        if decision.trigger != "overflow":
            self._not_done(decision.reason)
            return False
        self.guards = replace(self.guards, recovered=True)
        pruned = self._prune(everything=True)
        if pruned and not is_possible(self._preview(self.overlay())):
            return True
        return self._compact("overflow", decision.reason)

    def reset(self) -> None:
        """The context starts anew."""
        self.meter.changed(self.measure.beyond)
        self.context.reset()
        self.shape()

    def shape(self) -> None:
        """What a person pinned and omitted is looked at anew."""
        if not self._is_shaped:
            return
        overlay = self.overlay()
        found = shape(
            self.context, self.weighed, overlay.tree, overlay.leaf, overlay.source.__getitem__
        )
        self._omitted = found.omitted
        if self.pruner is not None:
            self.pruner.shape(found.apart, found.pruned)
        if found.same >= 0:
            self.meter.changed(self.measure.prompt(found.same))
            self.on_changed(self.context.start)

    def reported(self, position: int, total: int, prompt: int) -> None:
        """A reply brought a provider's report along: tokens of its prompt, and with itself."""
        self.context.told(position, total)
        if not self.track.flags[position] & _FAILED:
            self._told = _Told(position, total, prompt)

    # deciding ----------------------------------------------------------------------------------

    def _look(self, reply: LastReply | None) -> None:
        context = self.context
        tokens = context.size
        if tokens <= self.limits.threshold and self.guards is _CALM:
            pruning = self.profile.pruning
            everything = pruning is not None and pruning.amount == "everything"
            if everything and self._prune():
                tokens = context.size
            if tokens <= self.limits.threshold:
                return
        else:
            self._prune()
        decision = self._decide(reply)
        if decision.trigger == "threshold" and self.profile.prompt_budget is None:
            self._compact("threshold", decision.reason)

    def refusal(self) -> str:
        """Why nothing is done for a request that does not fit, where nothing can be."""
        now = self._situation(LastReply("", "overflow"))
        return decide(now, self.guards, self.profile, self.profile.enabled).reason

    def _situation(self, reply: LastReply | None) -> Situation:
        context = self.context
        return Situation(
            tokens=context.size,
            counted=context.counted,
            threshold=self.limits.threshold,
            window=self.limits.window,
            model="",
            reply=reply,
            new_messages=context.messages,
            now_ms=self.now_ms,
        )

    def _decide(self, reply: LastReply | None) -> Decision:
        now = self._situation(reply)
        self.guards = self.guards.observed(now)
        if self.guards == _CALM:
            self.guards = _CALM
        return decide(now, self.guards, self.profile, self.profile.enabled)

    @property
    def now_ms(self) -> int:
        """The time of the recording."""
        at = self.context.end - 1
        return int(self.track.time_ms(at)) if at >= 0 else 0

    # doing -------------------------------------------------------------------------------------

    def _prune(self, everything: bool = False) -> bool:
        policy, context, pruner = self.profile.pruning, self.context, self.pruner
        if policy is None or pruner is None or not self.profile.enabled or self.guards.resting:
            return False
        over = context.size - self.limits.threshold
        needed = None if everything or policy.amount == "everything" else over
        if needed is not None and needed <= 0:
            return False
        if not pruner.may_save(context.end, context.start):
            return False
        plan = pruner.plan(context.end, context.start, needed)
        if not plan.results:
            return False
        self._pruned(plan, pruner)
        return True

    def _pruned(self, plan: PruningPlan, pruner: Pruner) -> None:
        context, values = self.context, self.weighed.values
        before = context.counted
        notes = {
            self.track.position(one.entry): (one.tokens, one.note, note_tokens(one.note))
            for one in sorted(plan.results, key=lambda one: one.entry)
        }
        less = [(at, values[at] - taken) for at, (_tokens, _note, taken) in notes.items()]
        self._made.all.append(MadePrune(context.end, notes))
        inside = [at for at in notes if at >= context.start]
        if inside:
            self.meter.changed(self.measure.prompt(context.upto(inside[0])))
        pruner.prune(notes)
        context.pruned(less)
        self.happened.prunes.append(
            PrunedThen(
                plan.reason, len(self.meter.requests), self._entry(), self._turn(),
                tuple(self.track.entries[at] for at in notes), plan.saved, before,
                context.counted,
            )
        )  # fmt: skip

    def overlay(self, whole: bool = False) -> Overlay:
        """The tree as far as the walk came: what a decision looks at, or the ``whole`` of it."""
        context, told = self.context, self._told
        start = 0 if whole or self._is_shaped else max(0, context.start - context.was_reset)
        usage = {context.reply: context.report} if context.reply >= 0 else {}
        if told.position >= 0:
            usage[told.position] = told.total
        return Overlay(
            self.track, start, context.end, self._made,
            weights=self.weighed.measured, usage=usage, besides=usage if self._asks_old else (),
        )  # fmt: skip

    @property
    def _asks_old(self) -> bool:
        """Whether a report from before what is kept may still count."""
        return self.profile.usage == "last-reply" or self.profile.keep_recent_scale != "none"

    def _preview(self, overlay: Overlay) -> Partition:
        return partition(
            prepare(
                overlay.tree, overlay.leaf, self.profile, self.policy.settings,
                weights=overlay.weights, prompt_of=lambda _entry: self._told.prompt,
            )
        )  # fmt: skip

    def _compact(self, cause: Cause, reason: str) -> bool:
        overlay = self.overlay()
        shown = self._preview(overlay)
        made = shown.preparation
        if not isinstance(made, Preparation) or not is_possible(shown):
            self._failed(made.reason if not isinstance(made, Preparation) else "All is recent.")
            return False
        summary, assumed = self.summary_of(shown)
        before, after = shown.context_estimate, shown.after(summary)
        if not shrinks(before, after):
            self._failed(f"The context would take {after:,} tokens instead of {before:,}.")
            return False
        context = self.context
        before = context.counted
        kept = overlay.position_from(made.first_kept)
        split = made.is_split_turn
        purposes = len(purposes_of(made))
        told = shown.tokens_told - self._left_out(made, overlay)
        self.compacted(summary, kept)
        self.happened.compactions.append(
            Compacted(
                cause=cause,
                reason=reason,
                request=len(self.meter.requests),
                entry=self._entry(),
                turn=self._turn(),
                first_kept=self.track.entries[kept] if kept < context.end else -1,
                split_turn=self.track.turn[kept] if split and kept < context.end else 0,
                messages=len(made.history) + len(made.turn_prefix),
                before=before,
                after=context.counted,
                summary=summary,
                asked=told + purposes * self.taken.order_tokens,
                asked_cached=0,
                requests=purposes,
                assumed=assumed,
            )
        )
        self.guards = self.guards.ended(context.counted, self.limits.threshold, self.now_ms)
        return True

    def compacted(self, summary: int, kept: int) -> None:
        """A summary takes the place of what is before a position."""
        context = self.context
        user_tokens = self.profile.keep_user_tokens
        self._made.all.append(MadeCompaction(context.end, kept, summary, user_tokens))
        self.meter.changed(self.measure.beyond)
        context.compacted(kept, summary)
        self.shape()
        self.on_changed(kept)

    def summary_of(self, shown: Partition) -> tuple[int, bool]:
        """Tokens of the next summary, and whether that is assumed."""
        previous = shown.preparation.cuts.view.summary_weight
        told = shown.tokens[Verdict.TO_SUMMARIZE] - previous
        return self.summary_size(previous, told, shown.tokens[Verdict.TURN_PREFIX])

    def summary_size(self, previous: int, told: int, prefix: int) -> tuple[int, bool]:
        """Tokens of the next summary, and whether that is assumed."""
        known, number = self.past.known.summaries, len(self.happened.compactions)
        if number < len(known):
            return known[number], False
        reserve = self.policy.settings.reserve_tokens
        size = summary_guess(previous, told, prefix, reserve, self.summaries.share)
        return max(1, size), True

    def _left_out(self, made: Preparation, overlay: Overlay) -> int:
        """Tokens of long results that a summarizer does not see."""
        values, pruned = self.weighed.values, made.cuts.view.pruned
        start = overlay.position_from(made.path[made.boundary])
        stop = overlay.position_from(made.first_kept)
        first = bisect_left(self._long, start)
        return sum(
            values[at] - LONG_RESULT
            for at in self._long[first : bisect_left(self._long, stop)]
            if at not in self._omitted and overlay.entry_of(at) not in pruned
        )

    def _failed(self, reason: str) -> None:
        self.guards = self.guards.failed(reason, self.now_ms)
        self._not_done(reason)

    def _not_done(self, reason: str) -> None:
        requests = len(self.meter.requests)
        self.happened.not_done.append(NotDone(reason, requests, self._entry(), self._turn()))

    def _entry(self) -> int:
        at = self.context.end - 1
        return self.track.entries[at] if at >= 0 else -1

    def _turn(self) -> int:
        at = self.context.end - 1
        return self.track.turn[at] if at >= 0 else 0

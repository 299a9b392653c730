"""What a policy does to a context while a session is walked: the engine's own decisions.

The order in which it is asked is that of ``explorer.work.automatic``; what is decided there by
``triggers``, ``prepare``, ``partition`` and ``plan_pruning`` is decided here by the same functions.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.audit.simulation.context import RunningContext
from explorer.audit.simulation.meter import Meter
from explorer.audit.simulation.overlay import Overlay
from explorer.audit.simulation.past import Past
from explorer.audit.simulation.policy import Assumptions, Policy
from explorer.audit.simulation.result import Cause, Compacted, NotDone, PrunedThen
from explorer.audit.simulation.results import ResultSums
from explorer.compaction.partition import Partition, Verdict, is_possible, partition, summary_guess
from explorer.compaction.prepare import Preparation, prepare
from explorer.compaction.pruning import PruningPlan, plan_pruning
from explorer.compaction.requests import purposes_of
from explorer.compaction.serialize import MAX_RESULT_UNITS
from explorer.compaction.threshold import limits_of
from explorer.compaction.triggers import (
    Decision,
    Guards,
    LastReply,
    Situation,
    decide,
    looks_between_rounds,
    shrinks,
)
from explorer.session.kinds import Kind

_RESULT_TOKENS = MAX_RESULT_UNITS // 4
"""Tokens of a tool result that a summarizer sees."""
_CALM = Guards()


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
        self.usage = array("i", [-1]) * len(self.track)
        """What providers told in this walk, by position."""
        self.prompts = array("i", [-1]) * len(self.track)
        self.guards = _CALM
        self._overlay = Overlay(self.track, self.weighed.measured)
        self._results = ResultSums(self.track, self.weighed, self.profile.pruning)
        self._between = looks_between_rounds(self.profile)
        self.on_compacted: Callable[[int], None] = lambda _kept: None
        """Told of every compaction that is made here, with the first position that stays."""

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

    def make_room(self, prompt: int) -> bool:
        """A request was larger than the window; whether it can be made again."""
        decision = self._decide(LastReply("", "overflow"))
        if decision.trigger != "overflow":
            self._not_done(decision.reason)
            return False
        self.guards = replace(self.guards, recovered=True)
        pruned = self._prune(everything=True)
        if pruned and not is_possible(self._preview()):
            return True
        return self._compact("overflow", decision.reason)

    def reset(self) -> None:
        """The context starts anew."""
        self.overlay()
        self.meter.changed(self.measure.beyond)
        self.context.reset()

    # deciding ----------------------------------------------------------------------------------

    def _look(self, reply: LastReply | None) -> None:
        context = self.context
        tokens = context.size
        if tokens <= self.limits.threshold and self.guards is _CALM:
            if self._results.everything and self._prune():
                tokens = context.size
            if tokens <= self.limits.threshold:
                return
        else:
            self._prune()
        decision = self._decide(reply)
        if decision.trigger == "threshold" and self.profile.prompt_budget is None:
            self._compact("threshold", decision.reason)

    def _decide(self, reply: LastReply | None) -> Decision:
        context = self.context
        now = Situation(
            tokens=context.size,
            counted=context.counted,
            threshold=self.limits.threshold,
            window=self.limits.window,
            model="",
            reply=reply,
            new_messages=context.messages,
            now_ms=self.now_ms,
        )
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
        policy, context = self.profile.pruning, self.context
        if policy is None or not self.profile.enabled or self.guards.resting:
            return False
        over = context.size - self.limits.threshold
        needed = None if everything or policy.amount == "everything" else over
        if needed is not None and needed <= 0:
            return False
        if not self._results.may_save(context.end, context.start, policy.minimum_savings):
            return False
        tree = self.overlay().tree
        plan = plan_pruning(
            tree, self._overlay.leaf, policy, weights=self._overlay.weights, needed=needed
        )
        if not plan.results:
            return False
        self._pruned(plan)
        return True

    def _pruned(self, plan: PruningPlan) -> None:
        overlay, context = self._overlay, self.context
        source, values = overlay.source, self.weighed.values
        before = context.counted
        places = sorted((source[one.entry], one) for one in plan.results)
        overlay.prune(plan)
        notes = overlay.tree.prune_results(overlay.leaf)
        less = [(at, values[at] - notes[one.entry].note_tokens) for at, one in places]
        inside = [at for at, _less in less if at >= context.start]
        if inside:
            self.meter.changed(self.measure.prompt(context.upto(inside[0])))
        self._results.gone(less)
        context.pruned(less)
        self.happened.prunes.append(
            PrunedThen(
                plan.reason, len(self.meter.requests), self._entry(), self._turn(),
                tuple(self.track.entries[at] for at, _one in places), plan.saved, before,
                context.counted,
            )
        )  # fmt: skip

    def overlay(self) -> Overlay:
        """The tree as far as the walk came."""
        self._overlay.upto(self.context.end, self.usage)
        return self._overlay

    def _preview(self) -> Partition:
        overlay = self.overlay()

        def prompt_of(entry: int) -> int:
            return self.prompts[overlay.source[entry]]

        return partition(
            prepare(
                overlay.tree, overlay.leaf, self.profile, self.policy.settings,
                weights=overlay.weights, prompt_of=prompt_of,
            )
        )  # fmt: skip

    def _compact(self, cause: Cause, reason: str) -> bool:
        shown = self._preview()
        made = shown.preparation
        if not isinstance(made, Preparation) or not is_possible(shown):
            self._failed(made.reason if not isinstance(made, Preparation) else "All is recent.")
            return False
        summary, assumed = self.summary_of(shown)
        before, after = shown.context_estimate, shown.after(summary)
        if not shrinks(before, after):
            self._failed(f"The context would take {after:,} tokens instead of {before:,}.")
            return False
        overlay, context = self._overlay, self.context
        before = context.counted
        kept = overlay.position_from(made.first_kept)
        split = made.is_split_turn
        purposes = len(purposes_of(made))
        told = shown.tokens_told - self._left_out(made)
        self.compacted(summary, made.first_kept, made.read_files, made.modified_files)
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

    def compacted(
        self,
        summary: int,
        first_kept: int,
        read: tuple[str, ...] = (),
        modified: tuple[str, ...] = (),
    ) -> None:
        """A summary takes the place of what is before an entry of the overlay; -1: of all."""
        overlay, context = self._overlay, self.context
        kept = overlay.position_from(first_kept) if first_kept >= 0 else context.end
        overlay.compact(summary, first_kept, read, modified)
        self.meter.changed(self.measure.beyond)
        context.compacted(kept, summary)
        still = {*self._results.still_looked_at(context.end, kept), context.reply}
        overlay.forget(first_kept if first_kept >= 0 else overlay.leaf, still - {-1})
        self.on_compacted(kept)

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

    def _left_out(self, made: Preparation) -> int:
        """Tokens of long results that a summarizer does not see."""
        source, values, kinds = self._overlay.source, self.weighed.values, self.track.kinds
        total = 0
        pruned = made.cuts.view.pruned
        for part in (made.history, made.turn_prefix):
            for entry in part:
                at = source[entry]
                long = at >= 0 and values[at] > _RESULT_TOKENS
                if long and kinds[at] == Kind.TOOL_RESULT and entry not in pruned:
                    total += values[at] - _RESULT_TOKENS
        return total

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

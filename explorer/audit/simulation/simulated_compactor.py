"""What a policy does to a context while a session is walked.

The procedures of ``explorer.compaction.automatic``, as a live session runs them, with steps that
are performed on the walk's columns: a summary is a size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.audit.simulation.policy import Assumptions, Policy
from explorer.audit.simulation.recorded_path import LONG_RESULT, Past
from explorer.audit.simulation.result import Compacted, CompactionCause, Meter, NotDone, PrunedThen
from explorer.audit.simulation.simulated_context import Pruner, RunningContext, shape
from explorer.audit.simulation.walked_tree import AddedEntries, MadeCompaction, MadePrune, Overlay
from explorer.compaction.automatic import (
    Automatic,
    Commit,
    Compact,
    Preview,
    Prune,
    Recover,
    Summarize,
    Switches,
    is_quiet,
    run,
)
from explorer.compaction.partition import Partition, Verdict, partition, summary_guess
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.requests import purposes_of
from explorer.compaction.triggers import Guards, LastReply, TriggerSituation, fitted, limits_of
from explorer.session.edit_entries import note_tokens
from explorer.session.kinds import Flag

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_CALM = Guards()


class _Report(NamedTuple):
    """The last reply with a provider's report: its position, and tokens."""

    position: int = -1
    total: int = -1
    prompt: int = -1


class Planned(NamedTuple):
    """A summary of a planned size. Sizes in tokens; see ``Compacted``."""

    summary: int
    assumed: bool
    asked: int
    messages: int
    asked_cached: int = 0
    requests: int = 1


class Happened(Struct):
    """What a walk brought about."""

    compactions: list[Compacted] = field(default_factory=list)
    prunes: list[PrunedThen] = field(default_factory=list)
    not_done: list[NotDone] = field(default_factory=list)


class SimulatedCompactor:
    """Watches one walk. Positions are the track's."""

    def __init__(self, past: Past, policy: Policy, taken: Assumptions) -> None:
        self.past = past
        self.track = past.track
        self.policy = policy
        self.profile = policy.profile
        self.counted = counted = past.counted(policy)
        self.weighed, self.measure = counted.weighed, counted.measure
        self.context = RunningContext(self.track, self.profile, self.weighed)
        self.limits = limits_of(self.profile, policy.settings, None)
        self.meter = Meter(counted.requests.begun(), taken.cache_minutes)
        self.taken = taken
        self.summaries = past.summaries(taken)
        self.happened = Happened()
        self.guards = _CALM
        self._made = AddedEntries()
        self._report = _Report()
        self.omitted: frozenset[int] = frozenset()
        """Positions that a person left out."""
        pruning = self.profile.pruning
        self.pruner = Pruner(self.track, counted.results(pruning)) if pruning else None
        self._is_shaped = bool(self.track.shapes) or self.profile.keep_user_tokens > 0
        self.rules = Switches(self.profile, self.profile.enabled)
        self.on_changed: Callable[[int], None] = lambda _start: None
        """Notified when the context changes, with the first position affected."""

    # what a turn asks --------------------------------------------------------------------------

    def person_spoke(self) -> None:
        """Restart the guards: the person sent a message."""
        if self.guards != _CALM:
            self.guards = self.guards.person_spoke()

    def before_message(self) -> None:
        """Make room before a message is sent, if the last turn left none."""
        if self._may_act():
            run(Automatic(self).before_message(), self._perform)

    def between_rounds(self) -> None:
        """Look at the context before a request that follows another, where the profile does."""
        if self._may_act():
            run(Automatic(self).between_rounds(), self._perform)

    def after_turn(self) -> None:
        """Look at the context after a turn that went well."""
        if self._may_act():
            run(Automatic(self).after_turn(LastReply("", "answered")), self._perform)

    def _may_act(self) -> bool:
        """Whether a look may come to anything; most do not, and that is found out quickly."""
        context, policy, pruner = self.context, self.profile.pruning, self.pruner
        if not is_quiet(context.size, self.limits.threshold, self.guards):
            return True
        if pruner is None or policy is None or policy.amount != "everything":
            return False
        return pruner.may_save(context.end, context.start)

    def make_room(self) -> bool:
        """A request was larger than the window; whether it can be made again."""
        outcome = run(Automatic(self).make_room(LastReply("", "overflow")), self._perform)
        if outcome.blocked_by is not None:
            self._not_done(outcome.problem)
        return outcome.done

    def reset(self) -> None:
        """Empty the context."""
        self.meter.changed(self.measure.beyond)
        self.context.reset()
        self.shape()

    def shape(self) -> None:
        """Read what a person pinned and omitted again."""
        if not self._is_shaped:
            return
        overlay = self.overlay()
        shaped = shape(
            self.context, self.weighed, overlay.tree, overlay.leaf, overlay.source.__getitem__
        )
        self.omitted = shaped.omitted
        if self.pruner is not None:
            self.pruner.shape(shaped.apart, shaped.pruned)
        if shaped.same >= 0:
            self.meter.changed(self.measure.prompt(shaped.same))
            self.on_changed(self.context.start)

    def reported(self, position: int, total: int, prompt: int) -> None:
        """A reply brought a provider's report along: tokens of its prompt, and with itself."""
        self.context.report_usage(position, total)
        if not self.track.flags[position] & _FAILED:
            self._report = _Report(position, total, prompt)

    # what the procedures look at ---------------------------------------------------------------

    def situation(self) -> TriggerSituation:
        """How full the context is."""
        context = self.context
        window, threshold = self.limits
        return TriggerSituation(
            context.size, context.counted, threshold, window, "", None, context.messages,
            self.now_ms,
        )  # fmt: skip

    @property
    def now_ms(self) -> int:
        """The time of the recording."""
        return int(self.track.time_ms(self.context.end - 1)) if self.context.end else 0

    @property
    def entry(self) -> int:
        """The last entry that was walked, or -1."""
        return self.track.entries[self.context.end - 1] if self.context.end else -1

    @property
    def turn(self) -> int:
        """The turn that it is in."""
        return self.track.turn[self.context.end - 1] if self.context.end else 0

    # doing -------------------------------------------------------------------------------------

    def _perform(self, step: Any) -> Any:
        """Perform a step of a procedure."""
        match step:
            case Prune(needed):
                return self._prune(needed)
            case Recover():
                return run(Automatic(self).recovery(step), self._perform)
            case Compact(trigger, reason):
                attempt = _Attempt(
                    self, "overflow" if trigger == "overflow" else "threshold", reason
                )
                ended = run(Automatic(self).compaction(trigger), attempt.perform)
                if not ended.done:
                    self._not_done(ended.problem)
                return ended
            case Preview():
                return self.preview(self.overlay())

    def _prune(self, needed: int | None) -> bool:
        context, values, pruner = self.context, self.weighed.values, self.pruner
        if pruner is None or not pruner.may_save(context.end, context.start):
            return False
        plan = pruner.plan(context.end, context.start, needed)
        if not plan.results:
            return False
        before = context.shown
        notes = {
            self.track.position(result.entry): (
                result.tokens,
                result.note,
                note_tokens(result.note),
            )
            for result in sorted(plan.results, key=lambda result: result.entry)
        }
        less = [(at, values[at] - taken) for at, (_tokens, _note, taken) in notes.items()]
        self._made.all.append(MadePrune(context.end, notes))
        affected = [at for at in notes if at >= context.start]
        if affected:
            self.meter.changed(self.measure.prompt(context.upto(affected[0])))
        pruner.prune(notes)
        context.pruned(less)
        self.happened.prunes.append(
            PrunedThen(
                plan.reason, len(self.meter.requests), self.entry, self.turn,
                tuple(self.track.entries[at] for at in notes), plan.saved, before,
                context.shown,
            )
        )  # fmt: skip
        return True

    def overlay(self, whole: bool = False) -> Overlay:
        """The tree as far as the walk came: what a decision looks at, or the ``whole`` of it."""
        context, report = self.context, self._report
        start = 0 if whole or self._is_shaped else max(0, context.start - context.was_reset)
        usage = {context.reply: context.report} if context.reply >= 0 else {}
        if report.position >= 0:
            usage[report.position] = report.total
        return Overlay(
            self.track, start, context.end, self._made,
            weights=self.weighed.measured, usage=usage, besides=usage if self._asks_old else (),
        )  # fmt: skip

    @property
    def _asks_old(self) -> bool:
        """Whether a report from before what is kept may still count."""
        return self.profile.usage == "last-reply" or self.profile.keep_recent_scale != "none"

    def preview(self, overlay: Overlay) -> Partition:
        """What a compaction would summarize."""
        return partition(
            prepare(
                overlay.tree, overlay.leaf, self.profile, self.policy.settings,
                weights=overlay.weights, prompt_of=lambda _entry: self._report.prompt,
            )
        )  # fmt: skip

    def commit(
        self, cause: CompactionCause, reason: str, planned: Planned, kept: int, split_turn: int
    ) -> None:
        """A summary takes the place of what is before a position. ``split_turn``: the turn that the
        cut falls into; 0 where it falls between turns."""
        context, before, happened = self.context, self.context.shown, self.happened
        user_tokens = self.profile.keep_user_tokens
        made = MadeCompaction(context.end, kept, planned.summary, user_tokens)
        self._made.all.append(made)
        self.meter.changed(self.measure.beyond)
        context.compacted(kept, planned.summary)
        self.shape()
        self.on_changed(kept)
        is_kept = kept < context.end
        happened.compactions.append(
            Compacted(
                cause=cause,
                reason=reason,
                request=len(self.meter.requests),
                entry=self.entry,
                turn=self.turn,
                first_kept=self.track.entries[kept] if is_kept else -1,
                split_turn=split_turn if is_kept else 0,
                before=before,
                after=context.shown,
                **planned._asdict(),
            )
        )

    def summary_size(self, previous: int, summarized: int, prefix: int) -> tuple[int, bool]:
        """Tokens of the next summary, and whether that is assumed."""
        known, number = self.past.known.summaries, len(self.happened.compactions)
        if number < len(known):
            return known[number], False
        reserve = fitted(self.profile, self.policy.settings).reserve_tokens
        size = summary_guess(previous, summarized, prefix, reserve, self.summaries.share)
        return max(1, size), True

    def _not_done(self, reason: str) -> None:
        requests = len(self.meter.requests)
        self.happened.not_done.append(NotDone(reason, requests, self.entry, self.turn))


class _Attempt:
    """One compaction of a walk, with a summary of a planned size."""

    def __init__(self, compactor: SimulatedCompactor, cause: CompactionCause, reason: str) -> None:
        self._compactor = compactor
        self._cause = cause
        self._reason = reason

    def perform(self, step: Any) -> Any:
        """Perform a step of a compaction."""
        match step:
            case Preview():
                self._overlay = self._compactor.overlay()
                return self._compactor.preview(self._overlay)
            case Summarize(shown):
                self._shown = shown
                previous = shown.tokens_updated
                self._summary, self._assumed = self._compactor.summary_size(
                    previous,
                    shown.tokens[Verdict.TO_SUMMARIZE] - previous,
                    shown.tokens[Verdict.TURN_PREFIX],
                )
                return self._summary
            case Commit():
                self._commit()

    def _commit(self) -> None:
        compactor, shown, made = self._compactor, self._shown, self._shown.preparation
        assert isinstance(made, Preparation)
        kept, purposes = self._overlay.position_from(made.first_kept), len(purposes_of(made))
        planned = Planned(
            self._summary,
            self._assumed,
            shown.tokens_summarized
            - self._left_out(made)
            + purposes * compactor.taken.order_tokens,
            len(made.history) + len(made.turn_prefix),
            requests=purposes,
        )
        is_split = made.is_split_turn and kept < compactor.context.end
        split_turn = compactor.track.turn[kept] if is_split else 0
        compactor.commit(self._cause, self._reason, planned, kept, split_turn)

    def _left_out(self, made: Preparation) -> int:
        """Tokens of long results that a summarizer does not see."""
        compactor, overlay = self._compactor, self._overlay
        values, pruned, long = (
            compactor.weighed.values,
            made.cuts.view.pruned,
            compactor.counted.long_results,
        )
        start = overlay.position_from(made.path[made.boundary])
        stop = overlay.position_from(made.first_kept)
        return sum(
            values[at] - LONG_RESULT
            for at in long[bisect_left(long, start) : bisect_left(long, stop)]
            if at not in compactor.omitted and overlay.entry_of(at) not in pruned
        )

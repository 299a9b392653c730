"""The recorded path itself: what was sent and compacted then, and what can be learned from it."""

from __future__ import annotations

from array import array

from msgspec import field

from explorer.audit.simulation.policy import (
    NOTHING_KNOWN,
    Assumptions,
    KnownRun,
    Measure,
    Policy,
    SummarySize,
    measure_of,
    summary_size,
)
from explorer.audit.simulation.result import (
    Compacted,
    Meter,
    PrunedThen,
    RequestMark,
    Requests,
    Simulation,
)
from explorer.audit.simulation.simulated_context import RunningContext, TrackWeights, shape
from explorer.audit.simulation.track import Track, track_of
from explorer.compaction.context_size import context_size
from explorer.compaction.messages import MAX_RESULT_UNITS
from explorer.compaction.path_view import SENT, entry_tokens
from explorer.compaction.profile import PROFILES
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import ToolResults
from explorer.compaction.triggers import limits_of
from explorer.session.context import context_at
from explorer.session.edits import prunes_on
from explorer.session.kinds import TURN_START_KINDS, Kind
from explorer.session.partly_compared import PartlyCompared
from explorer.session.tree import SessionTree

LONG_RESULT = MAX_RESULT_UNITS // 4
"""Tokens of a tool result that a summarizer sees."""


class Counted:
    """A track, as all profiles see it that count in one way."""

    def __init__(self, track: Track, known: KnownRun, policy: Policy, measure: Measure) -> None:
        self._track = track
        self._weights = known.weights if policy.profile.weights == "sent" else None
        self._results: dict[Pruning, ToolResults] = {}
        self.measure = measure
        """How the provider's figures are to those of the profiles."""
        self.weighed = TrackWeights(track, policy.profile, known.weights)
        self.requests = requests_of(track, self.weighed)
        kinds, values = track.kinds, self.weighed.values
        self._at = [at for at, kind in enumerate(kinds) if kind == Kind.TOOL_RESULT]
        self.long_results = [at for at in self._at if values[at] > LONG_RESULT]
        """The positions of tool results of which a summarizer does not see all, ascending."""

    def results(self, pruning: Pruning) -> ToolResults:
        """The tool results under a policy of pruning."""
        if pruning not in self._results:
            entries = [self._track.entries[at] for at in self._at]
            results = ToolResults(self._track.tree, entries, pruning, self._weights)
            self._results[pruning] = results
        return self._results[pruning]


class Past(PartlyCompared, frozen=True):
    """A recorded path, read once for any number of walks."""

    UNCOMPARED = frozenset({"_counted"})

    track: Track
    """What is walked: without what a policy decides."""
    known: KnownRun
    shares: tuple[tuple[int, int], ...]
    """Of the session's own compactions: the tokens summarized and those of the summary."""
    recorded: Simulation
    """What happened, in the form of a walk's result."""
    _counted: dict[str, Counted] = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        """How the provider's figures are to those of the recorded line."""
        return self.recorded.measure

    def counted(self, policy: Policy) -> Counted:
        """The track as a policy's profile counts it."""
        way = _way(policy)
        if way not in self._counted:
            tree, leaf = self.track.tree, self.track.leaf
            reading = _Reading(tree, leaf, self.known, Assumptions(), policy)
            reading.read()
            self._counted[way] = Counted(self.track, self.known, policy, reading.measure)
        return self._counted[way]

    def summaries(self, assumptions: Assumptions) -> SummarySize:
        """How large summaries are taken to be."""
        return summary_size(self.shares, assumptions.summary_share)


def past_of(
    tree: SessionTree,
    leaf: int,
    *,
    known: KnownRun = NOTHING_KNOWN,
    assumptions: Assumptions | None = None,
    policy: Policy | None = None,
) -> Past:
    """Read the path to ``leaf``. ``policy``: whose window and threshold the recorded line is shown
    with, by default the corrected profile's."""
    taken = assumptions or Assumptions()
    rules = policy or Policy.of(PROFILES["explorer"])
    reading = _Reading(tree, leaf, known, taken, rules)
    reading.read()
    track = track_of(tree, leaf)
    return Past(
        track=track,
        known=known,
        shares=tuple(reading.shares),
        recorded=reading.found(),
        _counted={_way(rules): Counted(track, known, rules, reading.measure)},
    )


def requests_of(track: Track, weighed: TrackWeights) -> Requests:
    """The requests of a track, with what does not depend on rules."""
    at = track.requests
    return Requests(
        entries=array("i", map(track.entries.__getitem__, at)),
        turns=array("i", map(track.turn.__getitem__, at)),
        written=array("i", map(weighed.written.__getitem__, at)),
    )


def _way(policy: Policy) -> str:
    """How a policy's profile counts."""
    return "sent" if policy.profile.weights == "sent" else "stored"


class _Reading:
    """One pass along a recorded path."""

    def __init__(
        self, tree: SessionTree, leaf: int, known: KnownRun, taken: Assumptions, rules: Policy
    ) -> None:
        self._tree = tree
        self._known = known
        self._rules = rules
        self._taken = taken
        self._track = track_of(tree, leaf, lambda _entry: False)
        self._weighed = TrackWeights(self._track, rules.profile, known.weights)
        self._context = RunningContext(self._track, rules.profile, self._weighed)
        self._prunes = frozenset(prunes_on(tree, tree.path(leaf)))
        self._asked: list[tuple[int, int]] = []
        """Of every reply: its position, and the tokens of the entries before it."""
        self._prefixes: list[tuple[int, int]] = []
        """Of every change: how many requests went before, and the tokens before what changed."""
        self._compactions: list[Compacted] = []
        self._prunings: list[PrunedThen] = []
        self.measure = Measure()
        self.shares: list[tuple[int, int]] = []

    def read(self) -> None:
        """Go along the path."""
        track, context = self._track, self._context
        requests = set(track.requests)
        for at, kind in enumerate(track.kinds):
            if at in requests:
                self._asked.append((at, context.counted))
            context.end = at + 1
            if kind == Kind.ASSISTANT:
                context.report_usage(at, track.usage[at])
            elif kind == Kind.COMPACTION:
                self._compacted(at)
            elif kind == Kind.RESET_BOUNDARY:
                self._changed(at)
                context.reset()
                self._shaped(at)
            elif track.entries[at] in self._prunes:
                self._pruned(at)
            if at in track.shaping:
                self._shaped(at)
        reported = [(counted, self._reported(at)) for at, counted in self._asked]
        weights = self._known.weights if self._rules.profile.weights == SENT else None
        now = context_at(self._tree, track.leaf)
        size = context_size(self._tree, now, self._rules.profile, weights)
        self.measure = measure_of(reported, size.ratio)

    def _reported(self, at: int) -> int:
        """The prompt that the provider counted with a reply; 0 for none."""
        return max(0, self._track.usage[at] - self._weighed.written[at])

    def _changed(self, position: int) -> None:
        self._prefixes.append((len(self._asked), self._context.upto(position)))

    def _compacted(self, at: int) -> None:
        track, context, tree = self._track, self._context, self._tree
        entry = track.entries[at]
        facts = tree.columns.compactions[entry]
        kept_entry = tree.index_above(facts.first_kept_id, entry + 1)
        kept = track.position(kept_entry) if 0 <= kept_entry < entry else at
        if kept < at and track.entries[kept] != kept_entry:
            kept = at
        before, start = context.shown, context.start
        weights = self._known.weights if self._rules.profile.weights == SENT else None
        summary = entry_tokens(tree.columns, entry, weights)
        summarized = self._weighed.between(start, max(start, kept))
        is_known = not tree.columns.is_size_unknown(entry)
        if is_known:
            self.shares.append((summarized, summary))
        self._changed(context.start)
        context.compacted(kept, summary)
        self._shaped(at, facts.repeats)
        turn = track.turn[kept]
        split = 0 < kept < at and turn > 0 and track.kinds[kept] not in TURN_START_KINDS
        self._compactions.append(
            Compacted(
                cause="recorded",
                reason="As it was recorded.",
                request=len(self._asked),
                entry=track.entries[at - 1] if at else -1,
                turn=track.turn[at],
                first_kept=track.entries[kept] if kept < at else -1,
                split_turn=turn if split else 0,
                messages=track.messages[max(start, kept)] - track.messages[start],
                before=before,
                after=context.shown if is_known else None,
                summary=summary,
                asked=summarized + self._taken.order_tokens,
                asked_cached=0,
                requests=1,
                assumed=False,
            )
        )

    def _pruned(self, at: int) -> None:
        track, context, tree = self._track, self._context, self._tree
        entry, before = track.entries[at], context.shown
        results, values = tree.prune_results(entry), self._weighed.values
        places = sorted(
            (place := track.position(one), values[place] - result.note_tokens)
            for one, result in results.items()
        )
        affected = [place for place, _less in places if place >= context.start]
        if affected:
            self._changed(affected[0])
        context.pruned(places)
        self._prunings.append(
            PrunedThen(
                tree.columns.prunes[entry].reason or "As it was recorded.",
                len(self._asked), track.entries[at - 1] if at else -1, track.turn[at],
                tuple(sorted(results)), sum(less for _place, less in places), before,
                context.shown,
            )
        )  # fmt: skip

    def _shaped(self, at: int, keeps_users: bool = False) -> None:
        """What a person pinned, omitted or wished to be kept, as it holds from a position on."""
        track = self._track
        if not track.shapes and not keeps_users:
            return
        tree, context = self._tree, self._context
        shaped = shape(context, self._weighed, tree, track.entries[at], track.position)
        if shaped.same >= 0:
            self._prefixes.append((len(self._asked), shaped.same))

    def found(self) -> Simulation:
        """The recorded path as a walk."""
        track, measure = self._track, self.measure
        meter = Meter(requests_of(track, self._weighed), self._taken.cache_minutes)
        changes = iter([*self._prefixes, (len(self._asked) + 1, 0)])
        number, prefix = next(changes)
        for request, (at, counted) in enumerate(self._asked):
            while number <= request:
                meter.changed(measure.prompt(prefix))
                number, prefix = next(changes)
            known = self._known.prompts.get(track.entries[at])
            # Walks and replays go by the measure alone, which needs no reply to be read.
            reported = self._reported(at) if known is None else known.tokens
            sent, mark = (
                reported or measure.prompt(counted),
                RequestMark.EXACT if reported else RequestMark.NONE,
            )
            meter.take(sent, mark, track.time_ms(at))
            if known is not None:
                meter.requests.cached[-1] = known.cached
        limits = limits_of(self._rules.profile, self._rules.settings, None)
        return Simulation(
            policy=self._rules,
            leaf=track.leaf,
            entries=len(track),
            turns=track.turn[-1] if len(track) else 0,
            window=limits.window,
            threshold=limits.threshold,
            requests=meter.requests,
            compactions=tuple(self._compactions),
            prunes=tuple(self._prunings),
            not_done=(),
            measure=measure,
            summaries=summary_size(self.shares, None),
            is_recorded=True,
        )

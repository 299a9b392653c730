"""A recorded session walked again under a policy, without any model; and many such walks, over the
two sizes that decide when a session is compacted and how much is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.simulation.policy import NOTHING_KNOWN, Assumptions, KnownRun, Policy, Prices
from explorer.audit.simulation.recorded_path import Past, past_of
from explorer.audit.simulation.result import RequestMark, Simulation
from explorer.audit.simulation.simulated_compactor import SimulatedCompactor
from explorer.audit.simulation.simulated_prompts import Prompts
from explorer.audit.simulation.track import ANSWERED_OTHER, ANSWERED_USER, ASKED, UNASKED
from explorer.compaction.triggers import limits_of
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_ABORTED = int(Flag.ABORTED)
# Plain numbers: an IntFlag takes its time with every operation.
_NONE, _EXACT = int(RequestMark.NONE), int(RequestMark.EXACT)
_TOO_LARGE, _SHORTENED = int(RequestMark.TOO_LARGE), int(RequestMark.SHORTENED)
_LOOK_EVERY = 1_024


class WalkStopped(Exception):
    """A walk was given up."""


def simulate(
    tree: SessionTree,
    leaf: int,
    policy: Policy,
    *,
    known: KnownRun = NOTHING_KNOWN,
    assumptions: Assumptions | None = None,
    past: Past | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Simulation:
    """Walk the path to ``leaf`` under a policy; -1 is an empty walk.

    ``past``: the path as ``past_of`` read it, where several policies are walked; ``known`` and
    the leaf are then those that it was read with. ``cancelled`` is asked now and then; Stopped is
    raised when it says so.
    """
    taken = assumptions or Assumptions()
    read = past or past_of(tree, leaf, known=known, assumptions=taken)
    return _Walk(read, policy, taken, cancelled).done()


class _Walk:
    """One walk."""

    def __init__(
        self,
        past: Past,
        policy: Policy,
        taken: Assumptions,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._past = past
        self._compactor = SimulatedCompactor(past, policy, taken)
        self._prompts = Prompts(self._compactor) if policy.profile.prompt_budget else None
        self._cancelled = cancelled
        self._known = past.known.reports

    def done(self) -> Simulation:
        """Go along the whole track. Raises Stopped."""
        track, context = self._past.track, self._compactor.context
        for number, at in enumerate(track.events):
            if not number % _LOOK_EVERY and self._cancelled is not None and self._cancelled():
                raise WalkStopped
            context.end = at
            self._step(at)
        context.end = len(track)
        return self._found()

    def _step(self, at: int) -> None:
        """What happens at one position."""
        track, compactor, prompts = self._past.track, self._compactor, self._prompts
        act, kind = track.acts[at], track.kinds[at]
        if act == ANSWERED_USER:
            compactor.person_spoke()
            compactor.before_message()
        elif act == ASKED:
            if track.unlooked[at] and prompts is None:
                compactor.between_rounds()
            self._ask(at)
        elif kind == Kind.ASSISTANT and (act == UNASKED or track.flags[at] & _ABORTED):
            self._went_out(at, *self._prompt(at))
        compactor.context.end = at + 1
        if at in track.shaping:
            compactor.shape()
        if act == ANSWERED_OTHER:
            compactor.before_message()
        elif kind == Kind.RESET_BOUNDARY:
            compactor.reset()
        if track.ends[at]:
            compactor.after_turn()

    # requests ----------------------------------------------------------------------------------

    def _ask(self, at: int) -> None:
        """The request that the reply at a position answers, after room was made for it."""
        prompt, mark = self._sent(at)
        window = self._compactor.limits.window
        if prompt > window:
            # What was pruned stays so, even where no summary could follow.
            if self._compactor.make_room() or self._prompts is None:
                prompt, mark = self._sent(at)
            if prompt > window:
                mark |= _TOO_LARGE
        self._went_out(at, prompt, mark)

    def _sent(self, at: int) -> tuple[int, int]:
        """The prompt of a request as it goes out; see ``_prompt``."""
        if self._prompts is None:
            return self._prompt(at)
        sent = self._prompts.send()
        prompt, mark = self._prompt(at, sent.tokens)
        return prompt, mark | _SHORTENED if sent.is_shortened else mark

    def _prompt(self, at: int, rendered: int | None = None) -> tuple[int, int]:
        """Tokens of the prompt as a provider counts it, and its marks. ``rendered``: what its
        messages take within a budget; None: they are the context's entries."""
        track, compactor = self._past.track, self._compactor
        context, entry = compactor.context, track.entries[at]
        mark = _NONE
        known = self._known.get(entry) if self._known else None
        if known is not None:
            return known.prompt, mark | _EXACT
        if context.is_whole and entry < track.changed:
            # The provider was sent this very context then.
            prompt = track.usage[at] - compactor.weighed.written[at]
            if prompt > 0:
                return prompt, mark | _EXACT
        return compactor.measure.prompt(context.counted if rendered is None else rendered), mark

    def _went_out(self, at: int, prompt: int, mark: int) -> None:
        track, compactor = self._past.track, self._compactor
        known = self._known.get(track.entries[at]) if self._known else None
        total = known.total if known is not None else prompt + compactor.weighed.written[at]
        compactor.meter.take(prompt, mark, track.time_ms(at))
        compactor.reported(at, total, prompt)

    # the end -----------------------------------------------------------------------------------

    def _found(self) -> Simulation:
        track, compactor = self._past.track, self._compactor
        limits = limits_of(compactor.profile, compactor.policy.settings, None)
        threshold, prompts = limits.threshold, self._prompts
        if prompts is not None:
            threshold = prompts.line
        happened = compactor.happened
        return Simulation(
            policy=compactor.policy,
            leaf=track.leaf,
            entries=len(track),
            turns=track.turn[-1] if len(track) else 0,
            window=limits.window,
            threshold=threshold,
            requests=compactor.meter.requests,
            compactions=tuple(happened.compactions),
            prunes=tuple(happened.prunes),
            not_done=tuple(happened.not_done),
            measure=self._compactor.measure,
            summaries=compactor.summaries,
        )


STEPS = 12
"""Values of each size."""
_LEAST = 1_000
"""Tokens: the smallest size that is tried."""
_MOST_KEPT, _MOST_RESERVED = 0.6, 0.7
"""The largest ones, as shares of the window."""


class SweepCell(Struct, frozen=True):
    """What a session comes to with two sizes. Sizes in tokens."""

    keep: int
    reserve: int
    compactions: int
    prunes: int
    sent: int
    """By the agent; ``asked`` for summaries."""
    asked: int
    cached: int
    cost: float | None
    """Dollars; None without prices."""
    largest: int
    split_turns: float
    """Share of the turns that a cut fell into."""
    too_large: int
    """Requests that would not have fitted the window."""


class Sweep(Struct, frozen=True):
    """A grid of walks under one policy."""

    policy: Policy
    keeps: tuple[int, ...]
    reserves: tuple[int, ...]
    cells: tuple[SweepCell, ...]
    """By reserve, then by keep-recent."""

    def cell(self, keep: int, reserve: int) -> SweepCell:
        """The cell of two sizes of the axes."""
        return self.cells[self.reserves.index(reserve) * len(self.keeps) + self.keeps.index(keep)]

    @property
    def keep_matters(self) -> bool:
        """Whether the profile cuts by tokens at all."""
        return keep_matters(self.policy)

    @property
    def reserve_matters(self) -> bool:
        """Whether the profile goes by the reserve at all."""
        profile = self.policy.profile
        fixed = profile.threshold_tokens > 0 or profile.threshold_percent > 0
        return not fixed and profile.prompt_budget is None


def keep_matters(policy: Policy) -> bool:
    """Whether a policy's profile cuts by tokens at all."""
    return policy.profile.cut_unit == "tokens"


def axes(policy: Policy, steps: int = STEPS) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The values of keep-recent and reserve to try, ascending; the policy's values are among
    them."""
    sizes = policy.settings
    window = sizes.context_window
    return (
        _axis(round(window * _MOST_KEPT), sizes.keep_recent_tokens, steps),
        _axis(round(window * _MOST_RESERVED), sizes.reserve_tokens, steps),
    )


def _axis(most: int, policy_value: int, steps: int) -> tuple[int, ...]:
    """Values whose ratios are equal, the nearest one replaced by the policy's."""
    least = max(1, min(_LEAST, most // 10, policy_value))
    most = max(most, policy_value, least + 1)
    ratio = (most / least) ** (1 / max(1, steps - 1))
    values = {_rounded(least * ratio**at) for at in range(steps)}
    nearest = min(values, key=lambda value: abs(value - policy_value))
    return tuple(sorted((values - {nearest}) | {policy_value}))


def _rounded(value: float) -> int:
    """To two figures, as a person would choose it."""
    whole = round(value)
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return max(1, round(whole / unit) * unit)


def cells(
    past: Past,
    policy: Policy,
    keeps: Sequence[int],
    reserves: Sequence[int],
    *,
    assumptions: Assumptions | None = None,
    prices: Prices | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[SweepCell]:
    """One cell after the other, by reserve, then by keep-recent. Raises Stopped."""
    for reserve in reserves:
        cell: SweepCell | None = None
        for keep in keeps:
            # Where the profile does not cut by tokens, all of these are one walk.
            if cell is None or keep_matters(policy):
                sizes = replace(policy.settings, keep_recent_tokens=keep, reserve_tokens=reserve)
                tried = replace(policy, settings=sizes)
                cell = _cell(past, tried, assumptions, prices, cancelled)
            yield replace(cell, keep=keep)


def sweep(
    past: Past,
    policy: Policy,
    *,
    steps: int = STEPS,
    assumptions: Assumptions | None = None,
    prices: Prices | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    cancelled: Callable[[], bool] | None = None,
) -> Sweep:
    """Walk the session with every pair of sizes; see ``axes``. ``progress``: cells done and in all.
    Raises Stopped when ``cancelled`` returns True."""
    keeps, reserves = axes(policy, steps)
    found: list[SweepCell] = []
    total = len(keeps) * len(reserves)
    for cell in cells(
        past, policy, keeps, reserves, assumptions=assumptions, prices=prices, cancelled=cancelled
    ):
        found.append(cell)
        progress(len(found), total)
    return Sweep(policy, keeps, reserves, tuple(found))


def _cell(
    past: Past,
    policy: Policy,
    assumptions: Assumptions | None,
    prices: Prices | None,
    cancelled: Callable[[], bool] | None,
) -> SweepCell:
    simulation = simulate(
        past.track.tree, past.track.leaf, policy,
        assumptions=assumptions, past=past, cancelled=cancelled,
    )  # fmt: skip
    return SweepCell(
        keep=policy.settings.keep_recent_tokens,
        reserve=policy.settings.reserve_tokens,
        compactions=len(simulation.compactions),
        prunes=len(simulation.prunes),
        sent=simulation.sent,
        asked=simulation.asked,
        cached=simulation.cached,
        cost=simulation.cost(prices).total if prices is not None else None,
        largest=simulation.largest,
        split_turns=simulation.split_turns,
        too_large=simulation.too_large,
    )

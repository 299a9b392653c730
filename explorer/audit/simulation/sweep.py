"""Many walks: the two sizes that decide when a session is compacted and how much is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.simulation.measurement import Prices
from explorer.audit.simulation.policy import Assumptions, Policy
from explorer.audit.simulation.recorded_path import Past
from explorer.audit.simulation.walk import simulate

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
    """By the agent and for summaries together."""
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
        sent=simulation.sent + simulation.asked,
        cached=simulation.cached,
        cost=simulation.cost(prices).total if prices is not None else None,
        largest=simulation.largest,
        split_turns=simulation.split_turns,
        too_large=simulation.too_large,
    )

"""Tokens and money: what a reply, a turn, a branch and a whole session took.

Only what a provider counted is summed up, and what it cost is taken as it was recorded, in
imported sessions too; what is worked out for calls without a recorded cost is summed apart. Calls
without a provider's whole report are counted apart, and so is what compactions and branch summaries
took.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from explorer.session.entries import TokenUsage
from explorer.session.kinds import Kind
from explorer.session.tree import Path, SessionTree


class UsageSum(Struct, frozen=True):
    """A sum over calls. Tokens as they were reported; ``cost`` in dollars."""

    input: int = 0
    """Neither read from a cache nor written to one."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    calls: int = 0
    """Calls with a report of their tokens."""
    unpriced: int = 0
    """Of those: calls that have no cost, because the model's prices were unknown, or it has
    none."""
    uncounted: int = 0
    """Calls without a provider's report, or with one that was made before the answer was written:
    those tokens are in the sums, which are lower bounds then, as is the cost."""
    cache_write_1h: int = 0
    """Of ``cache_write``: for an hour, which costs more than the usual minutes."""
    listed: int = 0
    """Of the unpriced and the uncounted ones: calls whose cost is worked out by listed prices."""
    listed_cost: float = 0.0
    """What those cost by listed prices, in dollars, as far as their tokens are known; not in
    ``cost``."""
    estimated: int = 0
    """Of the calls: those of offline models, whose tokens were counted here."""
    low_priced: int = 0
    """Of ``cache_write_1h``: tokens that ``listed_cost`` has at the price of minutes, since none
    is listed for an hour."""

    @property
    def cost_is_least(self) -> bool:
        """Whether ``whole_cost`` is a lower bound of what was paid for the calls that have one."""
        return self.uncounted > 0 or self.low_priced > 0

    @property
    def whole_cost(self) -> float:
        """Recorded and worked out together: to be shown with the mark of what is worked out where
        ``listed`` is not 0."""
        return self.cost + self.listed_cost

    @property
    def tokens(self) -> int:
        """All tokens together, cached ones among them."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: UsageSum) -> UsageSum:
        return UsageSum(*(getattr(self, name) + getattr(other, name) for name in _FIGURES))

    def __neg__(self) -> UsageSum:
        return NOTHING - self

    def __sub__(self, other: UsageSum) -> UsageSum:
        return UsageSum(*(getattr(self, name) - getattr(other, name) for name in _FIGURES))


_FIGURES = UsageSum.__struct_fields__
_figures_of = attrgetter(*_FIGURES)
_MONEY = ("cost", "listed_cost")
NOTHING = UsageSum()
UNCOUNTED = UsageSum(uncounted=1)


def total_of(parts: Iterable[UsageSum]) -> UsageSum:
    """The sum of many; several times as quick as adding one after the other."""
    columns = list(zip(*map(_figures_of, parts), strict=True))
    return UsageSum(*map(sum, columns)) if columns else NOTHING


class PartUsage(Struct, frozen=True):
    """What a part of a session took."""

    replies: UsageSum = NOTHING
    """By the conversation itself."""
    summaries: UsageSum = NOTHING
    """By the compactions and branch summaries in it, as far as their entries tell."""

    @property
    def total(self) -> UsageSum:
        return self.replies + self.summaries


class Listed(NamedTuple):
    """What a call cost by listed prices."""

    dollars: float = 0.0
    """0 where that is not to be known."""
    low_priced: int = 0
    """See ``UsageSum.low_priced``."""


NOT_LISTED = Listed()


def usage_sum(
    usage: TokenUsage | None, listed: Listed = NOT_LISTED, *, counted_here: bool = False
) -> UsageSum:
    """What one call took; ``UNCOUNTED`` where nothing was reported. ``listed``: its cost, where
    none is recorded. ``counted_here``: by an offline model."""
    if usage is None:
        return UNCOUNTED
    parts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    hour, by_list = usage.cache_write_1h, 1 if listed.dollars else 0
    if usage.is_partial or usage.context <= 0:
        return UsageSum(
            *parts, uncounted=1, listed=by_list, listed_cost=listed.dollars,
            cache_write_1h=hour, low_priced=listed.low_priced,
        )  # fmt: skip
    if not any(parts):
        # Only a sum was reported: it is all that is known, and most of every prompt is input.
        parts = (usage.context, 0, 0, 0)
    if usage.cost:
        return UsageSum(*parts, cost=usage.cost, calls=1, cache_write_1h=hour)
    return UsageSum(
        *parts, calls=1, unpriced=1, listed=by_list, listed_cost=listed.dollars,
        estimated=int(counted_here), cache_write_1h=hour, low_priced=listed.low_priced,
    )  # fmt: skip


PRICE_SIZES = (100_000, 128_000, 200_000, 256_000, 272_000, 512_000)
"""Tokens of a prompt from which on lists of prices have dearer ones."""
NO_LIST = -1


def price_size(usage: TokenUsage | None) -> int:
    """The largest of ``PRICE_SIZES`` that the prompt of a call is over, 0 for none of them;
    ``NO_LIST`` where its cost is recorded, or nobody counted input and output apart: no list of
    prices tells what it cost then."""
    if usage is None or usage.cost or usage.costs is not None:
        return NO_LIST
    prompt = usage.input + usage.cache_read + usage.cache_write
    if not prompt and not usage.output:
        return NO_LIST
    return next((size for size in reversed(PRICE_SIZES) if prompt > size), 0)


class UsageLedger:
    """What each entry took, and sums over any part of the tree; grows with its session.

    A sum over a path takes a step for each stretch of it, however long they are. One thread may
    ask for sums while another takes entries in.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._replies = _Sums()
        self._summaries = _Sums()

    def __len__(self) -> int:
        """The entries that are taken in already."""
        return self._seen

    def wanted(self, tree: SessionTree, upto: int | None = None) -> list[int]:
        """The entries not taken in yet whose lines tell something."""
        columns, stop = tree.columns, len(tree) if upto is None else upto
        return [
            at
            for at in range(self._seen, stop)
            if (columns.kind[at] == Kind.ASSISTANT and columns.usage[at] > 0)
            or columns.kind[at] in _SUMMARY_KINDS
        ]

    def take(self, tree: SessionTree, spent: Mapping[int, UsageSum], upto: int) -> None:
        """Take in the entries before ``upto``, with what those that are ``wanted`` took; see
        ``usage_sum``."""
        kinds = tree.columns.kind
        for at in range(self._seen, upto):
            if kinds[at] == Kind.ASSISTANT:
                self._replies.add(at, spent.get(at, UNCOUNTED))
            elif at in spent and kinds[at] in _SUMMARY_KINDS:
                self._summaries.add(at, spent[at])
        self._seen = max(self._seen, upto)

    def of(self, entry: int) -> PartUsage:
        """One entry."""
        return self._between(entry, entry + 1)

    def session(self) -> PartUsage:
        """All entries, on whatever branch."""
        return self._between(0, self._seen)

    def path(self, path: Path) -> PartUsage:
        """The entries of a path, or of a part of one."""
        total = PartUsage()
        for part in path.ranges:
            spent = self._between(part.start, part.stop)
            total = PartUsage(total.replies + spent.replies, total.summaries + spent.summaries)
        return total

    def branch(self, tree: SessionTree, leaf: int) -> PartUsage:
        """From the root to a leaf; -1 is nothing."""
        return self.path(tree.path(leaf))

    def turn(self, tree: SessionTree, entry: int, leaf: int | None = None) -> PartUsage:
        """The turn that an entry is in, on the path to ``leaf`` (by default to the entry)."""
        path = tree.path(entry if leaf is None else leaf)
        at = path.position(entry)
        if at < 0:
            return PartUsage()
        starts = path.turn_starts(tree.columns)
        start, stop = starts.rfind(1, 0, at + 1), starts.find(1, at + 1)
        return self.path(path[max(start, 0) : stop if stop > 0 else len(path)])

    def _between(self, start: int, stop: int) -> PartUsage:
        return PartUsage(self._replies.between(start, stop), self._summaries.between(start, stop))


_SUMMARY_KINDS = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY})


_PARTS_OF_A_DOLLAR = 10**12
"""Costs are summed in whole numbers of these: differences of sums are then exact."""


class _Sums:
    """Running sums over the entries that took something."""

    def __init__(self) -> None:
        self._at = array("q")
        self._sums = [array("q", [0]) for _ in _FIGURES]

    def add(self, at: int, spent: UsageSum) -> None:
        for name, sums in zip(_FIGURES, self._sums, strict=True):
            value = getattr(spent, name)
            if name in _MONEY:
                value = round(value * _PARTS_OF_A_DOLLAR)
            # Beyond what fits it is damage, and stays at the end of the scale.
            sums.append(min(sums[-1] + value, _MOST))
        # Last: who asks meanwhile finds a sum for every entry.
        self._at.append(at)

    def between(self, start: int, stop: int) -> UsageSum:
        first, last = bisect_left(self._at, start), bisect_left(self._at, stop)
        if first == last:
            return NOTHING
        figures = dict(
            zip(_FIGURES, (sums[last] - sums[first] for sums in self._sums), strict=True)
        )
        money = {name: figures[name] / _PARTS_OF_A_DOLLAR for name in _MONEY}
        return UsageSum(**figures | money)  # type: ignore[arg-type]


_MOST = 2**63 - 1

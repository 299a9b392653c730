"""What a walk came to. Entries are indices into the recorded session, sizes tokens."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import IntFlag
from typing import Literal

from msgspec import Struct, field

from explorer.audit.simulation.policy import Costs, Measure, Policy, Prices, SummarySize

CompactionCause = Literal["threshold", "overflow", "background", "prompt", "recorded"]
"""Why a compaction happened: ``background`` was made ahead, ``prompt`` because a prompt did not
fit its budget, ``recorded`` is the session's own."""


_MINUTE_MS = 60_000


class RequestMark(IntFlag):
    """Marks of one request."""

    NONE = 0
    EXACT = 1
    """The provider counted this very prompt; else its size is estimated."""
    TOO_LARGE = 2
    """It does not fit the window, and nothing helped: here the session would have stood still."""
    SHORTENED = 4
    """The oldest history was left out of it to fit its budget."""


class Requests(Struct, frozen=True):
    """All requests of the agent, in order; one value each."""

    entries: array[int] = field(default_factory=lambda: array("i"))
    """The recorded reply."""
    turns: array[int] = field(default_factory=lambda: array("i"))
    """The turn that it is in, from 1."""
    sent: array[int] = field(default_factory=lambda: array("q"))
    """The whole prompt as a provider counts it."""
    cached: array[int] = field(default_factory=lambda: array("q"))
    """The part of it that the provider's cache holds from the request before."""
    written: array[int] = field(default_factory=lambda: array("i"))
    """The reply."""
    marks: bytearray = field(default_factory=bytearray)
    """One ``RequestMark`` each."""

    def __len__(self) -> int:
        return len(self.sent)

    def begun(self) -> Requests:
        """With the columns that every walk has in common, and nothing yet in the others."""
        return Requests(self.entries, self.turns, written=self.written)


class Meter:
    """Takes down the requests of a walk, one after the other, and what of each prompt a provider's
    cache holds."""

    def __init__(self, requests: Requests, cache_minutes: float) -> None:
        """``requests``: with the columns that every walk has in common."""
        self.requests = requests
        self._lasts_ms = cache_minutes * _MINUTE_MS
        self._cached = 0
        """Tokens at the beginning of the next prompt that the cache holds."""
        self._at_ms = 0.0

    def changed(self, prefix: int) -> None:
        """The prompt changes behind so many tokens: what was there is not in the cache."""
        self._cached = min(self._cached, prefix)

    def cached_tokens(self, prompt: int, now_ms: float) -> int:
        """What the cache holds of a prompt."""
        if 0 < self._lasts_ms < now_ms - self._at_ms and self._at_ms:
            return 0
        return min(self._cached, prompt)

    def take(self, prompt: int, mark: int, now_ms: float) -> None:
        """A request went out and was answered. ``mark``: what ``RequestMark`` says of it."""
        requests = self.requests
        requests.sent.append(prompt)
        requests.cached.append(self.cached_tokens(prompt, now_ms))
        requests.marks.append(mark)
        self._cached, self._at_ms = prompt, now_ms


class Compacted(Struct, frozen=True):
    """A compaction of a walk."""

    cause: CompactionCause
    reason: str
    """Why, in a sentence."""
    request: int
    """How many requests went out before it."""
    entry: int
    """The entry after which it happened."""
    turn: int
    first_kept: int
    """The first entry that stays as it is; -1 for none."""
    split_turn: int
    """The turn that the cut falls into; 0 where it falls between turns."""
    messages: int
    """What was summarized; a split turn's first part among it."""
    before: int
    """The context's entries, counted as they are shown everywhere; ``after`` likewise."""
    after: int | None
    """None: nobody can count that, since the summary is not in the file."""
    summary: int
    """The summary itself."""
    asked: int
    """What was sent to have it written, in all its requests."""
    asked_cached: int
    """The part of it that the provider's cache had."""
    requests: int
    assumed: bool
    """The summary's size is assumed rather than known."""


class PrunedThen(Struct, frozen=True):
    """A prune of a walk."""

    reason: str
    request: int
    entry: int
    """The entry after which it happened."""
    turn: int
    results: tuple[int, ...]
    """The tool results that gave way to notes."""
    saved: int
    before: int
    after: int


class NotDone(Struct, frozen=True):
    """A compaction that was due and came to nothing."""

    reason: str
    request: int
    entry: int
    turn: int


class Simulation(Struct, frozen=True):
    """One walk of a session under one policy."""

    policy: Policy
    leaf: int
    entries: int
    """Entries that were walked."""
    turns: int
    window: int
    threshold: int
    """Above it the context is compacted; where summaries are made ahead, where one is begun."""
    requests: Requests
    compactions: Sequence[Compacted]
    prunes: Sequence[PrunedThen]
    not_done: Sequence[NotDone]
    measure: Measure
    """How a provider's figures were come by."""
    summaries: SummarySize
    """How the sizes of summaries were come by."""
    is_recorded: bool = False
    """It is what the session recorded, not a walk under a policy."""

    @property
    def sent(self) -> int:
        """Tokens of all prompts of the agent: each request reads the whole context again."""
        return sum(self.requests.sent)

    @property
    def cached(self) -> int:
        """The part of ``sent`` that came from the provider's cache."""
        return sum(self.requests.cached)

    @property
    def written(self) -> int:
        """Tokens of all replies; the same under every policy, since they are the recorded ones."""
        return sum(self.requests.written)

    @property
    def asked(self) -> int:
        """Tokens that were sent to have summaries written."""
        return sum(compaction.asked for compaction in self.compactions)

    @property
    def summarized(self) -> int:
        """Tokens of all summaries."""
        return sum(compaction.summary for compaction in self.compactions)

    @property
    def largest(self) -> int:
        """The largest prompt."""
        return max(self.requests.sent, default=0)

    @property
    def splits(self) -> int:
        """Compactions that split a turn."""
        return sum(compaction.split_turn > 0 for compaction in self.compactions)

    @property
    def split_turns(self) -> float:
        """Share of the turns that a cut fell into."""
        turns = {compaction.split_turn for compaction in self.compactions} - {0}
        return len(turns) / self.turns if self.turns else 0.0

    @property
    def too_large(self) -> int:
        """Requests that would not have fitted the window."""
        bit = int(RequestMark.TOO_LARGE)
        return sum(1 for mark in self.requests.marks if mark & bit)

    @property
    def exact(self) -> int:
        """Requests whose size the provider reported."""
        bit = int(RequestMark.EXACT)
        return sum(1 for mark in self.requests.marks if mark & bit)

    def cost(self, prices: Prices) -> Costs:
        """What it would have cost, its summaries by the same model."""
        now = self.requests
        replies = prices.of_all(now.sent, now.cached, now.written)
        summaries = sum(
            prices.of(
                compaction.asked,
                compaction.asked_cached,
                compaction.summary,
                max(1, compaction.requests),
            )
            for compaction in self.compactions
            if compaction.requests
        )
        return Costs(replies, summaries)

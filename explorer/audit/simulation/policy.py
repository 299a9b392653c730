"""What a session is walked under: rules, what no recording can tell, what a provider would count,
how large summaries are by the session's own figures, and what tokens cost (dollars per token).

Sizes in tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.compaction.partition import SUMMARY_SHARE
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.reasons import ratio_text, share_text

CACHE_MINUTES = 5.0
"""How long a provider's prompt cache is taken to live after its last use: Anthropic's default."""


class Policy(Struct, frozen=True):
    """Rules, and the sizes that they go by."""

    profile: Profile
    settings: Settings
    name: str = ""
    """What it is called where several are shown; empty: the profile's title."""

    @classmethod
    def of(cls, profile: Profile, window: int | None = None, name: str = "") -> Policy:
        """A profile with its own sizes. ``window``: one window for all, as one model has."""
        settings = Settings.of(profile)
        if window is not None:
            settings = replace(settings, context_window=window)
        return cls(profile, settings, name)

    @property
    def title(self) -> str:
        """The name, or the profile's title."""
        return self.name or self.profile.title


class Assumptions(Struct, frozen=True):
    """What a walk without a model has to assume. Each says, or its words say, where it is from."""

    summary_share: float | None = None
    """Tokens of a summary as a share of what it summarizes; None: what the session's own
    compactions took, and without any what the preview of a compaction guesses."""
    order_tokens: int = 0
    """What a request for a summary holds beside the conversation: orders and system prompt."""
    tool_tokens: int | None = None
    """What the descriptions of tools take in each request; None: all that the provider counted
    beyond the entries."""
    system_tokens: int = 0
    """What the system prompt takes, where prompts are kept within a budget."""
    cache_minutes: float = CACHE_MINUTES
    """A pause longer than this, by the recorded times, leaves nothing in the prompt cache; 0: the
    cache never ends."""
    ready_after: int = 1
    """Requests that go out until a summary that is made ahead is there."""
    draw: float = 0.5
    """Stands for the random number of the line at which a summary is begun ahead, 0 to below 1."""


class ReportedUsage(NamedTuple):
    """What a provider reported for one request and its reply."""

    prompt: int
    total: int


class RecordedPrompt(NamedTuple):
    """What a provider reported of a recorded prompt."""

    tokens: int
    cached: int
    """The part of it that came from the provider's cache."""


class KnownRun(Struct, frozen=True):
    """What is known of a run rather than assumed, as of one that was played with a model."""

    reports: Mapping[int, ReportedUsage] = field(default_factory=dict)
    """By the recorded reply."""
    summaries: Sequence[int] = ()
    """The sizes of the summaries in their order, as far as they are known."""
    weights: Sequence[int] | None = None
    """The token column, by entry index, for profiles that count with a tokenizer; negative is not
    counted yet. None: the estimate."""
    prompts: Mapping[int, RecordedPrompt] = field(default_factory=dict)
    """By recorded reply, as far as they are known: what was sent then. Of others the prompt is what
    the context took with the reply, less the reply as it is counted here."""


NOTHING_KNOWN = KnownRun()


class Measure(Struct, frozen=True):
    """From the tokens of a context's entries to the prompt that a provider counts."""

    base: float = 0.0
    """Tokens of a prompt without entries, by the mean of all reports; below 0 where the ratio alone
    gives more than was reported."""
    ratio: float = 1.0
    """What the provider counts for each token of the entries: ``ContextSize.ratio``."""
    reports: int = 0
    """From how many replies that is known."""

    @property
    def beyond(self) -> int:
        """Tokens of each prompt beyond the entries: system prompt, tools."""
        return max(0, round(self.base))

    def prompt(self, counted: int) -> int:
        """Tokens of a prompt with entries of so many."""
        least = min(1.0, self.ratio) * counted
        return round(max(least, self.base + self.ratio * counted))

    @property
    def words(self) -> str:
        """Where it is from, in a sentence."""
        if not self.reports:
            return "Nobody counted the prompts: what is sent is the count of the entries alone."
        return (
            f"Prompts are estimated from the provider's count of {self.reports:,} of them: "
            f"{ratio_text(self.ratio)} for each token here, as in the preview of a compaction."
        )


def measure_of(prompts: Sequence[tuple[int, int]], ratio: float) -> Measure:
    """The line of a slope through the mean of what was counted here and what the provider counted,
    of each prompt (0: nothing). ``ratio``: the slope, which is that of the session's context:
    a line that fits best would take the entries that a file lacks for the tokenizer's doing."""
    known = [(ours, theirs) for ours, theirs in prompts if theirs > 0]
    if not known:
        return Measure()
    base = fmean(theirs - ratio * ours for ours, theirs in known)
    return Measure(base, ratio, len(known))


class SummarySize(Struct, frozen=True):
    """How large a summary is taken to be."""

    share: float | None
    """Of what it tells; None: as the preview of a compaction guesses it."""
    words: str
    """Where that is from, in a sentence."""


def summary_size(recorded: Sequence[tuple[int, int]], chosen_share: float | None) -> SummarySize:
    """``recorded``: of the session's own compactions the tokens summarized and those of the
    summary. ``chosen_share``: set by the user, or None."""
    if chosen_share is not None:
        return SummarySize(
            chosen_share,
            f"Summaries are taken to have {share_text(chosen_share)} of what they tell, as chosen.",
        )
    shares = [
        summary / summarized for summarized, summary in recorded if summarized > 0 and summary > 0
    ]
    if shares:
        share = min(1.0, median(shares))
        noun = "compaction" if len(shares) == 1 else f"{len(shares):,} compactions"
        return SummarySize(
            share,
            f"Summaries are taken to have {share_text(share, 1)} of what they tell, as in the "
            f"session's own {noun}.",
        )
    return SummarySize(
        None,
        f"A summary is taken to add {share_text(1 / SUMMARY_SHARE)} of what is new to the one that "
        "it updates, as the preview of a compaction goes by; the session has none of its own.",
    )


class Tier(NamedTuple):
    """Prices of a call whose prompt is over ``above`` tokens."""

    above: int
    prices: Prices


class Prices(Struct, frozen=True):
    """A model's prices; all that a provider charges is known."""

    read: float
    """Of a prompt token that the provider's cache does not hold, as far as nothing is written to
    a cache."""
    write: float
    """Of a token of the answer."""
    cached: float
    """Of a prompt token that comes from the cache."""
    into_cache: float
    """Of a prompt token that goes into the cache, as every new one of an agent's prompt does."""
    tiers: tuple[Tier, ...] = ()
    """Dearer prices of long prompts, the lowest first."""

    def of(self, sent: int, cached: int, written: int, requests: int = 1) -> float:
        """What calls cost that sent so much together. Nothing of what is asked once, as a summary
        is, goes into a cache."""
        now = self._at(sent // max(1, requests))
        return cached * now.cached + (sent - cached) * now.read + written * now.write

    def of_all(self, sent: Sequence[int], cached: Sequence[int], written: Sequence[int]) -> float:
        """What the requests of an agent cost, whose prompts go into the cache for the next."""
        if not self.tiers:
            whole, cached_tokens = sum(sent), sum(cached)
            new = (whole - cached_tokens) * self.into_cache
            return cached_tokens * self.cached + new + sum(written) * self.write
        total = 0.0
        for prompt, cached_tokens, reply in zip(sent, cached, written, strict=True):
            now = self._at(prompt)
            total += (
                cached_tokens * now.cached
                + (prompt - cached_tokens) * now.into_cache
                + reply * now.write
            )
        return total

    def _at(self, prompt: int) -> Prices:
        prices = self
        for tier in self.tiers:
            if prompt > tier.above:
                prices = tier.prices
        return prices


class Costs(NamedTuple):
    """Dollars."""

    replies: float
    summaries: float

    @property
    def total(self) -> float:
        return self.replies + self.summaries

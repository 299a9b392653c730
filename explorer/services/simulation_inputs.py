"""An opened session walked under other rules: what a walk needs of it, read once."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from explorer.audit.simulation import (
    Assumptions,
    KnownRun,
    Past,
    Policy,
    Prices,
    RecordedPrompt,
    Tier,
    past_of,
)
from explorer.compaction.profile import Profile
from explorer.models.client import ModelInfo
from explorer.services.document import Document


def read_past(
    document: Document, leaf: int, policy: Policy, assumptions: Assumptions | None = None
) -> Past:
    """The path to an entry as it was recorded. ``policy``: whose window and threshold the recorded
    line is shown with. Blocks for a moment with long sessions; reads no texts."""
    weights = document.tokens.weights_for(policy.profile)
    known = KnownRun(
        weights=None if weights is None else list(weights),
        prompts=dict(_prompts(document, leaf)) if document.usage.is_whole else {},
    )
    return past_of(document.tree, leaf, known=known, assumptions=assumptions, policy=policy)


def _prompts(document: Document, leaf: int) -> Iterator[tuple[int, RecordedPrompt]]:
    """By reply, the prompts that were reported."""
    tree = document.tree
    for entry in tree.path(leaf):
        if tree.columns.usage[entry] > 0 and not tree.columns.is_counted_here(entry):
            spent = document.usage.of(entry).replies
            whole = spent.input + spent.cache_read + spent.cache_write
            if whole:
                yield entry, RecordedPrompt(whole, spent.cache_read)


def assumptions_for(
    document: Document, profile: Profile, assumptions: Assumptions | None = None
) -> Assumptions:
    """What is assumed of a document: its orders to summarizers are counted as they are worded."""
    taken = assumptions or Assumptions()
    if taken.order_tokens:
        return taken
    words = document.shared.templates
    asked = words.system + words.sections[profile.sections].history_update
    return replace(taken, order_tokens=document.tokens.count_text(asked, profile))


def prices_of(info: ModelInfo) -> Prices | None:
    """A model's prices; None where they are not known."""
    into, out = info.input_price, info.output_price
    if into is None or out is None:
        return None
    read, write = info.cache_read_price, info.cache_write_price
    base, tiers = _prices(into, out, read, write), []
    for tier in info.tiers:
        into = into if tier.input_price is None else tier.input_price
        out = out if tier.output_price is None else tier.output_price
        read = read if tier.cache_read_price is None else tier.cache_read_price
        write = write if tier.cache_write_price is None else tier.cache_write_price
        tiers.append(Tier(tier.above, _prices(into, out, read, write)))
    return replace(base, tiers=tuple(tiers))


def _prices(into: float, out: float, cache_read: float | None, cache_write: float | None) -> Prices:
    """Tokens from or into a cache cost what others do, where no separate price is known."""
    return Prices(
        read=into,
        write=out,
        cached=into if cache_read is None else cache_read,
        into_cache=into if cache_write is None else cache_write,
    )

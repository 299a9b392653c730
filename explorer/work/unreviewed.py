"""A compaction that nobody reviews: previewed, drafted and recorded, tested, committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.compaction.partition import Partition, is_possible
from explorer.compaction.preparation import Preparation
from explorer.compaction.triggers import Trigger, shrinks
from explorer.models.door import Cancelled, CancelToken
from explorer.work.changes import SummaryText
from explorer.work.drafting import Draft, DraftFailed, Order
from explorer.work.rules import AutomaticRules

if TYPE_CHECKING:
    from explorer.work.document import Document


class Impossible(Exception):
    """There is nothing that a compaction could do."""


def order_of(
    document: Document,
    rules: AutomaticRules,
    trigger: Trigger,
    cancel: CancelToken,
    on_progress: Callable[[str], None],
) -> Order:
    """What is asked for under the rules of the moment: the service first, where there is one,
    then the models in turn (A43). What arrives is told as changes of the session."""
    key, publish = document.key, document.hub.publish
    order = Order(
        rules.instructions,
        rules.summary_model,
        lambda purpose, text: publish(SummaryText(key, purpose, text)),
        cancel,
        fallbacks=rules.fallbacks,
        on_progress=on_progress,
        on_restart=lambda purpose: publish(SummaryText(key, purpose, "", restart=True)),
        facts={"trigger": trigger},
    )
    return order.via(rules.profile.remote_endpoint)


def preview(document: Document, rules: AutomaticRules, cut: int | None = None) -> Partition:
    """What would be summarized at the leaf; a cut that is not valid any more is left out."""
    shown = document.preview(None, rules.profile, rules.settings, cut)
    if cut is not None and not isinstance(shown.preparation, Preparation):
        return document.preview(None, rules.profile, rules.settings)
    return shown


async def draft_and_commit(document: Document, shown: Partition, order: Order) -> int:
    """Compact at the leaf as it was previewed; the compaction entry.

    A draft that would not make the context smaller is kept for looking at and not committed (E16).
    Raises Impossible, DraftFailed, Cancelled, ValueError or StoreError; then nothing was changed.
    """
    if not isinstance(shown.preparation, Preparation):
        raise Impossible(shown.preparation.reason)
    if not is_possible(shown):
        raise Impossible("All that the context holds is recent: nothing can be summarized.")
    draft = await document.summarize(shown, order)
    taken = await asyncio.to_thread(document.count_text, draft.summary, shown.preparation.profile)
    before, after = shown.context_estimate, shown.after(taken)
    if not shrinks(before, after):
        await _refuse(document, draft)
        raise DraftFailed(f"The context would take {after:,} tokens instead of {before:,}.")
    if order.cancel.cancelled:
        await _refuse(document, draft)
        raise Cancelled
    return await document.commit(draft)


async def _refuse(document: Document, draft: Draft) -> None:
    """A draft that nobody is to take up later."""
    await document.drafts.mark(draft, "discarded", draft.summary)

"""One compaction without review: confirmed where that is wanted, previewed, drafted, tested,
committed. It takes the same path as a reviewed one and records the same things."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.compaction.partition import Partition, is_possible
from explorer.compaction.preparation import Preparation
from explorer.compaction.requests import purposes_of
from explorer.compaction.triggers import Limits, Trigger, shrinks
from explorer.models.client import Cancelled, CancelToken
from explorer.services.auto_compaction.confirmation import Confirmation, Made, NotNow, Question
from explorer.services.auto_compaction.guards import StoredGuards
from explorer.services.changes import (
    AutomaticChanged,
    CompactionEnded,
    CompactionStarted,
    SummaryText,
)
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.effective_rules import EffectiveRules
from explorer.services.extension_review import CancelledByExtension
from explorer.services.summary_request import DraftFailed, Order
from explorer.store.rows import StoreError

FAILED_WORDS = {
    "threshold": "Auto-compaction failed",
    "overflow": "Context overflow recovery failed",
}
"""How the sentence about a failure begins (A43), by trigger; of one that a user ordered:
``Compaction failed``."""
POSTPONED_WORDS = "It was left for now; the request is still larger than the model's window."
"""Why a recovery did not happen that the user postponed."""


class Impossible(Exception):
    """There is nothing that a compaction could do."""


@dataclass(frozen=True, slots=True)
class Running:
    """The compaction that is under way. Sizes in tokens."""

    trigger: Trigger
    tokens: int
    window: int
    note: str = ""
    """What the summarizer is waited for, as a sentence."""


class CompactionRunner:
    """Compacts one session at its leaf. ``rules`` is asked at every decision."""

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        guards: StoredGuards,
        confirmation: Confirmation,
    ) -> None:
        self._document = document
        self._rules = rules
        self._guards = guards
        self._confirmation = confirmation
        self._cancel: CancelToken | None = None
        self.running: Running | None = None

    def cancel(self) -> None:
        """Give up the compaction that is under way; the session stays unchanged."""
        if self._cancel is not None:
            self._cancel.cancel()

    async def compact(
        self,
        trigger: Trigger,
        model: str,
        rules: EffectiveRules,
        cancel: CancelToken,
        retry: bool = False,
    ) -> CompactionEnded:
        """Compact for conversations with ``model``; how it ended. ``retry``: the reply that failed
        is made again afterwards.

        Never raises what a summary can fail with: that is in the result's ``problem``.
        """
        document = self._document
        before = document.counted_size(rules.profile)
        ended = CompactionEnded(document.key, trigger, tokens_before=before, retry=retry)
        cut: int | None = None
        if trigger in FAILED_WORDS and rules.ask_first and self._confirmation.attended:
            try:
                answer = await self._confirmation.ask(self._question(trigger, model, rules), cancel)
            except Cancelled:
                return replace(ended, cancelled=True)
            if isinstance(answer, NotNow):
                self._guards.postpone(self._rules().profile, answer.tokens)
                problem = POSTPONED_WORDS if trigger == "overflow" else ""
                return replace(ended, problem=problem, cancelled=True)
            if isinstance(answer, Made):
                # The window published that compaction already.
                rules = self._rules()
                after = document.counted_size(rules.profile)
                self._note_success("manual", answer.entry, after, self._limits(model, rules))
                return replace(ended, entry=answer.entry, tokens_after=after)
            # The user may have changed the rules while the question waited (A12).
            rules = self._rules()
            instructions = answer.instructions or rules.instructions
            rules, cut = replace(rules, instructions=instructions), answer.cut
        return await self._run(trigger, ended, model, rules, cancel, cut)

    def _question(self, trigger: Trigger, model: str, rules: EffectiveRules) -> Question:
        now = self._limits(model, rules)
        tokens = self._document.context_size(rules.profile).tokens
        return Question(
            "overflow" if trigger == "overflow" else "threshold", tokens, now.window, now.threshold
        )

    async def _run(
        self,
        trigger: Trigger,
        ended: CompactionEnded,
        model: str,
        rules: EffectiveRules,
        cancel: CancelToken,
        cut: int | None,
    ) -> CompactionEnded:
        document = self._document
        shown = _preview(document, rules, cut)
        inner = CancelToken()
        order = _order(document, rules, trigger, inner, self._on_progress)
        purposes: tuple[str, ...] = ("history",)
        if isinstance(shown.preparation, Preparation):
            purposes = tuple(purposes_of(shown.preparation))
        tokens, limits = document.context_size(rules.profile).tokens, self._limits(model, rules)
        self.running = Running(trigger, tokens, limits.window)
        document.hub.publish(
            CompactionStarted(
                document.key, trigger, tokens, limits.window, ended.retry, order.model, purposes
            )
        )
        forget = cancel.add_callback(inner.cancel)
        self._cancel = inner
        try:
            entry = await _draft_and_commit(document, shown, order)
            ended = replace(ended, entry=entry, tokens_after=document.counted_size(rules.profile))
            self._note_success(trigger, entry, ended.tokens_after, limits)
        except Cancelled:
            ended = replace(ended, cancelled=True)
            if trigger in FAILED_WORDS and not cancel.cancelled:
                # The turn goes on; before the next request it would be begun again.
                self._guards.now = self._guards.now.left()
        except CancelledByExtension as error:
            # A decision rather than a failure: it opens no breaker.
            ended = replace(ended, problem=str(error))
        except (DraftFailed, StoreError, ValueError, Impossible) as error:
            ended = replace(ended, problem=self._note_failure(trigger, str(error)))
        except asyncio.CancelledError:
            ended = replace(ended, cancelled=True)
            raise
        finally:
            forget()
            self._cancel = self.running = None
            document.hub.publish(AutomaticChanged(document.key))
            document.hub.publish(ended)
        return ended

    def _limits(self, model: str, rules: EffectiveRules) -> Limits:
        return rules.limits(self._document.client.info(model).window)

    def _on_progress(self, words: str) -> None:
        if self.running is not None:
            self.running = replace(self.running, note=words)
            self._document.hub.publish(AutomaticChanged(self._document.key))

    def _note_success(self, trigger: Trigger, entry: int, after: int, now: Limits) -> None:
        self._guards.note_step(entry if trigger in FAILED_WORDS else -1)
        if trigger == "manual":
            self._guards.now = self._guards.now.reset()
        else:
            now_ms = self._document.writer.now_ms()
            self._guards.now = self._guards.now.ended(after, now.threshold, now_ms)

    def _note_failure(self, trigger: Trigger, reason: str) -> str:
        """Count a failure of what happens automatically; the sentence for the user."""
        if trigger in FAILED_WORDS:
            now_ms = self._document.writer.now_ms()
            self._guards.now = self._guards.now.failed(reason, now_ms)
        return f"{FAILED_WORDS.get(trigger, 'Compaction failed')}: {reason}"


def _order(
    document: Document,
    rules: EffectiveRules,
    trigger: Trigger,
    cancel: CancelToken,
    on_progress: Callable[[str], None],
) -> Order:
    """What is asked for: the service first, where there is one, then the models in turn (A43).
    Pieces of the answer are published as changes of the session."""
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


def _preview(document: Document, rules: EffectiveRules, cut: int | None) -> Partition:
    """What would be summarized at the leaf; a cut that is not valid any more is ignored."""
    shown = document.compaction.preview(None, rules.profile, rules.settings, cut)
    if cut is not None and not isinstance(shown.preparation, Preparation):
        return document.compaction.preview(None, rules.profile, rules.settings)
    return shown


async def _draft_and_commit(document: Document, shown: Partition, order: Order) -> int:
    """Compact at the leaf as it was previewed; the compaction entry.

    A draft that would not make the context smaller is discarded and stays in the records (E16).
    Raises Impossible, DraftFailed, Cancelled, ValueError or StoreError; then nothing was changed.
    """
    if not isinstance(shown.preparation, Preparation):
        raise Impossible(shown.preparation.reason)
    if not is_possible(shown):
        raise Impossible("All that the context holds is recent: nothing can be summarized.")
    draft = await document.compaction.summarize(shown, order)
    taken = await asyncio.to_thread(document.count_text, draft.summary, shown.preparation.profile)
    before, after = shown.context_estimate, shown.after(taken)
    if not shrinks(before, after):
        await _discard(document, draft)
        raise DraftFailed(f"The context would take {after:,} tokens instead of {before:,}.")
    if order.cancel.cancelled:
        await _discard(document, draft)
        raise Cancelled
    return await document.compaction.commit(draft)


async def _discard(document: Document, draft: Draft) -> None:
    await document.drafts.mark(draft, "discarded", draft.summary)

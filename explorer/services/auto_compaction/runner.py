"""One compaction without review: confirmed where that is wanted, previewed, drafted, tested,
committed. It takes the same path as a reviewed one and records the same things."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.automatic import (
    AUTOMATIC,
    Automatic,
    Commit,
    Discard,
    Preview,
    StepFailed,
    Summarize,
    run_async,
)
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.requests import purposes_of
from explorer.compaction.triggers import ContextLimits, Trigger
from explorer.models.client import Cancelled, CancelToken
from explorer.services.auto_compaction.guards import (
    CompactionQuestion,
    Confirmation,
    MadeByHand,
    NotNow,
    StoredGuards,
    WatchedDocument,
)
from explorer.services.changes import (
    AutomaticChanged,
    CompactionEnded,
    CompactionStarted,
    SummaryArrived,
)
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.effective_rules import EffectiveRules
from explorer.services.extension_review import CancelledByExtension
from explorer.store.rows import StoreError

FAILED_WORDS = {
    "threshold": "Auto-compaction failed",
    "overflow": "Context overflow recovery failed",
}
"""How the sentence about a failure begins (A43), by trigger; of one that a user ordered:
``Compaction failed``."""
POSTPONED_WORDS = "It was left for now; the request is still larger than the model's window."
"""Why a recovery did not happen that the user postponed."""


class Running(Struct, frozen=True):
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
        ended = CompactionEnded(document.key, trigger, retry=retry)
        cut: int | None = None
        if trigger in AUTOMATIC and rules.ask_first and self._confirmation.attended:
            try:
                answer = await self._confirmation.ask(self._question(trigger, model, rules), cancel)
            except Cancelled:
                return replace(ended, cancelled=True)
            if isinstance(answer, NotNow):
                self._guards.postpone(self._rules().profile, answer.tokens)
                problem = POSTPONED_WORDS if trigger == "overflow" else ""
                return replace(ended, problem=problem, cancelled=True)
            if isinstance(answer, MadeByHand):
                # The window published that compaction already.
                rules = self._rules()
                self._guards.note_step(-1)
                self._guards.now = self._guards.now.reset()
                ended = replace(ended, entry=answer.entry)
                return ended.sized(await document.tokens.counted_around(answer.entry))
            # The user may have changed the rules while the question waited (A12).
            rules = self._rules()
            instructions = answer.instructions or rules.instructions
            rules, cut = replace(rules, instructions=instructions), answer.cut
        return await self._run(trigger, ended, model, rules, cancel, cut)

    def _question(self, trigger: Trigger, model: str, rules: EffectiveRules) -> CompactionQuestion:
        now = self._limits(model, rules)
        tokens = self._document.tokens.context_size(rules.profile).shown
        return CompactionQuestion(
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
        document, inner = self._document, CancelToken()
        order = _order(document, rules, trigger, inner, self._on_progress)
        attempt = _Attempt(document, order)

        async def perform(step: Preview | Summarize | Discard | Commit) -> object:
            if isinstance(step, Preview):
                shown = _preview(document, rules, model, cut)
                self._begin(trigger, model, rules, order, shown, retry=ended.retry)
                return shown
            return await attempt.perform(step)

        forget = cancel.add_callback(inner.cancel)
        self._cancel = inner
        try:
            watched = WatchedDocument(document, lambda: rules, self._guards, model)
            outcome = await run_async(Automatic(watched).compaction(trigger), perform)
            if outcome.done:
                ended = replace(ended, entry=attempt.entry)
                self._guards.note_step(attempt.entry if trigger in AUTOMATIC else -1)
                ended = ended.sized(await document.tokens.counted_around(attempt.entry))
            else:
                ended = replace(ended, problem=_failed(trigger, outcome.problem))
        except Cancelled:
            ended = replace(ended, cancelled=True)
            if trigger in AUTOMATIC and not cancel.cancelled:
                # The turn goes on; before the next request it would be begun again.
                self._guards.now = self._guards.now.left()
        except CancelledByExtension as error:
            # A decision rather than a failure: it opens no breaker.
            ended = replace(ended, problem=str(error))
        except asyncio.CancelledError:
            ended = replace(ended, cancelled=True)
            raise
        finally:
            forget()
            self._cancel = self.running = None
            document.shared.hub.publish(AutomaticChanged(document.key))
            document.shared.hub.publish(ended)
        return ended

    def _begin(
        self,
        trigger: Trigger,
        model: str,
        rules: EffectiveRules,
        order: SummaryOrder,
        shown: Partition,
        *,
        retry: bool,
    ) -> None:
        """Publish that a compaction begins."""
        document, made = self._document, shown.preparation
        purposes = tuple(purposes_of(made)) if isinstance(made, Preparation) else ("history",)
        tokens, window = (
            document.tokens.context_size(rules.profile).shown,
            self._limits(model, rules)[0],
        )
        self.running = Running(trigger, tokens, window)
        document.shared.hub.publish(
            CompactionStarted(document.key, trigger, tokens, window, retry, order.model, purposes)
        )

    def _limits(self, model: str, rules: EffectiveRules) -> ContextLimits:
        return rules.limits(self._document.models.info(model).window)

    def _on_progress(self, words: str) -> None:
        if self.running is not None:
            self.running = replace(self.running, note=words)
            self._document.shared.hub.publish(AutomaticChanged(self._document.key))


def _order(
    document: Document,
    rules: EffectiveRules,
    trigger: Trigger,
    cancel: CancelToken,
    on_progress: Callable[[str], None],
) -> SummaryOrder:
    """What is asked for: the service first, where there is one, then the models in turn (A43).
    Pieces of the answer are published as changes of the session."""
    key, publish = document.key, document.shared.hub.publish
    order = SummaryOrder(
        rules.instructions,
        rules.summary_model,
        lambda purpose, text: publish(SummaryArrived(key, purpose, text)),
        cancel,
        fallbacks=rules.fallbacks,
        on_progress=on_progress,
        on_restart=lambda purpose: publish(SummaryArrived(key, purpose, "", restart=True)),
        facts={"trigger": trigger},
    )
    return order.via(rules.profile.remote_endpoint)


def _preview(document: Document, rules: EffectiveRules, model: str, cut: int | None) -> Partition:
    """What would be summarized at the leaf of a conversation with ``model``; a cut that is not
    valid any more is ignored."""
    sizes = rules.sizes(document.models.info(model).window)
    shown = document.compaction.preview(None, rules.profile, sizes, cut)
    if cut is not None and not isinstance(shown.preparation, Preparation):
        return document.compaction.preview(None, rules.profile, sizes)
    return shown


def _failed(trigger: Trigger, reason: str) -> str:
    return f"{FAILED_WORDS.get(trigger, 'Compaction failed')}: {reason}"


class _Attempt:
    """One summary at the leaf, from the request to the entry.

    A draft that is not committed is discarded and stays in the records.
    """

    def __init__(self, document: Document, order: SummaryOrder) -> None:
        self._document = document
        self._order = order
        self._draft: Draft | None = None
        self.entry = -1
        """The compaction, once it is stored."""

    async def perform(self, step: Summarize | Discard | Commit) -> int | None:
        """Perform a step; of a summary its tokens. Raises StepFailed, Cancelled, and
        CancelledByExtension."""
        try:
            match step:
                case Summarize(shown):
                    return await self._summarize(shown)
                case Discard():
                    await self._discard()
                case Commit():
                    await self._commit()
        except CancelledByExtension:
            raise
        except (DraftFailed, StoreError, ValueError) as error:
            raise StepFailed(str(error)) from error
        return None

    async def _summarize(self, shown: Partition) -> int:
        document, made = self._document, shown.preparation
        self._draft = draft = await document.compaction.summarize(shown, self._order)
        return await asyncio.to_thread(document.tokens.count_text, draft.summary, made.profile)

    async def _commit(self) -> None:
        assert self._draft is not None
        if self._order.cancel.cancelled:
            await self._discard()
            raise Cancelled
        self.entry = await self._document.compaction.commit(self._draft)

    async def _discard(self) -> None:
        draft = self._draft
        if draft is not None:
            await self._document.drafts.mark(draft, "discarded", draft.summary)

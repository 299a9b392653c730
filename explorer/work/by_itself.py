"""One compaction without a review, from the question before it to the change that ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.compaction.preparation import Preparation
from explorer.compaction.requests import purposes_of
from explorer.compaction.triggers import Trigger
from explorer.models.door import Cancelled, CancelToken
from explorer.store.rows import StoreError
from explorer.work.asking import Asking, Made, NotNow, Question
from explorer.work.changes import AutomaticChanged, CompactionEnded, CompactionStarted
from explorer.work.drafting import DraftFailed
from explorer.work.extending import CancelledByExtension
from explorer.work.guarding import KeptGuards
from explorer.work.rules import AutomaticRules, Limits, limits
from explorer.work.unreviewed import Impossible, draft_and_commit, order_of, preview

if TYPE_CHECKING:
    from explorer.work.document import Document

FAILED_WORDS = {
    "threshold": "Auto-compaction failed",
    "overflow": "Context overflow recovery failed",
}
"""How the sentence about a failure begins (A43); a person's own order: ``Compaction failed``."""
LEFT_WORDS = "It was left for now; the request is still larger than the model's window."
"""Why a recovery did not happen that the person did not want."""


@dataclass(frozen=True, slots=True)
class Running:
    """The compaction that is under way."""

    trigger: Trigger
    tokens: int
    window: int
    note: str = ""
    """What the summarizer is waited for, as a sentence."""


class Unreviewed:
    """Compacts one session at its leaf: asks first where that is wished, drafts, commits, tells."""

    def __init__(
        self,
        document: Document,
        rules: Callable[[], AutomaticRules],
        guards: KeptGuards,
        asking: Asking,
    ) -> None:
        self._document = document
        self._rules = rules
        self._guards = guards
        self._asking = asking
        self._cancel: CancelToken | None = None
        self.running: Running | None = None

    def cancel(self) -> None:
        """Give up the compaction that is under way; the session stays as it is."""
        if self._cancel is not None:
            self._cancel.cancel()

    async def compact(
        self,
        trigger: Trigger,
        model: str,
        rules: AutomaticRules,
        cancel: CancelToken,
        retry: bool = False,
    ) -> CompactionEnded:
        """How it ended. Never raises what a summary can fail with: that is in the end's
        ``problem``."""
        document = self._document
        before = document.counted_size(rules.profile)
        ended = CompactionEnded(document.key, trigger, tokens_before=before, retry=retry)
        cut: int | None = None
        if trigger in FAILED_WORDS and rules.ask_first and self._asking.attended:
            try:
                answer = await self._asking.ask(self._question(trigger, model, rules), cancel)
            except Cancelled:
                return replace(ended, cancelled=True)
            if isinstance(answer, NotNow):
                return self._left(ended, answer)
            if isinstance(answer, Made):
                return self._made(ended, answer.entry, model)
            # Whoever was asked may have changed the rules while it waited (A12).
            rules = self._rules()
            told = answer.instructions or rules.instructions
            rules, cut = replace(rules, instructions=told), answer.cut
        return await self._run(ended, model, rules, cancel, cut)

    # the question ------------------------------------------------------------------------------

    def _question(self, trigger: Trigger, model: str, rules: AutomaticRules) -> Question:
        now = self._limits(model, rules)
        tokens = self._document.context_size(rules.profile).tokens
        return Question(
            "overflow" if trigger == "overflow" else "threshold", tokens, now.window, now.threshold
        )

    def _left(self, ended: CompactionEnded, answer: NotNow) -> CompactionEnded:
        self._guards.put_off(self._rules().profile, answer.tokens)
        problem = LEFT_WORDS if ended.trigger == "overflow" else ""
        return replace(ended, problem=problem, cancelled=True)

    def _made(self, ended: CompactionEnded, entry: int, model: str) -> CompactionEnded:
        """The person compacted in the ordinary way, which the window told of already."""
        rules = self._rules()
        after = self._document.counted_size(rules.profile)
        self._went_well("manual", entry, after, self._limits(model, rules))
        return replace(ended, entry=entry, tokens_after=after)

    # drafting and committing -------------------------------------------------------------------

    async def _run(
        self,
        ended: CompactionEnded,
        model: str,
        rules: AutomaticRules,
        cancel: CancelToken,
        cut: int | None,
    ) -> CompactionEnded:
        document, trigger = self._document, _trigger(ended)
        shown = preview(document, rules, cut)
        inner = CancelToken()
        order = order_of(document, rules, trigger, inner, self._progress)
        purposes: tuple[str, ...] = ("history",)
        if isinstance(shown.preparation, Preparation):
            purposes = tuple(purposes_of(shown.preparation))
        self._begin(ended, model, rules, order.model, purposes)
        forget = cancel.add_callback(inner.cancel)
        self._cancel = inner
        try:
            entry = await draft_and_commit(document, shown, order)
            ended = replace(ended, entry=entry, tokens_after=document.counted_size(rules.profile))
            self._went_well(trigger, entry, ended.tokens_after, self._limits(model, rules))
        except Cancelled:
            ended = replace(ended, cancelled=True)
            if trigger in FAILED_WORDS and not cancel.cancelled:
                # The turn goes on; before the next request it would be begun again.
                self._guards.now = self._guards.now.left()
        except CancelledByExtension as error:
            # Somebody's decision rather than a failure: it opens no breaker.
            ended = replace(ended, problem=str(error))
        except (DraftFailed, StoreError, ValueError, Impossible) as error:
            ended = replace(ended, problem=self._failed(trigger, str(error)))
        except asyncio.CancelledError:
            ended = replace(ended, cancelled=True)
            raise
        finally:
            forget()
            self._cancel = self.running = None
            self._told()
            document.hub.publish(ended)
        return ended

    def _begin(
        self,
        ended: CompactionEnded,
        model: str,
        rules: AutomaticRules,
        writer: str,
        purposes: tuple[str, ...],
    ) -> None:
        document, trigger = self._document, _trigger(ended)
        tokens = document.context_size(rules.profile).tokens
        window = self._limits(model, rules).window
        self.running = Running(trigger, tokens, window)
        document.hub.publish(
            CompactionStarted(
                document.key, trigger, tokens, window, ended.retry, writer, purposes
            )
        )  # fmt: skip

    def _limits(self, model: str, rules: AutomaticRules) -> Limits:
        return limits(rules, self._document.door.info(model).window)

    def _progress(self, words: str) -> None:
        """The summarizer is waited for: say what for."""
        if self.running is not None:
            self.running = replace(self.running, note=words)
            self._told()

    def _went_well(self, trigger: Trigger, entry: int, after: int, now: Limits) -> None:
        self._guards.did(entry if trigger in FAILED_WORDS else -1)
        if trigger == "manual":
            self._guards.now = self._guards.now.reset()
        else:
            now_ms = self._document.writer.now_ms()
            self._guards.now = self._guards.now.ended(after, now.threshold, now_ms)

    def _failed(self, trigger: Trigger, reason: str) -> str:
        """Count a failure of what happens by itself; the sentence for the person."""
        if trigger in FAILED_WORDS:
            now_ms = self._document.writer.now_ms()
            self._guards.now = self._guards.now.failed(reason, now_ms)
        return f"{FAILED_WORDS.get(trigger, 'Compaction failed')}: {reason}"

    def _told(self) -> None:
        self._document.hub.publish(AutomaticChanged(self._document.key))


def _trigger(ended: CompactionEnded) -> Trigger:
    trigger = ended.trigger
    assert trigger in ("manual", "requested", "threshold", "overflow")
    return trigger  # type: ignore[return-value]

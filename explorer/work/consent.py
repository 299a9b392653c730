"""A person's word on the summaries of prompts that are kept within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.models.door import CancelToken
from explorer.work.asking import Answer, Asker, Asking, Compact, NotNow, Question
from explorer.work.drafting import Draft
from explorer.work.effective_rules import EffectiveRules

if TYPE_CHECKING:
    from explorer.work.document import Document


class Consent:
    """Asks where the rules wish it; elsewhere every summary is welcome."""

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        asking: Asking | None,
        left: Callable[[NotNow], None],
    ) -> None:
        """``left`` is told of a no."""
        self._document = document
        self._rules = rules
        self._asking = asking
        self._left = left

    async def at_once(self, window: int, cancel: CancelToken) -> Answer:
        """Before a summary is asked for, since a prompt does not fit. Raises Cancelled."""
        return await self._ask("prompt", window, window, cancel, None)

    async def made_ahead(self, draft: Draft, window: int, line: int, cancel: CancelToken) -> Answer:
        """Before a summary that is ready is applied; without a yes it is given up.

        ``line``: tokens at which it was begun. Raises Cancelled.
        """
        answer: Answer = NotNow()
        try:
            answer = await self._ask("background", window, line, cancel, draft)
        finally:
            if isinstance(answer, NotNow):
                given_up = self._document.drafts.mark(draft, "discarded", draft.summary)
                await asyncio.shield(given_up)
        return answer

    async def _ask(
        self, trigger: Asker, window: int, threshold: int, cancel: CancelToken, draft: Draft | None
    ) -> Answer:
        rules = self._rules()
        if self._asking is None or not rules.ask_first:
            return Compact()
        tokens = self._document.counted_size(rules.profile)
        question = Question(trigger, tokens, window, threshold, draft)
        answer = await self._asking.ask(question, cancel)
        if isinstance(answer, NotNow):
            self._left(answer)
        return answer

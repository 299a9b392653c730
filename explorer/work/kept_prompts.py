"""The prompts of a session under the rules of the moment: kept within a budget, where the profile
does that, and left alone otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from explorer.agent.keeping import Outgoing
from explorer.models.door import CancelToken, ChatMessage, ModelError
from explorer.work.agent_words import outgoing_of
from explorer.work.asking import Asking, NotNow
from explorer.work.background import PromptKeeper
from explorer.work.drafting import DraftFailed
from explorer.work.effective_rules import EffectiveRules
from explorer.work.guarding import KeptGuards

if TYPE_CHECKING:
    from explorer.work.document import Document


class KeptPrompts:
    """One session's ``PromptKeeper``, made when a profile first wants one."""

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        guards: KeptGuards,
        asking: Asking,
    ) -> None:
        self._document = document
        self._rules = rules
        self._guards = guards
        self._asking = asking
        self.keeper: PromptKeeper | None = None
        self._last: Outgoing | None = None
        """What the last prompt was rendered for."""

    @property
    def wanted(self) -> bool:
        """Whether the profile of the moment keeps prompts within a budget."""
        return self._rules().profile.prompt_budget is not None

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> tuple[ChatMessage, ...] | None:
        """See ``ContextKeeper.messages``."""
        if not self.wanted:
            await self.stop()
            return None
        self._last = outgoing
        try:
            return await self._kept().messages(outgoing, cancel)
        except ValueError as error:
            raise ModelError("bad_request", str(error)) from error

    async def compact(self, model: str, instructions: str, cancel: CancelToken) -> int:
        """Summarize at once, as the prompt would be if it were too large (A53); the entry.

        Raises Cancelled, StoreError, and ValueError with the reason when nothing comes of it.
        """
        last = self._last or outgoing_of(self._document.agent_prompt, model, None)
        outgoing = replace(last, model=model)
        try:
            return await self._kept().compact(outgoing, instructions, cancel)
        except DraftFailed as error:
            raise ValueError(str(error)) from error

    async def stop(self) -> None:
        """End what is made ahead."""
        if self.keeper is not None:
            await self.keeper.stop()

    def _kept(self) -> PromptKeeper:
        if self.keeper is None:
            self.keeper = PromptKeeper(
                self._document, self._prompt_rules, Random(), asking=self._asking, left=self._left
            )
        return self.keeper

    def _left(self, answer: NotNow) -> None:
        """A person does not want a summary now."""
        self._guards.put_off(self._rules().profile, answer.tokens)

    def _prompt_rules(self) -> EffectiveRules:
        rules, guards = self._rules(), self._guards.now
        tokens = self._document.context_size(rules.profile).tokens
        return replace(
            rules,
            # What was taken back is not made again: the oldest history goes instead.
            enabled=rules.enabled and not guards.resting,
            ahead=not guards.is_left(tokens),
            ask_first=rules.ask_first and self._asking.attended,
        )

"""Leaving a branch of an opened session: the way, the summary, the move."""

from __future__ import annotations

import asyncio

from explorer.compaction.branch_summaries import BranchPreparation, branch_request, prepare_branch
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.models.door import CancelToken
from explorer.work.appending import whole
from explorer.work.drafting import Draft, Order
from explorer.work.extending import Leaving, ask_before_leaving, supplied_order, tell_navigated
from explorer.work.navigation import NavigationPlan, plan_navigation
from explorer.work.ranges import Ranges


class Branching(Ranges):
    """Navigation with and without a branch summary."""

    def plan(self, target: int, at: int | None = None, anew: bool = False) -> NavigationPlan:
        """What going to an entry would do. ``at``: the end of the branch to leave, by default
        the leaf; ``anew``: a message is written anew even where it is the leaf itself."""
        payload = self.entry(target) if target >= 0 else None
        old = self.leaf if at is None else at
        return plan_navigation(self.tree, old, target, payload, self.leaf, anew)

    def branch_preparation(
        self, plan: NavigationPlan, profile: Profile, settings: Settings
    ) -> BranchPreparation:
        """What a summary of the branch that is left would hold (A31, A32)."""
        return prepare_branch(self.tree, plan.old_leaf, plan.new_leaf, profile, settings)

    def branch_requests(
        self,
        prepared: BranchPreparation,
        instructions: str,
        model: str | None = None,
        replace: bool | None = None,
    ) -> list[SummaryRequest]:
        """The exact request of a branch summary; empty when there is nothing to tell (B16).

        ``replace``: the instructions take the prompt's place (A36); None: as the profile has it.
        """
        request = branch_request(
            prepared,
            self.payloads.entries,
            instructions,
            self.templates,
            replace=replace,
            model_limit=self._output_limit(model),
        )
        return [] if request is None else [request]

    async def before_leaving(
        self,
        plan: NavigationPlan,
        wants_summary: bool,
        instructions: str = "",
        cancel: CancelToken | None = None,
        prepared: BranchPreparation | None = None,
    ) -> Leaving:
        """Ask the extensions about a navigation (A41); what comes back goes to
        ``summarize_branch`` and ``navigate``, which ask by themselves without it.

        Raises CancelledByExtension, Cancelled.
        """
        return await ask_before_leaving(self, plan, wants_summary, instructions, cancel, prepared)

    async def summarize_branch(
        self,
        plan: NavigationPlan,
        prepared: BranchPreparation,
        order: Order,
        asked: Leaving | None = None,
    ) -> Draft:
        """Make the summary of the branch that ``plan`` leaves; the leaf does not move (A37).

        Raises DraftFailed (CancelledByExtension and SummaryDeclined among it), Cancelled, or
        ValueError when there is nothing to tell.
        """
        if asked is None:
            asked = await self.before_leaving(
                plan, True, order.instructions, order.cancel, prepared
            )
        order, from_id = asked.steer(order), self.tree.columns.ids[plan.old_leaf]
        if (made := asked.supplied) is not None:
            order = supplied_order(order, made)
            return await self.drafts.provided_branch(prepared, from_id, made.summary, order)
        requests = await asyncio.to_thread(
            self.branch_requests,
            prepared,
            order.instructions,
            order.model,
            order.replace_instructions,
        )
        if not requests:
            raise ValueError("There is nothing on this branch that a summary could tell.")
        return await self.drafts.branch(prepared, from_id, requests, order)

    async def navigate(
        self,
        plan: NavigationPlan,
        draft: Draft | None = None,
        text: str | None = None,
        asked: Leaving | None = None,
    ) -> int:
        """Move the leaf; with a draft its summary is stored at the new place first (A34).

        Returns the leaf. Raises ValueError when the session has moved on since the plan, and when
        an extension cancels it (CancelledByExtension). For a draft they were asked before.
        """
        self._check_seen(plan)
        old, shape = self.leaf, self.shape()
        if draft is None:
            if asked is None:
                await self.before_leaving(plan, False)
                self._check_seen(plan)
            await self.writer.move_leaf(plan.new_leaf)
            await tell_navigated(self, old)
            return self.leaf
        summary = draft.summary if text is None else text
        self.drafts.check(draft, summary)
        fields = {"from_id": draft.from_id}
        stored = await whole(
            self._store_draft("branch_summary", plan.new_leaf, draft, summary, fields)
        )
        if plan.keeps_shape:
            await self.restate(shape)
        await tell_navigated(self, old, stored)
        return stored

    def _check_seen(self, plan: NavigationPlan) -> None:
        if plan.seen_leaf != self.leaf:
            raise ValueError("The session has moved on since; choose the entry again.")

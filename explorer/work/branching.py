"""Leaving a branch of an opened session: the way, the summary, the move."""

from __future__ import annotations

import asyncio

from explorer.compaction.branches import BranchPreparation, branch_request, prepare_branch
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.work.appending import whole
from explorer.work.drafting import Draft, Order
from explorer.work.navigation import NavigationPlan, plan_navigation
from explorer.work.opened import OpenedSession


class Branching(OpenedSession):
    """Navigation with and without a branch summary."""

    def plan(self, target: int, at: int | None = None) -> NavigationPlan:
        """What going to an entry would do. ``at``: the end of the branch to leave, by default
        the leaf."""
        payload = self.entry(target) if target >= 0 else None
        old = self.leaf if at is None else at
        return plan_navigation(self.tree, old, target, payload, self.leaf)

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

    async def summarize_branch(
        self, plan: NavigationPlan, prepared: BranchPreparation, order: Order
    ) -> Draft:
        """Make the summary of the branch that ``plan`` leaves; the leaf does not move (A37).

        Raises DraftFailed, Cancelled, or ValueError when there is nothing to tell.
        """
        requests = await asyncio.to_thread(
            self.branch_requests,
            prepared,
            order.instructions,
            order.model,
            order.replace_instructions,
        )
        if not requests:
            raise ValueError("There is nothing on this branch that a summary could tell.")
        from_id = self.tree.columns.ids[plan.old_leaf]
        return await self.drafts.branch(prepared, from_id, requests, order)

    async def navigate(
        self, plan: NavigationPlan, draft: Draft | None = None, text: str | None = None
    ) -> int:
        """Move the leaf; with a draft its summary is stored at the new place first (A34).

        Returns the leaf. Raises ValueError when the session has moved on since the plan.
        """
        if plan.seen_leaf != self.leaf:
            raise ValueError("The session has moved on since; choose the entry again.")
        if draft is None:
            await self.writer.move_leaf(plan.new_leaf)
            return self.leaf
        summary = draft.summary if text is None else text
        self.drafts.check(draft, summary)
        fields = {"from_id": draft.from_id}
        return await whole(
            self._store_draft("branch_summary", plan.new_leaf, draft, summary, fields)
        )

"""Summaries of branches of an opened session that are left: prepared, requested, drafted."""

from __future__ import annotations

import asyncio

from explorer.compaction.branch_summaries import BranchPreparation, branch_request, prepare_branch
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.services.draft_records import Draft
from explorer.services.drafts import Drafts
from explorer.services.extension_review import supplied_order
from explorer.services.navigation import NavigationPlan, ask_before_leaving
from explorer.services.open_session import OpenedSession
from explorer.services.summary_request import SummaryOrder


class Branches:
    """Branch summaries of one session. ``Navigation.navigate`` stores them."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    def preparation(
        self, plan: NavigationPlan, profile: Profile, settings: Settings
    ) -> BranchPreparation:
        """What a summary of the branch that is left would hold (A31, A32)."""
        return prepare_branch(self._session.tree, plan.old_leaf, plan.new_leaf, profile, settings)

    def requests(
        self,
        prepared: BranchPreparation,
        instructions: str,
        model: str | None = None,
        replace: bool | None = None,
    ) -> list[SummaryRequest]:
        """The exact request of a branch summary; empty when there is nothing to summarize (B16).

        ``replace``: the instructions take the prompt's place (A36); None: as the profile has it.
        """
        request = branch_request(
            prepared,
            self._session.payloads.sent.entries,
            instructions,
            self._session.shared.templates,
            replace=replace,
            model_limit=self._session.models.info(model).output_limit if model else None,
        )
        return [] if request is None else [request]

    async def summarize(
        self,
        plan: NavigationPlan,
        prepared: BranchPreparation,
        order: SummaryOrder,
    ) -> Draft:
        """Make the summary of the branch that ``plan`` leaves; the leaf does not move (A37).

        Raises DraftFailed (CancelledByExtension and SummaryDeclined among it), Cancelled, or
        ValueError when there is nothing to summarize.
        """
        asked = await ask_before_leaving(
            self._session, plan, True, order.instructions, order.cancel, prepared
        )
        order, from_id = asked.steer(order), self._session.tree.columns.ids[plan.old_leaf]
        if (made := asked.supplied) is not None:
            order = supplied_order(order, made)
            return await Drafts(self._session).provided_branch(
                prepared, from_id, made.summary, order
            )
        requests = await asyncio.to_thread(
            self.requests,
            prepared,
            order.instructions,
            order.model,
            order.replace_instructions,
        )
        if not requests:
            raise ValueError("There is nothing on this branch that a summary could tell.")
        return await Drafts(self._session).branch(prepared, from_id, requests, order)

"""Compactions of an opened session: previewed, drafted, committed, taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile_comparison import Cause, ProfileOutcome, causes, compare_profiles
from explorer.compaction.requests import Additions, SummaryRequest, build_requests
from explorer.work.appending import whole
from explorer.work.drafting import Draft, Order
from explorer.work.extending import (
    ask_before_compaction,
    ask_before_leaving,
    supplied_order,
    tell_compacted,
    tell_navigated,
)
from explorer.work.navigation import plan_move
from explorer.work.opened import OpenedSession
from explorer.work.recording import draft_of
from explorer.work.returning import remember_return
from explorer.work.summaries import CompactionPlan


class Compacting(OpenedSession):
    """Previews, drafts and commits of compactions."""

    def preview(
        self, at: int | None, profile: Profile, settings: Settings, cut: int | None = None
    ) -> Partition:
        """What a compaction at an entry would do; pure and instant.

        ``cut`` is a position on the path chosen by hand; it must be one of ``valid_cuts``.
        """
        leaf = self.leaf if at is None else at
        prepared = prepare(
            self.tree,
            leaf,
            profile,
            settings,
            weights=self.weights_for(profile),
            cut=cut,
            prompt_of=self.prompt_of,
        )
        return partition(prepared)

    def compare(
        self,
        at: int | None,
        profiles: Iterable[Profile],
        context_window: int | None = None,
    ) -> list[ProfileOutcome]:
        """What a compaction at an entry would do under each profile, with its own sizes."""
        return compare_profiles(
            self.tree,
            self.leaf if at is None else at,
            profiles,
            context_window=context_window,
            weights_of=self.weights_for,
            prompt_of=self.prompt_of,
        )

    def causes(self, at: int | None, profile: Profile, reference: Profile) -> list[Cause]:
        """The rules of a profile that make it decide otherwise than another one at an entry."""
        return causes(
            self.tree,
            self.leaf if at is None else at,
            profile,
            reference,
            weights_of=self.weights_for,
            prompt_of=self.prompt_of,
        )

    def previous_summary(self, prepared: Preparation) -> str | None:
        """The summary that a compaction updates, or None (A27)."""
        if prepared.previous_compaction < 0:
            return None
        summary = self.entry(prepared.previous_compaction).get("summary")
        return summary if isinstance(summary, str) and summary else None

    def requests(
        self,
        shown: Partition,
        instructions: str = "",
        model: str | None = None,
        additions: Additions | None = None,
    ) -> list[SummaryRequest]:
        """The exact requests that a compaction would send; empty when it is refused.

        ``model``: its output limit caps what an answer may take (E19). ``additions``: what
        extensions bring (A39).
        """
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            return []
        return build_requests(
            prepared,
            self.payloads.entries,
            self.previous_summary(prepared),
            instructions,
            self.templates,
            additions=additions,
            model_limit=self._output_limit(model),
        )

    async def summarize(self, shown: Partition, order: Order) -> Draft:
        """Make a draft, the extensions asked first (A38, A39). Raises DraftFailed (an extension's
        cancel is one, CancelledByExtension) or Cancelled; the session is not changed.

        Raises ValueError when the compaction is refused.
        """
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        order = order.via(prepared.profile.remote_endpoint)
        asked = await ask_before_compaction(self, shown, order)
        plan, order = self.compaction_plan(asked.shown), asked.order
        if asked.cancelled is not None:
            await self.drafts.refused(plan, order, str(asked.cancelled))
            raise asked.cancelled
        if (made := asked.supplied) is not None:
            order = supplied_order(order, made)
            return await self.drafts.provided(
                plan, made.summary, order, made.short_summary, made.tokens_before
            )
        # A long history takes its time to read.
        requests = await asyncio.to_thread(
            self.requests, shown, order.instructions, order.model, order.additions
        )
        return await self.drafts.compaction(plan, requests, order)

    def compaction_plan(self, shown: Partition) -> CompactionPlan:
        """What a draft of a compaction starts from. Raises ValueError when it is refused."""
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        return CompactionPlan(
            prepared,
            self.tree.columns.ids[prepared.first_kept],
            self.previous_summary(prepared),
            {
                "history": shown.tokens[Verdict.TO_SUMMARIZE],
                "turn_prefix": shown.tokens[Verdict.TURN_PREFIX],
            },
            prepared.leaf == self.leaf,
        )

    def waiting_drafts(self) -> list[tuple[Draft, str]]:
        """Finished compaction drafts that were neither committed nor discarded: those of the leaf,
        and those of the newest other place at which none was committed.

        Each with its text as it was last edited, the oldest first. Raises StoreError.
        """
        rows = [row for row in self.store.drafts(self.key) if row.kind == "compaction"]
        settled = {row.leaf for row in rows if row.status == "committed"} - {self.leaf}
        waiting = [row for row in rows if row.status == "done" and row.leaf not in settled]
        elsewhere = [row.leaf for row in waiting if row.leaf != self.leaf]
        places = {self.leaf, *elsewhere[-1:]}
        return [
            (draft_of(row), row.edited_text if row.edited_text is not None else row.summary)
            for row in waiting
            if row.leaf in places
        ]

    async def commit(
        self, draft: Draft, text: str | None = None, *, leaving: int | None = None
    ) -> int:
        """Append the compaction entry of a draft (A30), with ``text`` where it was edited.

        ``leaving``: the leaf, as the person sees it, that is left for a draft of another place:
        the session goes on from the compaction, and an undo comes back. Raises ValueError when
        the draft has a problem or the session has moved on since, and when an extension does not
        want the leaf moved (CancelledByExtension).
        """
        summary = draft.summary if text is None else text
        self.drafts.check(draft, summary)
        left, moves = self.leaf, draft.leaf != self.leaf
        is_agreed = not draft.at_leaf if leaving is None else leaving == left
        if draft.kind != "compaction" or (moves and not is_agreed):
            raise ValueError("The session has moved on since this draft was made; make a new one.")
        if moves and leaving is not None:
            await ask_before_leaving(self, plan_move(self.tree, left, draft.leaf), False)
            if self.leaf != left:
                raise ValueError("The session has moved on; look at the draft again.")
        fields = {
            "first_kept_entry_id": draft.first_kept_id,
            "tokens_before": draft.tokens_before,
            "short_summary": draft.short_summary or None,
        }
        index = await whole(self._store_draft("compaction", draft.leaf, draft, summary, fields))
        if moves:
            remember_return(self, index, left)
        await tell_compacted(self, index)
        if moves and leaving is not None:
            await tell_navigated(self, left)
        return index

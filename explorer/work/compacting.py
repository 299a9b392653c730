"""Compactions of an opened session: previewed, drafted, committed, taken back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.prepare import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, build_requests
from explorer.session.kinds import Kind
from explorer.work.appending import whole
from explorer.work.drafting import Draft, Order
from explorer.work.opened import OpenedSession
from explorer.work.summaries import CompactionPlan, draft_of


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back."""

    compaction: int
    leaf: int


class NothingToUndo(Exception):
    """There is no compaction on the active path."""


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

    def previous_summary(self, prepared: Preparation) -> str | None:
        """The summary that a compaction updates, or None (A27)."""
        if prepared.previous_compaction < 0:
            return None
        summary = self.entry(prepared.previous_compaction).get("summary")
        return summary if isinstance(summary, str) and summary else None

    def requests(
        self, shown: Partition, instructions: str = "", model: str | None = None
    ) -> list[SummaryRequest]:
        """The exact requests that a compaction would send; empty when it is refused.

        ``model``: its output limit caps what an answer may take (E19).
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
            model_limit=self._output_limit(model),
        )

    async def summarize(self, shown: Partition, order: Order) -> Draft:
        """Make a draft. Raises DraftFailed or Cancelled; the session is not changed.

        Raises ValueError when the compaction is refused.
        """
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        plan = CompactionPlan(
            prepared,
            self.tree.columns.ids[prepared.first_kept],
            self.previous_summary(prepared),
            _replaced(shown),
            prepared.leaf == self.leaf,
        )
        # A long history takes its time to read.
        requests = await asyncio.to_thread(self.requests, shown, order.instructions, order.model)
        return await self.drafts.compaction(plan, requests, order)

    def waiting_drafts(self) -> list[tuple[Draft, str]]:
        """Finished compaction drafts at the leaf that were neither committed nor discarded.

        Each with its text as it was last edited, the oldest first.
        """
        rows = self.store.drafts(self.key)
        kept = [r for r in rows if r.status == "done" and r.kind == "compaction"]
        return [
            (draft_of(row), row.edited_text if row.edited_text is not None else row.summary)
            for row in kept
            if row.leaf == self.leaf
        ]

    async def commit(self, draft: Draft, text: str | None = None) -> int:
        """Append the compaction entry of a draft (A30), with ``text`` where it was edited.

        Raises ValueError when the draft has a problem or the session has moved on since.
        """
        summary = draft.summary if text is None else text
        self.drafts.check(draft, summary)
        if draft.kind != "compaction" or (draft.at_leaf and draft.leaf != self.leaf):
            raise ValueError("The session has moved on since this draft was made; make a new one.")
        fields = {
            "first_kept_entry_id": draft.first_kept_id,
            "tokens_before": draft.tokens_before,
        }
        return await whole(self._store_draft("compaction", draft.leaf, draft, summary, fields))

    async def undo(self) -> Undone:
        """Take back the latest compaction of the active path: its parent becomes the leaf.

        Raises NothingToUndo. The entries stay in the log and can be gone to again.
        """
        path = self.tree.path(self.leaf)
        kinds = self.tree.columns.kind
        for position in range(len(path) - 1, -1, -1):
            entry = path[position]
            if kinds[entry] == Kind.COMPACTION:
                parent = self.tree.columns.parent[entry]
                await self.writer.move_leaf(parent)
                return Undone(entry, parent)
        raise NothingToUndo("There is no compaction on the active path.")


def _replaced(shown: Partition) -> int:
    """Tokens that a summary takes the place of (E16): what it tells, the summary that it updates
    among it."""
    return shown.tokens[Verdict.TO_SUMMARIZE] + shown.tokens[Verdict.TURN_PREFIX]

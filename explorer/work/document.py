"""One opened session: what can be seen of it and done with it."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from explorer.compaction.branches import BranchPreparation, branch_request, prepare_branch
from explorer.compaction.context_size import ContextSize, context_size, counted_size
from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.prepare import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, build_requests
from explorer.compaction.summary import details
from explorer.compaction.wording import Templates
from explorer.models.door import ModelDoor
from explorer.session.context import Context, context_at
from explorer.session.kinds import Kind
from explorer.session.payloads import Payloads
from explorer.session.tree import SessionTree
from explorer.tokens.counters import Counter, EstimateCounter
from explorer.work.appending import SessionWriter, whole
from explorer.work.changes import ChangeHub, CountsChanged
from explorer.work.counting import count_session, is_whole
from explorer.work.drafting import Draft, Order
from explorer.work.navigation import NavigationPlan, plan_navigation
from explorer.work.summaries import CompactionPlan, DraftMaker, draft_of

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import LoadedSession, Store


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back."""

    compaction: int
    leaf: int


class NothingToUndo(Exception):
    """There is no compaction on the active path."""


class Document:
    """A session in the window or in a command. All methods belong to one event loop's thread."""

    def __init__(
        self,
        store: Store,
        loaded: LoadedSession,
        hub: ChangeHub,
        door: ModelDoor,
        templates: Templates,
        agent_prompt: str,
        now_ms: Callable[[], int],
        random: Random,
    ) -> None:
        self.agent_prompt = agent_prompt
        """The system prompt of the agent."""
        self.key = loaded.key
        self.row = loaded.row
        self.header = loaded.header
        self.payloads: Payloads = loaded.payloads
        self.writer = SessionWriter(store, loaded, hub, now_ms, random)
        self.templates = templates
        self.store = store
        self.door = door
        self.drafts = DraftMaker(store, self.key, door, templates, hub)
        self.weights: array[int] | None = None
        """Tokens per entry by a tokenizer, once all are counted; -1 for later ones."""
        self.counter: Counter = EstimateCounter()
        """Who counted ``weights``; the estimate before."""
        self.hub = hub

    # what there is -----------------------------------------------------------------------------

    @property
    def tree(self) -> SessionTree:
        return self.writer.tree

    @property
    def leaf(self) -> int:
        return self.writer.leaf

    @property
    def title(self) -> str:
        """The session's name, or the first thing that was said in it."""
        return self.tree.name() or self.row.title or "Untitled session"

    def context(self, at: int | None = None) -> Context:
        """What the model sees at an entry, by default at the leaf."""
        return context_at(self.tree, self.leaf if at is None else at)

    @property
    def project(self) -> str:
        """The last part of the working folder, whichever system wrote it."""
        return self.header.cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "no folder"

    @property
    def format_title(self) -> str:
        """Whose session it is, for people."""
        return {"pi": "pi session", "omp": "oh-my-pi session"}[self.header.format]

    def context_size(self, profile: Profile, at: int | None = None) -> ContextSize:
        """Tokens of the context at an entry: the number that is shown, triggers and is tested."""
        return context_size(self.tree, self.context(at), profile, self.weights_for(profile))

    def counted_size(self, profile: Profile, at: int | None = None) -> int:
        """Tokens of the context's entries, whatever a provider reported; see ``Partition``."""
        return counted_size(self.tree, self.context(at), profile, self.weights_for(profile))

    def count_text(self, text: str, profile: Profile) -> int:
        """Tokens of a text, by the counter that counts the entries under a profile.

        May wait for a tokenizer that is busy: for a worker thread.
        """
        measured = self.weights_for(profile) is not None
        return (self.counter if measured else EstimateCounter()).count(text)

    def weights_for(self, profile: Profile) -> Sequence[int] | None:
        """The tokenizer's counts for a profile that counts what is sent; others estimate."""
        if self.weights is None or profile.weights != "sent":
            return None
        while len(self.weights) < len(self.tree):
            self.weights.append(-1)  # not counted yet: the estimate stands in
        return self.weights

    def take_stored_counts(self, counter: Counter) -> bool:
        """Use the counts in the database if they are whole; returns whether they are."""
        counts = self.store.token_counts(self.key, counter.name)
        if len(counts) < len(self.tree) or not is_whole(counts):
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, len(counts), len(counts)))
        return True

    async def count(
        self,
        counter: Counter,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> bool:
        """Count all entries with a tokenizer, in a thread; returns False when cancelled.

        ``progress`` is called in that thread with entries done and in all.
        """
        total = len(self.tree)
        counts = await asyncio.to_thread(
            count_session, self.store, self.key, self.payloads, total, counter, progress, cancelled
        )
        if not is_whole(counts):
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, total, total))
        return True

    async def count_new(self) -> None:
        """Count what was appended since everything was counted; in a thread."""
        weights, total = self.weights, len(self.tree)
        if weights is None or (len(weights) == total and (not total or weights[-1] >= 0)):
            return
        await self.count(self.counter, lambda _done, _all: None, lambda: False)

    def prepare_names(self) -> None:
        """Make the table of ids, which the first append would have to wait for. Blocks; meant
        for a worker thread."""
        self.tree.index_of("")

    def previews(self, indices: Sequence[int]) -> list[str]:
        return self.payloads.previews(indices)

    def entry(self, index: int) -> Mapping[str, Any]:
        return self.payloads.entry(index)

    def resolve(self, name: str) -> int:
        """The entry that a person means: an id, a unique start of one, or ``#index``.

        Raises ValueError when there is none, or more than one.
        """
        if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(self.tree):
            return int(name[1:])
        if (exact := self.tree.index_of(name)) >= 0:
            return exact
        found = [
            at for at, entry_id in enumerate(self.tree.columns.ids) if entry_id.startswith(name)
        ]
        if len(found) != 1:
            have = f"{len(found):,} entries of {self.title!r} have ids"
            if not found:
                have = f"no entry of {self.title!r} has an id"
            raise ValueError(f"{have} that start{'' if found else 's'} with {name!r}")
        return found[0]

    def choices(self) -> dict[str, Any]:
        """What the person chose for this session: JSON values by name."""
        return self.store.session_settings(self.key)

    def choose(self, name: str, value: Any) -> None:
        """Keep a choice for this session; None forgets it. Stored soon, in order."""
        self.store.set_session_setting(self.key, name, value)

    # compaction ----------------------------------------------------------------------------------

    def preview(
        self, at: int | None, profile: Profile, settings: Settings, cut: int | None = None
    ) -> Partition:
        """What a compaction at an entry would do; pure and instant.

        ``cut`` is a position on the path chosen by hand; it must be one of ``valid_cuts``.
        """
        leaf = self.leaf if at is None else at
        prepared = prepare(
            self.tree, leaf, profile, settings, weights=self.weights_for(profile), cut=cut
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

    def _output_limit(self, model: str | None) -> int | None:
        """Tokens that a model can write, where that is known."""
        return self.door.info(model).output_limit if model else None

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
        requests = self.requests(shown, order.instructions, order.model)
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

    async def _store_draft(
        self, entry_type: str, parent: int, draft: Draft, summary: str, fields: dict[str, Any]
    ) -> int:
        """Append a draft's entry, then note that it was taken."""
        files = details(draft.read_files, draft.modified_files, draft.failed_files)
        index = await self.writer.append(
            entry_type, parent, **{"summary": summary, **fields, "details": files}
        )
        await self.drafts.mark(draft, "committed", summary)
        return index

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

    # navigation ----------------------------------------------------------------------------------

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
        self, prepared: BranchPreparation, instructions: str, model: str | None = None
    ) -> list[SummaryRequest]:
        """The exact request of a branch summary; empty when there is nothing to tell (B16)."""
        request = branch_request(
            prepared,
            self.payloads.entries,
            instructions,
            self.templates,
            model_limit=self._output_limit(model),
        )
        return [] if request is None else [request]

    async def summarize_branch(
        self, plan: NavigationPlan, prepared: BranchPreparation, order: Order
    ) -> Draft:
        """Make the summary of the branch that ``plan`` leaves; the leaf does not move (A37).

        Raises DraftFailed, Cancelled, or ValueError when there is nothing to tell.
        """
        requests = self.branch_requests(prepared, order.instructions, order.model)
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

    # small changes -------------------------------------------------------------------------------

    async def set_label(self, target: int, label: str) -> int:
        """Label an entry; an empty text removes its label."""
        fields: dict[str, Any] = {"target_id": self.tree.columns.ids[target]}
        if label:
            fields["label"] = label
        return await self.writer.append("label", self.leaf, **fields)

    async def rename(self, name: str) -> int:
        return await self.writer.append("session_info", self.leaf, name=name)


def _replaced(shown: Partition) -> int:
    """Tokens that a summary takes the place of (E16): what it tells, the summary that it updates
    among it."""
    return shown.tokens[Verdict.TO_SUMMARIZE] + shown.tokens[Verdict.TURN_PREFIX]

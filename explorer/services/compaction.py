"""Compactions of an opened session: previewed, drafted, committed."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile_comparison import ProfileOutcome, compare_profiles
from explorer.compaction.requests import Additions, SummaryRequest, build_requests
from explorer.compaction.summary import check_answer
from explorer.extensions.answers import BeforeCompact, SuppliedCompaction
from explorer.extensions.events import CompactionView
from explorer.services.draft_records import Draft, SummaryOrder
from explorer.services.drafts import CompactionPlan, Drafts
from explorer.services.edits import CannotShape, remember_origin
from explorer.services.extension_review import (
    CancelledByExtension,
    Review,
    notify_compacted,
    notify_navigated,
    review_of,
    supplied_order,
    surroundings_of,
    with_review,
)
from explorer.services.navigation import ask_before_leaving, plan_move
from explorer.services.open_session import OpenedSession
from explorer.services.session_writer import uninterrupted
from explorer.session.edits import round_of
from explorer.session.entries import CompactionSummary
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

STORED = 0
"""The id of a draft that stands for a compaction of the log; recorded drafts start at 1."""


class _Reviewed(Struct, frozen=True):
    """A compaction after the extensions were asked."""

    order: SummaryOrder
    """With their additions, and the review."""
    shown: Partition
    """Where the compaction cuts; a supplied one may choose another valid cut."""
    supplied: SuppliedCompaction | None = None
    cancelled: CancelledByExtension | None = None


class StoredSummary(Struct, frozen=True):
    """A compaction of the log as a draft of the same range. ``draft.id`` is ``STORED``."""

    shown: Partition
    draft: Draft


class Compaction:
    """Previews, drafts and commits of compactions in one session."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    # previews ------------------------------------------------------------------------------------

    def preview(
        self, at: int | None, profile: Profile, settings: Settings, cut: int | None = None
    ) -> Partition:
        """What a compaction at an entry (None: the leaf) would do; pure and instant.

        ``cut`` is a position on the path chosen by hand; it must be one of ``valid_cuts``.
        """
        session = self._session
        prepared = prepare(
            session.tree,
            session.leaf if at is None else at,
            profile,
            settings,
            weights=session.tokens.weights_for(profile),
            cut=cut,
            prompt_of=session.usage.prompt_of,
        )
        return partition(prepared)

    def preview_from(
        self, at: int, first_kept_id: str, profile: Profile, settings: Settings
    ) -> Partition | None:
        """A compaction at an entry that keeps from another one on, under the rules given; its
        preparation is a ``Refusal`` where they do not cut there. None where that entry is not on
        the path."""
        tree = self._session.tree
        first = tree.index_of(first_kept_id)
        wanted = tree.path(at).position(first) if at >= 0 and first >= 0 else -1
        if wanted < 0:
            return None
        free = self.preview(at, profile, settings)
        # Notes before the cut join the kept side: the cut itself is then at a later place.
        after = free.valid_cuts[bisect_left(free.valid_cuts, wanted) :]
        for cut in after[:1]:
            shown = self.preview(at, profile, settings, cut)
            if isinstance(shown.preparation, Preparation) and shown.cut == wanted:
                return shown
        return self.preview(at, profile, settings, wanted)

    def waiting_previews(
        self, profile: Profile, settings: Settings, most: int
    ) -> list[tuple[Draft, Partition, str]]:
        """The newest ``most`` drafts that wait, what each summarizes, and its text as it was last
        edited. Reads the database: for a worker thread. Raises StoreError."""
        known: dict[tuple[int, str], Partition] = {}
        found = []
        for draft, text in Drafts(self._session).waiting()[-most:]:
            place = draft.leaf, draft.first_kept_id
            if place not in known:
                shown = self.preview_from(*place, profile, settings)
                if shown is None or not isinstance(shown.preparation, Preparation):
                    shown = self.preview(draft.leaf, profile, settings)
                known[place] = shown
            found.append((draft, known[place], text))
        return found

    def why_not_mended(self, entry: int) -> str:
        """Why no better summary can stand in the place of a compaction's; empty where its cut is
        known. The rules may refuse that cut all the same: see ``stored_summary``."""
        tree = self._session.tree
        first = tree.index_of(tree.columns.compactions[entry].first_kept_id)
        parent = tree.columns.parent[entry]
        if parent >= 0 and first >= 0 and tree.path(parent).position(first) >= 0:
            return ""
        return (
            f"The summary #{entry} cannot be mended: the session names no message before it that "
            "was kept word for word, so there is no cut for a better summary to stand at."
        )

    def stored_summary(self, entry: int, profile: Profile, settings: Settings) -> StoredSummary:
        """A compaction of the log as a draft of the range that it summarized, to be checked and
        corrected. Another program may have made it, by other rules: what is previewed is cut where
        it was cut, under the rules given.

        Raises ValueError, with the reason for the user, where it has no summary or where the rules
        cannot cut as it was cut.
        """
        session, tree = self._session, self._session.tree
        if not 0 <= entry < len(tree) or tree.kind(entry) is not Kind.COMPACTION:
            raise ValueError(f"#{entry} is no compaction.")
        loaded = session.payloads.shown.entry(entry).body
        summary = loaded.summary if isinstance(loaded, CompactionSummary) else ""
        if not summary.strip():
            raise ValueError(f"Compaction #{entry} has no summary that could be mended.")
        facts, parent = tree.columns.compactions[entry], tree.columns.parent[entry]
        shown = self.preview_from(parent, facts.first_kept_id, profile, settings)
        if shown is None:
            raise ValueError(self.why_not_mended(entry))
        if not isinstance(shown.preparation, Preparation):
            raise ValueError(
                f"Compaction #{entry} was cut before #{tree.index_of(facts.first_kept_id)}, which "
                f"the rules of “{profile.title}” do not do: {shown.preparation.reason} Choose "
                "other rules, or try another cut at that place."
            )
        before = facts.tokens_before
        short = loaded.short_summary if isinstance(loaded, CompactionSummary) else ""
        return StoredSummary(
            shown,
            Draft(
                STORED, "compaction", "committed", parent, (), summary, "", "",
                first_kept_id=facts.first_kept_id,
                tokens_before=before if before > 0 else shown.tokens_before,
                short_summary=short,
                at_leaf=False,
            ),
        )  # fmt: skip

    def compare(
        self, at: int | None, profiles: Iterable[Profile], context_window: int | None = None
    ) -> list[ProfileOutcome]:
        """What a compaction at an entry would do under each profile, with that profile's sizes."""
        session = self._session
        return compare_profiles(
            session.tree,
            session.leaf if at is None else at,
            profiles,
            context_window=context_window,
            weights_of=session.tokens.weights_for,
            prompt_of=session.usage.prompt_of,
        )

    # requests ------------------------------------------------------------------------------------

    def previous_summary(self, prepared: Preparation) -> str | None:
        """The summary that a compaction updates, or None (A27)."""
        if prepared.previous_compaction < 0:
            return None
        return self._session.payloads.sent.entry(prepared.previous_compaction).summary or None

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
        session = self._session
        return build_requests(
            prepared,
            session.payloads.sent.entries,
            self.previous_summary(prepared),
            instructions,
            session.shared.templates,
            additions=additions,
            model_limit=session.models.info(model).output_limit if model else None,
        )

    def plan(self, shown: Partition) -> CompactionPlan:
        """What a draft of a compaction starts from. Raises ValueError when it is refused."""
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        return CompactionPlan(
            prepared,
            self._session.tree.columns.ids[prepared.first_kept],
            self.previous_summary(prepared),
            {
                "history": shown.tokens[Verdict.TO_SUMMARIZE],
                "turn_prefix": shown.tokens[Verdict.TURN_PREFIX],
            },
            prepared.leaf == self._session.leaf,
        )

    # drafts --------------------------------------------------------------------------------------

    async def summarize(self, shown: Partition, order: SummaryOrder) -> Draft:
        """Make a draft, the extensions asked first (A38, A39); the session is not changed.

        Raises DraftFailed (CancelledByExtension among it), Cancelled, and ValueError when the
        compaction is refused.
        """
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        drafts = Drafts(self._session)
        order = order.via(prepared.profile.remote_endpoint)
        reviewed = await self._review(shown, prepared, order)
        plan, order = self.plan(reviewed.shown), reviewed.order
        if reviewed.cancelled is not None:
            await drafts.refused(plan, order, str(reviewed.cancelled))
            raise reviewed.cancelled
        if (supplied := reviewed.supplied) is not None:
            order = supplied_order(order, supplied)
            return await drafts.provided(
                plan, supplied.summary, order, supplied.short_summary, supplied.tokens_before
            )
        # A long history takes its time to read.
        requests = await asyncio.to_thread(
            self.requests, shown, order.instructions, order.model, order.additions
        )
        return await drafts.compaction(plan, requests, order)

    async def commit(
        self, draft: Draft, text: str | None = None, *, leaving: int | None = None
    ) -> int:
        """Append the compaction entry of a draft (A30), with ``text`` where it was edited; returns
        the entry.

        ``leaving``: the leaf, as the user sees it, that is left for a draft of another place: the
        session goes on from the compaction, and an undo comes back. Raises ValueError when the
        draft has a problem or the session has moved on since, and when an extension does not want
        the leaf moved (CancelledByExtension).
        """
        session = self._session
        summary = draft.summary if text is None else text
        Drafts.check(draft, summary)
        left, moves = session.leaf, draft.leaf != session.leaf
        is_agreed = not draft.at_leaf if leaving is None else leaving == left
        if draft.kind != "compaction" or (moves and not is_agreed):
            raise ValueError("The session has moved on since this draft was made; make a new one.")
        if moves and leaving is not None:
            await ask_before_leaving(session, plan_move(session.tree, left, draft.leaf), False)
            if session.leaf != left:
                raise ValueError("The session has moved on; look at the draft again.")
        index = await uninterrupted(Drafts(session).commit(draft.leaf, draft, summary))
        if moves:
            remember_origin(session, index, left)
        await notify_compacted(session, index)
        if moves and leaving is not None:
            await notify_navigated(session, left)
        return index

    # extensions ----------------------------------------------------------------------------------

    async def _review(
        self, shown: Partition, prepared: Preparation, order: SummaryOrder
    ) -> _Reviewed:
        """Ask the extensions about a compaction that can be done (A38, A39). Raises Cancelled."""
        session = self._session
        review = await review_of(session, order.cancel)
        order = with_review(order, review)
        previous, surroundings = self.previous_summary(prepared), surroundings_of(session)

        def view() -> CompactionView:
            return CompactionView(prepared, previous, surroundings)

        before = await review.runner.before_compact(
            view, order.instructions, order.cancel, lambda one: self._supplied_problem(shown, one)
        )
        review.take("session_before_compact", before.records)
        if before.cancelled_by:
            cancelled = CancelledByExtension(before.cancelled_by, before.reason)
            return _Reviewed(order, shown, cancelled=cancelled)
        if before.compaction is not None:
            place = self._supplied_place(shown, before.compaction.first_kept_entry_id)
            assert isinstance(place, Partition), place
            return _Reviewed(order, place, before.compaction)
        reviewed = await review.runner.compacting(view, order.instructions, order.cancel)
        review.take("session.compacting", reviewed.records)
        added = order.additions
        prompt = added.prompt if reviewed.prompt is None else reviewed.prompt
        facts = dict(order.facts)
        if reviewed.preserve_data is not None:
            facts["preserve_data"] = dict(reviewed.preserve_data)
        additions = Additions((*added.context, *reviewed.context), prompt)
        return _Reviewed(replace(order, additions=additions, facts=facts), shown)

    async def review_conversation(
        self, profile: Profile, instructions: str, review: Review
    ) -> BeforeCompact:
        """Ask the extensions about a compaction whose request is the conversation itself (A38,
        A52). They do not decide where its summary ends: of a supplied one only the text is used."""
        shown = self.preview(None, profile, Settings.of(profile))
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            return BeforeCompact()
        previous, surroundings = self.previous_summary(prepared), surroundings_of(self._session)
        reviewed = await review.runner.before_compact(
            lambda: CompactionView(prepared, previous, surroundings), instructions, review.cancel
        )
        review.take("session_before_compact", reviewed.records)
        return reviewed

    def _supplied_problem(self, shown: Partition, supplied: SuppliedCompaction) -> str:
        """Why a supplied compaction cannot be used; empty when it can (B12, E16)."""
        place = self._supplied_place(shown, supplied.first_kept_entry_id)
        if isinstance(place, str):
            return place
        problems = check_answer(
            supplied.summary,
            "stop",
            profile=shown.preparation.profile,
            input_tokens=self.plan(place).replaced_tokens,
        )
        return problems[0].message if problems else ""

    def _supplied_place(self, shown: Partition, first_kept_id: str) -> Partition | str:
        """The partition whose kept tail begins at an entry, or why there is none."""
        prepared, tree = shown.preparation, self._session.tree
        if not isinstance(prepared, Preparation) or not first_kept_id:
            return shown
        if first_kept_id == tree.columns.ids[prepared.first_kept]:
            return shown
        entry = tree.index_of(first_kept_id)
        position = prepared.path.position(entry) if entry >= 0 else -1
        if position < 0:
            return f"The kept tail cannot begin at {first_kept_id}: it is not on the active path."
        other = self.preview(prepared.leaf, prepared.profile, prepared.settings, position)
        if isinstance(other.preparation, Preparation):
            return other
        return f"The kept tail cannot begin at {first_kept_id}: {other.preparation.reason}"


def cut_after(tree: SessionTree, shown: Partition, entry: int) -> int:
    """The position of the cut that summarizes up to an entry, with its round whole.

    Raises CannotShape, saying why there is none.
    """
    path = shown.path
    if entry not in path:
        raise CannotShape(f"#{entry} is not on the path that is previewed.")
    last = path.position(round_of(tree, path, entry)[-1])
    if last < shown.boundary:
        raise CannotShape(f"#{entry} was summarized already, or is before a new start.")
    following = next((cut for cut in shown.valid_cuts if cut > last), -1)
    if following < 0:
        raise CannotShape(
            f"Nothing after #{entry} can be kept: no valid cut follows. Choose an earlier entry."
        )
    return following

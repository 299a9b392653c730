"""Moving the leaf of an opened session: where it leads, what is left behind, who is asked (B16),
and the summary of a branch that is left.

*From here* on a range is summarized by leaving it: what stands before an entry is kept word for
word, and a branch summary below the entry before it summarizes the rest, which stays in the log.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.branch_summaries import BranchPreparation, branch_request, prepare_branch
from explorer.compaction.cut_point import Cuts
from explorer.compaction.path_view import view_of
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.extensions.answers import BeforeTree, SuppliedSummary
from explorer.extensions.events import NavigationEnds, TreeView
from explorer.models.client import CancelToken
from explorer.models.request import ImagePart
from explorer.services.draft_records import Draft, SummaryOrder
from explorer.services.drafts import Drafts
from explorer.services.edits import CannotShape, Edits
from explorer.services.extension_review import (
    CancelledByExtension,
    Review,
    SummaryDeclined,
    notify_navigated,
    review_of,
    supplied_order,
    surroundings_of,
    with_review,
)
from explorer.services.open_session import OpenedSession
from explorer.services.session_writer import uninterrupted
from explorer.session.entries import Entry, images_of, text_of
from explorer.session.kinds import METADATA_KINDS, Flag, Kind
from explorer.session.tree import SessionTree

_EDITED_AGAIN = (Kind.USER, Kind.CUSTOM_MESSAGE)


class NavigationPlan(Struct, frozen=True):
    """What going to ``target`` would do. Nothing has happened yet."""

    old_leaf: int
    target: int
    """The entry that was pointed at, or -1 for the start of the session."""
    new_leaf: int
    composer_text: str
    """The text of a user message that is to be rewritten, else empty."""
    left_behind: list[int]
    """Entries of the path that the new one does not have, oldest first."""
    seen_leaf: int
    """The leaf of the session when this was planned."""
    pictures: tuple[ImagePart, ...] = ()
    """The pictures of that message."""
    keeps_shape: bool = False
    """What is pinned, omitted and kept where the branch is left holds at the new place too."""

    @property
    def is_noop(self) -> bool:
        return self.old_leaf == self.new_leaf == self.seen_leaf and not self.writes_anew

    @property
    def writes_anew(self) -> bool:
        """Whether a message goes back into the composer, to be sent again."""
        return bool(self.composer_text or self.pictures)

    @property
    def leaves_branch(self) -> bool:
        """Whether something worth a summary is left behind."""
        return bool(self.left_behind)


def plan_navigation(
    tree: SessionTree,
    old_leaf: int,
    target: int,
    payload: Entry | None,
    seen_leaf: int | None = None,
    anew: bool = False,
) -> NavigationPlan:
    """The plan for going from ``old_leaf`` to ``target``.

    ``payload`` is the target's entry; it is only read for a user or custom message, whose parent
    becomes the leaf and whose text goes to the composer. ``seen_leaf``: the session's leaf where
    the branch that is left ends at another entry. ``anew``: a message is written again even where
    it is the leaf itself.
    """
    new_leaf, text = target, ""
    pictures: tuple[ImagePart, ...] = ()
    if target >= 0 and _is_typed(tree, target) and (anew or target != old_leaf):
        new_leaf = tree.columns.parent[target]
        content = payload.content if payload is not None else ()
        text = text_of(content)
        pictures = tuple(ImagePart(image.mime, image.data) for image in images_of(content))
    seen = old_leaf if seen_leaf is None else seen_leaf
    left = _left_behind(tree, old_leaf, new_leaf)
    return NavigationPlan(old_leaf, target, new_leaf, text, left, seen, pictures)


def _is_typed(tree: SessionTree, entry: int) -> bool:
    """Whether somebody may want to write it anew: nobody typed what a program put in."""
    return tree.kind(entry) in _EDITED_AGAIN and not tree.columns.flags[entry] & Flag.SYNTHETIC


def plan_move(tree: SessionTree, old_leaf: int, target: int) -> NavigationPlan:
    """The plan for going on from an entry itself, a message of the user too: nothing is written
    anew."""
    left = _left_behind(tree, old_leaf, target)
    return NavigationPlan(old_leaf, target, target, "", left, old_leaf)


def _left_behind(tree: SessionTree, old_leaf: int, new_leaf: int) -> list[int]:
    """What only the path to ``old_leaf`` has; nothing when no model would miss it."""
    if old_leaf < 0:
        return []
    ancestor = tree.common_ancestor(old_leaf, new_leaf)
    path = tree.path(old_leaf)
    left = path[path.position(ancestor) + 1 :].indices()
    return left if any(tree.kind(entry) not in METADATA_KINDS for entry in left) else []


class Leaving(Struct, frozen=True):
    """A navigation after the extensions were asked; they are not asked about it again."""

    outcome: BeforeTree
    review: Review

    @property
    def supplied(self) -> SuppliedSummary | None:
        return self.outcome.summary

    def steer(self, order: SummaryOrder) -> SummaryOrder:
        """The order as the extensions want it. Raises SummaryDeclined."""
        outcome = self.outcome
        if outcome.summarize is False:
            raise SummaryDeclined(outcome.summarize_by)
        words, instead = outcome.custom_instructions, outcome.replace_instructions
        return replace(
            with_review(order, self.review),
            instructions=order.instructions if words is None else words,
            replace_instructions=order.replace_instructions if instead is None else instead,
        )


async def ask_before_leaving(
    session: OpenedSession,
    plan: NavigationPlan,
    wants_summary: bool,
    instructions: str = "",
    cancel: CancelToken | None = None,
    prepared: BranchPreparation | None = None,
) -> Leaving:
    """Ask about a navigation, summary or not (A41). Raises CancelledByExtension, Cancelled."""
    review = await review_of(session, cancel or CancelToken())
    profile = prepared.profile if prepared is not None else PROFILES["explorer"]
    settings = prepared.settings if prepared is not None else Settings.of(profile)
    tree, surroundings = session.tree, surroundings_of(session)
    ancestor = -1
    if plan.old_leaf >= 0 and plan.new_leaf >= 0:
        ancestor = tree.common_ancestor(plan.old_leaf, plan.new_leaf)
    way = NavigationEnds(
        plan.target, plan.new_leaf, plan.old_leaf, ancestor, plan.left_behind,
        prepared.messages if prepared is not None else (), wants_summary, instructions,
    )  # fmt: skip
    outcome = await review.runner.before_tree(
        lambda: TreeView(way, profile, settings, surroundings), wants_summary, review.cancel
    )
    review.take("session_before_tree", outcome.records)
    if outcome.cancelled_by:
        raise CancelledByExtension(outcome.cancelled_by, outcome.reason)
    return Leaving(outcome, review)


class Navigation:
    """Moves of one session's leaf, with and without a branch summary."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    def plan(self, target: int, at: int | None = None, anew: bool = False) -> NavigationPlan:
        """What going to an entry would do. ``at``: the end of the branch to leave, by default
        the leaf; ``anew``: a message is rewritten even where it is the leaf itself."""
        payload = self._session.payloads.stored.entry(target) if target >= 0 else None
        old = self._session.leaf if at is None else at
        return plan_navigation(self._session.tree, old, target, payload, self._session.leaf, anew)

    def plan_from(self, entry: int, profile: Profile) -> NavigationPlan:
        """What summarizing from an entry on would leave and where the summary would stand.

        The range starts at the entry, or at the valid cut before it, so that no call is parted
        from its results. Raises CannotShape, saying why it cannot start there.
        """
        view = view_of(self._session.tree, self._session.leaf, profile)
        position = view.path.position(entry)
        if position < 0:
            raise CannotShape(f"#{entry} is not on the active path. Go to its branch first.")
        first = max(view.compaction, view.reset) + 1
        if position < first:
            by = view.path[first - 1]
            raise CannotShape(
                f"#{entry} is from before #{by}: going back there would take that back too."
                f" Choose an entry after #{by}."
            )
        start = Cuts(view, profile).mask.rfind(1, first, position + 1)
        if start <= 0:
            raise CannotShape(
                f"Nothing would be kept before #{entry}: summarize all of it by a compaction, or"
                " choose a later entry."
            )
        new_leaf = view.path[start - 1]
        plan = plan_navigation(
            self._session.tree, self._session.leaf, new_leaf, None, self._session.leaf
        )
        if not plan.left_behind:
            raise CannotShape(f"From #{entry} on nothing was said that could be summarized.")
        return replace(plan, keeps_shape=True)

    async def before_leaving(
        self,
        plan: NavigationPlan,
        wants_summary: bool,
        prepared: BranchPreparation | None = None,
    ) -> Leaving:
        """Ask the extensions about a navigation (A41); what comes back goes to ``navigate``, which
        asks by itself without it. Raises CancelledByExtension, Cancelled."""
        return await ask_before_leaving(self._session, plan, wants_summary, prepared=prepared)

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
        old, shape = self._session.leaf, Edits(self._session).shape()
        if draft is None:
            if asked is None:
                await self.before_leaving(plan, False)
                self._check_seen(plan)
            await self._session.writer.move_leaf(plan.new_leaf)
            await notify_navigated(self._session, old)
            return self._session.leaf
        summary = draft.summary if text is None else text
        Drafts.check(draft, summary)
        stored = await uninterrupted(Drafts(self._session).commit(plan.new_leaf, draft, summary))
        if plan.keeps_shape:
            await Edits(self._session).restate(shape)
        await notify_navigated(self._session, old, stored)
        return stored

    def _check_seen(self, plan: NavigationPlan) -> None:
        if plan.seen_leaf != self._session.leaf:
            raise ValueError("The session has moved on since; choose the entry again.")


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

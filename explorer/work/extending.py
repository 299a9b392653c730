"""Asking the extensions about the compactions and navigations of one session (A38 to A42).

What every handler did is recorded with the draft (``facts["extensions"]``) and published as a
change, since some events have no draft.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from explorer.compaction.branch_summaries import BranchPreparation
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import Additions, SummaryRequest
from explorer.compaction.serialization import Span
from explorer.compaction.validation import check_answer
from explorer.extensions.outcomes import (
    BeforeCompact,
    BeforeTree,
    Records,
    SuppliedCompaction,
    SuppliedSummary,
)
from explorer.extensions.provenance import Prompt
from explorer.extensions.runner import HookRunner
from explorer.extensions.views import CompactionView, Surroundings, TreeView, Way
from explorer.models.door import CancelToken, ModelError, ModelRequest
from explorer.work.changes import ChangeHub, ExtensionsActed
from explorer.work.drafting import Draft, DraftFailed, DraftKind, Order
from explorer.work.message_texts import texts_of, with_texts
from explorer.work.navigation import NavigationPlan

CHANGED_WHOLE = (
    "An extension changed a conversation as a whole, which can only be changed part by part; "
    "nothing was sent."
)
HELD_REQUEST = "The extension {} must see every request and failed, so nothing was sent."

if TYPE_CHECKING:
    from explorer.work.compacting import Compacting
    from explorer.work.opened import OpenedSession


class CancelledByExtension(DraftFailed, ValueError):
    """An extension does not want it; nothing was changed."""

    def __init__(self, extension: str, reason: str) -> None:
        why = f": {reason}" if reason else "."
        super().__init__(f"Cancelled by the extension {extension}{why}")
        self.extension, self.reason = extension, reason


class SummaryDeclined(DraftFailed):
    """An extension wants the branch to be left without a summary."""

    def __init__(self, extension: str) -> None:
        super().__init__(
            f"The extension {extension} wants no summary of this branch; it can be left without."
        )
        self.extension = extension


class Review:
    """The extensions' part in one draft or navigation; ``told`` grows as handlers are asked.

    An order carries it to where requests are sent and summaries finished.
    """

    def __init__(
        self,
        runner: HookRunner,
        key: int,
        hub: ChangeHub,
        ids: Callable[[], list[str]],
        cancel: CancelToken,
    ) -> None:
        self.runner = runner
        self.told: list[dict[str, Any]] = []
        """The records so far, as they are kept with a draft."""
        self._key, self._hub, self._ids, self._cancel = key, hub, ids, cancel
        # Requests are answered together, and a handler is written for one call at a time.
        self._lock = asyncio.Lock()

    @property
    def cancel(self) -> CancelToken:
        return self._cancel

    def take(self, event: str, records: Records) -> None:
        """Keep records and tell the views."""
        if records:
            self.told += [record.to_json() for record in records]
            self._hub.publish(ExtensionsActed(self._key, event, tuple(records)))

    async def request(self, request: SummaryRequest, model: str) -> SummaryRequest:
        """A request as it may be sent. Raises ModelError when it must not be, and Cancelled."""
        if not self.runner.handles("session_request"):
            return request
        async with self._lock:
            prompt = Prompt(request.prompt, list(request.sources))
            found = await self.runner.request(
                request.purpose, request.system, prompt, self._ids(), model, self._cancel
            )
        self.take("session_request", found.records)
        if found.held_by:
            raise ModelError("unavailable", HELD_REQUEST.format(found.held_by))
        return replace(request, system=found.system, prompt=found.prompt, sources=found.sources)

    async def conversation(self, request: ModelRequest) -> ModelRequest:
        """A request that is a conversation, as it may be sent: every text of it is a part.

        Raises ModelError when it must not be sent, and Cancelled.
        """
        if not self.runner.handles("session_request"):
            return request
        spans, at = [], 0
        texts = texts_of(request)
        for number, text in enumerate(texts):
            spans.append(Span(at, at + len(text), number))
            at += len(text)
        async with self._lock:
            found = await self.runner.request(
                "conversation", "", Prompt("".join(texts), spans), [""] * len(texts),
                request.model, self._cancel,
            )  # fmt: skip
        self.take("session_request", found.records)
        if found.held_by:
            raise ModelError("unavailable", HELD_REQUEST.format(found.held_by))
        now = {span.entry: found.prompt[span.start : span.end] for span in found.sources}
        if sum(map(len, now.values())) != len(found.prompt):
            # Which message a text belongs to is not known any more, and the old one must not go.
            raise ModelError("unavailable", CHANGED_WHOLE)
        return with_texts(request, [now.get(number, "") for number in range(len(texts))])

    async def summary(self, kind: DraftKind, text: str, supplied: bool) -> str:
        """A summary as it may become a draft. Raises DraftFailed when it must not, Cancelled."""
        if not self.runner.handles("session_summary"):
            return text
        found = await self.runner.summary(kind, text, supplied, self._cancel)
        self.take("session_summary", found.records)
        if found.held_by:
            raise DraftFailed(
                f"The extension {found.held_by} must see every summary and failed, so this one "
                "is not kept."
            )
        return found.summary


@dataclass(frozen=True, slots=True)
class Asked:
    """A compaction after the extensions were asked."""

    order: Order
    """With their additions, and the review that goes along."""
    shown: Partition
    """Where the compaction cuts; a supplied one may choose another valid cut."""
    supplied: SuppliedCompaction | None = None
    cancelled: CancelledByExtension | None = None


@dataclass(frozen=True, slots=True)
class Leaving:
    """A navigation after the extensions were asked. It is not asked about again."""

    outcome: BeforeTree
    review: Review

    @property
    def supplied(self) -> SuppliedSummary | None:
        return self.outcome.summary

    def steer(self, order: Order) -> Order:
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


def with_review(order: Order, review: Review) -> Order:
    """An order that the extensions go along with; drafts record what they do."""
    return replace(order, review=review, facts={**order.facts, "extensions": review.told})


async def review_of(document: OpenedSession, cancel: CancelToken) -> Review:
    """Who is asked about a session, with nothing asked yet."""
    cwd = document.header.cwd
    loaded = document.extensions
    runner = HookRunner((), cwd) if loaded is None else await loaded.runner(cwd)
    return Review(runner, document.key, document.hub, lambda: document.tree.columns.ids, cancel)


def around(document: OpenedSession) -> Surroundings:
    """The session as views see it."""
    return Surroundings(
        document.tree.columns.ids,
        document.payloads.entries,
        document.templates,
        document.header.cwd,
        document.row.session_id,
    )


async def ask_before_compaction(document: Compacting, shown: Partition, order: Order) -> Asked:
    """Ask about a compaction that can be done (A38, A39). Raises Cancelled."""
    prepared = shown.preparation
    assert isinstance(prepared, Preparation)
    review = await review_of(document, order.cancel)
    order = with_review(order, review)
    previous, surroundings = document.previous_summary(prepared), around(document)

    def view() -> CompactionView:
        return CompactionView(prepared, previous, surroundings)

    before = await review.runner.before_compact(
        view, order.instructions, order.cancel, lambda one: _problem(document, shown, one)
    )
    review.take("session_before_compact", before.records)
    if before.cancelled_by:
        cancelled = CancelledByExtension(before.cancelled_by, before.reason)
        return Asked(order, shown, cancelled=cancelled)
    if before.compaction is not None:
        place = _place(document, shown, before.compaction.first_kept_entry_id)
        assert isinstance(place, Partition), place
        return Asked(order, place, before.compaction)
    found = await review.runner.compacting(view, order.instructions, order.cancel)
    review.take("session.compacting", found.records)
    added = order.additions
    prompt = added.prompt if found.prompt is None else found.prompt
    facts = dict(order.facts)
    if found.preserve_data is not None:
        facts["preserve_data"] = dict(found.preserve_data)
    additions = Additions((*added.context, *found.context), prompt)
    return Asked(replace(order, additions=additions, facts=facts), shown)


async def ask_before_conversation(
    document: Compacting, profile: Profile, instructions: str, review: Review
) -> BeforeCompact:
    """Ask about a compaction that is asked for with the conversation itself (A38, A52). Where its
    summary ends is its own affair, so that a supplied one brings its words only."""
    shown = document.preview(None, profile, Settings.of(profile))
    prepared = shown.preparation
    if not isinstance(prepared, Preparation):
        return BeforeCompact()
    previous, surroundings = document.previous_summary(prepared), around(document)
    found = await review.runner.before_compact(
        lambda: CompactionView(prepared, previous, surroundings), instructions, review.cancel
    )
    review.take("session_before_compact", found.records)
    return found


def _problem(document: Compacting, shown: Partition, supplied: SuppliedCompaction) -> str:
    """Why a supplied compaction cannot be used; empty when it can (B12, E16)."""
    place = _place(document, shown, supplied.first_kept_entry_id)
    if isinstance(place, str):
        return place
    replaced = sum(document.compaction_plan(place).replaced.values())
    problems = check_answer(
        supplied.summary, "stop", profile=shown.preparation.profile, input_tokens=replaced
    )
    return problems[0].message if problems else ""


def _place(document: Compacting, shown: Partition, first_kept_id: str) -> Partition | str:
    """The partition whose kept tail begins at an entry, or why there is none."""
    prepared, tree = shown.preparation, document.tree
    if not isinstance(prepared, Preparation) or not first_kept_id:
        return shown
    if first_kept_id == tree.columns.ids[prepared.first_kept]:
        return shown
    entry = tree.index_of(first_kept_id)
    position = prepared.path.position(entry) if entry >= 0 else -1
    if position < 0:
        return f"The kept tail cannot begin at {first_kept_id}: it is not on the active path."
    other = document.preview(prepared.leaf, prepared.profile, prepared.settings, position)
    if isinstance(other.preparation, Preparation):
        return other
    return f"The kept tail cannot begin at {first_kept_id}: {other.preparation.reason}"


async def tell_compacted(document: OpenedSession, index: int) -> None:
    """Tell that a compaction was stored (A40). Nothing that a handler does changes that."""
    review = await review_of(document, CancelToken())
    from_extension = bool(document.tree.columns.compactions[index].from_extension)
    records = await review.runner.compacted(
        lambda: dict(document.entry(index)), from_extension, review.cancel
    )
    review.take("session_compact", records)


async def ask_before_leaving(
    document: OpenedSession,
    plan: NavigationPlan,
    wants_summary: bool,
    instructions: str = "",
    cancel: CancelToken | None = None,
    prepared: BranchPreparation | None = None,
) -> Leaving:
    """Ask about a navigation, summary or not (A41). Raises CancelledByExtension, Cancelled."""
    review = await review_of(document, cancel or CancelToken())
    profile = prepared.profile if prepared is not None else PROFILES["explorer"]
    settings = prepared.settings if prepared is not None else Settings.of(profile)
    tree, surroundings = document.tree, around(document)
    ancestor = -1
    if plan.old_leaf >= 0 and plan.new_leaf >= 0:
        ancestor = tree.common_ancestor(plan.old_leaf, plan.new_leaf)
    way = Way(
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


async def tell_navigated(document: OpenedSession, old_leaf: int, summary: int = -1) -> None:
    """Tell that the leaf has moved, and the summary that was stored there, if any (A41)."""
    review = await review_of(document, CancelToken())
    ids = document.tree.columns.ids

    def name(entry: int) -> str:
        return ids[entry] if entry >= 0 else ""

    records = await review.runner.tree(
        name(document.leaf),
        name(old_leaf),
        lambda: dict(document.entry(summary)) if summary >= 0 else None,
        review.cancel,
    )
    review.take("session_tree", records)


def supplied_order(order: Order, supplied: SuppliedCompaction | SuppliedSummary) -> Order:
    """The order of a draft that an extension made: who stands where the model would, and what is
    recorded with the draft to be stored with its entry."""
    facts = {**order.facts, "from_extension": supplied.by, "details": supplied.details}
    if isinstance(supplied, SuppliedCompaction) and supplied.preserve_data is not None:
        facts["preserve_data"] = dict(supplied.preserve_data)
    return replace(order, model=f"extension/{supplied.by}", facts=facts)


def entry_fields(draft: Draft) -> dict[str, Any]:
    """The fields of a stored entry that extensions decide: who made it, their data (A1, A2)."""
    fields: dict[str, Any] = {}
    if draft.facts.get("from_extension"):
        fields["from_extension"] = True
        fields["details"] = draft.facts.get("details")
    if isinstance(data := draft.facts.get("preserve_data"), dict):
        fields["preserve_data"] = data
    return fields

"""Drafts from their first byte to their end, recorded in the database on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from explorer.compaction.branch_summaries import BranchPreparation, finish_branch
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.compaction.summary import changed, finish
from explorer.compaction.validation import check_answer
from explorer.compaction.verification_request import VerifyRequest, profile_checked
from explorer.compaction.wording import Templates
from explorer.models.door import Cancelled, ModelDoor
from explorer.session.text import well_formed
from explorer.work.answering import Answering
from explorer.work.changes import ChangeHub, DraftChanged
from explorer.work.drafting import Draft, DraftFailed, DraftStatus, Order
from explorer.work.recording import fields_of, planned_fields

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import Store


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A preparation, and what the document knows of it besides."""

    prepared: Preparation
    first_kept_id: str
    previous_summary: str | None
    replaced: Mapping[str, int] = field(default_factory=dict)
    """Tokens that the summary takes the place of (E16), by the purpose of the request that tells
    them; the summary that is updated counts with the history."""
    at_leaf: bool = True

    @property
    def replaced_tokens(self) -> int:
        return sum(self.replaced.values())

    def limits(self, requests: Sequence[SummaryRequest]) -> dict[str, int]:
        """Tokens that each answer must stay below: what it tells; of two, each may take half of
        what the other tells too, since only their sum decides."""
        asked = [each.purpose for each in requests if each.purpose in self.replaced]
        if len(asked) == 1:
            return {asked[0]: self.replaced_tokens}
        whole = self.replaced_tokens
        return {name: (self.replaced[name] + whole) // 2 for name in asked}


class DraftMaker:
    """Makes, records and closes the drafts of one session."""

    def __init__(
        self, store: Store, key: int, door: ModelDoor, templates: Templates, hub: ChangeHub
    ) -> None:
        self._store = store
        self._key = key
        self._door = door
        self._templates = templates
        self._hub = hub

    def use_templates(self, templates: Templates) -> None:
        """Write drafts that are begun from now on with these."""
        self._templates = templates

    async def compaction(
        self, plan: CompactionPlan, requests: Sequence[SummaryRequest], order: Order
    ) -> Draft:
        """Make the draft of a compaction. Raises DraftFailed or Cancelled."""
        draft = self._new(plan, order)
        prepared = plan.prepared
        draft = await self._run(draft, requests, prepared.profile, order, plan.limits(requests))
        texts = {part.purpose: part.text for part in draft.parts}
        history, prefix = texts.get("history", ""), texts.get("turn_prefix", "")
        summary = well_formed(finish(prepared, history, prefix, plan.previous_summary))
        draft = await self._reviewed(replace(draft, summary=summary), order)
        problems = check_answer(
            draft.summary, "stop", profile=prepared.profile, input_tokens=plan.replaced_tokens
        )
        if problems:
            await self._fail(draft, problems[0].message)
            raise DraftFailed(problems[0].message, draft.parts)
        return await self._close(replace(draft, status="done"))

    async def mended(
        self,
        plan: CompactionPlan,
        of: Draft,
        asked: VerifyRequest,
        order: Order,
        finished: Callable[[str], str],
    ) -> Draft:
        """The draft of a summary that was mended: another candidate beside ``of``. ``finished``
        makes the summary of an answer. Raises DraftFailed or Cancelled."""
        draft = replace(
            self._new(plan, order),
            short_summary=of.short_summary, tokens_before=of.tokens_before,
            instructions=of.instructions, first_kept_id=of.first_kept_id,
        )  # fmt: skip
        profile = profile_checked(plan.prepared.profile)
        limits = {"verify": asked.most_tokens}
        draft = await self._run(draft, [asked.request], profile, order, limits)
        summary = well_formed(finished(draft.parts[0].text))
        draft = replace(draft, summary=summary, short_summary=of.short_summary)
        draft = await self._reviewed(draft, order)
        problems = check_answer(
            draft.summary, "stop", profile=profile, input_tokens=plan.replaced_tokens
        )
        if problems:
            await self._fail(draft, problems[0].message)
            raise DraftFailed(problems[0].message, draft.parts)
        return await self._close(replace(draft, status="done"))

    async def provided(
        self,
        plan: CompactionPlan,
        summary: str,
        order: Order,
        short_summary: str = "",
        tokens_before: int = -1,
    ) -> Draft:
        """The draft of a summary that an extension made (A38): recorded like any other, without
        requests. Raises DraftFailed when it is empty. ``tokens_before``: negative, as planned."""
        draft = replace(self._new(plan, order), short_summary=short_summary)
        if tokens_before >= 0:
            draft = replace(draft, tokens_before=tokens_before)
        return await self._provided(draft, summary, order)

    async def provided_branch(
        self, prepared: BranchPreparation, from_id: str, summary: str, order: Order
    ) -> Draft:
        """The draft of a branch summary that an extension made (A41). Raises DraftFailed."""
        return await self._provided(self._new_branch(prepared, from_id, order), summary, order)

    async def _provided(self, draft: Draft, summary: str, order: Order) -> Draft:
        draft = await self._record(draft, (), order)
        draft = replace(draft, summary=well_formed(summary))
        if not summary.strip():
            problem = "The extension's summary is empty."
            await self._fail(draft, problem)
            raise DraftFailed(problem)
        draft = await self._reviewed(draft, order, supplied=True)
        return await self._close(replace(draft, status="done"))

    async def refused(self, plan: CompactionPlan, order: Order, problem: str) -> Draft:
        """Record a compaction that an extension cancelled before anything was sent (A38)."""
        draft = await self._record(self._new(plan, order), (), order)
        return await self._close(replace(draft, status="cancelled", problem=problem))

    async def _reviewed(self, draft: Draft, order: Order, *, supplied: bool = False) -> Draft:
        """The draft with its summary as extensions leave it. Raises DraftFailed, Cancelled."""
        if order.review is None:
            return draft
        try:
            text = await order.review.summary(draft.kind, draft.summary, supplied)
        except (Cancelled, asyncio.CancelledError):
            await asyncio.shield(self._close(replace(draft, status="cancelled")))
            raise
        except DraftFailed as error:
            # Not even in the record: whoever must see it has not.
            await self._fail(replace(draft, summary=""), str(error))
            raise
        return replace(draft, summary=text)

    def _new(self, plan: CompactionPlan, order: Order) -> Draft:
        prepared = plan.prepared
        return Draft(
            0, "compaction", "streaming", prepared.leaf, (), "", order.model, order.instructions,
            first_kept_id=plan.first_kept_id, tokens_before=prepared.tokens_before,
            read_files=prepared.read_files, modified_files=prepared.modified_files,
            failed_files=prepared.failed_files, at_leaf=plan.at_leaf, facts=order.facts,
            created_files=tuple(changed(prepared.file_changes, "created")),
            deleted_files=tuple(changed(prepared.file_changes, "deleted")),
            settings=_settings(prepared.profile, prepared.settings),
        )  # fmt: skip

    async def branch(
        self,
        prepared: BranchPreparation,
        from_id: str,
        requests: Sequence[SummaryRequest],
        order: Order,
    ) -> Draft:
        """Make the draft of a branch summary. Raises DraftFailed or Cancelled."""
        draft = self._new_branch(prepared, from_id, order)
        draft = await self._run(draft, requests, prepared.profile, order, {})
        summary = well_formed(finish_branch(prepared, draft.parts[0].text, self._templates))
        draft = await self._reviewed(replace(draft, summary=summary), order)
        return await self._close(replace(draft, status="done"))

    @staticmethod
    def _new_branch(prepared: BranchPreparation, from_id: str, order: Order) -> Draft:
        return Draft(
            0, "branch", "streaming", prepared.old_leaf, (), "", order.model, order.instructions,
            read_files=prepared.read_files, modified_files=prepared.modified_files,
            failed_files=prepared.failed_files, from_id=from_id, facts=order.facts,
            created_files=tuple(changed(prepared.file_changes, "created")),
            deleted_files=tuple(changed(prepared.file_changes, "deleted")),
            settings=_settings(prepared.profile, prepared.settings),
        )  # fmt: skip

    async def _run(
        self,
        draft: Draft,
        requests: Sequence[SummaryRequest],
        profile: Profile,
        order: Order,
        limits: Mapping[str, int],
    ) -> Draft:
        """Record the requests, send them, and take the answers when they are good."""
        draft = await self._record(draft, requests, order)
        answering = Answering(self._door, order, self._templates, profile, requests, limits)
        try:
            await answering.run()
        except (Cancelled, asyncio.CancelledError):
            order.cancel.cancel()
            draft = replace(draft, attempts=answering.attempts, status="cancelled")
            await asyncio.shield(self._close(draft))
            raise
        except DraftFailed as error:
            draft = replace(draft, parts=error.parts, attempts=answering.attempts)
            await self._fail(draft, str(error))
            raise
        except BaseException as error:
            # Whatever it was, the record must not say for ever that the draft is on its way.
            draft = replace(draft, attempts=answering.attempts)
            await self._fail(draft, f"{type(error).__name__}: {error}")
            raise
        parts = answering.parts
        return replace(
            draft,
            parts=parts,
            attempts=answering.attempts,
            short_summary=answering.short_summary,
            model=parts[0].request.model if parts else draft.model,
        )

    async def _fail(self, draft: Draft, problem: str) -> None:
        await self._close(replace(draft, status="failed", problem=problem))

    async def _record(
        self, draft: Draft, requests: Sequence[SummaryRequest], order: Order
    ) -> Draft:
        """Write the request down before it is sent."""
        # The spans of a long history are many: not on the window's thread.
        fields = await asyncio.to_thread(planned_fields, draft, requests, order)
        saved = self._store.add_draft(self._key, fields)
        return replace(draft, id=await asyncio.wrap_future(saved))

    async def _close(self, draft: Draft) -> Draft:
        fields = await asyncio.to_thread(fields_of, draft)
        await asyncio.wrap_future(self._store.update_draft(draft.id, fields))
        self._hub.publish(DraftChanged(self._key, draft.id))
        return draft

    async def noted(self, draft: Draft) -> Draft:
        """Record what is known of a finished draft by now."""
        return await self._close(draft)

    async def mark(self, draft: Draft, status: DraftStatus, text: str) -> None:
        """Note what became of a draft and the text that was taken."""
        fields = {"status": status, "edited_text": text}
        await asyncio.wrap_future(self._store.update_draft(draft.id, fields))
        self._hub.publish(DraftChanged(self._key, draft.id))

    def keep_text(self, draft: Draft, text: str) -> None:
        """Keep what a person made of a draft so far; written soon, in order."""
        self._store.update_draft(draft.id, {"edited_text": text})

    @staticmethod
    def check(draft: Draft, summary: str) -> None:
        """Raise ValueError when a draft cannot be committed (B12)."""
        if draft.status != "done":
            raise ValueError(draft.problem or f"This draft is {draft.status}, not complete.")
        if not summary.strip():
            raise ValueError("An empty summary cannot be stored.")


def _settings(profile: Profile, settings: Settings) -> dict[str, Any]:
    return {"profile": asdict(profile), **asdict(settings)}

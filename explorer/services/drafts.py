"""The drafts of one session: made, recorded while they are made, stored in the log or discarded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from explorer.compaction.branch_summaries import BranchPreparation, finish_branch
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, VerifyRequest, profile_checked
from explorer.compaction.summary import changed, check_answer, finish
from explorer.models.client import Cancelled
from explorer.services.changes import DraftChanged
from explorer.services.draft_records import (
    Attempt,
    Draft,
    DraftFailed,
    DraftPart,
    DraftStatus,
    SummaryOrder,
    draft_of,
    fields_of,
    planned_fields,
)
from explorer.services.open_session import OpenedSession
from explorer.services.summary_call import SummaryCall
from explorer.session.entries import BranchSummary, CompactionSummary, FileLists
from explorer.session.text import well_formed


class CompactionPlan(Struct, frozen=True):
    """A preparation, and what the session adds to it."""

    prepared: Preparation
    first_kept_id: str
    previous_summary: str | None
    replaced: Mapping[str, int] = field(default_factory=dict)
    """Tokens that the summary takes the place of (E16), by the purpose of the request that
    summarizes them; the summary that is updated counts with the history."""
    at_leaf: bool = True

    @property
    def replaced_tokens(self) -> int:
        return sum(self.replaced.values())

    def limits(self, requests: Sequence[SummaryRequest]) -> dict[str, int]:
        """Tokens that each answer must stay below, by purpose: what it replaces; of two, each may
        take half of what the other replaces too, since only their sum counts."""
        asked = [each.purpose for each in requests if each.purpose in self.replaced]
        if len(asked) == 1:
            return {asked[0]: self.replaced_tokens}
        whole = self.replaced_tokens
        return {name: (self.replaced[name] + whole) // 2 for name in asked}


class Drafts:
    """Makes, records and closes the drafts of one session."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    # making --------------------------------------------------------------------------------------

    async def compaction(
        self, plan: CompactionPlan, requests: Sequence[SummaryRequest], order: SummaryOrder
    ) -> Draft:
        """Make the draft of a compaction. Raises DraftFailed or Cancelled."""
        prepared = plan.prepared

        def finished(parts: Sequence[DraftPart]) -> str:
            texts = {part.purpose: part.text for part in parts}
            history, prefix = texts.get("history", ""), texts.get("turn_prefix", "")
            return finish(prepared, history, prefix, plan.previous_summary)

        return await self._summarize(
            self._new(plan, order), requests, prepared.profile, order, finished,
            plan.limits(requests), plan.replaced_tokens,
        )  # fmt: skip

    async def mended(
        self,
        plan: CompactionPlan,
        of: Draft,
        asked: VerifyRequest,
        order: SummaryOrder,
        finished: Callable[[str], str],
    ) -> Draft:
        """The draft of a corrected summary, another candidate beside ``of``. ``finished`` makes
        the summary of an answer. Raises DraftFailed or Cancelled."""
        draft = replace(
            self._new(plan, order),
            short_summary=of.short_summary, tokens_before=of.tokens_before,
            instructions=of.instructions, first_kept_id=of.first_kept_id,
        )  # fmt: skip
        return await self._summarize(
            draft, [asked.request], profile_checked(plan.prepared.profile), order,
            lambda parts: finished(parts[0].text), {"verify": asked.most_tokens},
            plan.replaced_tokens,
        )  # fmt: skip

    async def branch(
        self,
        prepared: BranchPreparation,
        from_id: str,
        requests: Sequence[SummaryRequest],
        order: SummaryOrder,
    ) -> Draft:
        """Make the draft of a branch summary. Raises DraftFailed or Cancelled."""
        templates = self._session.shared.templates
        return await self._summarize(
            self._new_branch(prepared, from_id, order), requests, prepared.profile, order,
            lambda parts: finish_branch(prepared, parts[0].text, templates),
        )  # fmt: skip

    async def _summarize(
        self,
        draft: Draft,
        requests: Sequence[SummaryRequest],
        profile: Profile,
        order: SummaryOrder,
        finished: Callable[[Sequence[DraftPart]], str],
        limits: Mapping[str, int] | None = None,
        replaced: int | None = None,
    ) -> Draft:
        """Record the requests, send them, finish and check the answers. ``limits``: tokens that
        answers must stay below, by purpose; ``replaced``: tokens that the summary must."""
        session = self._session
        call = SummaryCall(
            session.models.for_one_summary(), order, session.shared.templates, profile, requests,
            limits or {},
        )  # fmt: skip

        async def make(draft: Draft) -> Draft:
            await call.run()
            parts = call.parts
            draft = replace(
                draft,
                parts=parts,
                attempts=call.attempts,
                short_summary=draft.short_summary or call.short_summary,
                model=parts[0].request.model if parts else draft.model,
                summary=well_formed(finished(parts)),
            )
            draft = await self._reviewed(draft, order)
            if replaced is not None:
                problems = check_answer(
                    draft.summary, "stop", profile=profile, input_tokens=replaced
                )
                if problems:
                    raise DraftFailed(problems[0].message, parts, draft.summary)
            return draft

        return await self.run(
            draft, make, lambda: call.attempts, order.cancel.cancel, requests, order
        )

    async def provided(
        self,
        plan: CompactionPlan,
        summary: str,
        order: SummaryOrder,
        short_summary: str,
        tokens_before: int,
    ) -> Draft:
        """The draft of a summary that an extension made (A38): recorded like any other, without
        requests. ``tokens_before``: negative, as planned. Raises DraftFailed when it is empty."""
        draft = replace(self._new(plan, order), short_summary=short_summary)
        if tokens_before >= 0:
            draft = replace(draft, tokens_before=tokens_before)
        return await self._provided(draft, summary, order)

    async def provided_branch(
        self, prepared: BranchPreparation, from_id: str, summary: str, order: SummaryOrder
    ) -> Draft:
        """The draft of a branch summary that an extension made (A41). Raises DraftFailed."""
        return await self._provided(self._new_branch(prepared, from_id, order), summary, order)

    async def _provided(self, draft: Draft, summary: str, order: SummaryOrder) -> Draft:
        async def make(draft: Draft) -> Draft:
            if not summary.strip():
                raise DraftFailed("The extension's summary is empty.", summary=summary)
            draft = replace(draft, summary=well_formed(summary))
            return await self._reviewed(draft, order, supplied=True)

        return await self.run(draft, make, tuple, order.cancel.cancel)

    async def refused(self, plan: CompactionPlan, order: SummaryOrder, problem: str) -> Draft:
        """Record a compaction that an extension cancelled before anything was sent (A38)."""
        draft = await self._record(self._new(plan, order), (), None)
        return await self.note(replace(draft, status="cancelled", problem=problem))

    async def run(
        self,
        draft: Draft,
        make: Callable[[Draft], Awaitable[Draft]],
        attempts: Callable[[], tuple[Attempt, ...]],
        stop: Callable[[], None],
        requests: Sequence[SummaryRequest] = (),
        order: SummaryOrder | None = None,
    ) -> Draft:
        """Record a draft with the requests that will be sent, ``make`` it, and record how that
        ended, with all ``attempts``; whatever happens, the record does not stay unfinished.

        ``stop`` cancels what ``make`` began when the waiting task is cancelled. Raises what
        ``make`` raises: DraftFailed, Cancelled.
        """
        draft = await self._record(draft, requests, order)
        try:
            done = await make(draft)
        except (Cancelled, asyncio.CancelledError):
            stop()
            cancelled = replace(draft, status="cancelled", attempts=attempts())
            await asyncio.shield(self.note(cancelled))
            raise
        except DraftFailed as error:
            await self.note(
                replace(
                    draft, status="failed", problem=str(error), parts=error.parts,
                    summary=error.summary, attempts=attempts(),
                )
            )  # fmt: skip
            raise
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
            await self.note(replace(draft, status="failed", problem=problem, attempts=attempts()))
            raise
        return await self.note(replace(done, status="done", attempts=attempts()))

    async def _reviewed(
        self, draft: Draft, order: SummaryOrder, *, supplied: bool = False
    ) -> Draft:
        """The draft with its summary as extensions leave it. Raises DraftFailed, Cancelled; a
        refused summary is not recorded, since an extension that must see it has not."""
        if order.review is None:
            return draft
        text = await order.review.summary(draft.kind, draft.summary, supplied)
        return replace(draft, summary=text)

    def _new(self, plan: CompactionPlan, order: SummaryOrder) -> Draft:
        prepared = plan.prepared
        return Draft(
            0, "compaction", "streaming", prepared.leaf, (), "", order.model, order.instructions,
            first_kept_id=plan.first_kept_id, tokens_before=prepared.tokens_before,
            at_leaf=plan.at_leaf, facts=order.facts, **_prepared_fields(prepared),
        )  # fmt: skip

    @staticmethod
    def _new_branch(prepared: BranchPreparation, from_id: str, order: SummaryOrder) -> Draft:
        return Draft(
            0, "branch", "streaming", prepared.old_leaf, (), "", order.model, order.instructions,
            from_id=from_id, facts=order.facts, **_prepared_fields(prepared),
        )  # fmt: skip

    # recording -----------------------------------------------------------------------------------

    async def _record(
        self, draft: Draft, requests: Sequence[SummaryRequest], order: SummaryOrder | None
    ) -> Draft:
        """Record the requests before they are sent."""
        # The spans of a long history are many: not on the window's thread.
        fields = await asyncio.to_thread(planned_fields, draft, requests, order)
        saved = self._session.shared.store.add_draft(self._session.key, fields)
        return replace(draft, id=await asyncio.wrap_future(saved))

    async def note(self, draft: Draft) -> Draft:
        """Record what is known of a draft by now."""
        session = self._session
        fields = await asyncio.to_thread(fields_of, draft)
        await asyncio.wrap_future(session.shared.store.update_draft(draft.id, fields))
        session.shared.hub.publish(DraftChanged(session.key, draft.id))
        return draft

    async def mark(self, draft: Draft, status: DraftStatus, text: str) -> None:
        """Record what became of a draft and the text that was used."""
        session = self._session
        fields = {"status": status, "edited_text": text}
        await asyncio.wrap_future(session.shared.store.update_draft(draft.id, fields))
        session.shared.hub.publish(DraftChanged(session.key, draft.id))

    def store_text(self, draft: Draft, text: str) -> None:
        """Store a draft's text as the user has edited it so far; written soon, in order."""
        self._session.shared.store.update_draft(draft.id, {"edited_text": text})

    def waiting(self) -> list[tuple[Draft, str]]:
        """Finished compaction drafts that were neither committed nor discarded: those of the leaf,
        and those of the newest other place at which none was committed since.

        Each with its text as it was last edited, the oldest first. Raises StoreError.
        """
        session = self._session
        rows = [row for row in session.shared.store.drafts(session.key) if row.kind == "compaction"]
        used = {row.leaf: row.changed_ms for row in rows if row.status == "committed"}
        waiting = [
            row
            for row in rows
            if row.status == "done"
            and (row.leaf == session.leaf or row.created_ms > used.get(row.leaf, 0))
        ]
        others = [row.leaf for row in waiting if row.leaf != session.leaf]
        places = {session.leaf, *others[-1:]}
        return [
            (draft_of(row), row.edited_text if row.edited_text is not None else row.summary)
            for row in waiting
            if row.leaf in places
        ]

    def instructions_of(self, compaction: int) -> str:
        """What a person asked of the summary of a compaction; empty where nothing is recorded.
        Reads the database. Raises StoreError."""
        session = self._session
        summary = session.payloads.stored.entry(compaction).summary
        rows = session.shared.store.drafts(session.key, with_requests=False)
        return next(
            (row.instructions for row in reversed(rows)
             if row.status == "committed" and row.edited_text == summary), ""
        )  # fmt: skip

    # into the log --------------------------------------------------------------------------------

    async def commit(self, parent: int, draft: Draft, summary: str) -> int:
        """Append a draft's entry below ``parent``, then record that it was used; the entry."""
        files = FileLists(
            draft.read_files, draft.modified_files, draft.created_files, draft.deleted_files,
            draft.failed_files,
        )  # fmt: skip
        body: CompactionSummary | BranchSummary = BranchSummary(
            summary,
            draft.from_id,
            files,
            bool(draft.facts.get("from_extension")),
            details=draft.facts.get("details"),
        )
        if draft.kind == "compaction":
            preserved = draft.facts.get("preserve_data")
            body = CompactionSummary(
                summary,
                draft.first_kept_id,
                draft.tokens_before,
                files=files,
                from_extension=body.from_extension,
                short_summary=draft.short_summary,
                user_tokens=_repeated_user_tokens(draft),
                details=body.details,
                preserved=preserved if isinstance(preserved, dict) else None,
            )
        index = await self._session.writer.append(body, parent)
        await self.mark(draft, "committed", summary)
        return index

    @staticmethod
    def check(draft: Draft, summary: str) -> None:
        """Raise ValueError when a draft cannot be committed (B12)."""
        if draft.status != "done":
            raise ValueError(draft.problem or f"This draft is {draft.status}, not complete.")
        if not summary.strip():
            raise ValueError("An empty summary cannot be stored.")


def settings_fields(profile: Profile, settings: Settings) -> dict[str, Any]:
    """Profile and sizes as they are recorded with a draft; JSON values."""
    return {"profile": to_builtins(profile), **to_builtins(settings)}


def _prepared_fields(prepared: Preparation | BranchPreparation) -> dict[str, Any]:
    return {
        "read_files": prepared.read_files,
        "modified_files": prepared.modified_files,
        "failed_files": prepared.failed_files,
        "created_files": tuple(changed(prepared.file_changes, "created")),
        "deleted_files": tuple(changed(prepared.file_changes, "deleted")),
        "settings": settings_fields(prepared.profile, prepared.settings),
    }


def _repeated_user_tokens(draft: Draft) -> int:
    """How many tokens of the user's messages the profile of a draft keeps word for word."""
    profile = draft.settings.get("profile")
    tokens = profile.get("keep_user_tokens") if isinstance(profile, Mapping) else 0
    return tokens if isinstance(tokens, int) else 0

"""Drafts from their first byte to their end, recorded in the database on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from explorer.compaction.branches import BranchPreparation, finish_branch
from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.compaction.summary import finish
from explorer.compaction.validation import check_answer
from explorer.compaction.wording import Templates
from explorer.models.door import Cancelled, ModelDoor
from explorer.session.text import well_formed
from explorer.work.changes import ChangeHub, DraftChanged
from explorer.work.drafting import (
    Draft,
    DraftFailed,
    DraftPart,
    DraftStatus,
    Order,
    model_request,
    run_requests,
)

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import DraftRow, Store


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A preparation, and what the document knows of it besides."""

    prepared: Preparation
    first_kept_id: str
    previous_summary: str | None
    replaced_tokens: int
    """What the summary takes the place of (E16)."""
    at_leaf: bool


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

    async def compaction(
        self, plan: CompactionPlan, requests: Sequence[SummaryRequest], order: Order
    ) -> Draft:
        """Make the draft of a compaction. Raises DraftFailed or Cancelled."""
        prepared = plan.prepared
        draft = Draft(
            0, "compaction", "streaming", prepared.leaf, (), "", order.model, order.instructions,
            first_kept_id=plan.first_kept_id, tokens_before=prepared.tokens_before,
            read_files=prepared.read_files, modified_files=prepared.modified_files,
            failed_files=prepared.failed_files,
            at_leaf=plan.at_leaf, settings=_settings(prepared.profile, prepared.settings),
        )  # fmt: skip
        draft = await self._run(draft, requests, prepared.profile, order)
        texts = {part.purpose: part.text for part in draft.parts}
        history, prefix = texts.get("history", ""), texts.get("turn_prefix", "")
        summary = well_formed(finish(prepared, history, prefix, plan.previous_summary))
        draft = replace(draft, summary=summary)
        problems = check_answer(
            draft.summary, "stop", profile=prepared.profile, input_tokens=plan.replaced_tokens
        )
        if problems:
            await self._fail(draft, problems[0].message)
            raise DraftFailed(problems[0].message, draft.parts)
        return await self._close(replace(draft, status="done"))

    async def branch(
        self,
        prepared: BranchPreparation,
        from_id: str,
        requests: Sequence[SummaryRequest],
        order: Order,
    ) -> Draft:
        """Make the draft of a branch summary. Raises DraftFailed or Cancelled."""
        draft = Draft(
            0, "branch", "streaming", prepared.old_leaf, (), "", order.model, order.instructions,
            read_files=prepared.read_files, modified_files=prepared.modified_files,
            failed_files=prepared.failed_files,
            from_id=from_id, settings=_settings(prepared.profile, prepared.settings),
        )  # fmt: skip
        draft = await self._run(draft, requests, prepared.profile, order)
        summary = well_formed(finish_branch(prepared, draft.parts[0].text, self._templates))
        return await self._close(replace(draft, summary=summary, status="done"))

    async def _run(
        self,
        draft: Draft,
        requests: Sequence[SummaryRequest],
        profile: Profile,
        order: Order,
    ) -> Draft:
        """Record the requests, send them, and take the answers when they are good."""
        draft = await self._record(draft, requests)
        try:
            parts = await run_requests(self._door, requests, order)
        except (Cancelled, asyncio.CancelledError):
            order.cancel.cancel()
            await asyncio.shield(self._close(replace(draft, status="cancelled")))
            raise
        except DraftFailed as error:
            await self._fail(replace(draft, parts=error.parts), str(error))
            raise
        except BaseException as error:
            # Whatever it was, the record must not say for ever that the draft is on its way.
            await self._fail(draft, f"{type(error).__name__}: {error}")
            raise
        draft = replace(draft, parts=parts)
        for part in parts:
            if problems := check_answer(part.text, part.stop_reason, profile=profile):
                await self._fail(draft, problems[0].message)
                raise DraftFailed(problems[0].message, parts)
        return draft

    async def _fail(self, draft: Draft, problem: str) -> None:
        await self._close(replace(draft, status="failed", problem=problem))

    async def _record(self, draft: Draft, requests: Sequence[SummaryRequest]) -> Draft:
        """Write the request down before it is sent."""
        calls = [
            {"purpose": request.purpose, "request": model_request(request, draft.model).to_json()}
            for request in requests
        ]
        saved = self._store.add_draft(self._key, {**_fields(draft), "requests": calls})
        return replace(draft, id=await asyncio.wrap_future(saved))

    async def _close(self, draft: Draft) -> Draft:
        await asyncio.wrap_future(self._store.update_draft(draft.id, _fields(draft)))
        self._hub.publish(DraftChanged(self._key, draft.id))
        return draft

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


def _fields(draft: Draft) -> dict[str, Any]:
    """What is recorded of a draft, as the store's columns."""
    return {
        "kind": draft.kind,
        "status": draft.status,
        "leaf": draft.leaf,
        "model": draft.model,
        "instructions": draft.instructions,
        "settings": dict(draft.settings),
        "summary": draft.summary,
        "problem": draft.problem,
        "answers": [_answer(part) for part in draft.parts],
        "elapsed_ms": draft.elapsed_ms,
        "facts": {
            "first_kept_id": draft.first_kept_id,
            "from_id": draft.from_id,
            "tokens_before": draft.tokens_before,
            "read_files": list(draft.read_files),
            "modified_files": list(draft.modified_files),
            "failed_files": list(draft.failed_files),
        },
    }


def draft_of(row: DraftRow) -> Draft:
    """A draft as it was recorded, without its answers."""
    facts = row.facts if isinstance(row.facts, dict) else {}
    return Draft(
        row.id,
        "branch" if row.kind == "branch" else "compaction",
        "done",
        row.leaf,
        (),
        row.summary,
        row.model,
        row.instructions,
        first_kept_id=str(facts.get("first_kept_id", "")),
        tokens_before=int(facts.get("tokens_before", 0)),
        read_files=tuple(facts.get("read_files", ())),
        modified_files=tuple(facts.get("modified_files", ())),
        failed_files=tuple(facts.get("failed_files", ())),
        settings=row.settings if isinstance(row.settings, dict) else {},
        from_id=str(facts.get("from_id", "")),
    )


def _answer(part: DraftPart) -> dict[str, Any]:
    usage = part.usage
    return {
        "purpose": part.purpose,
        "text": part.text,
        "stop_reason": part.stop_reason,
        "elapsed_ms": part.elapsed_ms,
        "usage": None
        if usage is None
        else {
            "input": usage.input,
            "output": usage.output,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "total": usage.total,
            "source": usage.source,
        },
    }

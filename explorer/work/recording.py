"""A draft as the database keeps it, and back.

Requests and answers stand side by side, one of each per call, in the order of ``attempts``; why
each call was made, and what was wrong with its answer, is in ``facts["attempts"]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

from explorer.compaction.requests import SummaryRequest
from explorer.compaction.serialization import Span
from explorer.models.door import ModelRequest, Usage
from explorer.work.calling import model_request
from explorer.work.drafting import Attempt, Draft, DraftPart, Order, Why

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import DraftRow

_OWN_FACTS = (
    "first_kept_id",
    "from_id",
    "tokens_before",
    "read_files",
    "modified_files",
    "failed_files",
    "created_files",
    "deleted_files",
    "short_summary",
    "attempts",
)


def planned_fields(
    draft: Draft, requests: Sequence[SummaryRequest], order: Order
) -> dict[str, Any]:
    """A draft before any of its requests is sent, as it is recorded."""
    calls = [
        _call(each.purpose, model_request(each, order.model, order.endpoint), each.sources)
        for each in requests
    ]
    return {**fields_of(draft), "requests": calls}


def fields_of(draft: Draft) -> dict[str, Any]:
    """What is recorded of a draft, as the store's columns; its calls once there are any."""
    fields: dict[str, Any] = {
        "kind": draft.kind,
        "status": draft.status,
        "leaf": draft.leaf,
        "model": draft.model,
        "instructions": draft.instructions,
        "settings": dict(draft.settings),
        "summary": draft.summary,
        "problem": draft.problem,
        "answers": [_answer(each) for each in draft.attempts],
        "elapsed_ms": draft.elapsed_ms,
        "facts": {
            **draft.facts,
            "first_kept_id": draft.first_kept_id,
            "from_id": draft.from_id,
            "tokens_before": draft.tokens_before,
            "read_files": list(draft.read_files),
            "modified_files": list(draft.modified_files),
            "failed_files": list(draft.failed_files),
            "created_files": list(draft.created_files),
            "deleted_files": list(draft.deleted_files),
            "short_summary": draft.short_summary,
            "attempts": [_fact(each) for each in draft.attempts],
        },
    }
    if draft.attempts:
        fields["requests"] = [
            _call(each.purpose, each.request, each.sources) for each in draft.attempts
        ]
    return fields


def _call(purpose: str, request: ModelRequest, sources: Sequence[Span]) -> dict[str, Any]:
    return {
        "purpose": purpose,
        "request": request.to_json(),
        # One list of numbers: there are as many spans as messages, a hundred thousand at times.
        "sources": list(chain.from_iterable(sources)),
    }


def _spans(numbers: object) -> tuple[Span, ...]:
    """What ``_call`` wrote: start, end and entry, again and again."""
    if not isinstance(numbers, list):
        return ()
    each = iter(numbers)
    return tuple(map(Span, each, each, each))


def _fact(attempt: Attempt) -> dict[str, Any]:
    return {
        "purpose": attempt.purpose,
        "why": attempt.why,
        "model": attempt.model,
        "window": attempt.window,
        "waited_s": attempt.waited_s,
        "elapsed_ms": attempt.elapsed_ms,
        "problem": attempt.problem,
        "kind": attempt.kind,
    }


def _answer(attempt: Attempt) -> dict[str, Any]:
    usage = attempt.usage
    return {
        "purpose": attempt.purpose,
        "text": attempt.text,
        "stop_reason": attempt.stop_reason,
        "elapsed_ms": attempt.elapsed_ms,
        "usage": None if usage is None else asdict(usage),
    }


def draft_of(row: DraftRow) -> Draft:
    """A finished draft as it was recorded. What an older version did not record is empty."""
    facts = row.facts if isinstance(row.facts, dict) else {}
    attempts = tuple(_attempts(row, facts))
    return Draft(
        row.id,
        "branch" if row.kind == "branch" else "compaction",
        "done",
        row.leaf,
        tuple(_part(each) for each in attempts if not each.problem),
        row.summary,
        row.model,
        row.instructions,
        first_kept_id=str(facts.get("first_kept_id", "")),
        tokens_before=int(facts.get("tokens_before", 0)),
        read_files=tuple(facts.get("read_files", ())),
        modified_files=tuple(facts.get("modified_files", ())),
        failed_files=tuple(facts.get("failed_files", ())),
        created_files=tuple(facts.get("created_files", ())),
        deleted_files=tuple(facts.get("deleted_files", ())),
        settings=row.settings if isinstance(row.settings, dict) else {},
        from_id=str(facts.get("from_id", "")),
        short_summary=str(facts.get("short_summary", "")),
        attempts=attempts,
        facts={name: value for name, value in facts.items() if name not in _OWN_FACTS},
    )


def _attempts(row: DraftRow, facts: Mapping[str, Any]) -> list[Attempt]:
    told = facts.get("attempts")
    calls, answers = row.requests or [], row.answers or []
    if not isinstance(told, list) or not len(told) == len(calls) == len(answers):
        return []
    return [_attempt(*each) for each in zip(told, calls, answers, strict=True)]


def _attempt(
    fact: Mapping[str, Any], call: Mapping[str, Any], answer: Mapping[str, Any]
) -> Attempt:
    usage = answer.get("usage")
    why: Why = fact["why"] if fact.get("why") in get_args(Why) else "first"
    return Attempt(
        str(fact.get("purpose", "")),
        why,
        ModelRequest.from_json(call["request"]),
        _spans(call.get("sources")),
        int(fact.get("window", 0)),
        str(answer.get("text", "")),
        str(answer.get("stop_reason", "")),
        Usage(**usage) if isinstance(usage, dict) else None,
        float(answer.get("elapsed_ms", 0)),
        float(fact.get("waited_s", 0)),
        str(fact.get("problem", "")),
        str(fact.get("kind", "")),
    )


def _part(attempt: Attempt) -> DraftPart:
    return DraftPart(
        attempt.purpose,
        attempt.request,
        attempt.text,
        attempt.stop_reason,
        attempt.usage,
        attempt.elapsed_ms,
    )

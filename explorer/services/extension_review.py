"""The extensions' part in summaries, compactions and navigations of one session (A38 to A42).

What every handler did is recorded with the draft (``facts["extensions"]``) and published as a
change, since some events have no draft.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from explorer.compaction.messages import SourceSpan
from explorer.compaction.requests import SummaryRequest
from explorer.extensions.answers import Records, SuppliedCompaction, SuppliedSummary
from explorer.extensions.events import SessionAccess
from explorer.extensions.prompt_parts import RequestPrompt
from explorer.extensions.runner import HookRunner
from explorer.formats.pi.entries import agent_message, read_message
from explorer.formats.registry import entry_json
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ModelError,
    ModelRequest,
    TextPart,
    ToolCall,
)
from explorer.services.changes import ChangeHub, CompactionRequested, ExtensionsActed
from explorer.services.draft_records import DraftFailed, DraftKind, SummaryOrder
from explorer.services.open_session import OpenedSession

CHANGED_WHOLE = (
    "An extension changed a conversation as a whole, which can only be changed part by part; "
    "nothing was sent."
)
BLOCKED_REQUEST = "The extension {} must see every request and failed, so nothing was sent."


class CancelledByExtension(DraftFailed, ValueError):
    """An extension cancelled it; nothing was changed."""

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
    """The extensions' part in one draft or navigation; ``records`` grows as handlers are asked.

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
        self.records: list[dict[str, Any]] = []
        """The records so far, as they are stored with a draft."""
        self._key, self._hub, self._ids, self._cancel = key, hub, ids, cancel
        # Requests are answered together, and a handler is written for one call at a time.
        self._lock = asyncio.Lock()

    @property
    def cancel(self) -> CancelToken:
        return self._cancel

    def take(self, event: str, records: Records) -> None:
        """Add records and publish them."""
        if records:
            self.records += [record.to_json() for record in records]
            self._hub.publish(ExtensionsActed(self._key, event, tuple(records)))

    async def request(self, request: SummaryRequest, model: str) -> SummaryRequest:
        """A request as it may be sent. Raises ModelError when it must not be, and Cancelled."""
        if not self.runner.handles("session_request"):
            return request
        async with self._lock:
            prompt = RequestPrompt(request.prompt, list(request.sources))
            answer = await self.runner.request(
                request.purpose, request.system, prompt, self._ids(), model, self._cancel
            )
        self.take("session_request", answer.records)
        if answer.blocked_by:
            raise ModelError("unavailable", BLOCKED_REQUEST.format(answer.blocked_by))
        return replace(request, system=answer.system, prompt=answer.prompt, sources=answer.sources)

    async def conversation(self, request: ModelRequest) -> ModelRequest:
        """A request that is a conversation, as it may be sent: every text of it is a part.

        Raises ModelError when it must not be sent, and Cancelled.
        """
        if not self.runner.handles("session_request"):
            return request
        spans, at = [], 0
        texts = request_texts(request)
        for number, text in enumerate(texts):
            spans.append(SourceSpan(at, at + len(text), number))
            at += len(text)
        async with self._lock:
            answer = await self.runner.request(
                "conversation", "", RequestPrompt("".join(texts), spans), [""] * len(texts),
                request.model, self._cancel,
            )  # fmt: skip
        self.take("session_request", answer.records)
        if answer.blocked_by:
            raise ModelError("unavailable", BLOCKED_REQUEST.format(answer.blocked_by))
        now = {span.entry: answer.prompt[span.start : span.end] for span in answer.sources}
        if sum(map(len, now.values())) != len(answer.prompt):
            # Which message a text belongs to is not known any more, and the old one must not go.
            raise ModelError("unavailable", CHANGED_WHOLE)
        return with_request_texts(request, [now.get(number, "") for number in range(len(texts))])

    async def summary(self, kind: DraftKind, text: str, supplied: bool) -> str:
        """A summary as it may become a draft. Raises DraftFailed when it must not, Cancelled."""
        if not self.runner.handles("session_summary"):
            return text
        answer = await self.runner.summary(kind, text, supplied, self._cancel)
        self.take("session_summary", answer.records)
        if answer.blocked_by:
            raise DraftFailed(
                f"The extension {answer.blocked_by} must see every summary and failed, so this one "
                "is not kept."
            )
        return answer.summary


def with_review(order: SummaryOrder, review: Review) -> SummaryOrder:
    """An order that the extensions go along with; drafts record what they do."""
    return replace(order, review=review, facts={**order.facts, "extensions": review.records})


async def review_of(document: OpenedSession, cancel: CancelToken) -> Review:
    """The review of a new draft or navigation, with nothing asked yet."""
    cwd = document.header.cwd
    loaded = document.shared.extensions
    runner = HookRunner((), cwd) if loaded is None else await loaded.runner(cwd)
    key, publish = document.key, document.shared.hub.publish
    runner.on_compaction_requested = lambda words: publish(CompactionRequested(key, words))
    return Review(
        runner, document.key, document.shared.hub, lambda: document.tree.columns.ids, cancel
    )


def surroundings_of(document: OpenedSession) -> SessionAccess:
    """The session as views see it."""
    name, read = document.header.format, document.payloads.stored.entries

    def entries(indices: Sequence[int]) -> list[dict[str, Any]]:
        return [entry_json(name, entry) for entry in read(indices)]

    def messages(indices: Sequence[int]) -> list[dict[str, Any]]:
        return [agent_message(entry) for entry in entries(indices)]

    return SessionAccess(
        document.tree.columns.ids,
        entries,
        messages,
        read_message,
        document.shared.templates,
        document.header.cwd,
        document.row.session_id,
    )


def _json(document: OpenedSession, index: int) -> dict[str, Any]:
    return entry_json(document.header.format, document.payloads.stored.entry(index))


async def notify_compacted(document: OpenedSession, index: int) -> None:
    """Notify that a compaction was stored (A40); no handler can change that."""
    review = await review_of(document, CancelToken())
    from_extension = bool(document.tree.columns.compactions[index].from_extension)
    records = await review.runner.compacted(
        lambda: _json(document, index), from_extension, review.cancel
    )
    review.take("session_compact", records)


async def notify_navigated(document: OpenedSession, old_leaf: int, summary: int = -1) -> None:
    """Notify that the leaf moved, with the branch summary that was stored there, if any (A41)."""
    review = await review_of(document, CancelToken())
    ids = document.tree.columns.ids

    def name(entry: int) -> str:
        return ids[entry] if entry >= 0 else ""

    records = await review.runner.tree(
        name(document.leaf),
        name(old_leaf),
        lambda: _json(document, summary) if summary >= 0 else None,
        review.cancel,
    )
    review.take("session_tree", records)


async def notify_turn_ended(
    document: OpenedSession, end: str, tokens: int, cancel: CancelToken
) -> None:
    """Notify that a turn is over; a handler may ask for a compaction. Raises Cancelled."""
    review = await review_of(document, cancel)
    review.take("turn_end", await review.runner.turn_ended(end, tokens, cancel))


def supplied_order(
    order: SummaryOrder, supplied: SuppliedCompaction | SuppliedSummary
) -> SummaryOrder:
    """The order of a draft that an extension made: its name in the model's place, and what is
    recorded with the draft to be stored with its entry."""
    facts = {**order.facts, "from_extension": supplied.by, "details": supplied.details}
    if isinstance(supplied, SuppliedCompaction) and supplied.preserve_data is not None:
        facts["preserve_data"] = dict(supplied.preserve_data)
    return replace(order, model=f"extension/{supplied.by}", facts=facts)


# texts of a conversation -------------------------------------------------------------------------


def request_texts(request: ModelRequest) -> list[str]:
    """Every text that is sent: contents, arguments of calls as JSON, thinking."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    _map_texts(request, keep)
    return found


def with_request_texts(request: ModelRequest, texts: Sequence[str]) -> ModelRequest:
    """The request with other texts, as many as ``request_texts`` gave. Raises ValueError otherwise.

    Thinking that changed is left out, since its signature would be wrong.
    """
    given: Iterator[str] = iter(texts)
    if len(request_texts(request)) != len(texts):
        raise ValueError("another number of texts than the request has")
    return _map_texts(request, lambda _text: next(given))


def _map_texts(request: ModelRequest, change: Callable[[str], str]) -> ModelRequest:
    messages = tuple(_map_message(message, change) for message in request.messages)
    return request if messages == request.messages else replace(request, messages=messages)


def _map_message(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    thinking = message.thinking
    if thinking is not None and change(thinking.text) != thinking.text:
        thinking = None
    content = message.content
    if isinstance(content, str):
        content = change(content)
    else:
        content = tuple(
            TextPart(change(part.text)) if isinstance(part, TextPart) else part for part in content
        )
    calls = tuple(_map_call(call, change) for call in message.tool_calls)
    return replace(message, thinking=thinking, content=content, tool_calls=calls)


def _map_call(call: ToolCall, change: Callable[[str], str]) -> ToolCall:
    text = json.dumps(call.arguments, ensure_ascii=False)
    now = change(text)
    return call if now == text else replace(call, arguments=_arguments(now))


def _arguments(text: str) -> dict[str, Any]:
    """Arguments that were changed as text; text that is JSON no more is kept under one name."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {"arguments": text}

"""Making a draft: the exact requests go to a model, concurrently, and come back as one summary.

A draft changes nothing in the session. It is recorded while it is made, so that a failed, cut-off
or cancelled answer can be looked at too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.compaction.requests import SummaryRequest
from explorer.models.door import (
    Cancelled,
    CancelToken,
    ChatMessage,
    Completion,
    ModelDoor,
    ModelError,
    ModelRequest,
    Usage,
    complete,
)

DraftKind = Literal["compaction", "branch"]
DraftStatus = Literal["streaming", "done", "failed", "cancelled", "committed", "discarded"]
OnText = Callable[[str, str], None]
"""Called with a request's purpose and the next piece of its answer."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asks for with a summary: the words, the model, and how to be told."""

    instructions: str
    model: str
    on_text: OnText
    cancel: CancelToken


@dataclass(frozen=True, slots=True)
class DraftPart:
    """One request and what came back."""

    purpose: str
    request: ModelRequest
    text: str
    stop_reason: str
    usage: Usage | None
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Draft:
    """A candidate summary with everything that led to it (draft, then commit)."""

    id: int
    kind: DraftKind
    status: DraftStatus
    leaf: int
    """The entry at which it was prepared; -1 for an empty session."""
    parts: tuple[DraftPart, ...]
    summary: str
    """What would be stored: the merged answers with the file operations."""
    model: str
    instructions: str
    first_kept_id: str = ""
    tokens_before: int = 0
    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    failed_files: tuple[str, ...] = ()
    """Files that only failed calls named (B17)."""
    problem: str = ""
    """Why it cannot be committed, as a sentence; empty when it can."""
    at_leaf: bool = True
    """Prepared at the leaf; elsewhere a commit starts a branch at ``leaf``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Profile and sizes that it was prepared with, as recorded."""
    from_id: str = ""
    """Branch summaries: the entry at which the branch was left (A35)."""

    @property
    def elapsed_ms(self) -> float:
        """Wall time of the slowest request, since they run together."""
        return max((part.elapsed_ms for part in self.parts), default=0.0)

    @property
    def output_tokens(self) -> int:
        return sum(part.usage.output for part in self.parts if part.usage)


def model_request(request: SummaryRequest, model: str) -> ModelRequest:
    """The call that a summary request becomes; the same for every provider."""
    messages = (ChatMessage("system", request.system), ChatMessage("user", request.prompt))
    return ModelRequest(
        model, messages, max_output_tokens=request.max_output_tokens, temperature=0.0
    )


class DraftFailed(Exception):
    """A summary could not be made; the message is for the person."""

    def __init__(self, message: str, parts: tuple[DraftPart, ...] = ()) -> None:
        super().__init__(message)
        self.parts = parts


async def run_requests(
    door: ModelDoor, requests: Sequence[SummaryRequest], order: Order
) -> tuple[DraftPart, ...]:
    """Send all requests together (A20) and return their answers in the same order.

    The first failure stops the others. Raises DraftFailed, or Cancelled.
    """
    inner = CancelToken()
    order.cancel.add_callback(inner.cancel)

    async def one(request: SummaryRequest) -> DraftPart:
        call = model_request(request, order.model)
        try:
            answer: Completion = await complete(
                door, call, inner, on_text=lambda piece: order.on_text(request.purpose, piece)
            )
        except (ModelError, Cancelled):
            inner.cancel()
            raise
        return DraftPart(
            request.purpose, call, answer.text, answer.stop_reason, answer.usage, answer.elapsed_ms
        )

    results = await asyncio.gather(*(one(request) for request in requests), return_exceptions=True)
    if order.cancel.cancelled:
        raise Cancelled
    parts = tuple(result for result in results if isinstance(result, DraftPart))
    errors = [result for result in results if isinstance(result, BaseException)]
    for error in errors:
        if isinstance(error, ModelError):
            raise DraftFailed(error.told, parts) from error
    for error in errors:
        raise error
    return parts

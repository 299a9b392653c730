"""What a summary is made of: the order for it, every call, and the draft that comes out.

A draft changes nothing in the session. It is recorded while it is made, so that a failed, cut-off
or cancelled answer can be looked at too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from explorer.compaction.requests import Additions, SummaryRequest
from explorer.compaction.serialization import Span
from explorer.models.door import REMOTE, CancelToken, ModelRequest, Usage
from explorer.models.retry import Patience

DraftKind = Literal["compaction", "branch"]
DraftStatus = Literal["streaming", "done", "failed", "cancelled", "committed", "discarded"]
OnText = Callable[[str, str], None]
"""Called with a request's purpose and the next piece of its answer."""
Why = Literal["first", "retry", "next-model", "reminder", "window", "halved"]
"""Why a call was made: the first one; after a failure that may pass; because another model failed;
to have an unusable answer put right; for one window of a long conversation; for a smaller one."""


class Reviewer(Protocol):
    """Whoever sees requests before they are sent and summaries before they are drafts."""

    async def request(self, request: SummaryRequest, model: str) -> SummaryRequest:
        """A request as it may be sent. Raises ModelError when it must not be, and Cancelled."""

    async def summary(self, kind: DraftKind, text: str, supplied: bool) -> str:
        """A summary as it may be kept; ``supplied``: by an extension. Raises DraftFailed when it
        must not be, and Cancelled."""


def say_nothing(_words: str) -> None:
    """For orders that nobody waits for."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asks for with a summary: the words, the model, and how to be told."""

    instructions: str
    model: str
    on_text: OnText
    cancel: CancelToken
    fallbacks: tuple[str, ...] = ()
    """Models that are asked in turn when the one before failed for good (A43)."""
    on_progress: Callable[[str], None] = say_nothing
    """Told in a sentence what is waited for: another try, the next model, the next window."""
    on_restart: Callable[[str], None] = say_nothing
    """A purpose whose pieces so far are void: it is asked again, or its next window is."""
    patience: Patience = field(default_factory=Patience)
    """How often and how far apart failures that may pass are tried again."""
    additions: Additions = field(default_factory=Additions)
    """What extensions bring to the requests (A39)."""
    replace_instructions: bool | None = None
    """Branches: the instructions take the prompt's place (A36); None leaves it to the profile."""
    endpoint: str = ""
    """The address that ``remote/endpoint`` stands for (A29)."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else is recorded with the draft: ``trigger``, ``extensions``; JSON values."""
    review: Reviewer | None = None
    """The extensions, once they were asked about this order."""

    @property
    def models(self) -> tuple[str, ...]:
        """The candidates in order, each once."""
        return tuple(dict.fromkeys((self.model, *self.fallbacks)))

    def via(self, endpoint: str) -> Order:
        """The order with a service at this address asked first, the models where it fails (A29);
        as it is without an address, or when a service is asked already."""
        if not endpoint or self.model == REMOTE:
            return self
        return replace(self, model=REMOTE, fallbacks=self.models, endpoint=endpoint)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call to a summarizer: what was sent, what came back, and what was made of it."""

    purpose: str
    why: Why
    request: ModelRequest
    sources: tuple[Span, ...] = ()
    """Which entry each stretch of the first user message came from; offsets in characters."""
    window: int = 0
    """Which window of a long conversation it asks about, from 1; 0 when it asks about all."""
    text: str = ""
    """The answer as it came, as far as it came."""
    stop_reason: str = ""
    usage: Usage | None = None
    elapsed_ms: float = 0.0
    waited_s: float = 0.0
    """How long was waited before the call."""
    problem: str = ""
    """Why the answer was not taken, as a sentence; empty when it was."""
    kind: str = ""
    """The kind of ``problem``: an ``ErrorKind``, a ``ProblemCode``, or ``cancelled``."""

    @property
    def model(self) -> str:
        return self.request.model


@dataclass(frozen=True, slots=True)
class DraftPart:
    """One request and what came back."""

    purpose: str
    request: ModelRequest
    text: str
    stop_reason: str
    usage: Usage | None
    elapsed_ms: float
    short_summary: str = ""
    """What a remote endpoint gave for display along with the summary (A29)."""


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
    """Which model wrote it: the one whose answer was taken, until then the one that is asked."""
    instructions: str
    first_kept_id: str = ""
    tokens_before: int = 0
    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    failed_files: tuple[str, ...] = ()
    """Files that only failed calls named (B17)."""
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    problem: str = ""
    """Why it cannot be committed, as a sentence; empty when it can."""
    at_leaf: bool = True
    """Prepared at the leaf; elsewhere a commit starts a branch at ``leaf``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Profile and sizes that it was prepared with, as recorded."""
    from_id: str = ""
    """Branch summaries: the entry at which the branch was left (A35)."""
    short_summary: str = ""
    """Two or three sentences for display (A25); empty for none."""
    attempts: tuple[Attempt, ...] = ()
    """Every call that was made for it, request by request."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else is recorded: ``trigger``, ``extensions``; JSON values."""

    @property
    def elapsed_ms(self) -> float:
        """Wall time of the slowest request, since they run together."""
        return max((part.elapsed_ms for part in self.parts), default=0.0)

    @property
    def output_tokens(self) -> int:
        """Tokens that were written for it, in calls whose answer was not taken too."""
        calls = self.attempts or self.parts
        return sum(call.usage.output for call in calls if call.usage)


class DraftFailed(Exception):
    """A summary could not be made; the message is for the person."""

    def __init__(self, message: str, parts: tuple[DraftPart, ...] = ()) -> None:
        super().__init__(message)
        self.parts = parts

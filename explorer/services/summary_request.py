"""What a summary is asked for with, every call that is made for it, and what comes back.

``SummaryOrder``: what a user or a rule asks for; ``SummaryCall`` (``summary_call``) calls models;
``Drafts`` (``drafts``) records what comes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.compaction.messages import SourceSpan
from explorer.compaction.requests import Additions, SummaryRequest
from explorer.models.client import REMOTE, CancelToken, ChatMessage, ModelRequest, Usage
from explorer.models.retry import Patience

DraftKind = Literal["compaction", "branch", "recall"]
"""What the calls of a draft are for; of a recall test there is no summary."""
OnText = Callable[[str, str], None]
"""Called with a request's purpose and the next piece of its answer."""
Why = Literal["first", "retry", "next-model", "reminder", "window", "halved"]
"""Why a call was made: the first one; after a transient failure; because another model failed; to
have an unusable answer corrected; for one window of a long conversation; for a smaller window."""


class Reviewer(Protocol):
    """Extensions: they see requests before they are sent and summaries before they are drafts."""

    async def request(self, request: SummaryRequest, model: str) -> SummaryRequest:
        """A request as it may be sent. Raises ModelError when it must not be, and Cancelled."""

    async def summary(self, kind: DraftKind, text: str, supplied: bool) -> str:
        """A summary as it may be kept; ``supplied``: by an extension. Raises DraftFailed when it
        must not be, and Cancelled."""


def say_nothing(_words: str) -> None:
    """A progress callback that does nothing."""


class SummaryOrder(Struct, frozen=True):
    """What is asked for with a summary: instructions, models, and who is notified of progress."""

    instructions: str
    model: str
    on_text: OnText
    cancel: CancelToken
    fallbacks: tuple[str, ...] = ()
    """Models that are asked in turn when the one before failed for good (A43)."""
    on_progress: Callable[[str], None] = say_nothing
    """Gets a sentence on what is waited for: another try, the next model, the next window."""
    on_restart: Callable[[str], None] = say_nothing
    """Gets a purpose whose pieces so far are void: it is asked again, or for its next window."""
    patience: Patience = field(default_factory=Patience)
    """How often and how far apart transient failures are retried."""
    additions: Additions = field(default_factory=Additions)
    """What extensions bring to the requests (A39)."""
    replace_instructions: bool | None = None
    """Branches: the instructions take the prompt's place (A36); None leaves it to the profile."""
    endpoint: str = ""
    """The address of the service that is asked as ``remote/endpoint`` (A29)."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else is recorded with the draft: ``trigger``, ``extensions``; JSON values."""
    review: Reviewer | None = None
    """The extensions, once they were asked about this order."""

    @property
    def models(self) -> tuple[str, ...]:
        """The candidates in order, each once."""
        return tuple(dict.fromkeys((self.model, *self.fallbacks)))

    def via(self, endpoint: str) -> SummaryOrder:
        """The order with a service at this address asked first, the models where it fails (A29);
        unchanged without an address, or when a service is asked already."""
        if not endpoint or self.model == REMOTE:
            return self
        return replace(self, model=REMOTE, fallbacks=self.models, endpoint=endpoint)


class Attempt(Struct, frozen=True):
    """One call to a summarizer: request, answer, and why the answer was not used."""

    purpose: str
    why: Why
    request: ModelRequest
    sources: tuple[SourceSpan, ...] = ()
    """Which entry each stretch of the first user message came from; offsets in characters."""
    window: int = 0
    """Which window of a long conversation it asks about, from 1; 0 when it asks about all."""
    text: str = ""
    """The raw answer, as far as it arrived."""
    stop_reason: str = ""
    usage: Usage | None = None
    elapsed_ms: float = 0.0
    waited_s: float = 0.0
    """Seconds waited before the call."""
    problem: str = ""
    """Why the answer was not used, as a sentence; empty when it was."""
    kind: str = ""
    """The kind of ``problem``: an ``ErrorKind``, a ``ProblemCode``, or ``cancelled``."""

    @property
    def model(self) -> str:
        return self.request.model


class DraftPart(Struct, frozen=True):
    """One request and what came back."""

    purpose: str
    request: ModelRequest
    text: str
    stop_reason: str
    usage: Usage | None
    elapsed_ms: float
    short_summary: str = ""
    """What a remote endpoint gave for display along with the summary (A29)."""


class DraftFailed(Exception):
    """A summary could not be made; the message is for the user."""

    def __init__(self, message: str, parts: tuple[DraftPart, ...] = (), summary: str = "") -> None:
        """``parts``: the answers that came; ``summary``: the text that cannot be stored."""
        super().__init__(message)
        self.parts = parts
        self.summary = summary


def model_request(request: SummaryRequest, model: str, endpoint: str = "") -> ModelRequest:
    """The call that a summary request becomes; the same for every provider."""
    messages = (ChatMessage("system", request.system), ChatMessage("user", request.prompt))
    return ModelRequest(
        model,
        messages,
        max_output_tokens=request.max_output_tokens,
        temperature=0.0,
        endpoint=endpoint or None,
        of=_content_words(request),
    )


def _content_words(request: SummaryRequest) -> str:
    """What a request holds of a session, for people."""
    count = len({span.entry for span in request.sources})
    entries = "One entry" if count == 1 else f"{count:,} entries"
    if request.purpose == "verify":
        return f"A summary and lines of {entries.lower()}"
    return f"{entries} to be summarized" if count else "A request for a summary"

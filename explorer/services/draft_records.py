"""A draft of a summary: what it is asked for with, every call that is made for it, what comes back,
how the database stores it, and which entries a stored summary was made of.

``SummaryOrder``: what a user or a rule asks for; ``SummaryCall`` (``summary_call``) calls models;
``Drafts`` (``drafts``) records what comes of them. Requests and answers are stored side by side,
one of each per call, in the order of ``attempts``; why each call was made, and what was wrong with
its answer, is in ``facts["attempts"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, Protocol, get_args

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from explorer.compaction.messages import SourceSpan
from explorer.compaction.requests import Additions, SummaryRequest
from explorer.models.client import REMOTE, CancelToken, ChatMessage, ModelRequest, Usage
from explorer.models.offline.extractive.sections import instructions_not_followed
from explorer.models.retry import Patience
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from explorer.store.rows import DraftRow

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


DraftStatus = Literal["streaming", "done", "failed", "cancelled", "committed", "discarded"]


class Draft(Struct, frozen=True):
    """A candidate summary with everything that led to it.

    A draft changes nothing in the session. It is recorded while it is made, so that a failed,
    cut-off or cancelled answer can be inspected too.
    """

    id: int
    kind: DraftKind
    status: DraftStatus
    leaf: int
    """The entry at which it was prepared; -1 for an empty session."""
    parts: tuple[DraftPart, ...]
    summary: str
    """What would be stored: the merged answers with the file operations."""
    model: str
    """Which model wrote it: the one whose answer was used, until then the one that is asked."""
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
    """Prepared at the leaf; otherwise a commit starts a branch at ``leaf``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Profile and sizes that it was prepared with, as JSON values."""
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
        """Tokens that were written for it, in calls whose answer was not used too."""
        calls = self.attempts or self.parts
        return sum(call.usage.output for call in calls if call.usage)


def instructions_not_met(draft: Draft) -> tuple[str, ...]:
    """What of the instructions an answer did not follow, as the offline summarizer says in it. Of
    two answers that read the same one may have found what the other did not."""
    if not draft.instructions:
        return ()
    unmet = dict.fromkeys(
        quote
        for part in draft.parts
        if any(draft.instructions in str(message.content) for message in part.request.messages)
        for quote in instructions_not_followed(part.text)
    )
    # An answer that followed nothing quotes the instructions as a whole.
    return tuple(one for one in unmet if not any(one != other and other in one for other in unmet))


_FIELD_FACTS = (
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
    draft: Draft, requests: Sequence[SummaryRequest], order: SummaryOrder | None
) -> dict[str, Any]:
    """The columns of a draft before any of its requests is sent; ``order`` may be None where there
    are no requests, or where the draft has them as attempts."""
    calls = [
        _call(each.purpose, model_request(each, order.model, order.endpoint), each.sources)
        for each in requests
        if order is not None
    ]
    return {"requests": calls, **fields_of(draft)}


def fields_of(draft: Draft) -> dict[str, Any]:
    """A draft as columns of the store; its calls once there are any."""
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


def _call(purpose: str, request: ModelRequest, sources: Sequence[SourceSpan]) -> dict[str, Any]:
    return {
        "purpose": purpose,
        "request": request.to_json(),
        # One list of numbers: there are as many spans as messages, a hundred thousand at times.
        "sources": list(chain.from_iterable(sources)),
    }


def _spans(numbers: object) -> tuple[SourceSpan, ...]:
    """What ``_call`` wrote: start, end and entry, again and again."""
    if not isinstance(numbers, list):
        return ()
    each = iter(numbers)
    return tuple(map(SourceSpan, each, each, each))


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
        "usage": None if usage is None else to_builtins(usage),
    }


def draft_of(row: DraftRow) -> Draft:
    """A finished draft as it was recorded. What an older version did not record is empty."""
    facts = row.facts if isinstance(row.facts, dict) else {}
    attempts = attempts_of(row)
    return Draft(
        row.id,
        next((kind for kind in get_args(DraftKind) if kind == row.kind), "compaction"),
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
        facts={name: value for name, value in facts.items() if name not in _FIELD_FACTS},
    )


def attempts_of(row: DraftRow) -> tuple[Attempt, ...]:
    """Every call that was made for a draft; without its messages where the row was read without
    requests."""
    facts = row.facts if isinstance(row.facts, dict) else {}
    stored, answers = facts.get("attempts"), row.answers or []
    if not isinstance(stored, list) or len(stored) != len(answers):
        return ()
    calls = row.requests
    if calls is None:
        calls = [{"request": {"model": one.get("model", ""), "messages": []}} for one in stored]
    if len(calls) != len(stored):
        return ()
    return tuple(_attempt(*each) for each in zip(stored, calls, answers, strict=True))


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


_ENTRY_KINDS = {"compaction": Kind.COMPACTION, "branch": Kind.BRANCH_SUMMARY}


def recorded_inputs(tree: SessionTree, drafts: Iterable[DraftRow]) -> dict[int, frozenset[int]]:
    """By compaction or branch summary entry: the entries of the requests of the draft that it
    was committed from. Entries of other programs have none."""
    found: dict[int, frozenset[int]] = {}
    for row in drafts:
        if row.status != "committed":
            continue
        entry = entry_of(tree, row)
        if entry < 0:
            continue
        sources = {
            span.entry
            for part in draft_of(row).attempts
            if not part.problem and part.purpose != "short"
            for span in part.sources
            if 0 <= span.entry < len(tree)
        }
        if sources:
            found[entry] = frozenset(sources)
    return found


def entry_of(tree: SessionTree, row: DraftRow) -> int:
    """The entry that a committed draft became: below the leaf that it was made at, of its kind, and
    the first that keeps what it keeps; -1 where there is none."""
    kind = _ENTRY_KINDS.get(row.kind)
    facts = row.facts if isinstance(row.facts, dict) else {}
    if row.kind == "compaction":
        kept = facts.get("first_kept_id")
        for child in tree.children(row.leaf):
            if tree.kind(child) is kind:
                first_kept = tree.columns.compactions[child].first_kept_id
                if not kept or first_kept == kept:
                    return child
        return -1
    left = str(facts.get("from_id", ""))
    return next(
        (entry for entry, branch in tree.columns.branches.items() if branch.from_id == left), -1
    )

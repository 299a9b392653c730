"""Summaries that are asked for with a conversation, not with a record of it: one after the other
until one is good, all recorded in one draft (A50).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from explorer.compaction.profile import Profile
from explorer.compaction.validation import check_answer, clean_answer
from explorer.models.client import (
    Cancelled,
    CancelToken,
    Completion,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.prompting.rendering import BudgetExceededError
from explorer.session.text import well_formed
from explorer.work.changes import DraftChanged, SummaryText
from explorer.work.drafting import Attempt, Draft, DraftFailed, DraftPart
from explorer.work.extending import (
    CancelledByExtension,
    Review,
    ask_before_conversation,
    review_of,
)
from explorer.work.recording import fields_of

if TYPE_CHECKING:
    from explorer.work.document import Document


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask: what it is called, and the request, which is put together when its turn
    comes (on a worker thread; it may raise BudgetExceededError)."""

    name: str
    request: Callable[[], ModelRequest]
    needs_tags: bool = False
    """An answer without ``<summary>`` is none: the model went on with its work instead."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, and what an answer must keep to. Sizes in tokens."""

    profile: Profile
    model: str
    ways: Sequence[Way]
    tokens_before: int
    replaced: int
    """What the summary takes the place of: it must be smaller (E16)."""
    most: int
    """The budget of the prompt that it goes into (B19)."""
    finish: Callable[[str], tuple[str, dict[str, Any]]]
    """Makes of an answer what is stored, with further facts for the record; on a worker thread."""
    instructions: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


async def ask(document: Document, asked: Asked, cancel: CancelToken) -> Draft:
    """The draft of the first way that gives a good answer; extensions are asked first, and see
    what is sent and what comes of it (A38, A52).

    Raises DraftFailed with the last problem, or Cancelled; the draft says so too, with every
    request that was made.
    """
    review = await review_of(document, cancel)
    draft = Draft(
        0, "compaction", "streaming", document.leaf, (), "", asked.model, asked.instructions,
        tokens_before=asked.tokens_before, settings=asked.settings,
        facts=asked.facts | {"ways": [way.name for way in asked.ways], "extensions": review.told},
    )  # fmt: skip
    saved = document.store.add_draft(document.key, {**fields_of(draft), "requests": []})
    draft = replace(draft, id=await asyncio.wrap_future(saved))
    log: list[Attempt] = []
    try:
        done = await _made(document, asked, draft, cancel, log, review)
    except (Cancelled, asyncio.CancelledError):
        cancel.cancel()
        await asyncio.shield(
            _close(document, replace(draft, status="cancelled", attempts=tuple(log)))
        )
        raise
    except DraftFailed as error:
        failed = replace(draft, status="failed", problem=str(error), attempts=tuple(log))
        await _close(document, failed)
        raise
    except BaseException as error:
        # Whatever it was, the record must not say for ever that the draft is on its way.
        problem = f"{type(error).__name__}: {error}"
        await _close(
            document, replace(draft, status="failed", problem=problem, attempts=tuple(log))
        )
        raise
    done = replace(done, status="done", attempts=tuple(log))
    await _close(document, done)
    return done


async def _made(
    document: Document,
    asked: Asked,
    draft: Draft,
    cancel: CancelToken,
    log: list[Attempt],
    review: Review,
) -> Draft:
    """The draft with a summary: an extension's, or the first good answer, as extensions leave it.

    Raises DraftFailed, CancelledByExtension among it, and Cancelled.
    """
    before = await ask_before_conversation(document, asked.profile, asked.instructions, review)
    if before.cancelled_by:
        raise CancelledByExtension(before.cancelled_by, before.reason)
    if (made := before.compaction) is not None:
        facts = {**draft.facts, "from_extension": made.by, "details": made.details}
        if made.preserve_data is not None:
            facts["preserve_data"] = dict(made.preserve_data)
        draft = replace(
            draft, model=f"extension/{made.by}", short_summary=made.short_summary, facts=facts
        )
        answer = made.summary
    else:
        good = await _first_good(document, asked, cancel, log, review)
        part = DraftPart(
            "history", good.request, good.text, good.stop_reason, good.usage, good.elapsed_ms
        )
        draft, answer = replace(draft, parts=(part,)), _cleaned(asked, good.text)
    summary, told = await asyncio.to_thread(asked.finish, answer)
    summary = await review.summary("compaction", well_formed(summary), made is not None)
    return replace(draft, summary=summary, facts={**draft.facts, **told})


def _cleaned(asked: Asked, text: str) -> str:
    return clean_answer(text, asked.profile, "history")


async def _first_good(
    document: Document, asked: Asked, cancel: CancelToken, log: list[Attempt], review: Review
) -> Attempt:
    def told(piece: str) -> None:
        document.hub.publish(SummaryText(document.key, "history", piece))

    problem = "There is no way to ask for a summary."
    for number, way in enumerate(asked.ways):
        try:
            request = await asyncio.to_thread(way.request)
        except BudgetExceededError as error:
            problem = f"The {way.name} request does not fit its model: {error}"
            continue
        note = Attempt("history", "first" if number == 0 else "retry", request)
        try:
            request = await review.conversation(request)
            note = replace(note, request=request)
            document.hub.publish(SummaryText(document.key, "history", "", restart=True))
            answer = await complete(document.client, request, cancel, told)
        except ModelError as error:
            problem = error.told
            log.append(replace(note, problem=problem, kind=error.kind))
            continue
        except (Cancelled, asyncio.CancelledError):
            log.append(replace(note, problem="Cancelled.", kind="cancelled"))
            raise
        note = replace(
            note, text=answer.text, stop_reason=answer.stop_reason,
            usage=answer.usage, elapsed_ms=answer.elapsed_ms,
        )  # fmt: skip
        found = await asyncio.to_thread(_problem, document, asked, way, answer)
        if found is None:
            log.append(note)
            return note
        problem, kind = found
        log.append(replace(note, problem=problem, kind=kind))
    raise DraftFailed(problem)


def _problem(
    document: Document, asked: Asked, way: Way, answer: Completion
) -> tuple[str, str] | None:
    """What is wrong with an answer: a sentence and its kind; None when it is good."""
    if way.needs_tags and answer.text.strip() and "<summary>" not in answer.text.lower():
        return "The model wrote no <summary>: it went on with its work instead.", "missing"
    text = _cleaned(asked, answer.text)
    taken = document.count_text(text, asked.profile)
    for found in check_answer(
        text,
        answer.stop_reason,
        profile=asked.profile,
        input_tokens=asked.replaced,
        answer_tokens=taken,
    ):
        return found.message, found.code
    if taken > asked.most:
        return (
            f"The summary takes {taken:,} tokens, more than the {asked.most:,} of the prompt that "
            "it goes into.",
            "too-large",
        )
    return None


async def _close(document: Document, draft: Draft) -> None:
    await asyncio.wrap_future(document.store.update_draft(draft.id, fields_of(draft)))
    document.hub.publish(DraftChanged(document.key, draft.id))

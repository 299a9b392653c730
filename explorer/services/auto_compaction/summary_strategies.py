"""Summaries of a prompt that is rendered to a budget: a full request or a simple one, at once or
ahead, and of which model (A50, A54).

The full request is the conversation itself with an order after it; the simple one holds the
conversation as one text. They are tried one after the other until an answer is good, all recorded
in one draft.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.agent.turn_interface import Outgoing
from explorer.compaction.messages import escape_tags
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile.rules import PromptBudget
from explorer.compaction.quirks import with_quirks
from explorer.compaction.requests import output_cap
from explorer.compaction.summary import check_answer, clean_answer
from explorer.models.client import (
    Cancelled,
    CancelToken,
    Completion,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.prompting.agent_prompt import SimpleRecord, SummaryPart, full_request, message_budget
from explorer.prompting.elements import Element
from explorer.prompting.rendered_prompt import BudgetExceededError, RenderedPrompt, render
from explorer.prompting.turns import PromptMessage
from explorer.services.auto_compaction.prompt import CopilotWords, PreparedPrompt, chat_message
from explorer.services.changes import SummaryArrived
from explorer.services.document import Document
from explorer.services.draft_records import Attempt, Draft, DraftFailed, DraftPart
from explorer.services.drafts import settings_fields
from explorer.services.effective_rules import EffectiveRules
from explorer.services.extension_review import CancelledByExtension, Review, review_of
from explorer.services.session_files import transcripts_of, with_breadcrumb
from explorer.session.text import well_formed


class Strategy(Struct, frozen=True):
    """One way to ask for a summary. ``request`` is built when its turn comes, on a worker thread;
    it may raise BudgetExceededError."""

    name: str
    request: Callable[[], ModelRequest]
    needs_tags: bool = False
    """An answer without ``<summary>`` is none: the model went on with its work instead."""


class PromptSummary(Struct, frozen=True):
    """What is asked for, and what an answer must keep to. Sizes in tokens."""

    profile: Profile
    model: str
    strategies: Sequence[Strategy]
    tokens_before: int
    replaced: int
    """What the summary takes the place of: it must be smaller (E16)."""
    max_tokens: int
    """The budget of the prompt that it goes into (B19)."""
    finish: Callable[[str], tuple[str, dict[str, Any]]]
    """Makes of an answer what is stored, with further facts for the record; on a worker thread."""
    instructions: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


# what is asked for -------------------------------------------------------------------------------


class SummarizedPrompt(Struct, frozen=True):
    """A prompt with the rules under which its summary is requested."""

    document: Document
    rules: EffectiveRules
    prepared: PreparedPrompt
    outgoing: Outgoing
    words: CopilotWords

    def ahead(self, rendering: RenderedPrompt, facts: dict[str, Any]) -> PromptSummary:
        """A fork of the prompt as it was sent: the same messages, and the order after them.

        ``facts``: recorded with the draft; JSON values.
        """
        words, prepared = self.words, self.prepared
        order = PromptMessage("user", f"{words.compact_now}\n\n{words.sections}")

        def request() -> ModelRequest:
            return self._request((*prepared.outgoing(rendering), order), with_tools=True)

        strategy = Strategy("full", request, needs_tags=True)
        return self._summary((strategy,), rendering.tokens, "", facts)

    def at_once(self, part: SummaryPart, instructions: str, facts: dict[str, Any]) -> PromptSummary:
        """The full request for a part of the conversation and, where it fails, the simple one; or
        the one that the policy forces. ``facts``: see ``ahead``."""
        policy, words, prepared = self._policy, self.words, self.prepared
        templates, conversation = self.document.shared.templates, part.conversation
        sections = templates.with_instructions(words.sections, instructions)

        def full() -> ModelRequest:
            order = f"{words.compact_now}\n\n{sections}"
            budget = message_budget(
                self._window, prepared.budget.tool_tokens, margin=policy.tools_margin
            )
            elements = full_request(prepared.prompt, conversation, order)
            return self._request(self._rendered(elements, budget.messages), with_tools=True)

        def simple() -> ModelRequest:
            record = SimpleRecord(
                templates.system,
                words.record,
                sections,
                prepared.prompt.count,
                max(1, prepared.prompt.result_limit // 2),
                policy.argument_characters,
                escape_tags,
            )
            messages = self._rendered(record.elements(conversation), self._window)
            return self._request(messages, with_tools=False)

        strategies = {"full": Strategy("full", full), "simple": Strategy("simple", simple)}
        names = ("full", "simple") if policy.mode == "auto" else (policy.mode,)
        replaced = conversation.tokens
        chosen = tuple(strategies[name] for name in names)
        return self._summary(chosen, replaced, instructions, facts)

    @property
    def _policy(self) -> PromptBudget:
        return self.rules.profile.prompt_budget or PromptBudget()

    @property
    def _model(self) -> str:
        return self.rules.prompt_summary_model(self.outgoing.model)

    @property
    def _window(self) -> int:
        """The summary model's window in tokens."""
        return self.rules.limits(self.document.models.info(self._model).window).window

    def _answer_cap(self) -> int:
        """Tokens that the answer may take."""
        limit = self.document.models.info(self._model).output_limit
        cap = output_cap("history", Settings.of(self.rules.profile), limit)
        return max(1, min(cap, self._window // 4))

    def _rendered(self, elements: list[Element], budget: int) -> tuple[PromptMessage, ...]:
        """The messages within a budget that also leaves room for the answer in the window."""
        room = max(1, min(budget, self._window - self._answer_cap()))
        return self.prepared.outgoing(render(elements, room, self.prepared.prompt.count))

    def _request(self, messages: tuple[PromptMessage, ...], *, with_tools: bool) -> ModelRequest:
        sent, _ = with_quirks(messages, self._model, "request", self.prepared.facts)
        tools = self.outgoing.tools if with_tools else ()
        return ModelRequest(
            self._model,
            tuple(chat_message(message) for message in sent),
            max_output_tokens=self._answer_cap(),
            temperature=0.0,
            tools=tools,
            tool_choice="none" if tools else None,
            of=f"The conversation with {len(sent):,} messages",
        )

    def _summary(
        self,
        strategies: tuple[Strategy, ...],
        replaced: int,
        instructions: str,
        facts: dict[str, Any],
    ) -> PromptSummary:
        profile = self.rules.profile
        return PromptSummary(
            profile,
            self._model,
            strategies,
            tokens_before=self.document.tokens.counted_size(profile),
            replaced=replaced,
            max_tokens=self.prepared.budget.messages,
            finish=self._finisher(),
            instructions=instructions,
            settings=settings_fields(profile, Settings.of(profile)),
            facts=facts,
        )

    def _finisher(self) -> Callable[[str], tuple[str, dict[str, Any]]]:
        document, leaf = self.document, self.document.leaf

        def finish(summary: str) -> tuple[str, dict[str, Any]]:
            """With a pointer to the transcript, where the policy wants one (A51)."""
            if not self._policy.breadcrumb:
                return summary, {}
            try:
                written = transcripts_of(document).write(
                    document.tree, document.payloads.sent_to_agent, leaf
                )
            except OSError as error:
                # A summary without a way back is better than none.
                return summary, {"transcript_problem": str(error)}
            facts = {"transcript": str(written.path), "transcript_lines": written.lines}
            return with_breadcrumb(summary, written, self.words.breadcrumb), facts

        return finish


# asking ------------------------------------------------------------------------------------------


async def summarize(document: Document, asked: PromptSummary, cancel: CancelToken) -> Draft:
    """The draft of the first strategy that gives a good answer; extensions are asked first, and
    see what is sent and what comes of it (A38, A52).

    Raises DraftFailed with the last problem, or Cancelled; the draft records it too, with every
    request that was made.
    """
    review = await review_of(document, cancel)
    names = [strategy.name for strategy in asked.strategies]
    draft = Draft(
        0, "compaction", "streaming", document.leaf, (), "", asked.model, asked.instructions,
        tokens_before=asked.tokens_before, settings=asked.settings,
        facts=asked.facts | {"ways": names, "extensions": review.records},
    )  # fmt: skip
    log: list[Attempt] = []

    async def make(draft: Draft) -> Draft:
        return await _make(document, asked, draft, cancel, log, review)

    return await document.drafts.run(draft, make, lambda: tuple(log), cancel.cancel)


async def _make(
    document: Document,
    asked: PromptSummary,
    draft: Draft,
    cancel: CancelToken,
    log: list[Attempt],
    review: Review,
) -> Draft:
    """The draft with a summary: an extension's, or the first good answer, as extensions leave it.

    Raises DraftFailed, CancelledByExtension among it, and Cancelled.
    """
    before = await document.compaction.review_conversation(
        asked.profile, asked.instructions, review
    )
    if before.cancelled_by:
        raise CancelledByExtension(before.cancelled_by, before.reason)
    if (supplied := before.compaction) is not None:
        facts = {**draft.facts, "from_extension": supplied.by, "details": supplied.details}
        if supplied.preserve_data is not None:
            facts["preserve_data"] = dict(supplied.preserve_data)
        draft = replace(
            draft, model=f"extension/{supplied.by}", short_summary=supplied.short_summary,
            facts=facts,
        )  # fmt: skip
        answer = supplied.summary
    else:
        good = await _first_good(document, asked, cancel, log, review)
        part = DraftPart(
            "history", good.request, good.text, good.stop_reason, good.usage, good.elapsed_ms
        )
        draft, answer = replace(draft, parts=(part,)), _cleaned(asked, good.text)
    summary, facts = await asyncio.to_thread(asked.finish, answer)
    summary = await review.summary("compaction", well_formed(summary), supplied is not None)
    return replace(draft, summary=summary, facts={**draft.facts, **facts})


async def _first_good(
    document: Document,
    asked: PromptSummary,
    cancel: CancelToken,
    log: list[Attempt],
    review: Review,
) -> Attempt:
    """The first attempt with a good answer; every attempt is in ``log``. Raises DraftFailed."""

    def on_text(piece: str) -> None:
        document.shared.hub.publish(SummaryArrived(document.key, "history", piece))

    problem = "There is no way to ask for a summary."
    models = document.models.for_one_summary()
    for number, strategy in enumerate(asked.strategies):
        try:
            request = await asyncio.to_thread(strategy.request)
        except BudgetExceededError as error:
            problem = f"The {strategy.name} request does not fit its model: {error}"
            continue
        attempt = Attempt("history", "first" if number == 0 else "retry", request)
        try:
            request = await review.conversation(request)
            attempt = replace(attempt, request=request)
            document.shared.hub.publish(SummaryArrived(document.key, "history", "", restart=True))
            answer = await complete(models, request, cancel, on_text)
        except ModelError as error:
            problem = error.sentence
            log.append(replace(attempt, problem=problem, kind=error.kind))
            continue
        except (Cancelled, asyncio.CancelledError):
            log.append(replace(attempt, problem="Cancelled.", kind="cancelled"))
            raise
        attempt = replace(
            attempt, text=answer.text, stop_reason=answer.stop_reason, usage=answer.usage,
            elapsed_ms=answer.elapsed_ms,
        )  # fmt: skip
        problem, kind = await asyncio.to_thread(_problem, document, asked, strategy, answer)
        log.append(replace(attempt, problem=problem, kind=kind))
        if not problem:
            return log[-1]
    raise DraftFailed(problem)


def _cleaned(asked: PromptSummary, text: str) -> str:
    return clean_answer(text, asked.profile, "history")


def _problem(
    document: Document, asked: PromptSummary, strategy: Strategy, answer: Completion
) -> tuple[str, str]:
    """What is wrong with an answer: a sentence and its kind; both empty when it is good."""
    if strategy.needs_tags and answer.text.strip() and "<summary>" not in answer.text.lower():
        return "The model wrote no <summary>: it went on with its work instead.", "missing"
    text = _cleaned(asked, answer.text)
    taken = document.tokens.count_text(text, asked.profile)
    for found in check_answer(
        text,
        answer.stop_reason,
        profile=asked.profile,
        input_tokens=asked.replaced,
        answer_tokens=taken,
    ):
        return found.message, found.code
    if taken > asked.max_tokens:
        return (
            f"The summary takes {taken:,} tokens, more than the {asked.max_tokens:,} of the prompt "
            "that it goes into.",
            "too-large",
        )
    return "", ""

"""One call to a summarizer after the other, each written down (A43, C7)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.compaction.profile import Profile
from explorer.compaction.requests import SummaryRequest
from explorer.compaction.validation import AnswerProblem, check_answer, clean_answer
from explorer.compaction.wording import Templates
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    Completion,
    ModelClient,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.models.retry import Retry, with_retry
from explorer.tokens.estimate import estimate_text
from explorer.work.drafting import Attempt, Order, Why


def model_request(request: SummaryRequest, model: str, endpoint: str = "") -> ModelRequest:
    """The call that a summary request becomes; the same for every provider."""
    messages = (ChatMessage("system", request.system), ChatMessage("user", request.prompt))
    return ModelRequest(
        model,
        messages,
        max_output_tokens=request.max_output_tokens,
        temperature=0.0,
        endpoint=endpoint or None,
    )


class Unusable(Exception):
    """Answers came, and none could be stored. The message is for the person."""

    def __init__(self, problems: Sequence[AnswerProblem], attempt: Attempt) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.attempt = attempt


@dataclass(frozen=True, slots=True)
class Question:
    """A request on its way to one model."""

    request: SummaryRequest
    model: str
    why: Why
    window: int = 0
    """Which window of a long conversation, from 1; 0 for all of it."""
    most_tokens: int | None = None
    """An answer must take fewer (E16); None for no limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that can be stored, and the call that gave it."""

    text: str
    attempt: Attempt
    short_summary: str = ""


class Caller:
    """Makes the calls for one request of a draft. ``log`` holds every one of them, in order."""

    def __init__(
        self,
        client: ModelClient,
        order: Order,
        templates: Templates,
        profile: Profile,
        cancel: CancelToken,
    ) -> None:
        self._client = client
        self._order = order
        self._templates = templates
        self._profile = profile
        self._cancel = cancel
        self.log: list[Attempt] = []

    async def answer(self, question: Question) -> Answer:
        """An answer that can be stored; one that cannot is asked for once more, with what is wrong
        with it. Raises Unusable when that does not help, ModelError, and Cancelled."""
        if self._order.review is not None:
            seen = await self._order.review.request(question.request, question.model)
            question = replace(question, request=seen)
        request = question.request
        call = model_request(request, question.model, self._order.endpoint)
        first = await self._send(question, call, question.why)
        problems = self._problems(question, first)
        if not problems:
            return self._taken(first, request)
        self._refuse(problems)
        self._order.on_progress(f"{problems[0].message} Asking once more.")
        self._order.on_restart(request.purpose)
        try:
            second = await self._send(
                question, self._reminder(call, first.text, problems), "reminder"
            )
        except ModelError as error:
            if error.kind == "overflow":  # the reminder was too much: the answer stays unusable
                raise Unusable(problems, self.log[-2]) from error
            raise
        if problems := self._problems(question, second):
            self._refuse(problems)
            raise Unusable(problems, self.log[-1])
        return self._taken(second, request)

    def _taken(self, answer: Completion, request: SummaryRequest) -> Answer:
        text = clean_answer(answer.text, self._profile, request.purpose)
        return Answer(text, self.log[-1], answer.short_summary)

    def _problems(self, question: Question, answer: Completion) -> tuple[AnswerProblem, ...]:
        request = question.request
        return check_answer(
            clean_answer(answer.text, self._profile, request.purpose),
            answer.stop_reason,
            profile=self._profile,
            form=request.form,
            input_tokens=question.most_tokens,
        )

    def _refuse(self, problems: Sequence[AnswerProblem]) -> None:
        """Write down why the last answer is not taken."""
        told = " ".join(problem.message for problem in problems)
        self.log[-1] = replace(self.log[-1], problem=told, kind=problems[0].code)

    def _reminder(
        self, call: ModelRequest, said: str, problems: Sequence[AnswerProblem]
    ) -> ModelRequest:
        """The call again with the answer to it and what is wrong with that."""
        words = self._templates.reminded([problem.message for problem in problems])
        reminder = ChatMessage("user", words)
        answer = (ChatMessage("assistant", said),) if said.strip() else ()
        window = self._client.info(call.model).window
        size = sum(estimate_text(m.text) for m in (*call.messages, *answer, reminder))
        if window is not None and size + (call.max_output_tokens or 0) > window:
            answer = ()
        return replace(call, messages=(*call.messages, *answer, reminder))

    async def _send(self, question: Question, call: ModelRequest, why: Why) -> Completion:
        """Make a call, again where its failure may pass; every try is in the log."""
        order, purpose = self._order, question.request.purpose
        waited = 0.0

        def on_retry(retry: Retry) -> None:
            nonlocal waited
            waited = retry.wait_s
            order.on_progress(retry.told)
            order.on_restart(purpose)

        async def attempt(number: int) -> Completion:
            note = Attempt(
                purpose,
                why if number == 1 else "retry",
                call,
                tuple(question.request.sources),
                question.window,
                waited_s=waited,
            )
            return await self._once(note)

        patience = order.patience
        return await with_retry(
            attempt, patience.policy, patience.sleep, patience.random, on_retry, self._cancel
        )

    async def _once(self, note: Attempt) -> Completion:
        pieces: list[str] = []
        clock = self._order.patience.clock
        started = clock()

        def on_text(piece: str) -> None:
            pieces.append(piece)
            self._order.on_text(note.purpose, piece)

        def failed(problem: str, kind: str) -> None:
            took = (clock() - started) * 1000
            self.log.append(
                replace(
                    note, text="".join(pieces), elapsed_ms=took, problem=problem, kind=kind
                )
            )  # fmt: skip

        try:
            answer = await complete(
                self._client, note.request, self._cancel, on_text, clock=clock,
                on_silence=self._order.on_progress,
            )  # fmt: skip
        except ModelError as error:
            failed(error.told, error.kind)
            raise
        except (Cancelled, asyncio.CancelledError):
            failed("Cancelled.", "cancelled")
            raise
        self.log.append(
            replace(
                note,
                text=answer.text,
                stop_reason=answer.stop_reason,
                usage=answer.usage,
                elapsed_ms=answer.elapsed_ms,
            )
        )
        return answer

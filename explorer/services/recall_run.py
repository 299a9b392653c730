"""A recall test as it is run: its calls, their record, and what the answers come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.audit.recall import (
    ClozeQuestion,
    Grade,
    OpenQuestion,
    Recall,
    answers_in,
    check_answer,
    grades_in,
)
from explorer.compaction.serialization import escape_tags
from explorer.compaction.templates import fill
from explorer.models.client import ChatMessage, ModelError, ModelRequest
from explorer.models.retry import Retry, with_retry
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.recall import JUDGE_TOKENS, SIDES, RecallOrder, RecallTest, Side
from explorer.services.summary_call import send_logged
from explorer.services.summary_candidates import calls_cost
from explorer.services.summary_request import Attempt, DraftFailed, Why
from explorer.settings.prompt_templates import load_prompt

_PURPOSES = {
    "after-cloze": "blanks, with the context after the compaction",
    "after-open": "open questions, with the context after the compaction",
    "before-cloze": "blanks, with the context before it",
    "before-open": "open questions, with the context before it",
    "after-judge": "grades of the answers after it",
    "before-judge": "grades of the answers before it",
}


@dataclass(frozen=True, slots=True)
class ClozeResult:
    """What became of a cloze question. Answers are as they were given; None: not asked."""

    question: ClozeQuestion
    answers: Mapping[Side, str | None]
    results: Mapping[Side, Recall | None]
    """None too where the control does not hold the source."""


@dataclass(frozen=True, slots=True)
class OpenResult:
    """What became of an open question."""

    question: OpenQuestion
    answers: Mapping[Side, str | None]
    grades: Mapping[Side, Grade | None]


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A test that was run, as far as it came."""

    test: RecallTest
    cloze: tuple[ClozeResult, ...]
    open: tuple[OpenResult, ...]
    problem: str = ""
    """Why it ended early, as a sentence."""
    dollars: float | None = None
    """What it cost; None where a price or a usage is not known."""

    def count(self, side: Side, result: Recall) -> int:
        """Cloze questions with a result."""
        return sum(one.results[side] is result for one in self.cloze)

    def asked(self, side: Side) -> int:
        """Cloze questions that have a result."""
        return sum(one.results[side] is not None for one in self.cloze)


async def run_test(document: Document, test: RecallTest, order: RecallOrder) -> RecallResult:
    """Put the questions, grade the answers, and record every call as those of a draft are.

    A call that fails ends the test: what was answered until then counts, and ``problem`` says why.
    Raises Cancelled, with the calls until then recorded.
    """
    run = _Run(document, test, order)
    planned = tuple(
        Attempt(purpose, "first", request, problem="Not sent.", kind="cancelled")
        for purpose, request in test.requests.items()
    )
    facts = {"of": test.of, "seed": test.seed}
    draft = Draft(
        0, "recall", "streaming", test.leaf, (), "", order.model, "", attempts=planned, facts=facts
    )

    async def make(draft: Draft) -> Draft:
        await run.ask()
        if run.problem:
            raise DraftFailed(run.problem)
        return replace(draft, facts={**draft.facts, "recall": result_json(run.result())})

    try:
        await document.drafts.run(draft, make, lambda: tuple(run.attempts), order.cancel.cancel)
    except DraftFailed as error:
        if str(error) != run.problem:
            raise
    return replace(run.result(), dollars=calls_cost(document, run.attempts))


class _Run:
    """The calls of one test, and what came of them by now."""

    def __init__(self, document: Document, test: RecallTest, order: RecallOrder) -> None:
        self._document, self._test, self._order = document, test, order
        self.attempts: list[Attempt] = []
        self.problem = ""
        self._texts: dict[str, str] = {}
        """Replies by purpose."""

    async def ask(self) -> None:
        """Make the calls, one after the other: of the same context the second may come from the
        provider's cache. Raises Cancelled."""
        try:
            for purpose, request in self._test.requests.items():
                self._texts[purpose] = await self._answer(purpose, request)
            for side in SIDES if self._test.open else ():
                purpose = f"{side}-judge"
                self._texts[purpose] = await self._answer(purpose, self._judged(side))
        except ModelError as error:
            self.problem = error.sentence

    def result(self) -> RecallResult:
        """What there is to say by now."""
        test = self._test
        ids, names = [one.id for one in test.cloze], [one.id for one in test.open]
        cloze = {side: self._given(f"{side}-cloze", ids) for side in SIDES}
        said = {side: self._given(f"{side}-open", names) for side in SIDES}
        grades = {side: grades_in(self._texts.get(f"{side}-judge", ""), names) for side in SIDES}
        return RecallResult(
            test,
            tuple(self._cloze_result(one, cloze) for one in test.cloze),
            tuple(
                OpenResult(
                    one,
                    {side: said[side].get(one.id) for side in SIDES},
                    {side: grades[side].get(one.id) for side in SIDES},
                )
                for one in test.open
            ),
            self.problem,
        )

    def _given(self, purpose: str, ids: Sequence[str]) -> dict[str, str]:
        """The answers of a reply by id: empty ones where it has none; nothing without a reply."""
        if purpose not in self._texts:
            return {}
        return dict.fromkeys(ids, "") | answers_in(self._texts[purpose], ids)

    def _cloze_result(
        self, question: ClozeQuestion, given: Mapping[Side, Mapping[str, str]]
    ) -> ClozeResult:
        answers = {side: given[side].get(question.id) for side in SIDES}
        results: dict[Side, Recall | None] = {}
        for side, answer in answers.items():
            is_held = side == "after" or question.entry in self._test.views["before"].entries
            is_asked = answer is not None and is_held
            results[side] = (
                check_answer(question.kind, question.answer, answer or "") if is_asked else None
            )
        return ClozeResult(question, answers, results)

    def _judged(self, side: Side) -> ModelRequest:
        """The request for the grades of one side's answers; which side it is, it does not say."""
        said = self._given(f"{side}-open", [one.id for one in self._test.open])
        parts = []
        for one in self._test.open:
            points = "\n".join(f"- {' '.join(point.text.split())}" for point in one.points)
            parts.append(
                f"## {one.id}: {one.text}\n\n<record>\n{escape_tags(points)}\n</record>\n\n"
                f"<answer>\n{escape_tags(said[one.id])}\n</answer>"
            )
        values = {"answers": "\n\n".join(parts), "rubric": load_prompt("recall-rubric")}
        return ModelRequest(
            self._test.judge,
            (
                ChatMessage("system", load_prompt("recall-judge-system")),
                ChatMessage("user", fill(load_prompt("recall-judge"), values)),
            ),
            max_output_tokens=JUDGE_TOKENS,
            temperature=0.0,
            of="Statements of the record and answers on them",
        )

    async def _answer(self, purpose: str, request: ModelRequest) -> str:
        """The reply to a request, after transient failures asked for again. Raises ModelError and
        Cancelled; every try is in ``attempts``."""
        order, waited = self._order, 0.0
        order.on_progress(f"Asking {request.model}: {_PURPOSES[purpose]}.")

        def on_retry(retry: Retry) -> None:
            nonlocal waited
            waited = retry.wait_s
            order.on_progress(retry.sentence)

        async def attempt(number: int) -> str:
            why: Why = "first" if number == 1 else "retry"
            return await self._send(Attempt(purpose, why, request, waited_s=waited))

        patience = order.patience
        return await with_retry(
            attempt, patience.policy, patience.sleep, patience.random, on_retry, order.cancel
        )

    async def _send(self, attempt: Attempt) -> str:
        order = self._order
        answer = await send_logged(
            self._document.models, attempt, self.attempts, order.cancel,
            clock=order.patience.clock, on_silence=order.on_progress,
        )  # fmt: skip
        return answer.text


# as JSON ------------------------------------------------------------------------------------------


def result_json(result: RecallResult) -> dict[str, Any]:
    """A result as JSON values: what is recorded, and what the command prints."""
    return {
        "cloze": [
            cloze_json(one.question)
            | {side: {"answer": one.answers[side], "result": one.results[side]} for side in SIDES}
            for one in result.cloze
        ],
        "open": [
            open_json(one.question) | {side: _graded_json(one, side) for side in SIDES}
            for one in result.open
        ],
        "problem": result.problem or None,
    }


def cloze_json(question: ClozeQuestion) -> dict[str, Any]:
    """A cloze question with its answer and its source."""
    span = question.span
    return {
        "id": question.id,
        "kind": question.kind,
        "question": question.text,
        "expected": question.answer,
        "entry": question.entry,
        "block": span.block,
        "start": span.start,
        "end": span.end,
        "by": "user" if question.by_user else "result",
    }


def open_json(question: OpenQuestion) -> dict[str, Any]:
    """An open question with what it is graded by."""
    return {
        "id": question.id,
        "question": question.text,
        "record": [{"text": point.text, "entry": point.entry} for point in question.points],
    }


def _graded_json(one: OpenResult, side: Side) -> dict[str, Any]:
    grade = one.grades[side]
    return {
        "answer": one.answers[side],
        "grade": None if grade is None else grade.score,
        "reason": None if grade is None else grade.reason,
    }

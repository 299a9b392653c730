"""The calls of a recall test, and the tests that were run, as a session's drafts record them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.recall_result import (
    SIDES,
    RecallResult,
    RecallSubject,
    Side,
    questions_from,
    questions_json,
    result_of,
)
from explorer.compaction.messages import escape_tags
from explorer.compaction.templates import fill
from explorer.models.client import ChatMessage, ModelError, ModelRequest
from explorer.services.document import Document
from explorer.services.draft_records import Attempt, Draft, DraftFailed, attempts_of, entry_of
from explorer.services.recall import JUDGE_TOKENS, RecallOrder, RecallTest, text_key
from explorer.services.summary_audit import calls_cost
from explorer.services.summary_call import send_patiently
from explorer.settings.prompt_templates import load_prompt
from explorer.store.drafts import STREAMING
from explorer.store.rows import DraftRow

_PURPOSES = {
    "after-cloze": "blanks, with the context after the compaction",
    "after-open": "open questions, with the context after the compaction",
    "before-cloze": "blanks, with the context before it",
    "before-open": "open questions, with the context before it",
    "after-judge": "grades of the answers after it",
    "before-judge": "grades of the answers before it",
}


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
    asked = test.questions
    draft = Draft(
        0, "recall", "streaming", asked.leaf, (), "", asked.model, "", attempts=planned,
        facts={"recall": questions_json(asked)},
    )  # fmt: skip

    async def make(draft: Draft) -> Draft:
        await run.ask()
        if run.problem:
            raise DraftFailed(run.problem)
        return draft

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
        self._replies: dict[str, str] = {}
        """By purpose."""

    async def ask(self) -> None:
        """Make the calls, one after the other: of the same context the second may come from the
        provider's cache. Raises Cancelled."""
        try:
            for purpose, request in self._test.requests.items():
                await self._answer(purpose, request)
            for side in SIDES if self._test.questions.open else ():
                await self._answer(f"{side}-judge", self._judged(side))
        except ModelError as error:
            self.problem = error.sentence

    def result(self) -> RecallResult:
        """The result so far."""
        return result_of(self._test.questions, self._replies, self.problem)

    def _judged(self, side: Side) -> ModelRequest:
        """The request for the grades of one side's answers; which side it is, it does not say."""
        parts = []
        for one in self.result().open:
            points = "\n".join(f"- {' '.join(each.text.split())}" for each in one.question.points)
            parts.append(
                f"## {one.question.id}: {one.question.text}\n\n"
                f"<record>\n{escape_tags(points)}\n</record>\n\n"
                f"<answer>\n{escape_tags(one.answers[side] or '')}\n</answer>"
            )
        values = {"answers": "\n\n".join(parts), "rubric": load_prompt("recall-rubric")}
        return ModelRequest(
            self._test.questions.judge,
            (
                ChatMessage("system", load_prompt("recall-judge-system")),
                ChatMessage("user", fill(load_prompt("recall-judge"), values)),
            ),
            max_output_tokens=JUDGE_TOKENS,
            temperature=0.0,
            of="Statements of the record and answers on them",
        )

    async def _answer(self, purpose: str, request: ModelRequest) -> None:
        """Take the reply to a request, after transient failures asked for again. Raises ModelError
        and Cancelled; every try is in ``attempts``."""
        order = self._order
        order.on_progress(f"Asking {request.model}: {_PURPOSES[purpose]}.")
        answer = await send_patiently(
            self._document.models, Attempt(purpose, "first", request), self.attempts, order.cancel,
            order.patience, lambda retry: order.on_progress(retry.sentence),
            on_silence=order.on_progress,
        )  # fmt: skip
        self._replies[purpose] = answer.text
        order.on_result(self.result())


class RecordedTest(Struct, frozen=True):
    """A recall test that was run, as far as it came."""

    id: int
    """The id of its record."""
    time_ms: float
    """When it began, since 1970."""
    result: RecallResult
    entry: int = -1
    """The compaction that was tested, or that the tested draft became; -1 for none."""

    def is_of(self, subject: RecallSubject) -> bool:
        """Whether it tested this summary."""
        if subject.entry >= 0:
            return self.entry == subject.entry
        return self.result.questions.subject == subject


def recorded_tests(document: Document) -> list[RecordedTest]:
    """The tests that were run and answered at least one call, the oldest first.

    Reads the database: for a worker thread. Raises StoreError.
    """
    rows = document.shared.store.drafts(document.key, with_requests=False)
    committed = {row.id: row for row in rows if row.status == "committed"}
    found = []
    for row in rows:
        if row.kind == "recall" and row.status != STREAMING:
            one = _recorded(document, row, committed.get(_draft_of(row)))
            if one is not None:
                found.append(one)
    return found


def of_subject(tests: Sequence[RecordedTest], subject: RecallSubject) -> list[RecordedTest]:
    """The tests of one summary, the newest first."""
    return [one for one in reversed(tests) if one.is_of(subject)]


def _draft_of(row: DraftRow) -> int:
    questions = questions_from((row.facts or {}).get("recall"), row.leaf, row.model)
    return questions.subject.draft if questions is not None else 0


def _recorded(document: Document, row: DraftRow, draft: DraftRow | None) -> RecordedTest | None:
    """``draft``: the row of the tested draft, once it was committed."""
    questions = questions_from((row.facts or {}).get("recall"), row.leaf, row.model)
    if questions is None:
        return None
    attempts = attempts_of(row)
    replies = {one.purpose: one.text for one in attempts if not one.problem}
    if not replies:
        return None
    result = result_of(questions, replies, row.problem)
    entry = questions.subject.entry
    if draft is not None:
        text = draft.edited_text if draft.edited_text is not None else draft.summary
        is_same = text_key(text) == questions.subject.text
        entry = entry_of(document.tree, draft) if is_same else -1
    return RecordedTest(
        row.id,
        row.created_ms,
        replace(result, dollars=calls_cost(document, attempts)),
        entry,
    )

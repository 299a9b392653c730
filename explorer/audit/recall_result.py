"""What came of a recall test: from the replies to results, to a headline, and as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from explorer.audit.recall import (
    ClozeQuestion,
    Grade,
    OpenQuestion,
    Point,
    Recall,
    answers_in,
    check_answer,
    grades_in,
)
from explorer.facts import FactKind, Span

Side = Literal["after", "before"]
"""With the context after the compaction; with the one before it, the control."""
SIDES: tuple[Side, ...] = ("after", "before")
NOT_ASKED = "not asked"
RESULT_WORDS = {Recall.RIGHT: "right", Recall.MISSED: "not known", Recall.WRONG: "wrong"}


class RecallSubject(NamedTuple):
    """The summary that is tested: a compaction, or a text of a draft."""

    entry: int = -1
    """The compaction; -1 of a draft."""
    draft: int = 0
    """The draft's id; 0 of a compaction."""
    text: str = ""
    """Stands for the draft's text as it was tested."""

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"compaction #{self.entry}" if self.entry >= 0 else "the draft"


class RecallQuestions(Struct, frozen=True):
    """What is asked, of whom, on what."""

    subject: RecallSubject
    leaf: int
    """The entry at which it was, or would be, compacted."""
    model: str
    judge: str
    """Empty: no open questions are asked."""
    seed: int
    cloze: tuple[ClozeQuestion, ...]
    open: tuple[OpenQuestion, ...]
    control: frozenset[str] = frozenset()
    """The ids of the cloze questions whose source the control holds."""

    @property
    def calls(self) -> int:
        """Calls that the test takes, those of the judge among them."""
        return len(SIDES) * (bool(self.cloze) + 2 * bool(self.open))


class ClozeResult(Struct, frozen=True):
    """What became of a cloze question. Answers are as they were given; None: not asked."""

    question: ClozeQuestion
    answers: Mapping[Side, str | None]
    results: Mapping[Side, Recall | None]
    """None too where the control does not hold the source."""

    @property
    def verdict(self) -> str:
        """What the answers show, in a few words."""
        after, before = self.results["after"], self.results["before"]
        if after is None:
            return NOT_ASKED
        is_hard = after is not Recall.RIGHT and before in (Recall.MISSED, Recall.WRONG)
        return f"{RESULT_WORDS[after]}{', nor with everything' if is_hard else ''}"

    @property
    def is_lost(self) -> bool:
        """Whether the compaction is what the answer lacks: with everything it was right."""
        after, before = self.results["after"], self.results["before"]
        return after in (Recall.MISSED, Recall.WRONG) and before is Recall.RIGHT


class OpenResult(Struct, frozen=True):
    """What became of an open question."""

    question: OpenQuestion
    answers: Mapping[Side, str | None]
    grades: Mapping[Side, Grade | None]


class RecallResult(Struct, frozen=True):
    """A test that was run, as far as it came."""

    questions: RecallQuestions
    cloze: tuple[ClozeResult, ...]
    open: tuple[OpenResult, ...]
    calls_done: int = 0
    """Calls that were answered."""
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

    def on(self, question: ClozeQuestion) -> ClozeResult | None:
        """What became of a question of another test, where it was asked here too."""
        same = (question.span, question.kind, question.answer)
        return next(
            (
                one
                for one in self.cloze
                if (one.question.span, one.question.kind, one.question.answer) == same
            ),
            None,
        )

    def answers(self, questions: RecallQuestions) -> bool:
        """Whether the same model answered all cloze questions of a test with the summary."""
        found = [self.on(one) for one in questions.cloze]
        is_answered = all(one is not None and one.results["after"] is not None for one in found)
        return is_answered and self.questions.model == questions.model

    @property
    def headline(self) -> str:
        """The test in one sentence."""
        if self.cloze and self.asked("after"):
            after, before = (
                f"{self.count(side, Recall.RIGHT)} of {self.asked(side)}" for side in SIDES
            )
            control = f"with the full context {before}" if self.asked("before") else NO_CONTROL
            return f"Remembers {after}; {control}"
        grades = {side: [one.grades[side] for one in self.open] for side in SIDES}
        known = {side: [one.score for one in found if one] for side, found in grades.items()}
        if not known["after"]:
            return "Nothing was answered"
        after, before = (f"{sum(known[side])} of {3 * len(known[side])} points" for side in SIDES)
        control = f"with the full context {before}" if known["before"] else NO_CONTROL
        return f"Open answers: {after}; {control}"


NO_CONTROL = "the control was not asked"


def result_of(
    questions: RecallQuestions, replies: Mapping[str, str], problem: str = ""
) -> RecallResult:
    """The result of a test; ``replies`` by purpose (``after-cloze``, ``before-judge``), those
    that there are."""
    ids, names = [one.id for one in questions.cloze], [one.id for one in questions.open]
    cloze = {side: _given(replies, f"{side}-cloze", ids) for side in SIDES}
    said = {side: _given(replies, f"{side}-open", names) for side in SIDES}
    grades = {side: grades_in(replies.get(f"{side}-judge", ""), names) for side in SIDES}
    return RecallResult(
        questions,
        tuple(_cloze_result(one, cloze, questions.control) for one in questions.cloze),
        tuple(
            OpenResult(
                one,
                {side: said[side].get(one.id) for side in SIDES},
                {side: grades[side].get(one.id) for side in SIDES},
            )
            for one in questions.open
        ),
        len(replies),
        problem,
    )


def _given(replies: Mapping[str, str], purpose: str, ids: Sequence[str]) -> dict[str, str]:
    """The answers of a reply by id: empty ones where it has none; nothing without a reply."""
    if purpose not in replies:
        return {}
    return dict.fromkeys(ids, "") | answers_in(replies[purpose], ids)


def _cloze_result(
    question: ClozeQuestion, given: Mapping[Side, Mapping[str, str]], control: frozenset[str]
) -> ClozeResult:
    answers = {side: given[side].get(question.id) for side in SIDES}
    results: dict[Side, Recall | None] = {}
    for side, answer in answers.items():
        is_asked = answer is not None and (side == "after" or question.id in control)
        results[side] = (
            check_answer(question.kind, question.answer, answer or "") if is_asked else None
        )
    return ClozeResult(question, answers, results)


# as JSON ------------------------------------------------------------------------------------------


def result_json(result: RecallResult) -> dict[str, Any]:
    """A result as JSON values, as the command prints it."""
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


def questions_json(questions: RecallQuestions) -> dict[str, Any]:
    """What is recorded of a test before it is run."""
    return {
        "subject": questions.subject._asdict(),
        "judge": questions.judge,
        "seed": questions.seed,
        "cloze": [
            cloze_json(one)
            | {"argument": one.span.argument, "control": one.id in questions.control}
            for one in questions.cloze
        ],
        "open": [open_json(one) for one in questions.open],
    }


def questions_from(value: object, leaf: int, model: str) -> RecallQuestions | None:
    """What ``questions_json`` wrote; None of anything else."""
    if not isinstance(value, Mapping):
        return None
    try:
        cloze = value["cloze"]
        return RecallQuestions(
            RecallSubject(**value["subject"]),
            leaf,
            model,
            str(value["judge"]),
            int(value["seed"]),
            tuple(_cloze_from(one) for one in cloze),
            tuple(_open_from(one) for one in value["open"]),
            frozenset(one["id"] for one in cloze if one["control"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _cloze_from(value: Mapping[str, Any]) -> ClozeQuestion:
    places = (value["entry"], value["start"], value["end"], value["block"], value["argument"])
    return ClozeQuestion(
        value["id"],
        FactKind(value["kind"]),
        value["question"],
        value["expected"],
        Span(*places),
        value["by"] == "user",
    )


def _open_from(value: Mapping[str, Any]) -> OpenQuestion:
    points = tuple(Point(one["text"], one["entry"]) for one in value["record"])
    return OpenQuestion(value["id"], value["question"], points)

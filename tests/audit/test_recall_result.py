"""What replies come to, the sentence above them, and how a test is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from explorer.audit.recall import BLANK, ClozeQuestion, OpenQuestion, Point, Recall
from explorer.audit.recall_result import (
    RecallQuestions,
    RecallSubject,
    questions_from,
    questions_json,
    result_of,
)
from explorer.facts import FactKind, Span

PORT = ClozeQuestion(
    "Q1", FactKind.PATH, f"Edit {BLANK} now.", "src/a.py", Span(3, 5, 20, 1, "text"), True
)
LIMIT = ClozeQuestion(
    "Q2", FactKind.VERSION, f"Use version {BLANK}.", "1.2.3", Span(9, 0, 9), False
)
FILES = OpenQuestion("files", "Which files were changed?", (Point("src/a.py", 4),))


def asked(**changes: Any) -> RecallQuestions:
    values: dict[str, Any] = {
        "subject": RecallSubject(12), "leaf": 11, "model": "m", "judge": "j", "seed": 1,
        "cloze": (PORT, LIMIT), "open": (FILES,), "control": frozenset({"Q1"}),
    }  # fmt: skip
    return RecallQuestions(**(values | changes))


def test_a_recorded_test_is_read_back() -> None:
    for questions in (asked(), asked(subject=RecallSubject(draft=7, text="ab"), open=(), judge="")):
        recorded = json.loads(json.dumps(questions_json(questions)))
        assert questions_from(recorded, 11, "m") == questions
    assert asked().calls == 6 and asked(open=()).calls == 2


@pytest.mark.parametrize("damage", [None, [], {"cloze": []}, {"subject": {"colour": 1}}])
def test_what_is_no_record_is_none(damage: object) -> None:
    assert questions_from(damage, 0, "m") is None
    if isinstance(damage, dict):
        assert questions_from(questions_json(asked()) | damage | {"seed": "x"}, 0, "m") is None


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ({}, "Nothing was answered"),
        ({"after-cloze": "Q1: src/a.py\nQ2: no idea"},
         "Remembers 1 of 2; the control was not asked"),
        ({"after-cloze": "Q1: src/a.py", "before-cloze": "Q1: src/a.py\nQ2: 1.2.3"},
         "Remembers 1 of 2; with the full context 1 of 1"),
        ({"after-open": "files: a", "after-judge": "files: 2 One.", "before-judge": "files: 3"},
         "Open answers: 2 of 3 points; with the full context 3 of 3 points"),
    ],
)  # fmt: skip
def test_the_headline_counts_what_was_asked(replies: dict[str, str], words: str) -> None:
    questions = asked() if "after-cloze" in replies or not replies else asked(cloze=())
    result = result_of(questions, replies)
    assert result.headline == words and result.calls_done == len(replies)


def test_a_verdict_tells_what_the_compaction_lost_from_what_is_hard() -> None:
    replies = {"after-cloze": "Q1: src/b.py\nQ2: no idea", "before-cloze": "Q1: src/a.py\nQ2: 9"}
    questions = asked(control=frozenset({"Q1", "Q2"}))
    wrong, missed = result_of(questions, replies).cloze
    assert (wrong.verdict, wrong.is_lost) == ("wrong", True)
    assert (missed.verdict, missed.is_lost) == ("not known, nor with everything", False)
    alone = result_of(asked(), replies).cloze[1]
    assert alone.verdict == "not known" and alone.results["before"] is None
    assert result_of(questions, {}).cloze[0].verdict == "not asked"
    right = result_of(questions, {"after-cloze": "Q1: ./src/a.py"})
    assert right.on(PORT) is right.cloze[0] and right.count("after", Recall.RIGHT) == 1
    assert right.on(ClozeQuestion("Q1", FactKind.PATH, "", "x", Span(1, 2, 3), True)) is None

"""The recall test's questions and the rule that checks their answers, without a model."""

from __future__ import annotations

import pytest

from explorer.audit.recall import (
    BLANK,
    ClozeQuestion,
    Grade,
    Recall,
    answers_in,
    check_answer,
    cloze_questions,
    grades_in,
    open_questions,
    question_lines,
    stands_in,
)
from explorer.facts import FactKind, extract, scan
from tests.compaction.sessions import Session

SAID = (
    "The gateway of the staging cluster listens on port 8443 from today.",
    "Uploads above 250 MB have to be refused by the front server.",
    "The migration lives in db/migrations/0042_users.sql and nobody may edit it.",
    "Our partners still run the client with Python 3.9.2 on all machines.",
    "The dashboard for the on-call people is https://grafana.example.com/d/abc now.",
)
FAILURE = "AssertionError: the queue in src/worker/queue_drain.py lost a message while draining"


def made() -> Session:
    session = Session()
    for said in SAID:
        session.user(text=said)
        session.reply(text="I set retry_limit to 17 retries in config/agent_only.toml for that.")
    session.result(text=FAILURE, error=True)
    return session


def asked(
    session: Session, sources: int, number: int = 20, seed: int = 1
) -> tuple[ClozeQuestion, ...]:
    """The questions on the first entries of a session, of which the others are still seen."""
    entries = range(len(session.tree))
    table = scan(entries, session.read)
    return cloze_questions(
        entries[:sources], entries[sources:], session.read, table, number, seed
    )  # fmt: skip


def test_people_and_failures_are_asked_about_and_no_question_gives_an_answer_away() -> None:
    session = made()
    found = asked(session, len(session.tree))
    answers = {one.answer: one for one in found}
    assert {"port 8443", "8443"} & answers.keys() and "db/migrations/0042_users.sql" in answers
    assert [FAILURE.replace(one.answer, BLANK) for one in found if not one.by_user] == [
        one.text for one in found if not one.by_user
    ]
    assert found[-1].entry == len(session.tree) - 1 and not found[-1].by_user
    assert not any("agent_only" in one.text or "17" in one.answer for one in found)
    assert [one.id for one in found] == [f"Q{at}" for at in range(1, len(found) + 1)]
    assert [one.entry for one in found] == sorted(one.entry for one in found)
    for one in found:
        assert BLANK in one.text
        assert not any(stands_in(one.kind, one.answer, other.text) for other in found)
    sentences = [one.span for one in found]
    assert len(sentences) == len(set(sentences)) == len(SAID) + 1
    assert f"{found[0].id} (" in question_lines(found)


def test_no_question_is_asked_beside_one_that_answers_it() -> None:
    session = Session()
    session.user(text="The old migration lives in db/migrations/0042_users.sql for every tenant.")
    session.user(text="Release 4.5.1 of the shop needs db/migrations/0042_users.sql by hand first.")
    for seed in range(6):
        found = asked(session, 2, seed=seed)
        assert found and not any(
            stands_in(one.kind, one.answer, other.text) for one in found for other in found
        )


def test_the_seed_decides_which_are_asked_from_all_parts() -> None:
    session = Session()
    for at in range(40):
        session.user(text=f"The gateway of the push service in district{at} waits {at + 3} s.")
    one, again, other = (asked(session, 40, 8, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert len(one) == 8 and {question.entry // 5 for question in one} == set(range(8))


def test_what_is_seen_or_no_longer_holds_is_not_asked() -> None:
    session = made()
    summarized = len(session.tree)
    session.user(text="As I wrote, nobody may touch db/migrations/0042_users.sql before Friday.")
    left = {one.answer for one in asked(session, summarized)}
    assert "db/migrations/0042_users.sql" not in left and "3.9.2" in left
    changed = Session()
    changed.user(text="The upload timeout must be at most 30 seconds for every client.")
    changed.user(text="The upload timeout must be at most 60 seconds for every client instead.")
    assert "30 seconds" not in {one.answer for one in asked(changed, 2)}
    quoted = Session()
    quoted.user(text="These are the rules. At most 3 attempts per push of a client.")
    quoted.user(text='The second rule is now "At most 5 attempts per push of a client."')
    assert asked(quoted, 2) == ()


@pytest.mark.parametrize(
    ("kind", "answer", "given", "result"),
    [
        (FactKind.NUMBER, "250 ms", "0.25 s", "right"),
        (FactKind.NUMBER, "5 retries", "`5`.", "right"),
        (FactKind.NUMBER, "250 ms", "250", "wrong"),
        (FactKind.NUMBER, "250 ms", "It is 250 ms, as you set it.", "right"),
        (FactKind.NUMBER, "250 ms", "250 ms or 300 ms", "wrong"),
        (FactKind.NUMBER, "250 ms", "200 ms", "wrong"),
        (FactKind.PATH, "src/app/main.py", "./src/app/main.py", "right"),
        (FactKind.PATH, "src/app/main.py", "/home/me/shop/src/app/main.py", "right"),
        (FactKind.PATH, "src/app/main.py", "main.py", "wrong"),
        (FactKind.PATH, "src/app/main.py", "src/app/main.pyi", "wrong"),
        (FactKind.VERSION, "3.9.2", "v3.9.2", "right"),
        (FactKind.VERSION, "3.9.2", "3.9", "wrong"),
        (FactKind.SYMBOL, "push()", "`push`", "right"),
        (FactKind.HASH, "4f2a9c1d77", "4f2a9c1", "right"),
        (FactKind.HASH, "4f2a9c1d77", "4f2a", "wrong"),
        (FactKind.COMMAND, "npm  run build", "$ npm run build", "right"),
        (FactKind.URL, "https://a.example/b", "https://a.example/b/", "right"),
        (FactKind.URL, "https://a.example/b", "", "missed"),
        (FactKind.URL, "https://a.example/b", "I don't know", "missed"),
        (FactKind.URL, "https://a.example/b", "The summary does not state it: not mentioned.",
         "missed"),
        (FactKind.PATH, "src/unknown/not_given.py", "src/unknown/not_given.py", "right"),
    ],
)  # fmt: skip
def test_answers_are_checked_by_rule(kind: FactKind, answer: str, given: str, result: str) -> None:
    assert check_answer(kind, answer, given) == Recall(result)


def test_replies_are_read_by_their_lines() -> None:
    reply = "Here:\n- **Q1**: `a.py`\nq2: 5 ms\nQ1: b.py\nQ9: no such\nQ3:\n"
    found = answers_in(reply, ["Q1", "Q2", "Q3", "Q4"])
    assert found == {"Q1": "`a.py`", "Q2": "5 ms", "Q3": ""}
    judged = "files: 2/3 - One is missing.\nwhy: 3\nnext: 9 Far out.\n"
    grades = grades_in(judged, ["files", "why", "next"])
    assert grades == {"files": Grade(2, "One is missing."), "why": Grade(3, "")}


def test_open_questions_carry_what_the_record_says() -> None:
    session = Session()
    session.user(text="Please rewrite the parser. Never touch the file db/schema.sql.")
    facts = extract(session.read(range(1)))
    found = {one.id: one for one in open_questions(facts, [("src/a.py", 4)])}
    assert [tuple(point) for point in found["files"].points] == [("src/a.py", 4)]
    assert any("db/schema.sql" in point.text for point in found["recall"].points)
    assert "why" not in found

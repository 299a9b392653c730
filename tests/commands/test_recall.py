"""The command recall: what is asked and what it costs before anything is sent, then the answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.processes import called, document
from tests.models.server import Answer, ChatServer, HttpFailure
from tests.services.clock import SAMPLE
from tests.services.test_recall import KEPT_WORD, constant, knows, session_file, texts

MODEL = "openai/gpt-4o"
RECALL = ("recall", "--model", MODEL)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def session(server: ChatServer, tmp_path: Path) -> str:
    server.forget()
    return str(session_file(tmp_path))


def test_cost_and_questions_come_before_anything_is_sent(session: str, server: ChatServer) -> None:
    status, out, err = called(*RECALL, session, url=server.url)
    assert status == 0 and "[____]" in out and "8443" in out
    assert "2 calls of openai/gpt-4o" in err and "$" in err and "Nothing was sent" in err
    plan = document(*RECALL, session, "--judge", MODEL, "--questions", "1", url=server.url)
    assert (plan["sent"], plan["calls"], len(plan["cloze"])) == (False, 6, 1)
    assert plan["dollars_at_most"] > 0 and "3: everything" in plan["rubric"]
    assert {one["id"] for one in plan["open"]} <= {"recall", "files", "next", "why"}
    assert server.requests == []


def test_each_question_has_both_answers_and_its_source(session: str, server: ChatServer) -> None:
    server.plan(knows)
    found = document(*RECALL, session, "--send", url=server.url)
    first = found["cloze"][0]
    assert first["after"]["result"] == first["before"]["result"] == "right"
    assert first["entry"] == 0 and first["expected"] in KEPT_WORD
    assert (
        KEPT_WORD[first["start"] : first["end"]].replace(first["expected"], "[____]")
        == (first["question"])
    )
    assert found["counts"]["after"]["right"] == 1 < found["counts"]["before"]["right"]
    server.plan(knows)
    status, out, _ = called(*RECALL, session, "--send", url=server.url)
    assert status == 0 and "After: 1 right" in out and "don’t know" in out


def test_a_judge_is_shown_with_its_rubric(session: str, server: ChatServer) -> None:
    said = Answer(text="files: src/a.py was written.\nrecall: No.")
    server.plan(constant("none"), said, constant("none"), said,
                Answer(text="files: 3 It is all there."))  # fmt: skip
    words = (*RECALL, session, "--send", "--judge", MODEL)
    status, out, _ = called(*words, url=server.url)
    assert status == 0 and "3: everything" in out and "3 It is all there." in out
    assert "src/a.py was written." in out and "no grade" in out


def test_a_failure_half_way_keeps_what_was_answered(session: str, server: ChatServer) -> None:
    server.plan(knows, HttpFailure(401, "who are you"))
    status, out, err = called(*RECALL, session, "--send", "--json", url=server.url)
    assert status == 1 and "who are you" in err
    assert '"right"' in out and '"problem"' in out


def test_what_cannot_be_tested_is_said(session: str) -> None:
    status, out, err = called("recall", session, "--model", "offline/extractive", "--send")
    assert (status, out) == (1, "") and "follows rules" in err and "Nothing was sent" in err
    for words, why in (
        (("--at", "#2"), "there is no compaction on the path"),
        (("--draft",), "no draft waits"),
        (("--questions", "0"), "at least 1"),
    ):
        status, out, err = called(*RECALL, session, *words)
        assert (status, out) == (2, "") and why in err


def test_the_newest_draft_that_waits_is_tested(server: ChatServer) -> None:
    server.forget()
    server.plan(knows)
    stored = str(document("import", str(SAMPLE))["imported"][0]["session"])
    draft = document("compact", stored, "--dry-run", "--keep-recent", "4000")
    found = document(*RECALL, stored, "--draft", "--send", url=server.url)
    assert found["of"] == "the draft" and found["counts"]["after"]["asked"] == len(found["cloze"])
    first, *_ = server.requests
    assert draft["summary"].splitlines()[2] in str(texts(first)[1].splitlines())

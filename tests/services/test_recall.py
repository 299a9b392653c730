"""Recall tests over real HTTP: models that know, that do not, that are wrong, and that fail."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.audit.recall import BLANK, Recall
from explorer.audit.recall_result import RecallResult, RecallSubject
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelInfo,
)
from explorer.services.document import Document
from explorer.services.draft_records import draft_of
from explorer.services.recall import (
    RecallOrder,
    RecallRefused,
    RecallTest,
    cannot_answer,
    compaction_context,
    draft_context,
    plan_tests,
)
from explorer.services.recall_run import of_subject, recorded_tests, run_test
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.workbench import Workbench
from tests.formats.files import entry, header, reply, user, write
from tests.models.server import Answer, ChatServer, HttpFailure
from tests.services.clock import Clock

MODEL, JUDGE, SMALL = "openai/reader", "openai/judge", "openai/small"
PRICES = {"input_price": 1e-6, "output_price": 2e-6}
KEPT_WORD = "The gateway of the staging cluster listens on port 8443 from today."
LOST_WORD = "The migration lives in db/migrations/0042_users.sql and nobody may edit it."
SUMMARY = f"## Goal\nShip the gateway.\n\n## Critical Context\n- {KEPT_WORD}"
EXPLORER = replace(PROFILES["explorer"], short_summary=False)
ROW = re.compile(r"^(Q\d+) \([^)]*\): (.*)$", re.MULTILINE)


def session_file(folder: Path) -> Path:
    """A person lays two things down; the summary of them has one. A call and its result stay."""
    call = {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "src/a.py"}}
    result = reply("e5", "e4", {"type": "text", "text": "written"}, toolCallId="c1")
    result["message"] |= {"role": "toolResult", "isError": False}
    lines = [
        header(),
        user("e1", None, KEPT_WORD), reply("e2", "e1"),
        user("e3", "e2", f"{LOST_WORD} Please write the file src/a.py."),
        reply("e4", "e3", {"type": "text", "text": "I write it. " * 200}, call), result,
        user("e6", "e5", "Go on with what is left."), reply("e7", "e6"),
        entry("compaction", "e8", "e7", summary=SUMMARY, firstKeptEntryId="e6", tokensBefore=900),
        user("e9", "e8", "Thanks."),
    ]  # fmt: skip
    return write(folder / "session.jsonl", lines)


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    models = [ModelInfo(name, name, 100_000, 8_000, **PRICES) for name in (MODEL, JUDGE)]
    small = ModelInfo(SMALL, "small", 2_900, 8_000)
    opened = ModelClient(ModelClientConfig(models=(*models, small), api_base=server.url))
    yield opened
    opened.close()


@pytest.fixture
def document(server: ChatServer, client: ModelClient, tmp_path: Path) -> Iterator[Document]:
    server.forget()
    client.use_api_base(server.url)
    bench = Workbench(Store.open(tmp_path / "s.db"), client, clock_ms=Clock())
    yield bench.open_blocking(bench.import_blocking(session_file(tmp_path)).key)
    bench.store.close()


def order(model: str = MODEL, judge: str = "") -> RecallOrder:
    return RecallOrder(model, judge)


def compaction(document: Document) -> int:
    return document.tree.columns.kind.index(Kind.COMPACTION)


def planned(document: Document, asked: RecallOrder | None = None) -> RecallTest:
    context = compaction_context(document, compaction(document))
    return plan_tests(document, [context], asked or order())[0]


def ran(document: Document, asked: RecallOrder | None = None) -> RecallResult:
    return asyncio.run(run_test(document, planned(document, asked), asked or order()))


def texts(body: dict[str, Any]) -> list[str]:
    """The texts of a request's messages."""
    found = []
    for message in body["messages"]:
        content = message.get("content")
        parts = [{"text": content}] if isinstance(content, str) else content or []
        found.append(" ".join(part.get("text", "") for part in parts))
    return found


def knows(body: dict[str, Any]) -> Answer:
    """A model that looks a sentence up in what it is sent, and admits that it is not there."""
    *context, asked = texts(body)
    lines = []
    for name, sentence in ROW.findall(asked):
        before, after = map(re.escape, sentence.split(BLANK)[:2])
        found = re.search(f"{before}(.+?){after}", " ".join(context))
        lines.append(f"{name}: {found[1] if found else 'I don’t know'}")
    return Answer(text="\n".join(lines), measured=True)


def constant(answer: str) -> Any:
    def plan(body: dict[str, Any]) -> Answer:
        return Answer(text="\n".join(f"{q}: {answer}" for q, _ in ROW.findall(texts(body)[-1])))

    return plan


def counts(result: RecallResult) -> dict[str, tuple[int, int, int]]:
    """Right, missed and wrong answers by context."""
    return {
        "after": tuple(result.count("after", one) for one in Recall),
        "before": tuple(result.count("before", one) for one in Recall),
    }  # type: ignore[return-value]


def test_a_model_that_reads_shows_what_the_summary_kept(
    document: Document, server: ChatServer
) -> None:
    server.plan(knows)
    test = planned(document)
    assert test.dollars is not None and test.dollars > 0 and "2 calls" in test.cost_sentence
    assert server.requests == [] and not test.views["before"].is_cut
    result = asyncio.run(run_test(document, test, order()))
    assert counts(result) == {
        "after": (1, len(test.questions.cloze) - 1, 0),
        "before": (len(test.questions.cloze), 0, 0),
    }
    kept, *lost = result.cloze
    assert kept.results["after"] is Recall.RIGHT and kept.question.text in KEPT_WORD.replace(
        kept.question.answer, BLANK
    )
    assert lost and all(one.results["after"] is Recall.MISSED for one in lost)
    assert result.dollars is not None and 0 < result.dollars <= test.dollars
    after, before = (" ".join(texts(body)[:-1]) for body in server.requests)
    assert KEPT_WORD in after and LOST_WORD not in after and "Thanks." not in after
    assert LOST_WORD in before and "Critical Context" not in before
    assert server.requests[1]["tool_choice"] == "none"
    assert server.requests[1]["tools"][0]["function"]["name"] == "write"
    (row,) = document.shared.store.drafts(document.key)
    recorded = draft_of(row)
    assert (recorded.kind, row.status, row.leaf) == ("recall", "done", test.questions.leaf)
    assert [one.purpose for one in recorded.attempts] == ["after-cloze", "before-cloze"]
    (found,) = of_subject(recorded_tests(document), RecallSubject(compaction(document)))
    assert found.result == result and found.id == row.id
    all_of = f"{len(test.questions.cloze)} of {len(test.questions.cloze)}"
    assert result.headline == f"Remembers 1{all_of[1:]}; with the full context {all_of}"
    assert document.drafts.waiting() == []
    asyncio.run(document.usage.follow())
    assert document.usage.drafts.calls == 2


@pytest.mark.parametrize(("answer", "result"), [("I don't know", Recall.MISSED),
                                                ("port 99", Recall.WRONG)])  # fmt: skip
def test_not_knowing_is_no_wrong_answer(
    document: Document, server: ChatServer, answer: str, result: Recall
) -> None:
    server.plan(constant(answer))
    found = ran(document)
    assert all(one.results[side] is result for one in found.cloze for side in one.results)
    assert found.asked("after") == found.asked("before") == len(found.cloze) >= 2


def test_what_was_answered_before_a_failure_counts(document: Document, server: ChatServer) -> None:
    server.plan(knows, HttpFailure(401, "who are you"))
    found = ran(document)
    assert "who are you" in found.problem
    assert found.count("after", Recall.RIGHT) == 1 and found.asked("before") == 0
    assert all(one.answers["before"] is None for one in found.cloze)
    (row,) = document.shared.store.drafts(document.key)
    assert row.status == "failed" and "who are you" in row.problem
    (recorded,) = recorded_tests(document)
    assert recorded.result == replace(found, dollars=None)
    answered, failed = draft_of(row).attempts
    assert answered.text and not answered.problem and failed.kind == "auth"


def test_what_was_answered_before_a_stop_is_found_again(
    document: Document, server: ChatServer
) -> None:
    server.plan(knows)
    stop = CancelToken()
    asked = RecallOrder(MODEL, cancel=stop, on_result=lambda _result: stop.cancel())
    with pytest.raises(Cancelled):
        ran(document, asked)
    (found,) = recorded_tests(document)
    assert len(server.requests) == 1 and found.result.calls_done == 1
    assert found.result.headline.endswith("; the control was not asked")
    with pytest.raises(Cancelled):
        ran(document, asked)
    assert len(recorded_tests(document)) == 1, "nothing was answered the second time"


def test_summaries_of_one_place_are_asked_the_same(document: Document, server: ChatServer) -> None:
    server.plan(knows)
    above = document.tree.columns.parent[compaction(document)]
    contexts = [compaction_context(document, compaction(document))]
    for keep, text in ((5, LOST_WORD), (6, KEPT_WORD)):
        settings = replace(Settings.of(EXPLORER), keep_recent_tokens=keep)
        shown = document.compaction.preview(above, EXPLORER, settings)
        contexts.append(draft_context(document, shown, text, keep))
    tests = plan_tests(document, contexts, order())
    asked = {test.questions.cloze for test in tests}
    assert len(asked) == 1 and [test.questions.subject.draft for test in tests] == [0, 5, 6]
    results = [asyncio.run(run_test(document, test, order())) for test in tests]
    assert all(one.answers(tests[0].questions) for one in results)
    assert not results[0].answers(replace(tests[0].questions, model=JUDGE))
    stored, lost, kept = ([one.verdict for one in result.cloze] for result in results)
    assert stored == kept != lost


def test_a_judge_grades_open_answers_without_knowing_their_context(
    document: Document, server: ChatServer
) -> None:
    asked = order(judge=JUDGE)
    test = planned(document, asked)
    names = [one.id for one in test.questions.open]
    assert "files" in names and test.questions.calls == 6
    said = "\n".join(f"{name}: something about it" for name in names)
    server.plan(knows, Answer(text=said), knows, Answer(text=said), model="reader")
    server.plan(Answer(text="files: 2 One is missing.\nrecall: 3"),
                Answer(text="files: 3 All are there."), model="judge")  # fmt: skip
    result = asyncio.run(run_test(document, test, asked))
    files = next(one for one in result.open if one.question.id == "files")
    assert (files.grades["after"], files.grades["before"]) == (
        (2, "One is missing."), (3, "All are there."),
    )  # fmt: skip
    assert next(one for one in result.open if one.question.id == "next").grades["after"] is None
    one, other = server.requests[-2:]
    assert texts(one) == texts(other) and "src/a.py" in texts(one)[-1]
    assert "3: everything" in texts(one)[-1]
    assert all(KEPT_WORD not in texts(body)[-1] for body in server.requests[1:4:2])


def test_a_control_that_does_not_fit_is_the_end_of_the_context(
    document: Document, server: ChatServer
) -> None:
    server.plan(knows)
    asked = order(SMALL)
    test = planned(document, asked)
    view = test.views["before"]
    assert view.is_cut and view.begins_at > 0 and f"from #{view.begins_at} on" in view.sentence
    assert test.dollars is None and "unknown prices" in test.cost_sentence
    result = asyncio.run(run_test(document, test, asked))
    assert result.asked("after") == len(test.questions.cloze) > result.asked("before")
    assert all(
        (one.results["before"] is None) == (one.question.entry < view.begins_at)
        for one in result.cloze
    )


def test_what_cannot_answer_is_refused(document: Document, server: ChatServer) -> None:
    for model, why in (("offline/extractive", "follows rules"), ("remote/endpoint", "summarizes")):
        with pytest.raises(RecallRefused, match=why):
            planned(document, order(model))
        with pytest.raises(RecallRefused, match=why):
            planned(document, order(judge=model))
    with pytest.raises(RecallRefused, match="is no compaction"):
        compaction_context(document, 0)
    document.shared.client.use_api_base("https://models.example/v1")
    result = ran(document)
    assert "Nothing was sent" in result.problem and server.requests == []


def test_models_that_follow_rules_answer_nothing() -> None:
    known = ModelInfo("some/model", "some", None, None)
    assert cannot_answer(known) == ""
    assert "follows rules" in cannot_answer(replace(known, id="offline/x"))
    assert "follows rules" in cannot_answer(replace(known, offline=True))


def test_of_a_model_without_a_known_limit_as_much_is_asked_as_the_questions_take(
    document: Document, client: ModelClient
) -> None:
    """And of one that writes less than that, what it writes."""
    caps = {}
    for most in (None, 5, 100_000):
        model = ModelInfo("openai/any", "any", None, most)
        forget = client.serve(model, lambda _request, _emit, _cancelled: None)
        caps[most] = {
            name: one.max_output_tokens
            for name, one in planned(document, order("openai/any")).requests.items()
        }
        forget()
    assert caps[None] == caps[100_000] and set(caps[5].values()) == {5}
    assert all(cap and cap > 5 for cap in caps[None].values())


def test_a_draft_is_tested_as_if_it_were_committed(document: Document, server: ChatServer) -> None:
    server.plan(knows)
    settings = replace(Settings.of(EXPLORER), keep_recent_tokens=5)
    above = document.tree.columns.parent[compaction(document)]
    shown = document.compaction.preview(above, EXPLORER, settings)
    context = draft_context(document, shown, f"Done.\n{LOST_WORD}")
    (test,) = plan_tests(document, [context], order())
    result = asyncio.run(run_test(document, test, order()))
    right = [one.question.answer for one in result.cloze if one.results["after"] is Recall.RIGHT]
    assert right and all(answer in LOST_WORD for answer in right)
    after = texts(server.requests[0])
    assert LOST_WORD in after[1] and not any("staging" in text for text in after[:-1])

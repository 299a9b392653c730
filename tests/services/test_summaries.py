"""Summaries over real HTTP: another try, another model, windows, a reminder, a few sentences.

Whatever it takes, every call is on record, and the session changes by a commit alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.summary import form_of
from explorer.models.client import (
    EXTRACTIVE,
    REMOTE,
    Cancelled,
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelInfo,
)
from explorer.models.retry import Patience, RetryPolicy
from explorer.services import summary_call
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.store import Store
from explorer.tokens.estimate import estimate_text
from explorer.workbench import Workbench
from tests.models.endpoint import Endpoint, Reply
from tests.models.server import (
    OVERFLOW,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Plan,
    Stall,
    taken,
)
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
EXPLORER = PROFILES["explorer"]
SHOWING = replace(EXPLORER, short_summary=True)
COPILOT = PROFILES["copilot"]
MODEL, OTHER, SMALL = "openai/test-model", "openai/other-model", "openai/small-model"
SMALL_WINDOW = 6000
KEYS = ("Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps")


def answer(*headings: str, text: str = "it") -> str:
    return "\n\n".join(f"## {name}\n- {text}" for name in headings)


GOOD = answer(*KEYS, "Critical Context")
INCOMPLETE = answer("Goal", "Progress")
SHORT = "I fixed the lost wake in retry.py. All 65 tests pass."


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.forget()
    running.plan(Answer(text=GOOD))
    return running


@pytest.fixture(scope="module")
def client(running: ChatServer) -> Iterator[ModelClient]:
    models = (
        ModelInfo(MODEL, "test", None, None),
        ModelInfo(OTHER, "other", 200_000, 900),
        ModelInfo(SMALL, "small", SMALL_WINDOW, 700),
        ModelInfo(EXTRACTIVE, "offline", 5000, 1000, True),
    )
    opened = ModelClient(
        ModelClientConfig(models=models, api_base=running.url, timeout_s=20, idle_timeout_s=20)
    )
    yield opened
    opened.close()


@pytest.fixture
def document(client: ModelClient, database: Path) -> Iterator[Document]:
    bench = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    yield bench.open_blocking(bench.import_blocking(SAMPLE).key)
    bench.store.close()


class Person:
    """Gives orders and remembers what they were told."""

    def __init__(self, *models: str, tries: int = 3) -> None:
        self.models = models or (MODEL,)
        self.cancel = CancelToken()
        self.waited: list[float] = []
        self.told: list[str] = []
        self.seen: dict[str, str] = {}
        """What stands on the screen per purpose."""
        self.tries = tries

    def order(self, **more: Any) -> SummaryOrder:
        async def sleep(seconds: float) -> None:
            self.waited.append(seconds)

        def on_text(purpose: str, piece: str) -> None:
            self.seen[purpose] = self.seen.get(purpose, "") + piece

        return SummaryOrder(
            "",
            self.models[0],
            on_text,
            self.cancel,
            fallbacks=self.models[1:],
            on_progress=self.told.append,
            on_restart=lambda purpose: self.seen.pop(purpose, None),
            patience=Patience(RetryPolicy(tries=self.tries), sleep, lambda: 0.0),
            **more,
        )


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def compaction(document: Document, profile: Profile = EXPLORER) -> Partition:
    """A compaction whose cut does not split a turn."""
    settings = replace(Settings.of(profile), keep_recent_tokens=5000)
    shown = document.compaction.preview(None, profile, settings)
    assert isinstance(shown.preparation, Preparation)
    if shown.preparation.is_split_turn and profile.split == "two-summaries":
        shown = document.compaction.preview(
            None, profile, settings, cut=shown.preparation.turn_start
        )
    return shown


def summarize(
    document: Document, person: Person, profile: Profile = EXPLORER, **more: Any
) -> Draft:
    return wait(document.compaction.summarize(compaction(document, profile), person.order(**more)))


def steps(draft: Draft) -> list[tuple[str, str, str]]:
    return [(each.why, each.model, each.kind) for each in draft.attempts]


def recorded(document: Document) -> list[tuple[str, str, str]]:
    """The same, out of the database."""
    row = document.shared.store.drafts(document.key)[-1]
    assert len(row.requests) == len(row.answers) == len(row.facts["attempts"])
    return [(each["why"], each["model"], each["kind"]) for each in row.facts["attempts"]]


def state(document: Document) -> tuple[int, int, list[int]]:
    return len(document.tree), document.leaf, document.context().messages


# another try ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (HttpFailure(503, "come back later"), "server"),
        (HttpFailure(429, "slow down", retry_after="3"), "rate_limit"),
        (Cut(2), "network"),
    ],
)
def test_a43_what_may_pass_is_tried_again_and_recorded(
    document: Document, server: ChatServer, failure: Plan, kind: str
) -> None:
    person = Person()
    server.plan(failure, Answer(text=GOOD))
    draft = summarize(document, person)
    assert steps(draft) == [("first", MODEL, kind), ("retry", MODEL, "")] == recorded(document)
    assert person.waited == [3.0 if kind == "rate_limit" else 1.0]
    assert draft.attempts[1].waited_s == person.waited[0]
    assert "Trying again in" in person.told[0]
    assert person.seen["history"] == GOOD, "the pieces of the try that failed are void"
    assert draft.summary.startswith(GOOD)


def test_a43_when_all_tries_fail_the_session_is_as_it_was(
    document: Document, server: ChatServer
) -> None:
    before, person = state(document), Person()
    server.plan(HttpFailure(500, "it fell over"))
    with pytest.raises(DraftFailed, match="fell over"):
        summarize(document, person)
    assert state(document) == before
    assert [why for why, _, _ in recorded(document)] == ["first", "retry", "retry"]
    assert person.waited == [1.0, 2.0]


def test_a43_the_next_model_is_asked_when_one_fails_for_good(
    document: Document, server: ChatServer
) -> None:
    person = Person(MODEL, OTHER)
    server.plan(HttpFailure(401, "who are you"), model="test-model")
    draft = summarize(document, person)
    assert steps(draft) == [("first", MODEL, "auth"), ("next-model", OTHER, "")]
    assert recorded(document) == steps(draft)
    assert draft.model == OTHER, "who wrote it"
    assert document.shared.store.drafts(document.key)[-1].model == OTHER
    assert any(OTHER in told and "who are you" in told for told in person.told)
    assert server.requests[1]["max_tokens"] == 900  # E19: each model's own limit


def test_e12_overflow_is_neither_tried_again_nor_another_models_business(
    document: Document, server: ChatServer
) -> None:
    before, person = state(document), Person(MODEL, OTHER)
    server.plan(OVERFLOW, model="test-model")
    with pytest.raises(DraftFailed, match="maximum context length"):
        summarize(document, person)
    assert state(document) == before
    assert {model for _, model, _ in recorded(document)} == {MODEL}
    assert {why for why, _, _ in recorded(document)} == {"first", "halved"}
    assert person.waited == []


def test_e21_a_cancel_while_it_waits_for_another_try(
    document: Document, server: ChatServer
) -> None:
    before, person = state(document), Person()
    server.plan(HttpFailure(503, "later"))

    async def for_ever(_seconds: float) -> None:
        person.cancel.cancel()
        await asyncio.Event().wait()

    order = replace(person.order(), patience=Patience(RetryPolicy(), for_ever))
    with pytest.raises(Cancelled):
        wait(document.compaction.summarize(compaction(document), order))
    assert state(document) == before
    assert document.shared.store.drafts(document.key)[-1].status == "cancelled"
    assert [kind for _, _, kind in recorded(document)] == ["server"]


# a reminder -------------------------------------------------------------------------------------


def test_c7_an_answer_without_its_sections_is_asked_for_once_more(
    document: Document, server: ChatServer
) -> None:
    person = Person()
    server.plan(Answer(text=INCOMPLETE), Answer(text=GOOD))
    draft = summarize(document, person)
    assert steps(draft) == [("first", MODEL, "missing"), ("reminder", MODEL, "")]
    first, second = (body["messages"] for body in server.requests)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[2:]] == ["assistant", "user"]
    assert second[2]["content"] == INCOMPLETE
    assert "Sections are missing: Constraints & Preferences, Key Decisions" in second[3]["content"]
    assert draft.summary.startswith(GOOD)
    assert person.seen["history"] == GOOD
    row = document.shared.store.drafts(document.key)[-1]
    assert [each["text"] for each in row.answers] == [INCOMPLETE, GOOD]
    assert row.requests[1]["request"]["messages"][3]["content"] == second[3]["content"]


@pytest.mark.parametrize(
    ("plan", "kind", "said"),
    [
        (Answer(text=""), "empty", "empty"),
        (Answer(text=GOOD, finish="length"), "cut-short", "cut short"),  # E5
        (Answer(text=INCOMPLETE), "missing", "Sections are missing"),
        (Answer(text=GOOD + "\n\n## Goal\nagain"), "repeated", "more than once: Goal"),  # E20
        (Answer(text=GOOD + " word" * 60_000), "too-large", "nothing is gained"),  # E16
    ],
    ids=["B12 empty", "E5 cut short", "C7 missing", "E20 repeated", "E16 too large"],
)
def test_c7_two_bad_answers_fail_and_change_nothing(
    document: Document, server: ChatServer, plan: Answer, kind: str, said: str
) -> None:
    before = state(document)
    server.plan(plan)
    with pytest.raises(DraftFailed, match=said) as failed:
        summarize(document, Person())
    assert [part.text for part in failed.value.parts] == [plan.text], "it can be looked at"
    assert state(document) == before
    assert recorded(document) == [("first", MODEL, kind), ("reminder", MODEL, kind)]
    assert document.drafts.waiting() == []


def test_c7_another_model_is_asked_after_the_reminder(
    document: Document, server: ChatServer
) -> None:
    server.plan(Answer(text=INCOMPLETE), model="test-model")
    draft = summarize(document, Person(MODEL, OTHER))
    assert [why for why, _, _ in steps(draft)] == ["first", "reminder", "next-model"]


def test_b12_what_pi_is_answered_is_stored_as_it_comes(
    document: Document, server: ChatServer
) -> None:
    server.plan(Answer(text="no sections", finish="length"))
    draft = summarize(document, Person(), PROFILES["pi"])
    assert draft.summary.startswith("no sections")
    assert len(draft.attempts) == 1


def test_a26_copilots_analysis_is_not_kept(document: Document, server: ChatServer) -> None:
    names = form_of(COPILOT, "history").required
    told = "\n".join(f"{at}. {name}: words" for at, name in enumerate(names, 1))
    server.plan(Answer(text=f"<analysis>thoughts</analysis>\n<summary>\n{told}"))
    draft = summarize(document, Person(), COPILOT)
    assert draft.summary.startswith(told)
    assert "thoughts" in draft.attempts[0].text, "the record has the whole answer"
    assert "thoughts" not in draft.summary


# windows ----------------------------------------------------------------------------------------


def check_windows(server: ChatServer, draft: Draft, window: int) -> None:
    """Each call fits, goes on from the one before, and together they tell every entry once."""
    used = [each for each in draft.attempts if not each.problem]
    assert [each.window for each in used] == list(range(1, len(used) + 1))
    told: list[int] = []
    for before, each in zip([None, *used], used, strict=False):
        prompt = each.request.messages[1].text
        cap = each.request.max_output_tokens or 0
        assert sum(estimate_text(m.text) for m in each.request.messages) + cap <= window
        if before is not None:  # the first one updates what an earlier compaction left
            assert f"<previous-summary>\n{before.text}\n</previous-summary>" in prompt
        assert each.sources
        for start, end, entry in each.sources:
            assert 0 < start < end <= len(prompt)
            # Behind the conversation stands only the summary that is updated.
            told += [entry] if end <= prompt.index("\n</conversation>") else []
    assert told == sorted(told)


def test_c6_what_is_too_long_for_the_models_window_is_read_in_parts(
    document: Document, server: ChatServer
) -> None:
    server.window = SMALL_WINDOW
    server.plan(*(Answer(text=answer(*KEYS, "Critical Context", text=f"part {n}"))
                  for n in range(1, 40)))  # fmt: skip
    person, shown = Person(SMALL), compaction(document)
    (whole,) = document.compaction.requests(shown, model=SMALL)
    assert estimate_text(whole.prompt) > 2 * SMALL_WINDOW, "the sample is long enough"
    draft = wait(document.compaction.summarize(shown, person.order()))
    count = len(draft.attempts)
    assert count > 2 and all(not each.problem for each in draft.attempts)
    check_windows(server, draft, SMALL_WINDOW)
    assert {entry for each in draft.attempts for _, _, entry in each.sources} == {
        span.entry for span in whole.sources
    }
    assert f"part {count}" in draft.summary and f"part {count - 1}" not in draft.summary
    parts = [told.split("reading part ")[1] for told in person.told if "reading part " in told]
    assert [part.split(" of about ")[0] for part in parts] == [str(n + 1) for n in range(count)]
    assert parts[-1] == f"{count} of about {count}."
    assert recorded(document) == steps(draft)
    row = document.shared.store.drafts(document.key)[-1]
    assert [len(call["sources"]) for call in row.requests] == [
        3 * len(each.sources) for each in draft.attempts
    ]


@pytest.mark.parametrize("named", [True, False], ids=["said by the error", "not said"])
def test_c6_e12_a_window_that_nobody_knew_is_found_by_halving(
    document: Document, server: ChatServer, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider refuses what is larger than its window, by its own count of the tokens."""
    server.window = 8192
    if not named:
        silent = replace(OVERFLOW, message="That is too much for this model.")
        monkeypatch.setattr("tests.models.server.OVERFLOW", silent)
    draft = summarize(document, Person(MODEL))
    kinds = [kind for _, _, kind in steps(draft)]
    assert kinds[0] == "overflow" and kinds[-1] == ""
    assert all(each.why in ("first", "halved", "window") for each in draft.attempts)
    for body, each in zip(server.requests, draft.attempts, strict=True):
        assert (taken(body) > 8192) == (each.kind == "overflow")
    assert len(draft.attempts) < 30
    assert draft.summary.startswith(GOOD)


def test_c6_halving_ends(document: Document, server: ChatServer) -> None:
    before = state(document)
    server.plan(replace(OVERFLOW, message="no"))
    with pytest.raises(DraftFailed, match="no"):
        summarize(document, Person())
    assert state(document) == before
    assert len(server.requests) <= 8


def test_c6_a_window_is_not_halved_for_another_reason(
    document: Document, server: ChatServer
) -> None:
    server.window = SMALL_WINDOW
    server.plan(Answer(text=answer(*KEYS)), HttpFailure(401, "who are you"))
    with pytest.raises(DraftFailed, match="who are you"):
        wait(document.compaction.summarize(compaction(document), Person(SMALL).order()))
    assert len(server.requests) == 2


def test_c6_e21_cancel_between_two_windows(document: Document, server: ChatServer) -> None:
    before, person = state(document), Person(SMALL)
    server.plan(Answer(text=GOOD), Answer(text=GOOD), Stall(after=1))

    async def give_up() -> None:
        task = asyncio.ensure_future(
            document.compaction.summarize(compaction(document), person.order())
        )
        while len(server.requests) < 3:
            await asyncio.sleep(0.02)
        person.cancel.cancel()
        with pytest.raises(Cancelled):
            await task

    wait(give_up())
    assert state(document) == before
    assert [kind for _, _, kind in recorded(document)] == ["", "", "cancelled"]
    assert document.shared.client.running == 0


def test_c6_the_offline_summarizer_carries_a_fact_from_the_first_window_to_the_last(
    document: Document,
) -> None:
    """Its window is made small here; what the first messages demand is in the end's summary."""
    shown = compaction(document)
    draft = wait(document.compaction.summarize(shown, Person(EXTRACTIVE).order()))
    assert len(draft.attempts) > 3
    assert "0.25 s" in draft.attempts[0].request.messages[1].text
    assert "0.25 s" in draft.summary
    for name in (*KEYS, "Critical Context"):
        assert draft.summary.count(f"\n## {name}\n") + draft.summary.startswith(f"## {name}") == 1


# sentences for display --------------------------------------------------------------------------


def apart(
    document: Document, server: ChatServer, monkeypatch: pytest.MonkeyPatch, plan: Plan
) -> None:
    """Let the provider answer the request for sentences with a plan of its own."""
    others = server._next

    def chosen(body: dict[str, Any]) -> Plan:
        asked = document.shared.templates.short in body["messages"][1]["content"]
        return plan if asked else others(body)

    monkeypatch.setattr(server, "_next", chosen)


def test_a25_a_few_sentences_are_made_beside_the_summary_and_stored(
    document: Document, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart(document, server, monkeypatch, Answer(text=SHORT))
    draft = summarize(document, Person(), SHOWING)
    history, short = draft.attempts
    assert (history.purpose, short.purpose) == ("history", "short")
    assert short.request.max_output_tokens == 512  # B10
    kept = document.context().messages[-1]
    assert short.sources[-1].entry == kept, "it is about the newest messages"
    assert draft.summary.startswith(GOOD)
    assert draft.short_summary == SHORT
    index = wait(document.compaction.commit(draft))
    assert document.payloads.shown.entry(index).recorded["shortSummary"] == SHORT
    assert not any(SHORT in message.text for message in document.agent.messages()), "only shown"


def test_a25_both_are_asked_at_the_same_time(document: Document, server: ChatServer) -> None:
    server.plan(Stall(after=1))
    person = Person()

    async def both() -> None:
        shown = compaction(document, SHOWING)
        task = asyncio.ensure_future(document.compaction.summarize(shown, person.order()))
        for _ in range(400):
            if len(server.requests) == 2:
                break
            await asyncio.sleep(0.02)
        arrived = len(server.requests)
        person.cancel.cancel()
        with pytest.raises(Cancelled):
            await task
        assert arrived == 2

    wait(both())
    assert document.shared.client.running == 0


@pytest.mark.parametrize("how", ["refused", "empty", "hangs"])
def test_a25_its_failure_never_fails_the_compaction(
    document: Document, server: ChatServer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: dict[str, Plan] = {
        "refused": HttpFailure(400, "no"),
        "empty": Answer(text=""),
        "hangs": Stall(after=0),
    }
    apart(document, server, monkeypatch, plans[how])
    monkeypatch.setattr(summary_call, "SHORT_GRACE_S", 0.3)
    draft = summarize(document, Person(), SHOWING)
    assert draft.status == "done"
    assert draft.short_summary == ""
    assert draft.attempts[0].purpose == "history"
    assert all(each.problem for each in draft.attempts if each.purpose == "short")
    index = wait(document.compaction.commit(draft))
    assert "shortSummary" not in document.payloads.shown.entry(index).recorded
    assert document.shared.client.running == 0


# a service ------------------------------------------------------------------------------------


def test_a29_a_profiles_endpoint_is_asked_and_gives_the_sentences_along(
    document: Document, server: ChatServer
) -> None:
    with Endpoint(Reply(json={"summary": GOOD, "shortSummary": SHORT})) as endpoint:
        profile = replace(SHOWING, remote_endpoint=endpoint.url)
        person = Person()
        draft = summarize(document, person, profile)
    (request,) = document.compaction.requests(compaction(document, SHOWING))[:1]
    assert endpoint.requests == [{"systemPrompt": request.system, "prompt": request.prompt}]
    assert server.requests == []
    assert steps(draft) == [("first", REMOTE, "")] == recorded(document)
    assert (draft.model, draft.short_summary) == (REMOTE, SHORT)
    assert person.seen["history"] == GOOD
    index = wait(document.compaction.commit(draft))
    assert document.payloads.shown.entry(index).recorded["shortSummary"] == SHORT
    row = document.shared.store.drafts(document.key)[-1]
    assert row.requests[0]["request"]["endpoint"] == endpoint.url


def test_a29_without_sentences_it_is_asked_for_them(document: Document) -> None:
    replies = (Reply(json={"summary": GOOD}), Reply(json={"data": {"summary": SHORT}}))
    with Endpoint(*replies) as endpoint:
        draft = summarize(document, Person(), replace(SHOWING, remote_endpoint=endpoint.url))
    assert [each.purpose for each in draft.attempts] == ["history", "short"]
    assert draft.short_summary == SHORT
    assert document.shared.templates.short in endpoint.requests[1]["prompt"]


def test_a29_a43_the_models_are_asked_where_it_fails(
    document: Document, server: ChatServer
) -> None:
    with Endpoint(Reply(status=404)) as endpoint:
        draft = summarize(document, Person(), replace(EXPLORER, remote_endpoint=endpoint.url))
    assert steps(draft) == [("first", REMOTE, "unavailable"), ("next-model", MODEL, "")]
    assert draft.model == MODEL
    assert len(server.requests) == 1


def test_c7_it_is_reminded_like_a_model(document: Document) -> None:
    replies = (Reply(json={"summary": INCOMPLETE}), Reply(json={"summary": GOOD}))
    with Endpoint(*replies) as endpoint:
        draft = summarize(document, Person(), replace(EXPLORER, remote_endpoint=endpoint.url))
    assert [why for why, _, _ in steps(draft)] == ["first", "reminder"]
    assert "Sections are missing" in endpoint.requests[1]["prompt"]


def test_c6_what_is_too_large_for_it_is_sent_in_parts(document: Document) -> None:
    replies = (Reply(status=413, body=b"too much"), Reply(json={"summary": GOOD}))
    with Endpoint(*replies) as endpoint:
        draft = summarize(document, Person(), replace(EXPLORER, remote_endpoint=endpoint.url))
    assert [each.window for each in draft.attempts] == [0, 1, 2, *range(3, len(draft.attempts))]
    longest = max(len(body["prompt"]) for body in endpoint.requests[1:])
    assert longest < len(endpoint.requests[0]["prompt"])


# the record -------------------------------------------------------------------------------------


def test_a_waiting_draft_comes_back_with_all_its_calls(
    document: Document, server: ChatServer
) -> None:
    server.plan(HttpFailure(503, "later"), Answer(text=INCOMPLETE), Answer(text=GOOD))
    draft = summarize(document, Person(), facts={"trigger": "manual"})
    ((again, text),) = document.drafts.waiting()
    assert (again.attempts, text) == (draft.attempts, draft.summary)
    assert [each.why for each in again.attempts] == ["first", "retry", "reminder"]
    assert (again.model, again.short_summary) == (draft.model, draft.short_summary)
    assert again.facts["trigger"] == "manual"
    assert again.facts == dict(draft.facts)

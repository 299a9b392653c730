"""What an opened session took, and how a change of model is said in it, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from explorer.models.client import CancelToken, ModelClient, ModelClientConfig, ModelInfo
from explorer.services.agent_turns import SessionTurns, TurnPort
from explorer.services.document import Document
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.workbench import Workbench
from tests.formats.claude_lines import SESSION, Lines
from tests.models.server import Answer, ChatServer
from tests.services.conftest import SAMPLE, Clock
from tests.services.test_over_http import GOOD, compaction, order

T = TypeVar("T")
MODEL = "openai/test-model"
PRICED = ModelInfo(
    MODEL, "test", 200_000, 700, input_price=1e-6, output_price=1e-5, cache_read_price=1e-7
)
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 800},
}
COST = 200 * 1e-6 + 800 * 1e-7 + 50 * 1e-5


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    config = ModelClientConfig(
        models=(PRICED,), api_base=server.url, timeout_s=20, idle_timeout_s=20
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


@pytest.fixture
def bench(server: ChatServer, client: ModelClient, database: Path) -> Iterator[Workbench]:
    server.forget()
    made = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    yield made
    made.store.close()


@pytest.fixture
def document(bench: Workbench) -> Document:
    return bench.open_blocking(bench.import_blocking(SAMPLE).key)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def say(document: Document, text: str) -> Any:
    return SessionTurns(document, MODEL, None, CancelToken(), lambda _event: None).say(text)


def test_a_reply_is_stored_with_what_it_cost(document: Document, server: ChatServer) -> None:
    async def go() -> None:
        await document.usage.follow()
        before = document.usage.session().total
        server.plan(Answer(usage=USAGE))
        await say(document, "hello")
        assert not document.usage.is_whole
        await document.usage.follow()
        assert document.usage.is_whole
        reply = document.usage.of(document.leaf).replies
        assert (reply.input, reply.cache_read, reply.output) == (200, 800, 50)
        assert reply.cost == pytest.approx(COST)
        assert document.usage.turn(document.leaf).replies == reply
        after = document.usage.session().total
        assert after.cost - before.cost == pytest.approx(COST)
        branch = document.usage.branch(document.leaf).total
        assert before.cost < after.cost and COST < branch.cost <= after.cost

    wait(go())
    usage = document.payloads.shown.entry(document.leaf).recorded["message"]["usage"]
    assert usage["cost"]["total"] == pytest.approx(COST)


def test_what_nobody_counted_is_no_spending(document: Document, server: ChatServer) -> None:
    async def go() -> None:
        server.plan(Answer(usage=None))
        await say(document, "hello")
        await document.usage.follow()
        assert document.usage.of(document.leaf).replies.uncounted == 1
        assert document.usage.of(document.leaf).replies.tokens == 0

    wait(go())


def test_drafts_are_counted_apart_used_or_not(document: Document, server: ChatServer) -> None:
    async def go() -> None:
        await document.usage.follow()
        replies = document.usage.session()
        server.plan(Answer(text=GOOD, usage=USAGE))
        for _ in range(2):
            await document.compaction.summarize(compaction(document), order())
        await document.usage.follow()
        drafts = document.usage.drafts
        assert (drafts.calls, drafts.input, drafts.output) == (2, 400, 100)
        assert drafts.cost == pytest.approx(2 * COST)
        assert document.usage.session() == replies

    wait(go())


def test_the_bundled_session_tells_what_it_took(document: Document) -> None:
    """Figures of an imported session are taken as its agent recorded them."""
    wait(document.usage.follow())
    told = [
        usage
        for at in range(len(document.tree))
        if document.tree.kind(at) is Kind.ASSISTANT
        and (usage := document.payloads.shown.entry(at).recorded["message"].get("usage"))
    ]
    total = document.usage.session().replies
    assert total.input == sum(usage["input"] for usage in told)
    assert total.cache_read == sum(usage["cacheRead"] for usage in told)
    assert total.cost == pytest.approx(sum(usage["cost"]["total"] for usage in told))


# changes of model ---------------------------------------------------------------------------------


def test_only_what_differs_is_said(document: Document) -> None:
    async def go() -> None:
        known = document.context()
        assert await TurnPort(document, known.model).note_model(None) == ()
        entries = await TurnPort(document, "openai/new/one").note_model("low")
        assert [document.tree.kind(at) for at in entries] == [
            Kind.MODEL_CHANGE, Kind.THINKING_LEVEL_CHANGE,
        ]  # fmt: skip
        first, second = (document.payloads.shown.entry(at).recorded for at in entries)
        assert (first["provider"], first["modelId"]) == ("openai", "new/one")
        assert second["thinkingLevel"] == "low"
        assert await TurnPort(document, "openai/new/one").note_model("low") == ()
        assert len(await TurnPort(document, "openai/new/one").note_model("off")) == 1
        assert document.context().thinking_level == "off"

    wait(go())


def test_a_model_without_a_provider_is_said_once(document: Document) -> None:
    async def go() -> None:
        assert len(await TurnPort(document, "alone").note_model()) == 1
        assert await TurnPort(document, "alone").note_model() == ()

    wait(go())


def test_a_change_holds_on_its_branch_alone(document: Document) -> None:
    async def go() -> None:
        before, model = document.leaf, document.context().model
        await TurnPort(document, "openai/new").note_model()
        await document.writer.move_leaf(before)
        assert document.context().model == model
        assert len(await TurnPort(document, "openai/new").note_model()) == 1

    wait(go())


def test_first_counts_of_an_imported_session_are_a_lower_bound(
    bench: Workbench, tmp_path: Path
) -> None:
    lines = Lines().user("u1", "hi").reply("a1", "msg_1", "Hello.", stop_reason=None)
    path = lines.reply("a2", "msg_2", "Again.").write(tmp_path / f"{SESSION}.jsonl")
    document = bench.open_blocking(bench.import_blocking(path).key)
    wait(document.usage.follow())
    whole = document.usage.session().total
    assert (whole.tokens, whole.output, whole.calls, whole.uncounted) == (270, 10, 1, 1)
    assert document.usage.recorded_window == 0, "Claude Code knows it, the file does not say it"


@pytest.mark.parametrize(
    ("model", "prompt", "window"),
    [("claude-opus-5", 250_000, 1_000_000), ("claude-opus-5", 190_000, 0), ("m-1", 250_000, 0)],
)
def test_a_session_that_outgrew_the_smaller_window_of_claude_had_the_larger(
    bench: Workbench, tmp_path: Path, model: str, prompt: int, window: int
) -> None:
    spent = {"input_tokens": prompt, "output_tokens": 10}
    lines = Lines().user("u1", "hi").reply("a1", "msg_1", "Hello.", model=model, usage=spent)
    less = {"input_tokens": 30_000, "output_tokens": 10}
    lines.user("u2", "go on").reply("a2", "msg_2", "Done.", model=model, usage=less)
    path = lines.write(tmp_path / f"{SESSION}.jsonl")
    usage = bench.open_blocking(bench.import_blocking(path).key).usage
    assert (usage.recorded_window, usage.inferred_window) == (0, window)


def test_who_stops_waiting_and_asks_again_counts_nothing_twice(document: Document) -> None:
    async def go() -> None:
        wanted = asyncio.ensure_future(document.usage.follow(gently=True))
        await asyncio.sleep(0)
        wanted.cancel()
        await asyncio.wait([wanted])
        await document.usage.follow()

    wait(go())
    again = document.usage.session()
    fresh = type(document.usage)(
        document.shared.store, document.writer, document.payloads.stored, document.models.info
    )
    wait(fresh.follow())
    assert again == fresh.session()
    assert again.total.calls > 0

"""Turns of the agent over real HTTP, in both languages that providers speak, with real tools.

Whatever the provider does and whenever the person stops, the session is whole afterwards, a person
is told what happened, and the next message works.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest, Approvals
from explorer.agent.loop import TurnLimits
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.turn_interface import (
    MessageQueue,
    Steered,
    Stored,
    ToolOutput,
    ToolStarted,
    TurnEvent,
    TurnResult,
    UserPrompt,
)
from explorer.agent.workspace import Workspace
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ImagePart,
    ModelClient,
    ModelClientConfig,
    ModelInfo,
    TextDelta,
    ThinkingDelta,
)
from explorer.models.retry import Retry, RetryPolicy
from explorer.services.agent_turns import NOTHING_LEFT, SessionTurns
from explorer.services.document import Document
from explorer.services.session_files import tools_of
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.workbench import Workbench
from tests.agent.desk import check_pairs
from tests.models.server import (
    OVERFLOW,
    SERVER_ERROR,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Malformed,
    Plan,
    Stall,
    StreamFailure,
    WrongOrder,
    calls,
    huge_call,
    ten_calls,
)
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
MODELS = ("openai/test-model", "anthropic/test-model")
ONCE = RetryPolicy(tries=1)
TWICE = RetryPolicy(tries=2, first_wait_s=0.01, jitter=0)
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
each_model = pytest.mark.parametrize("desk", MODELS, indirect=True)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a coroutine."""
    return wraps(test)(lambda *given, **named: wait(test(*given, **named)))


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    """One client for all tests: litellm takes seconds to import."""
    infos = tuple(ModelInfo(model, "test", 200_000, 4_000) for model in MODELS)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_API_KEY", "none-of-ours")
        environment.setenv("ANTHROPIC_API_BASE", server.root)
        config = ModelClientConfig(
            models=infos, api_base=server.url, timeout_s=20, idle_timeout_s=20
        )
        opened = ModelClient(config)
        yield opened
        opened.close()


class Asked:
    """Who is asked for consent, and answers when a test says so."""

    def __init__(self, answer: ApprovalAnswer | None) -> None:
        self.answer = answer
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        self.requests.append(request)
        while self.answer is None:
            if cancel.cancelled:
                raise Cancelled
            await asyncio.sleep(0.01)
        return self.answer


@dataclass
class Desk:
    """A session in a folder, with all tools and without questions."""

    document: Document
    server: ChatServer
    tools: WorkspaceTools
    folder: Path
    model: str
    cancel: CancelToken = field(default_factory=CancelToken)
    queue: MessageQueue = field(default_factory=MessageQueue)
    events: list[TurnEvent] = field(default_factory=list)
    retry: RetryPolicy = ONCE
    on_event: Callable[[TurnEvent], None] = lambda _event: None
    options: dict[str, Any] = field(default_factory=dict)

    def _take(self, event: TurnEvent) -> None:
        self.events.append(event)
        self.on_event(event)

    def _turns(self) -> SessionTurns:
        return SessionTurns(
            self.document, self.model, self.tools, self.cancel, self._take, None, self.retry,
            queue=self.queue, **self.options,
        )  # fmt: skip

    async def say(self, prompt: UserPrompt | str = "Go.") -> TurnResult:
        return await self._turns().say(prompt)

    async def resume(self) -> TurnResult:
        self.cancel = CancelToken()
        return await self._turns().resume()

    def stop_at(self, kind: type, text: str = "") -> None:
        """Stop the turn at the first event of a kind, or one that holds a text."""

        def on_event(event: TurnEvent) -> None:
            if isinstance(event, kind) and text in str(getattr(event, "text", "")):
                self.cancel.cancel()

        self.on_event = on_event

    def messages(self, result: TurnResult) -> list[dict[str, Any]]:
        return [
            dict(self.document.payloads.shown.entry(entry).recorded["message"])
            for entry in result.entries
        ]

    def results(self, result: TurnResult) -> list[dict[str, Any]]:
        """Of its messages those of tools."""
        return [one for one in self.messages(result) if one["role"] == "toolResult"]

    def check(self, result: TurnResult) -> None:
        """The session is whole, as it is here and as the database has it."""
        document = self.document
        check_pairs(document.agent.messages(model=self.model))
        assert document.agent.open_calls() == []
        for message in self.messages(result):
            if message.get("stopReason") in ("error", "aborted"):
                assert message["errorMessage"]
                assert not [b for b in message["content"] if b["type"] == "toolCall"]
        stored = document.shared.store.load(document.key)
        assert (len(stored.tree), stored.leaf) == (len(document.tree), document.leaf)
        assert bool(result.error) == (result.end not in ("done", "stopped"))

    async def check_next(self) -> None:
        """The next message is answered, and its request is one that providers take."""
        self.server.requests.clear()
        self.server.plan(Answer(text="Here I am."))
        self.cancel, self.on_event = CancelToken(), lambda _event: None
        result = await self.say("And now?")
        assert (result.end, result.error) == ("done", "")
        check_sent(self.server.requests[-1])


def check_sent(body: dict[str, Any]) -> None:
    """Every call that is sent is followed by its result, in either language."""
    waiting: list[str] = []
    for message in body["messages"]:
        content = message.get("content")
        content = content if isinstance(content, list) else []
        results = [b["tool_use_id"] for b in content if b.get("type") == "tool_result"]
        if message["role"] == "tool":
            results = [message["tool_call_id"]]
        if waiting:
            assert results, "a call without its result"
        for result in results:
            assert result in waiting, "a result of nobody"
            waiting.remove(result)
        if message["role"] == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
            waiting += [block["id"] for block in content if block.get("type") == "tool_use"]
    assert not waiting


@pytest.fixture
def desk(
    request: pytest.FixtureRequest,
    server: ChatServer,
    client: ModelClient,
    database: Path,
    tmp_path: Path,
) -> Iterator[Desk]:
    """With the first model, or another where the test names one."""
    server.forget()
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ports.txt").write_text("The server listens on 8431.\n")
    store = Store.open(database)
    bench = Workbench(store, client, clock_ms=Clock(), random=Random(7))
    document = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    tools = tools_of(document, Workspace(folder), Approvals("yes"))
    yield Desk(document, server, tools, folder, getattr(request, "param", MODELS[0]))
    store.close()


# what providers do --------------------------------------------------------------------------------

FAILS: dict[str, tuple[Plan, str]] = {
    "cut in a text": (Cut(2), "ended before"),
    "cut in a call": (Cut(1, in_call=True), "ended before"),
    "cut without an end": (Cut(1, clean=False), "ended before"),
    "no JSON": (Malformed(), ""),
    "fails inside": (StreamFailure(), "Overloaded"),
    "500": (SERVER_ERROR, "error while processing"),
    "429": (HttpFailure(429, "Rate limit", retry_after="900"), "wait 900 seconds"),
    "401": (HttpFailure(401, "Incorrect API key provided"), "API key"),
    "overflow": (OVERFLOW, "maximum context length"),
    "502": (HttpFailure(502, raw_body="<html>bad gateway</html>"), ""),
    "filtered": (Answer(finish="content_filter"), "content filter"),
    "empty": (Answer(text=""), "empty"),
    "at its limit": (Answer(text="half of it", finish="length"), "cut short"),
    "at its limit in a call": (
        Answer(text="", tool_calls=(("a", "read", '{"pa'),), finish="length"), "cut short",
    ),
}  # fmt: skip


@each_model
@pytest.mark.parametrize("name", FAILS)
@in_loop
async def test_a_provider_that_fails_leaves_a_whole_session_and_a_sentence(
    desk: Desk, name: str
) -> None:
    plan, told = FAILS[name]
    desk.server.plan(calls(("read", {"path": "ports.txt"}), text="I look."), plan)
    result = await desk.say()
    assert result.end == ("cut_short" if "limit" in name else "failed")
    assert told in result.error
    desk.check(result)
    assert [m["role"] for m in desk.messages(result)[:3]] == ["user", "assistant", "toolResult"]
    await desk.check_next()


ODD: dict[str, Plan] = {
    "ten calls": ten_calls(),
    "a megabyte of arguments": huge_call(),
    "arguments first": WrongOrder("arguments-first"),
    "interleaved": WrongOrder("interleaved"),
    "finished early": WrongOrder("finish-early"),
    "usage first": WrongOrder("usage-first"),
    "no usage": Answer(tool_calls=(("a", "ls", "{}"),), finish="tool_calls", usage=None),
    "malformed arguments": Answer(tool_calls=(("a", "ls", '{"path": '),), finish="tool_calls"),
    "the same id twice": Answer(
        tool_calls=(("a", "ls", "{}"), ("a", "ls", "{}")), finish="tool_calls"
    ),
    "no id": Answer(tool_calls=(("", "ls", "{}"), ("", "ls", "{}")), finish="tool_calls"),
    "an unknown tool": calls(("fly", {"to": "the moon"})),
    "no arguments": Answer(tool_calls=(("a", "ls", ""),), finish="tool_calls"),
}


@each_model
@pytest.mark.parametrize("name", ODD)
@in_loop
async def test_a_provider_that_is_odd_is_worked_with(desk: Desk, name: str) -> None:
    desk.server.plan(ODD[name], Answer(text="Done."))
    result = await desk.say()
    desk.check(result)
    for body in desk.server.requests:
        check_sent(body)
    if (name, desk.model) == ("usage first", MODELS[1]):
        # There the count comes with the end, and litellm takes it for the end.
        assert (result.end, result.error) == ("failed", "The model's answer is empty.")
        return await desk.check_next()
    assert (result.end, result.error) == ("done", "")
    results = desk.results(result)
    assert len(results) == 10 if name == "ten calls" else results
    if name == "a megabyte of arguments":
        assert (desk.folder / "large.txt").stat().st_size == 1_000_000
    await desk.check_next()


@each_model
def test_an_answer_that_is_cut_is_asked_for_again_in_sight(desk: Desk) -> None:
    desk.retry = TWICE
    desk.server.plan(Cut(2), Answer(text="Whole."))
    result = wait(desk.say())
    assert result.end == "done"
    desk.check(result)
    stops = [message.get("stopReason") for message in desk.messages(result)]
    assert stops == [None, "error", "stop"]
    assert [event.failed for event in desk.events if isinstance(event, Retry)] == [1]
    assert "half an answer" not in str(desk.server.requests[1])


# thinking and pictures ----------------------------------------------------------------------------


def test_thinking_goes_back_with_its_signature_in_the_rounds_of_tools(desk: Desk) -> None:
    desk.model = MODELS[1]
    asks = Answer(
        text="I look.", thinking="Where is it?", signature="sig-of-it",
        tool_calls=(("a", "read", '{"path": "ports.txt"}'),), finish="tool_calls",
    )  # fmt: skip
    desk.server.plan(asks, Answer(text="8431."))
    result = wait(desk.say())
    assert result.end == "done"
    thought = desk.messages(result)[1]["content"][0]
    assert thought == {
        "type": "thinking", "thinking": "Where is it?", "thinkingSignature": "sig-of-it",
    }  # fmt: skip
    assert any(isinstance(event, ThinkingDelta) for event in desk.events)
    said = [m for m in desk.server.requests[1]["messages"] if m["role"] == "assistant"][-1]
    assert said["content"][0] == {
        "type": "thinking", "thinking": "Where is it?", "signature": "sig-of-it",
    }  # fmt: skip
    # Another model signed none of it.
    desk.model = MODELS[0]
    desk.server.plan(Answer(text="Yes."))
    assert wait(desk.say("Sure?")).end == "done"
    assert "sig-of-it" not in json.dumps(desk.server.requests[-1])
    kinds = [desk.document.tree.kind(at) for at in desk.document.tree.path(desk.document.leaf)]
    assert kinds[-3:] == [Kind.MODEL_CHANGE, Kind.USER, Kind.ASSISTANT]


@each_model
def test_pictures_of_a_person_and_of_a_tool_reach_the_model(desk: Desk) -> None:
    class Draws:
        def __getattr__(self, name: str) -> Any:
            return getattr(desk_tools, name)

        async def run(self, *arguments: Any) -> Any:
            outcome = await desk_tools.run(*arguments)
            return type(outcome)(outcome.text, images=(ImagePart("image/png", PIXEL),))

    desk_tools = desk.tools
    desk.tools = Draws()  # type: ignore[assignment]
    mine = PIXEL.replace("A", "B")
    desk.server.plan(calls(("read", {"path": "ports.txt"}), ("ls", {})), Answer(text="I see."))
    result = wait(desk.say(UserPrompt("Look.", (ImagePart("image/png", mine),))))
    assert (result.end, result.error) == ("done", "")
    desk.check(result)
    first, second = (json.dumps(body) for body in desk.server.requests)
    assert first.count(mine) == 1 and PIXEL not in first
    assert second.count(PIXEL) == 2
    check_sent(desk.server.requests[1])


# stopping -----------------------------------------------------------------------------------------

SLOW = 'sleep 300 & echo "$! $$" > pids.txt; echo started; wait'


def _alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().split()[2] != "Z"


@each_model
@pytest.mark.parametrize("where", ["silent", "text", "call", "thinking"])
@in_loop
async def test_a_stop_while_the_model_answers(desk: Desk, where: str) -> None:
    plans: dict[str, Plan] = {
        "silent": Stall(silent=True),
        "text": Stall(after=2, text="so far "),
        "call": Stall(after=1, text="so far ", in_call=True),
        "thinking": Answer(thinking="hm, hm", text="word " * 400, pieces=400, per_second=20),
    }

    desk.server.plan(plans[where])
    desk.stop_at({"thinking": ThinkingDelta}.get(where, TextDelta))
    turn = asyncio.ensure_future(desk.say())
    if where == "silent":
        while not desk.server.requests:
            await asyncio.sleep(0.01)
        desk.cancel.cancel()
    result = await turn
    assert (result.end, result.error) == ("stopped", "")
    desk.check(result)
    last = desk.messages(result)[-1]
    if where == "silent":
        assert last["role"] == "user"
    else:
        assert (last["stopReason"], last["errorMessage"]) == (
            "aborted", "Stopped by the person",
        )  # fmt: skip
        assert {b["type"] for b in last["content"]} <= {"text", "thinking"}
    assert desk.server.gone.wait(10), "the connection was let go"
    await desk.check_next()


@in_loop
async def test_a_stop_while_tools_run_kills_their_processes(desk: Desk) -> None:
    desk.server.plan(calls(("bash", {"command": SLOW}), ("ls", {}), ("read", {"path": "x"})))
    desk.stop_at(ToolOutput, "started")
    result = await asyncio.wait_for(desk.say(), 30)
    assert result.end == "stopped"
    desk.check(result)
    assert len(desk.results(result)) == 3
    pids = (desk.folder / "pids.txt").read_text().split()
    assert len(pids) == 2 and not any(_alive(int(pid)) for pid in pids)
    await desk.check_next()


@in_loop
async def test_a_stop_while_consent_is_asked_for_changes_nothing(desk: Desk) -> None:
    asked = Asked(None)
    desk.tools.approvals.mode, desk.tools.approvals.approver = "ask", asked

    new = {"path": "new.txt", "content": "new"}
    desk.server.plan(calls(("write", new), ("bash", {"command": "touch other.txt"})))
    turn = asyncio.ensure_future(desk.say())
    while not asked.requests:
        await asyncio.sleep(0.01)
    desk.cancel.cancel()
    result = await asyncio.wait_for(turn, 30)
    assert result.end == "stopped"
    desk.check(result)
    assert sorted(path.name for path in desk.folder.iterdir()) == ["ports.txt"]
    asked.answer = ApprovalAnswer("once")
    await desk.check_next()


def test_a_stop_while_it_waits_for_the_next_try(desk: Desk) -> None:
    desk.retry = RetryPolicy(tries=3, first_wait_s=60)
    for plan in (SERVER_ERROR, Cut(2)):
        desk.server.plan(plan)
        desk.stop_at(Retry)
        result = wait(desk.say())
        assert result.end == "stopped"
        desk.check(result)
        wait(desk.check_next())


@pytest.mark.parametrize("number", [0, 1, 2, 4, 6, 8, 10, 11])
def test_a_stop_at_any_event_of_a_turn(desk: Desk, number: int) -> None:
    """At the first event, and on to the end."""
    heard = 0

    def on_event(event: TurnEvent) -> None:
        nonlocal heard
        heard += 1
        if heard > number:
            desk.cancel.cancel()

    desk.on_event = on_event
    two = calls(("read", {"path": "ports.txt"}), ("write", {"path": "b", "content": "c"}), text="I")
    desk.server.plan(two, Answer(text="Done.", pieces=1))
    result = wait(desk.say())
    assert result.end == "stopped"
    desk.check(result)
    desk.on_event = lambda _event: None
    desk.server.plan(Answer(text="Done."))
    again = wait(desk.resume())
    assert again.end == "done"
    desk.check(again)
    wait(desk.check_next())


# the queue ----------------------------------------------------------------------------------------


@each_model
def test_messages_go_into_a_running_turn_and_after_it(desk: Desk) -> None:
    def on_event(event: TurnEvent) -> None:
        if isinstance(event, ToolStarted) and event.call.id == "call-0":
            desk.queue.follow_up(UserPrompt("Then rest."))
            desk.queue.steer(UserPrompt("Use port 9000."))
            desk.queue.follow_up(UserPrompt("And sleep."))

    desk.on_event = on_event
    desk.server.plan(
        calls(("read", {"path": "ports.txt"}), ("ls", {})),
        *[Answer(text=text) for text in ("As you say.", "Resting.", "Asleep.")],
    )
    result = wait(desk.say())
    assert result.end == "done"
    desk.check(result)
    said = [(m["role"], m["content"][0].get("text", "")) for m in desk.messages(result)]
    assert said[4:] == [
        ("user", "Use port 9000."), ("assistant", "As you say."), ("user", "Then rest."),
        ("assistant", "Resting."), ("user", "And sleep."), ("assistant", "Asleep."),
    ]  # fmt: skip
    steered = [event.prompt.text for event in desk.events if isinstance(event, Steered)]
    assert steered == ["Use port 9000.", "Then rest.", "And sleep."]
    for body in desk.server.requests:
        check_sent(body)


def test_after_a_failure_what_waits_is_not_sent(desk: Desk) -> None:
    desk.queue.follow_up(UserPrompt("Then rest."))
    desk.server.plan(SERVER_ERROR)
    assert wait(desk.say()).end == "failed"
    assert [each.prompt.text for each in desk.queue.waiting] == ["Then rest."]


# going on -----------------------------------------------------------------------------------------


def test_a_turn_that_failed_goes_on_where_it_was(desk: Desk) -> None:
    desk.server.plan(calls(("read", {"path": "ports.txt"})), SERVER_ERROR, Answer(text="8431."))
    assert wait(desk.say()).end == "failed"
    result = wait(desk.resume())
    assert (result.end, [m["role"] for m in desk.messages(result)]) == ("done", ["assistant"])
    assert desk.server.requests[1]["messages"] == desk.server.requests[2]["messages"]


def test_an_answer_that_was_cut_short_is_asked_to_go_on(desk: Desk) -> None:
    desk.server.plan(Answer(text="The first half", finish="length"), Answer(text="the rest"))
    assert wait(desk.say()).end == "cut_short"
    result = wait(desk.resume())
    assert result.end == "done"
    asks, goes_on = desk.messages(result)
    assert (asks["role"], asks["synthetic"], goes_on["content"][0]["text"]) == (
        "user", True, "the rest",
    )  # fmt: skip


def test_where_nothing_is_left_nothing_is_asked(desk: Desk) -> None:
    desk.server.plan(Answer(text="Done."))
    wait(desk.say())
    before = len(desk.document.tree)
    result = wait(desk.resume())
    assert (result.end, result.error, result.entries) == ("done", NOTHING_LEFT, ())
    assert (len(desk.server.requests), len(desk.document.tree)) == (1, before)


def test_a_limit_ends_a_turn_that_can_be_gone_on_with(desk: Desk) -> None:
    desk.options["limits"] = TurnLimits(rounds=2)
    desk.server.plan(
        calls(("read", {"path": "ports.txt"})), calls(("ls", {})), Answer(text="Done.")
    )
    result = wait(desk.say())
    assert (result.end, len(result.entries)) == ("limit", 5)
    desk.check(result)
    assert wait(desk.resume()).end == "done"


def test_an_agent_in_a_circle_is_told_and_ended(desk: Desk) -> None:
    desk.server.plan(calls(("read", {"path": "ports.txt"})))
    result = wait(desk.say())
    assert result.end == "looping"
    desk.check(result)
    assert len(desk.server.requests) == 5
    assert "3 times in a row" in json.dumps(desk.server.requests[3]["messages"])


def test_every_entry_is_told_of_once_it_is_safe(desk: Desk) -> None:
    seen: list[bool] = []

    def on_event(event: TurnEvent) -> None:
        if isinstance(event, Stored):
            stored = desk.document.shared.store.load(desk.document.key)
            seen.append(len(stored.tree) > event.entry)

    desk.on_event = on_event
    desk.server.plan(calls(("read", {"path": "ports.txt"})), Answer(text="Done."))
    wait(desk.say())
    assert seen == [True] * 4


def test_the_agent_is_told_where_it_works_and_what_it_may(desk: Desk) -> None:
    desk.options["date"] = "2026-11-21"
    wait(desk.say())
    system = desk.server.requests[0]["messages"][0]["content"]
    assert str(desk.folder) in system and "2026-11-21" in system and "check what you" in system
    desk.tools.approvals.mode = "read-only"
    wait(desk.say())
    assert "only look" in desk.server.requests[1]["messages"][0]["content"]
    desk.tools = None  # type: ignore[assignment]
    wait(desk.say())
    assert "no tools" in desk.server.requests[2]["messages"][0]["content"]
    assert "tools" not in desk.server.requests[2]

"""Summaries made ahead and at once, over real HTTP (A45, A47 to A54)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from explorer.agent.context_port import Outgoing
from explorer.agent.tools import read_only_tools
from explorer.agent.tools.context import ToolContext, ToolRun
from explorer.agent.tools.workspace_tools import run_read_only
from explorer.agent.workspace import Workspace
from explorer.compaction.background import RunState
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.profile.rules import PromptBudget
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelInfo,
    ModelRequest,
)
from explorer.services.auto_compaction.prompt_gate import PromptGate
from explorer.services.changes import BackgroundChanged, Change, CompactionEnded
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.session_files import transcripts_of
from explorer.services.summary_request import DraftFailed
from explorer.session.kinds import Kind
from explorer.store import DraftRow, Store
from explorer.workbench import Workbench
from tests.models.server import (
    OVERFLOW,
    RATE_LIMIT,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Stall,
)
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
MODEL = "openai/test-model"
COPILOT = PROFILES["copilot"]
SECTIONS = "1. Conversation Overview: the retry test flakes."
SUMMARY = f"<analysis>\nhm\n</analysis>\n<summary>\n{SECTIONS}\n</summary>"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    config = ModelClientConfig(
        models=(
            ModelInfo(MODEL, "test", 200_000, 700),
            ModelInfo("openai/summarizer", "test", 200_000, 700),
            ModelInfo("openai/claude-opus-test", "test", 200_000, 700),
        ),
        api_base=server.url,
        timeout_s=20,
        idle_timeout_s=20,
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


@pytest.fixture
def bench(server: ChatServer, client: ModelClient, database: Path) -> Iterator[Workbench]:
    server.plan(Answer(text=SUMMARY))
    server.requests.clear()
    server.gone.clear()
    server.started.clear()
    made = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    yield made
    made.store.close()


@pytest.fixture
def document(bench: Workbench) -> Document:
    return bench.open_blocking(bench.import_blocking(SAMPLE).key)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class Half:
    def random(self) -> float:
        return 0.5


class Rig:
    """A keeper whose window can be set, and what it said."""

    def __init__(
        self, document: Document, fill: float, profile: Profile = COPILOT, **rules: Any
    ) -> None:
        """``fill``: how full the prompt of the session is to be."""
        self.document = document
        self.model = str(rules.pop("model", MODEL))
        # Beside tools a tenth is held back, and what fills nine tenths does not fit (B19).
        self.tools = () if 0.86 < fill < 1.2 else read_only_tools()
        self.rules = replace(EffectiveRules.of(profile, MODEL), **rules)
        self.set_window(1_000_000)
        self.keeper = PromptGate(document, lambda: self.rules, Half())
        self.changes: list[Change] = []
        document.hub.subscribe(self.changes.append)
        self.fill = fill
        self.compactions = self._compactions()

    def set_window(self, tokens: int) -> None:
        sizes = replace(self.rules.settings, context_window=tokens)
        self.rules = replace(self.rules, settings=sizes)

    def _compactions(self) -> int:
        return self.document.tree.columns.kind.count(Kind.COMPACTION)

    @property
    def untouched(self) -> bool:
        """No compaction was added to the sample's own."""
        return self._compactions() == self.compactions

    @property
    def outgoing(self) -> Outgoing:
        return Outgoing(self.model, "You are an agent.", self.tools)

    async def size(self) -> None:
        """Set the window so that the prompt fills as much of it as wanted."""
        prepared = await self.keeper._prepare(self.outgoing)
        whole = await asyncio.to_thread(prepared.rendered, keep_cached=False)
        tokens = whole.tokens + prepared.budget.tool_tokens
        self.set_window(int(tokens / self.fill))

    async def send(self, cancel: CancelToken | None = None) -> tuple[Any, ...]:
        return await self.keeper.messages(self.outgoing, cancel or CancelToken())

    async def idle(self) -> None:
        """Wait for the run under way."""
        if self.keeper._task is not None:
            await asyncio.wait({self.keeper._task})

    async def work_on(self, turn: bool = False) -> None:
        """The agent goes on by a round."""
        append = self.document.writer.append
        if turn:
            spoken = {"role": "user", "content": "And now?"}
            await append(entry_body("message", message=spoken), self.document.leaf)
        call = {"type": "toolCall", "id": f"c{len(self.document.tree)}", "name": "ls",
                "arguments": {}}  # fmt: skip
        reply = {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, call]}
        await append(entry_body("message", message=reply), self.document.leaf)
        result = {"role": "toolResult", "toolCallId": call["id"], "toolName": "ls",
                  "content": [{"type": "text", "text": "a.py"}]}  # fmt: skip
        await append(entry_body("message", message=result), self.document.leaf)

    @property
    def state(self) -> RunState:
        return self.keeper.machine.state

    def drafts(self) -> list[DraftRow]:
        return self.document.store.drafts(self.document.key)


def context_kinds(document: Document) -> list[Kind]:
    return [Kind(document.tree.columns.kind[at]) for at in document.context().messages]


def test_a48_a_fork_begins_with_exactly_the_messages_that_went_out(
    document: Document, server: ChatServer
) -> None:
    async def go() -> tuple[Any, ...]:
        rig = Rig(document, 0.85)
        await rig.work_on(turn=True)
        await rig.size()
        sent = await rig.send()
        await rig.idle()
        return sent, rig.state, rig.drafts()

    sent, state, (draft,) = wait(go())
    assert state is RunState.COMPLETED
    request = ModelRequest.from_json(draft.requests[0]["request"])
    assert request.messages[:-1] == sent
    assert request.messages[-1].role == "user"
    assert "Continuation Plan" in request.messages[-1].text
    assert (request.temperature, request.tool_choice, request.model) == (0.0, "none", MODEL)
    assert request.tools == read_only_tools()
    (over_the_wire,) = server.requests
    assert over_the_wire["tool_choice"] == "none"
    assert over_the_wire["messages"][0] == {"role": "system", "content": "You are an agent."}
    assert draft.facts["trigger"] == "background"


def test_a47_a_summary_made_ahead_is_applied_before_the_next_prompt(document: Document) -> None:
    async def go() -> Rig:
        rig = Rig(document, 0.85)
        await rig.work_on(turn=True)
        await rig.size()
        told = len(document.tree) - 1
        await rig.send()
        await rig.idle()
        await rig.work_on()
        first_new = told + 1
        sent = await rig.send()
        assert context_kinds(document) == [Kind.COMPACTION, Kind.ASSISTANT, Kind.TOOL_RESULT]
        assert document.context().messages[1] == first_new
        assert sent[1].text.startswith(f"<conversation-summary>\n{SECTIONS}\n")
        assert [message.role for message in sent] == ["system", "user", "assistant", "tool"]
        return rig

    rig = wait(go())
    assert rig.state is RunState.IDLE
    (draft,) = rig.drafts()
    assert draft.status == "committed"
    (ended,) = [change for change in rig.changes if isinstance(change, CompactionEnded)]
    assert ended.trigger == "background"
    assert ended.tokens_after < ended.tokens_before
    states = [change.state for change in rig.changes if isinstance(change, BackgroundChanged)]
    assert {"idle", "in progress", "completed"} == set(states)


@pytest.mark.parametrize(
    ("fill", "warm", "starts"), [(0.79, True, False), (0.81, True, True), (0.85, False, False),
                                 (0.91, False, True)],
)  # fmt: skip
def test_a47_cold_caches_wait_until_it_is_urgent(
    document: Document, fill: float, warm: bool, starts: bool
) -> None:
    async def go() -> RunState:
        rig = Rig(document, fill)
        if warm:
            await rig.work_on(turn=True)
        else:
            append = document.writer.append
            await append(
                entry_body("message", message={"role": "user", "content": "Hm?"}), document.leaf
            )
        await rig.size()
        await rig.send()
        state = rig.state
        await rig.keeper.stop()
        return state

    assert wait(go()) is (RunState.IN_PROGRESS if starts else RunState.IDLE)


def test_a47_with_room_by_then_the_summary_is_thrown_away(document: Document) -> None:
    async def go() -> tuple[RunState, str, bool]:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        rig.set_window(rig.rules.settings.context_window * 2)
        await rig.send()
        return rig.state, rig.drafts()[0].status, rig.untouched

    assert wait(go()) == (RunState.IDLE, "discarded", True)


def test_a47_a_prompt_that_does_not_fit_waits_for_the_run_under_way(
    document: Document, server: ChatServer
) -> None:
    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.work_on(turn=True)
        await rig.size()
        await rig.send()
        assert rig.state is RunState.IN_PROGRESS
        await rig.work_on()
        rig.set_window(rig.rules.settings.context_window // 2)
        sent = await rig.send()
        assert sent[1].text.startswith("<conversation-summary>")
        return rig

    rig = wait(go())
    assert len(server.requests) == 1
    assert rig.state is RunState.IDLE
    assert [row.status for row in rig.drafts()] == ["committed"]


def test_a45_without_anything_ahead_it_is_summarized_at_once(
    document: Document, server: ChatServer
) -> None:
    async def go() -> tuple[tuple[Any, ...], Rig, int]:
        rig = Rig(document, 1.3)
        await rig.work_on(turn=True)
        await rig.work_on()
        await rig.size()
        last_round = len(document.tree) - 2
        return await rig.send(), rig, last_round

    sent, rig, last_round = wait(go())
    assert document.context().messages[1:] == [last_round, last_round + 1]
    assert sent[1].text.startswith(f"<conversation-summary>\n{SECTIONS}")
    (draft,) = rig.drafts()
    assert (draft.facts["trigger"], draft.status) == ("prompt", "committed")
    (request,) = server.requests
    # The last round is what was too much: it is not told.
    assert [m.get("content") for m in request["messages"]].count("a.py") == 1
    assert request["tool_choice"] == "none"


FAILURES = {
    "overflow": OVERFLOW,
    "rate limit": RATE_LIMIT,
    "cut off": Cut(2),
    "empty": Answer(text=""),
    "cut short": Answer(text=SUMMARY, finish="length"),
    "a call": Answer(text="", tool_calls=(("1", "ls", "{}"),), finish="tool_calls"),
    "no key": HttpFailure(401, "who are you"),
}
failures = pytest.mark.parametrize("name", FAILURES)


@failures
def test_a50_what_fails_in_full_is_asked_simply(
    document: Document, server: ChatServer, name: str
) -> None:
    server.plan(FAILURES[name], Answer(text=SUMMARY))

    async def go() -> Rig:
        rig = Rig(document, 1.3)
        await rig.work_on(turn=True)
        await rig.work_on()
        await rig.size()
        await rig.send()
        return rig

    rig = wait(go())
    (draft,) = rig.drafts()
    assert draft.status == "committed"
    assert [bool(each["problem"]) for each in draft.facts["attempts"]] == [True, False]
    full, simple = server.requests
    assert "tools" in full
    assert "tools" not in simple
    assert [m["role"] for m in simple["messages"]] == ["system", "user"]
    assert "<conversation>\n[User]: " in simple["messages"][1]["content"]
    assert simple["temperature"] == 0


@failures
def test_a47_a_run_that_fails_leaves_nothing_behind(
    document: Document, server: ChatServer, name: str
) -> None:
    server.plan(FAILURES[name])

    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert rig.state is RunState.FAILED
    assert rig.keeper.machine.problem
    (draft,) = rig.drafts()
    assert (draft.status, draft.problem) == ("failed", rig.keeper.machine.problem)
    assert rig.untouched


def test_b19_an_answer_that_goes_on_with_the_work_is_no_summary(
    document: Document, server: ChatServer
) -> None:
    server.plan(Answer(text="Let me look at the test next."))

    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert rig.state is RunState.FAILED
    assert "<summary>" in rig.keeper.machine.problem


def test_b19_an_unclosed_summary_takes_the_rest(document: Document, server: ChatServer) -> None:
    server.plan(Answer(text=f"<analysis>x</analysis><summary>{SECTIONS}\nand the rest"))

    async def go() -> str:
        quiet = replace(COPILOT, prompt_budget=PromptBudget(breadcrumb=False))
        rig = Rig(document, 0.95, quiet)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig.drafts()[0].summary

    assert wait(go()) == f"{SECTIONS}\nand the rest"


def test_b19_a_summary_over_the_budget_is_an_error(document: Document, server: ChatServer) -> None:
    server.plan(Answer(text="<summary>" + "word " * 40_000 + "</summary>"))

    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert rig.state is RunState.FAILED
    assert "tokens" in rig.keeper.machine.problem


def test_a45_when_nothing_helps_the_oldest_goes(document: Document, server: ChatServer) -> None:
    server.plan(HttpFailure(500, "down"))

    async def go() -> tuple[tuple[Any, ...], Rig]:
        rig = Rig(document, 1.3)
        await rig.size()
        return await rig.send(), rig

    sent, rig = wait(go())
    assert rig.keeper.rendering is not None
    assert rig.keeper.rendering.dropped
    assert rig.keeper.rendering.tokens <= rig.keeper.rendering.budget
    assert [row.status for row in rig.drafts()] == ["failed"]
    ids = {call.id for message in sent for call in message.tool_calls}
    assert ids == {message.tool_call_id for message in sent if message.role == "tool"}


def test_a45_what_cannot_fit_at_all_is_told(document: Document, server: ChatServer) -> None:
    async def go() -> None:
        rig = Rig(document, 1.0)
        rig.set_window(20)
        await rig.send()

    with pytest.raises(ModelError) as caught:
        wait(go())
    assert caught.value.kind == "overflow"


def test_e21_a_run_that_hangs_can_be_given_up(document: Document, server: ChatServer) -> None:
    server.plan(Stall(after=1))

    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await asyncio.to_thread(server.started.wait, 10)
        await rig.keeper.stop()
        assert rig.state is RunState.IDLE
        server.plan(Answer(text=SUMMARY))
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert rig.state is RunState.COMPLETED
    assert [row.status for row in rig.drafts()] == ["cancelled", "done"]
    assert server.gone.wait(10)


def test_e21_who_waits_for_a_run_that_hangs_can_give_up(
    document: Document, server: ChatServer
) -> None:
    server.plan(Stall(after=1))

    async def go() -> RunState:
        rig = Rig(document, 0.95)
        await rig.work_on(turn=True)
        await rig.size()
        await rig.send()
        await asyncio.to_thread(server.started.wait, 10)
        rig.set_window(rig.rules.settings.context_window // 2)
        cancel = CancelToken()
        waiting = asyncio.ensure_future(rig.send(cancel))
        await asyncio.sleep(0.05)
        cancel.cancel()
        with pytest.raises(Cancelled):
            await waiting
        return rig.state

    assert wait(go()) is RunState.IDLE


def test_another_model_ends_the_run(document: Document, server: ChatServer) -> None:
    server.plan(Stall(after=1))

    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await asyncio.to_thread(server.started.wait, 10)
        rig.model = "openai/summarizer"
        rig.set_window(1_000_000)
        await rig.send()
        return rig

    rig = wait(go())
    assert rig.state is RunState.IDLE
    assert [row.status for row in rig.drafts()] == ["cancelled"]


def test_a_summary_of_a_branch_that_was_left_is_not_applied(document: Document) -> None:
    async def go() -> Rig:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        await document.writer.move_leaf(document.tree.path(document.leaf)[2])
        rig.set_window(rig.rules.settings.context_window)
        await rig.send()
        return rig

    rig = wait(go())
    assert rig.untouched
    assert rig.state is RunState.FAILED
    assert [row.status for row in rig.drafts()] == ["discarded"]


def test_a54_another_model_summarizes_for_those_that_it_serves(
    document: Document, server: ChatServer
) -> None:
    def serves(model: str) -> tuple[str, ...]:
        return ("openai/summarizer",) if model == MODEL else (model,)

    async def go() -> Rig:
        rig = Rig(document, 0.95, summary_models=serves)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert server.requests[0]["model"] == "summarizer"
    assert rig.drafts()[0].model == "openai/summarizer"


@pytest.mark.parametrize(("mode", "has_tools"), [("simple", False), ("full", True)])
def test_a54_the_mode_can_be_forced(
    document: Document, server: ChatServer, mode: Any, has_tools: bool
) -> None:
    server.plan(HttpFailure(500, "down"))
    profile = replace(COPILOT, prompt_budget=PromptBudget(mode=mode))

    async def go() -> None:
        rig = Rig(document, 1.3, profile)
        await rig.work_on(turn=True)
        await rig.work_on()
        await rig.size()
        await rig.send()

    wait(go())
    (request,) = server.requests
    assert ("tools" in request) is has_tools


def test_a54_switched_off_nothing_is_summarized_and_the_oldest_goes(
    document: Document, server: ChatServer
) -> None:
    async def go() -> Rig:
        rig = Rig(document, 1.3, enabled=False)
        await rig.size()
        await rig.send()
        return rig

    rig = wait(go())
    assert server.requests == []
    assert rig.keeper.rendering is not None
    assert rig.keeper.rendering.dropped


def test_a52_opus_is_told_once_more(document: Document, server: ChatServer) -> None:
    async def go() -> Rig:
        rig = Rig(document, 0.95, model="openai/claude-opus-test")
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig

    rig = wait(go())
    assert rig.state is RunState.COMPLETED
    assert (
        "Any tool call in this reply is an error" in server.requests[0]["messages"][-1]["content"]
    )


def test_a53_a_person_can_compact_at_once(document: Document, server: ChatServer) -> None:
    async def go() -> tuple[int, Rig]:
        rig = Rig(document, 0.5)
        await rig.work_on(turn=True)
        await rig.size()
        return await rig.keeper.compact(MODEL, "Name every port.", CancelToken()), rig

    entry, rig = wait(go())
    assert document.tree.columns.kind[entry] == Kind.COMPACTION
    assert "Name every port." in server.requests[0]["messages"][-1]["content"]
    assert rig.drafts()[0].instructions == "Name every port."


def test_a53_nothing_to_tell_is_said(bench: Workbench, document: Document) -> None:
    async def go() -> None:
        rig = Rig(document, 0.5)
        await document.writer.move_leaf(document.tree.path(document.leaf)[1])
        await rig.keeper.compact(MODEL, "", CancelToken())

    with pytest.raises((ValueError, DraftFailed)):
        wait(go())


def test_a51_a_summary_says_where_the_whole_conversation_can_be_read(
    document: Document, tmp_path: Path
) -> None:
    async def go() -> DraftRow:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig.drafts()[0]

    draft = wait(go())
    path = Path(draft.facts["transcript"])
    assert path.parent == document.store.path.parent / "transcripts"
    text = path.read_text("utf-8")
    assert draft.summary.startswith(f"{SECTIONS}\n\n")
    assert draft.summary.count(str(path)) == 2
    assert f"({text.count(chr(10))} lines when" in draft.summary
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o077 == 0
    assert text.count("=== #") == len(document.tree.path(document.leaf))

    own = transcripts_of(document)
    (tmp_path / "project").mkdir()
    workspace = Workspace(tmp_path / "project").with_reading(own.is_transcript)
    read = run_read_only(ToolContext(workspace), {"path": str(path), "limit": 1}, ToolRun("read"))
    assert not read.is_error
    assert read.text.startswith("=== #0 ")
    other = path.with_name("else.txt")
    other.write_text("not yours")
    for name in (other, document.store.path):
        assert run_read_only(ToolContext(workspace), {"path": str(name)}, ToolRun("read")).is_error
    for tool in ("ls", "grep", "find"):
        arguments = {"path": str(path), "pattern": "x"}
        assert run_read_only(ToolContext(workspace), arguments, ToolRun(tool)).is_error


def test_a51_branches_have_transcripts_of_their_own(document: Document) -> None:
    own = transcripts_of(document)
    first = own.write(document.tree, document.payloads, document.leaf)

    async def fork() -> None:
        await document.writer.move_leaf(document.tree.path(document.leaf)[3])
        await document.writer.append(
            entry_body("message", message={"role": "user", "content": "Another way."}),
            document.leaf,
        )

    before = first.path.read_text("utf-8")
    wait(fork())
    second = own.write(document.tree, document.payloads, document.leaf)
    assert second.path != first.path
    assert first.path.read_text("utf-8") == before
    assert "Another way." in second.path.read_text("utf-8")


def test_a51_transcripts_go_with_their_session(document: Document, bench: Workbench) -> None:
    own = transcripts_of(document).write(document.tree, document.payloads, document.leaf)
    other = own.path.with_name(f"{document.header.session_id}-2~empty.txt")
    other.write_text("another session's")
    wait(bench.remove(document.key))
    assert not own.path.exists()
    assert other.exists()

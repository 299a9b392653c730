"""Summaries made ahead and at once, over real HTTP (A45, A47, A48, A52 to A54)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.agent.tools.workspace_tools import READ_ONLY, specs_of
from explorer.agent.turn_interface import Outgoing
from explorer.compaction.background import RunState
from explorer.compaction.profile.rules import PromptBudget
from explorer.models.client import (
    CancelToken,
    ModelRequest,
)
from explorer.services.auto_compaction.prompt import CopilotWords, prepare_prompt
from explorer.services.changes import BackgroundChanged, CompactionEnded
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed
from explorer.session.kinds import Kind
from explorer.workbench import Workbench
from tests.models.server import (
    ChatServer,
    HttpFailure,
    Stall,
)
from tests.pi_json import entry_body
from tests.services.prompt_gate_rig import (
    COPILOT,
    MODEL,
    SECTIONS,
    Rig,
    bench,
    client,
    context_kinds,
    document,
    server,
    wait,
)
from tests.store.sources import message, write_file

__all__ = ["bench", "client", "document", "server"]


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
    assert request.tools == specs_of(READ_ONLY)
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
        await rig.gate.stop()
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
    assert rig.gate.rendering is not None
    assert rig.gate.rendering.dropped


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


def test_a52_the_first_reply_after_a_summary_bears_the_last_thinking_from_before_it(
    bench: Workbench, tmp_path: Path
) -> None:
    def thought(at: int, text: str) -> dict[str, Any]:
        one = message(at, f"e{at - 1}", "", "assistant")
        thinking = {"type": "thinking", "thinking": text, "thinkingSignature": "c2ln"}
        one["message"]["content"] = [thinking, {"type": "text", "text": "Yes."}]
        return one

    plain = message(4, "e3", "", "assistant")
    plain["message"]["content"] = [{"type": "text", "text": "On it."}]
    kept = {"type": "compaction", "id": "e5", "parentId": "e4", "firstKeptEntryId": "e4",
            "summary": "All that was.", "tokensBefore": 9}  # fmt: skip
    lines = [
        message(0, None, "Go."), thought(1, "early"), thought(2, "the clock"),
        message(3, "e2", "Go on."), plain, kept,
    ]  # fmt: skip
    path = write_file(tmp_path / "thought.jsonl", lines)
    document = bench.open_blocking(bench.import_blocking(path).key)

    def thinking(model: str) -> list[str]:
        outgoing = Outgoing(model, "You are an agent.", ())
        prepared = prepare_prompt(document, COPILOT, outgoing, 100_000, CopilotWords.load())
        sent = prepared.outgoing(prepared.rendered())
        return [one.thinking.text if one.thinking else "" for one in sent if one.text == "On it."]

    assert thinking("anthropic/claude-opus-test") == ["the clock"]
    assert thinking(MODEL) == [""]


def test_a53_a_person_can_compact_at_once(document: Document, server: ChatServer) -> None:
    async def go() -> tuple[int, Rig]:
        rig = Rig(document, 0.5)
        await rig.work_on(turn=True)
        await rig.size()
        return await rig.gate.compact(MODEL, "Name every port.", CancelToken()), rig

    entry, rig = wait(go())
    assert document.tree.columns.kind[entry] == Kind.COMPACTION
    assert "Name every port." in server.requests[0]["messages"][-1]["content"]
    assert rig.drafts()[0].instructions == "Name every port."


def test_a53_nothing_to_tell_is_said(bench: Workbench, document: Document) -> None:
    async def go() -> None:
        rig = Rig(document, 0.5)
        await document.writer.move_leaf(document.tree.path(document.leaf)[1])
        await rig.gate.compact(MODEL, "", CancelToken())

    with pytest.raises((ValueError, DraftFailed)):
        wait(go())

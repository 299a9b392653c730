"""Summaries for a budget that fail, hang or are no summaries, over real HTTP (A45, A50, B19)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.background import RunState
from explorer.compaction.profile.rules import PromptBudget
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelError,
)
from explorer.services.document import Document
from tests.models.server import (
    OVERFLOW,
    RATE_LIMIT,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Stall,
)
from tests.services.prompt_gate_rig import (
    COPILOT,
    SECTIONS,
    SUMMARY,
    Rig,
    bench,
    client,
    document,
    server,
    wait,
)

__all__ = ["bench", "client", "document", "server"]


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
    assert rig.gate.machine.problem
    (draft,) = rig.drafts()
    assert (draft.status, draft.problem) == ("failed", rig.gate.machine.problem)
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
    assert "<summary>" in rig.gate.machine.problem


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
    assert "tokens" in rig.gate.machine.problem


def test_a45_when_nothing_helps_the_oldest_goes(document: Document, server: ChatServer) -> None:
    server.plan(HttpFailure(500, "down"))

    async def go() -> tuple[tuple[Any, ...], Rig]:
        rig = Rig(document, 1.3)
        await rig.size()
        return await rig.send(), rig

    sent, rig = wait(go())
    assert rig.gate.rendering is not None
    assert rig.gate.rendering.dropped
    assert rig.gate.rendering.tokens <= rig.gate.rendering.budget
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
        await rig.gate.stop()
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

"""A turn of many rounds: where the threshold is looked at between two of them, over real HTTP."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from explorer.agent.workspace import Workspace
from explorer.compaction.profile import PROFILES
from explorer.models.client import CancelToken
from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer, Stall
from tests.services.automatic_rig import (
    MODEL,
    SETTINGS,
    Desk,
    asked,
    client,
    desk,
    server,
    until,
    wait,
    workspace,
)

__all__ = ["client", "desk", "server", "workspace"]


def rounds(count: int, words: int = 900) -> list[Answer]:
    """Replies with a call each; nobody reports usage, so that what is counted decides."""
    return [
        Answer(
            text="word " * words,
            tool_calls=((f"call-{n}", "read", json.dumps({"path": "ports.txt", "limit": n + 1})),),
            finish="tool_calls",
            usage=None,
        )
        for n in range(count)
    ]


@pytest.fixture
def long(desk: Desk, server: ChatServer, workspace: Workspace) -> Desk:
    """Little room, and a turn that outgrows it."""
    desk.workspace = workspace
    wait(desk.automatic.compact_now("", MODEL, CancelToken()))
    desk.told.clear()
    desk.change(settings=replace(SETTINGS, context_window=8_000, reserve_tokens=2_000))
    server.plan(*rounds(8), Answer(text="Port 8431.", usage=None), model="test-model")
    return desk


def test_a8_a_long_turn_is_compacted_between_two_of_its_rounds(
    long: Desk, server: ChatServer
) -> None:
    """It never runs into the window, the work goes on without a prompt to go on, and what is sent
    afterwards is in pairs of calls and results."""
    result = wait(long.say("Which port?"))
    assert (result.end, result.error) == ("done", "")
    assert {change.trigger for change in long.ended} == {"threshold"}
    assert all(change.entry >= 0 for change in long.ended)
    first = long.ended[0].entry
    parent = long.document.tree.columns.parent[first]
    assert long.document.tree.kind(parent) is Kind.TOOL_RESULT
    assert first < result.entries[-1], "in its middle"
    for body in asked(server, "test-model"):
        assert len(str(body["messages"])) / 4 < 8_000
        made: list[str] = []
        for message in body["messages"]:
            made += [call["id"] for call in message.get("tool_calls") or ()]
            if message["role"] == "tool":
                assert message["tool_call_id"] in made


@pytest.mark.parametrize("name", ["pi", "omp", "pyagent"])
def test_a8_who_looks_after_a_turn_only_does_not_look_between(
    long: Desk, server: ChatServer, name: str
) -> None:
    profile = replace(PROFILES[name], pruning=None, auto_continue=False)
    long.change(profile=profile, settings=replace(SETTINGS, context_window=8_000,
                                                  reserve_tokens=2_000))  # fmt: skip
    result = wait(long.say("Which port?"))
    assert result.end == "done"
    assert all(change.entry < 0 or change.entry > result.entries[-1] for change in long.ended)
    assert len(asked(server, "test-model")) == 9


def test_e21_what_is_cancelled_between_two_rounds_is_not_begun_again_in_the_turn(
    long: Desk, server: ChatServer
) -> None:
    server.plan(Stall(after=1), model="summary-model")
    by_hand = len(asked(server, "summary-model"))
    begun = by_hand + 2  # the cut splits the turn, so two summaries are asked for at once

    async def story() -> str:
        turn = asyncio.ensure_future(long.say("Which port?"))
        await until(lambda: len(asked(server, "summary-model")) == begun)
        long.automatic.cancel()
        return (await turn).end

    assert wait(story()) == "done"
    assert [change.cancelled for change in long.ended] == [True]
    assert len(asked(server, "summary-model")) == begun

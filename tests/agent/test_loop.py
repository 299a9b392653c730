"""A turn of the agent with the offline model and real tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from explorer.agent.approval import Approvals
from explorer.agent.loop import AgentTurn
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.turn_interface import ToolEnded, TurnEvent, TurnResult
from explorer.agent.workspace import Workspace
from explorer.models.client import (
    CancelToken,
    Event,
    ModelClient,
    ModelError,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolCallReady,
)
from explorer.models.retry import RetryPolicy
from tests.agent.desk import Log, Scripted


def turn(
    client: ModelClient, text: str, workspace: Path | None = None, cancel: CancelToken | None = None
) -> tuple[Log, TurnResult, list[TurnEvent]]:
    log = Log()
    events: list[TurnEvent] = []
    area = None
    if workspace is not None:
        outputs = workspace / ".outputs"
        area = WorkspaceTools(Workspace(workspace), Approvals("read-only"), outputs)
    agent = AgentTurn(log, client, "offline/demo", "You help.", area, retry=RetryPolicy(tries=1))
    result = asyncio.run(agent.run(text, cancel or CancelToken(), events.append))
    client.close()
    return log, result, events


def test_a_turn_reads_a_file_and_reports_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the port is 8123\n")
    log, result, events = turn(ModelClient(), "read notes.txt", tmp_path)
    assert result.end == "done"
    assert [m["role"] for m in log.messages] == ["user", "assistant", "toolResult", "assistant"]
    call = log.messages[1]["content"][-1]
    assert (call["type"], call["name"], call["arguments"]["path"]) == (
        "toolCall",
        "read",
        "notes.txt",
    )
    assert log.messages[2]["toolCallId"] == call["id"]
    assert "8123" in log.messages[2]["content"][0]["text"]
    assert "8123" in log.messages[3]["content"][-1]["text"]
    assert any(isinstance(event, ToolEnded) for event in events)


def test_without_a_workspace_no_tool_is_offered() -> None:
    log, result, _ = turn(ModelClient(), "read notes.txt")
    assert result.end == "done"
    assert [m["role"] for m in log.messages] == ["user", "assistant"]


def test_an_error_keeps_what_had_arrived_and_marks_it() -> None:
    client = Scripted([TextDelta("half an ans"), ModelError("network", "the connection was cut")])
    log, result, _ = turn(client, "hello")
    assert (result.end, result.error) == ("failed", "the connection was cut")
    reply = log.messages[-1]
    assert reply["stopReason"] == "error"
    assert reply["errorMessage"] == "the connection was cut"
    assert reply["content"][0]["text"] == "half an ans"


def test_a_stop_keeps_the_partial_text_as_aborted() -> None:
    cancel = CancelToken()

    class Stopping(Scripted):
        async def stream(self, request: ModelRequest, token: CancelToken) -> AsyncIterator[Event]:
            yield TextDelta("so far")
            cancel.cancel()

    log, result, _ = turn(Stopping(), "hello", cancel=cancel)
    assert result.end == "stopped"
    assert log.messages[-1]["stopReason"] == "aborted"
    assert log.messages[-1]["content"][0]["text"] == "so far"


def test_a_stop_before_anything_arrived_leaves_the_question_alone() -> None:
    cancel = CancelToken()
    cancel.cancel()
    log, result, _ = turn(ModelClient(), "hello", cancel=cancel)
    assert result.end == "stopped"
    assert [m["role"] for m in log.messages] == ["user"]


def test_calls_of_a_failed_reply_are_not_stored(tmp_path: Path) -> None:
    """A call without its result would make every later request invalid."""
    call = ToolCallReady(ToolCall("c1", "ls", {}))
    log, result, _ = turn(Scripted([call, ModelError("server", "boom")]), "x", tmp_path)
    assert result.end == "failed"
    assert not [b for b in log.messages[-1]["content"] if b["type"] == "toolCall"]


def test_an_answer_that_never_says_that_it_is_over_is_a_failure() -> None:
    log, result, _ = turn(Scripted([TextDelta("and then")]), "hello")
    assert result.end == "failed"
    assert log.messages[-1]["stopReason"] == "error"

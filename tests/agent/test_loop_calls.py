"""The calls of one reply: side by side or one by one, and each with a result whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from explorer.agent.loop import AgentTurn
from explorer.agent.tools.port import ToolOutcome, ToolSet
from explorer.agent.turn_interface import (
    Stored,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEvent,
    TurnResult,
)
from explorer.models.client import (
    CancelToken,
    Event,
    Finished,
    ImagePart,
    TextDelta,
    TextPart,
    ToolCall,
)
from tests.agent.desk import Box, Log, Scripted, calling, check_pairs, gives

DONE: list[Event] = [TextDelta("Done."), Finished("stop")]


def call(name: str, call_id: str, **arguments: object) -> ToolCall:
    return ToolCall(call_id, name, dict(arguments))


def turn(
    box: ToolSet | None,
    *answers: list[Event],
    cancel: CancelToken | None = None,
    on_event: Callable[[TurnEvent], None] = lambda _event: None,
) -> tuple[Log, TurnResult, list[TurnEvent]]:
    log, client, events = Log(), Scripted(*answers), list[TurnEvent]()

    def take(event: TurnEvent) -> None:
        events.append(event)
        on_event(event)

    agent = AgentTurn(log, client, "test/model", "You help.", box)
    result = asyncio.run(agent.run("Go.", cancel or CancelToken(), take))
    client.close()
    for request in client.requests:
        check_pairs(request.messages)
    check_pairs(log.chat_messages())
    return log, result, events


def test_calls_that_only_look_run_side_by_side_and_are_stored_in_their_order() -> None:
    box = Box(slow=gives("slow", 9), quick=gives("quick", 2))
    calls = [call("slow", "a"), *(call("quick", f"q{n}") for n in range(8)), call("slow", "z")]
    log, result, _ = turn(box, calling(*calls), DONE)
    assert (result.end, box.most_running) == ("done", 10)
    stored = [m["toolCallId"] for m in log.messages if m["role"] == "toolResult"]
    assert stored == [each.id for each in calls]


def test_a_result_is_stored_as_soon_as_all_before_it_are_there() -> None:
    seen: list[tuple[set[str], int]] = []
    box = Box(quick=gives("quick", 1), slow=gives("slow", 60))

    def on_event(event: TurnEvent) -> None:
        if isinstance(event, Stored):
            seen.append((set(box.running), event.entry))

    turn(box, calling(call("quick", "a"), call("slow", "b")), DONE, on_event=on_event)
    assert ({"b"}, 2) in seen, "the first is stored while the second runs"


def test_a_call_that_changes_things_runs_alone_and_in_its_turn() -> None:
    box = Box(look=gives("seen", 3), change=gives("changed", 3))
    calls = [call("look", "1"), call("look", "2"), call("change", "3"), call("change", "4"),
             call("look", "5")]  # fmt: skip
    turn(box, calling(*calls), DONE)
    assert box.log == ["+1", "+2", "-1", "-2", "+3", "-3", "+4", "-4", "+5", "-5"]


def test_output_is_told_while_a_call_runs() -> None:
    async def talk(
        one: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        on_output("half ")
        await asyncio.sleep(0)
        on_output("whole")
        return ToolOutcome("half whole", details={"exitCode": 0})

    log, _, events = turn(Box(change=talk), calling(call("change", "a")), DONE)
    told = [event for event in events if isinstance(event, ToolStarted | ToolOutput | ToolEnded)]
    assert [type(event) for event in told] == [ToolStarted, ToolOutput, ToolOutput, ToolEnded]
    assert [each.text for each in told if isinstance(each, ToolOutput)] == ["half ", "whole"]
    assert log.messages[2]["details"] == {"exitCode": 0}


def test_what_cannot_be_run_is_told_to_the_model_and_the_turn_goes_on() -> None:
    async def breaks(
        one: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        raise ZeroDivisionError("by zero")

    malformed = ToolCall("m", "look", {}, "The arguments are not JSON: of course not", "{nope")
    box = Box(look=gives(), breaks=breaks)
    log, result, _ = turn(
        box, calling(call("nosuch", "u"), malformed, call("breaks", "b"), call("look", "l")), DONE
    )
    assert result.end == "done"
    errors = [m["isError"] for m in log.messages if m["role"] == "toolResult"]
    assert errors == [True, True, True, False]
    unknown, broken, failed, fine = log.texts("toolResult")
    assert "no tool named 'nosuch'" in unknown and "look, breaks" in unknown
    assert "of course not" in broken and "call again" in broken
    assert failed == "the tool failed: ZeroDivisionError: by zero"
    assert fine == "fine"
    assert box.log == ["+b", "-b", "+l", "-l"]


def test_without_tools_a_call_is_told_so() -> None:
    log, result, _ = turn(None, calling(call("look", "a")), DONE)
    assert result.end == "done"
    assert log.texts("toolResult") == ["no workspace was chosen, so no tool can run"]


def test_ids_that_are_empty_or_come_twice_become_their_own() -> None:
    box = Box(look=gives())
    same = [call("look", "a"), call("look", "a"), call("look", ""), call("look", "")]
    log, result, events = turn(box, calling(*same), calling(call("look", "a", path="x")), DONE)
    assert result.end == "done"
    ids = [m["toolCallId"] for m in log.messages if m["role"] == "toolResult"]
    assert ids == ["a", "a_2", "call_2", "call_3", "a_3"]
    assert [event.call.id for event in events if isinstance(event, ToolStarted)] == ids


def test_pictures_of_a_result_reach_the_model_after_all_results() -> None:
    picture = ImagePart("image/png", "aGk=")
    box = Box(look=gives("a drawing", images=(picture,)), other=gives("text"))
    log, client = Log(), Scripted(calling(call("look", "a"), call("other", "b")), DONE)
    agent = AgentTurn(log, client, "test/model", "You help.", box)
    asyncio.run(agent.run("Look.", CancelToken(), lambda _event: None))
    client.close()
    *_, first, second, shown = client.requests[1].messages
    assert first.content == "a drawing\n[A picture, shown below]"
    assert (second.role, second.content) == ("tool", "text")
    assert shown.role == "user" and isinstance(shown.content, tuple)
    assert isinstance(shown.content[0], TextPart) and shown.content[1] == picture
    assert log.messages[2]["content"][1] == {
        "type": "image", "data": "aGk=", "mimeType": "image/png",
    }  # fmt: skip


# stopping ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["look", "change"])
def test_a_stop_while_tools_run_gives_every_call_a_result(kind: str) -> None:
    cancel = CancelToken()

    async def waits(
        one: ToolCall, token: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        cancel.cancel()
        assert token.cancelled
        return ToolOutcome("killed after 2 lines", True)

    box = Box(**{kind: waits, "later": gives()})
    calls = [call(kind, "a"), call(kind, "b"), call("later", "c")]
    log, result, events = turn(box, calling(*calls), cancel=cancel)
    assert result.end == "stopped"
    results = [m for m in log.messages if m["role"] == "toolResult"]
    assert [m["toolCallId"] for m in results] == ["a", "b", "c"]
    assert results[0]["content"][0]["text"] == "killed after 2 lines"
    later = "fine" if kind == "look" else "stopped by the person before it ran"
    assert results[-1]["content"][0]["text"] == later, "what runs beside it ends by itself"
    assert len([event for event in events if isinstance(event, ToolEnded)]) == 3


def test_a_tool_that_does_not_end_when_stopped_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.agent.loop.STOP_WAIT_S", 0.01)
    cancel = CancelToken()

    async def deaf(
        one: ToolCall, token: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        cancel.cancel()
        await asyncio.Event().wait()
        raise AssertionError

    box = Box(change=deaf)
    log, result, _ = turn(box, calling(call("change", "a")), cancel=cancel)
    assert result.end == "stopped"
    assert "did not end" in log.texts("toolResult")[0]
    assert box.running == set()


def test_tools_end_with_whoever_waits_for_the_turn() -> None:
    """The window closes: the task is cancelled, and no tool outlives it."""

    async def story() -> None:
        tokens: list[CancelToken] = []

        async def waits(
            one: ToolCall, token: CancelToken, on_output: Callable[[str], None]
        ) -> ToolOutcome:
            tokens.append(token)
            await asyncio.Event().wait()
            raise AssertionError

        log, box = Log(), Box(look=waits)
        client = Scripted(calling(call("look", "a"), call("look", "b")), DONE)
        agent = AgentTurn(log, client, "test/model", "You help.", box)
        running = asyncio.ensure_future(agent.run("Go.", CancelToken(), lambda _event: None))
        while len(tokens) < 2:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert box.running == set()
        assert all(token.cancelled for token in tokens)
        # The session can be gone on with.
        result = await AgentTurn(log, client, "test/model", "You help.", box).resume(
            CancelToken(), lambda _event: None
        )
        assert result.end == "done"
        check_pairs(log.chat_messages())
        assert all("broken off" in text for text in log.texts("toolResult"))
        client.close()

    asyncio.run(story())

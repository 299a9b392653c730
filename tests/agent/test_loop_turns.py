"""What goes into a turn on its way, where it ends, and how it is gone on with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from explorer.agent.loop import NOT_RUN, AgentTurn, TurnLimits
from explorer.agent.turn_interface import (
    MessageQueue,
    RoundStarted,
    Steered,
    Stored,
    TurnEvent,
    TurnResult,
    UserPrompt,
)
from explorer.models.client import (
    CancelToken,
    Event,
    Finished,
    ModelError,
    TextDelta,
    ThinkingDelta,
    ThinkingPart,
    ThinkingSigned,
    ToolCall,
    Usage,
    UsageReport,
)
from explorer.models.retry import Retry, RetryPolicy
from explorer.session.entries import Message, UserMessage, text_of
from tests.agent.desk import Box, Hold, Log, Scripted, calling, check_pairs, gives

DONE: list[Event] = [TextDelta("Done."), Finished("stop")]
QUICK = RetryPolicy(tries=3, first_wait_s=0, jitter=0)


def look(number: int) -> list[Event]:
    return calling(ToolCall(f"c{number}", "look", {"number": number}))


class Desk:
    """One session, its client and its turns."""

    def __init__(self, *answers: Any, **options: Any) -> None:
        self.log = Log()
        self.client = Scripted(*answers)
        self.queue = MessageQueue()
        self.events: list[TurnEvent] = []
        self.cancel = CancelToken()
        self.box = options.pop("box", Box(look=gives()))
        self.options = {"retry": QUICK, "queue": self.queue, **options}

    def agent(self) -> AgentTurn:
        return AgentTurn(self.log, self.client, "test/model", "Help.", self.box, **self.options)

    def run(self, prompt: UserPrompt | str = "Go.") -> TurnResult:
        return self._ended(asyncio.run(self.agent().run(prompt, self.cancel, self.events.append)))

    def resume(self) -> TurnResult:
        return self._ended(asyncio.run(self.agent().resume(self.cancel, self.events.append)))

    def _ended(self, result: TurnResult) -> TurnResult:
        for request in self.client.requests:
            check_pairs(request.messages)
        check_pairs(self.log.chat_messages())
        stored = [event.entry for event in self.events if isinstance(event, Stored)]
        assert stored[len(stored) - len(result.entries) :] == list(result.entries)
        return result


# the queue --------------------------------------------------------------------------------------


def test_steering_goes_in_after_the_tool_calls_of_the_running_reply() -> None:
    desk = Desk()

    async def steers(*_: Any) -> Any:
        desk.queue.steer(UserPrompt("Use the other file."))
        return await gives()(*_)

    desk.box = Box(look=steers, other=gives())
    desk.client = Scripted(calling(ToolCall("a", "look", {}), ToolCall("b", "other", {})), DONE)
    assert desk.run().end == "done"
    assert desk.log.roles == [
        "user", "assistant", "toolResult", "toolResult", "user", "assistant",
    ]  # fmt: skip
    steered = [event for event in desk.events if isinstance(event, Steered)]
    assert steered == [Steered(4, UserPrompt("Use the other file."))]
    assert desk.client.requests[1].messages[-1].text == "Use the other file."
    assert desk.queue.waiting == ()


def test_steering_that_comes_with_the_last_reply_makes_another_round() -> None:
    desk = Desk()
    desk.client = Scripted(
        [TextDelta("Done."), lambda: desk.queue.steer(UserPrompt("Wait.")), Finished("stop")], DONE
    )
    assert desk.run().end == "done"
    assert desk.log.roles == ["user", "assistant", "user", "assistant"]
    assert [e.number for e in desk.events if isinstance(e, RoundStarted)] == [1, 2]


def test_a_stopped_turn_leaves_what_waits() -> None:
    desk = Desk()
    desk.queue.steer(UserPrompt("one"))
    desk.client = Scripted([TextDelta("half"), lambda: desk.cancel.cancel(), Finished("stop")])
    assert desk.run().end == "stopped"
    assert [each.prompt.text for each in desk.queue.waiting] == ["one"]


def test_a_message_that_cannot_be_stored_waits_on() -> None:
    class Full(Log):
        async def append(self, body: Message) -> int:
            if isinstance(body, UserMessage) and text_of(body.content) == "two":
                raise OSError("disk full")
            return await super().append(body)

    desk = Desk(DONE)
    desk.log = Full()
    for text in ("one", "two", "three"):
        desk.queue.steer(UserPrompt(text))
    with pytest.raises(OSError, match="disk full"):
        desk.run()
    assert [each.prompt.text for each in desk.queue.waiting] == ["two", "three"]


# limits -----------------------------------------------------------------------------------------


def test_a_turn_ends_after_its_rounds_and_goes_on_from_there() -> None:
    desk = Desk(*map(look, range(3)), DONE, limits=TurnLimits(rounds=3))
    result = desk.run()
    assert (result.end, result.finished) == ("limit", False)
    assert "3 replies" in result.error
    assert len(desk.log.messages) == 1 + 2 * 3
    assert desk.resume().end == "done"
    assert desk.log.roles[-2:] == ["toolResult", "assistant"], "nobody said anything"


def test_a_turn_ends_once_it_has_used_its_tokens() -> None:
    used = UsageReport(Usage(300, 100, 50, 50, 500))
    answers = [[used, *look(number)] for number in range(9)]
    desk = Desk(*answers, limits=TurnLimits(tokens=1_200))
    result = desk.run()
    assert (result.end, len(desk.client.requests)) == ("limit", 3)
    assert "1,500 tokens" in result.error and "1,200" in result.error


def test_tokens_are_estimated_where_nobody_counts_them() -> None:
    answers = [[TextDelta("word " * 800), *look(number)] for number in range(9)]
    desk = Desk(*answers, limits=TurnLimits(tokens=3_000))
    assert desk.run().end == "limit"
    assert len(desk.client.requests) < 4


def test_going_in_circles_is_told_beside_the_result_and_then_ends_the_turn() -> None:
    same = [calling(ToolCall(f"c{n}", "look", {"path": "a"})) for n in range(9)]
    desk = Desk(*same)
    result = desk.run()
    assert result.end == "looping"
    assert "5 times" in result.error
    results = [m for m in desk.log.messages if m["role"] == "toolResult"]
    assert [len(m["content"]) for m in results] == [1, 1, 2, 2, 2]
    assert "3 times in a row" in results[2]["content"][1]["text"]
    assert "3 times in a row" in desk.client.requests[3].messages[-1].text


def test_limits_come_from_settings() -> None:
    assert TurnLimits.of({}) == TurnLimits()
    values = {"agent.mostRounds": 7, "agent.mostTurnTokens": 9_000, "agent.sameCalls": 0}
    assert TurnLimits.of(values) == TurnLimits(7, 9_000, None)


# going on ---------------------------------------------------------------------------------------


def test_calls_that_a_crash_left_without_result_get_one() -> None:
    desk = Desk(DONE)
    desk.log.messages = [
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "stopReason": "toolUse", "content": [
            {"type": "toolCall", "id": "a", "name": "look", "arguments": {}},
            {"type": "toolCall", "id": "b", "name": "look", "arguments": {}},
        ]},
        {"role": "toolResult", "toolCallId": "a", "content": [{"type": "text", "text": "fine"}]},
    ]  # fmt: skip
    assert desk.resume().end == "done"
    closed = desk.log.messages[3]
    assert (closed["toolCallId"], closed["isError"]) == ("b", True)
    assert closed["content"][0]["text"] == NOT_RUN.text
    assert [m.role for m in desk.client.requests[0].messages] == [
        "system", "user", "assistant", "tool", "tool",
    ]  # fmt: skip


def test_a_message_after_a_crash_closes_the_calls_too() -> None:
    desk = Desk(DONE)
    desk.log.messages = [
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "stopReason": "toolUse", "content": [
            {"type": "toolCall", "id": "a", "name": "look", "arguments": {}},
        ]},
    ]  # fmt: skip
    assert desk.run("And now?").end == "done"
    assert desk.log.roles == ["user", "assistant", "toolResult", "user", "assistant"]


@pytest.mark.parametrize("how", ["stop", "error"])
def test_a_turn_goes_on_after_a_stop_and_an_error(how: str) -> None:
    end = Hold() if how == "stop" else ModelError("auth", "The key is no longer valid.")
    desk = Desk([TextDelta("half"), end], DONE)

    def take(event: TurnEvent) -> None:
        desk.events.append(event)
        if how == "stop" and isinstance(event, TextDelta):
            desk.cancel.cancel()

    result = asyncio.run(desk.agent().run("Go.", desk.cancel, take))
    assert result.end == ("stopped" if how == "stop" else "failed")
    assert desk.log.messages[-1]["stopReason"] == ("aborted" if how == "stop" else "error")
    desk.cancel = CancelToken()
    assert desk.resume().end == "done"
    assert desk.log.roles == ["user", "assistant", "assistant"]
    assert [m.role for m in desk.client.requests[-1].messages] == ["system", "user"]


# answers that break off --------------------------------------------------------------------------


def test_an_answer_that_breaks_off_is_kept_and_asked_for_again() -> None:
    cut = ModelError("network", "The connection was cut.")
    desk = Desk([TextDelta("half"), cut], [TextDelta("more"), cut], DONE)
    assert desk.run().end == "done"
    stops = [m.get("stopReason") for m in desk.log.messages]
    assert stops == [None, "error", "error", "stop"]
    assert [event.failed for event in desk.events if isinstance(event, Retry)] == [1, 2]
    assert all(len(request.messages) == 2 for request in desk.client.requests)


def test_it_is_asked_for_as_often_as_the_policy_allows() -> None:
    cut = ModelError("network", "The connection was cut.")
    desk = Desk(*[[TextDelta("half"), cut]] * 5)
    result = desk.run()
    assert (result.end, result.error) == ("failed", "The connection was cut.")
    assert len(desk.client.requests) == 3


def test_a_stop_while_it_waits_for_the_next_try_ends_the_turn() -> None:
    cut = ModelError("network", "The connection was cut.")
    policy = RetryPolicy(tries=3, first_wait_s=60)
    for answer in ([cut], [TextDelta("half"), cut]):
        desk = Desk(answer, retry=policy)

        def take(event: TurnEvent, desk: Desk = desk) -> None:
            if isinstance(event, Retry):
                desk.cancel.cancel()

        assert asyncio.run(desk.agent().run("Go.", desk.cancel, take)).end == "stopped"
        assert all("stopReason" not in m or m["stopReason"] == "error" for m in desk.log.messages)


def test_what_was_cut_at_its_limit_before_a_word_says_so() -> None:
    desk = Desk([ThinkingDelta("hm"), Finished("length")])
    result = desk.run()
    assert (result.end, result.error) == (
        "cut_short", "The answer was cut short at its length limit.",
    )  # fmt: skip
    assert desk.log.messages[-1]["stopReason"] == "error"


# thinking ---------------------------------------------------------------------------------------


def test_thinking_is_kept_with_its_signatures_and_sent_back() -> None:
    thought: list[Event] = [
        ThinkingDelta("first "), ThinkingDelta("thought"), ThinkingSigned("sig-1"),
        ThinkingSigned("secret", redacted=True), ThinkingDelta("second"), ThinkingSigned("sig-2"),
        TextDelta("I look."),
    ]  # fmt: skip
    desk = Desk([*thought, *look(1)], DONE, thinking="high")
    assert desk.run().end == "done"
    blocks = desk.log.messages[1]["content"]
    assert [block["type"] for block in blocks] == [
        "thinking", "thinking", "thinking", "text", "toolCall",
    ]  # fmt: skip
    assert blocks[0] == {
        "type": "thinking", "thinking": "first thought", "thinkingSignature": "sig-1",
    }  # fmt: skip
    assert (blocks[1]["redacted"], blocks[1]["thinkingSignature"]) == (True, "secret")
    assert desk.client.requests[0].thinking == "high"
    again = desk.client.requests[1].messages[2]
    assert again.thinking == ThinkingPart("first thought", "sig-1")
    assert again.more_thinking == (
        ThinkingPart("", "secret", True), ThinkingPart("second", "sig-2"),
    )  # fmt: skip

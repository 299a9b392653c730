"""Whatever a model sends and whenever it is stopped, the session is whole and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.agent.loop import AgentTurn, TurnLimits
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.turn_interface import MessageQueue, TurnEvent, UserPrompt
from explorer.models.client import (
    CancelToken,
    Finished,
    ImagePart,
    ModelError,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.models.retry import RetryPolicy
from tests.agent.desk import Box, Log, Scripted, check_pairs

CALLS = st.builds(
    ToolCall,
    st.sampled_from(["", "a", "b", "call_0", "a_2"]),
    st.sampled_from(["look", "change", "fails", "nosuch"]),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=1),
    st.sampled_from(["", "", "The arguments are not JSON: no"]),
)
PIECES = st.one_of(
    st.builds(TextDelta, st.sampled_from(["words ", " ", ""])),
    st.builds(ThinkingDelta, st.sampled_from(["hm ", ""])),
    st.builds(ThinkingSigned, st.sampled_from(["s", ""]), st.booleans()),
    st.builds(ToolCallReady, CALLS),
    st.builds(UsageReport, st.just(Usage(10, 5, total=15))),
)
KINDS = ["network", "rate_limit", "overflow", "auth", "server", "timeout"]
ENDS = st.one_of(
    st.builds(Finished, st.sampled_from(["stop", "length", "tool_calls"])),
    st.builds(ModelError, st.sampled_from(KINDS), st.just("It failed.")),
    st.none(),
)
ANSWERS = st.lists(st.tuples(st.lists(PIECES, max_size=6), ENDS), min_size=1, max_size=5)
ENDLESS = [TextDelta("Done."), Finished("stop")]


async def _look(call: ToolCall, cancel: CancelToken, said: Callable[[str], None]) -> ToolOutcome:
    await asyncio.sleep(0)
    said("looking")
    return ToolOutcome("seen", images=(ImagePart("image/png", "aGk="),))


async def _fails(call: ToolCall, cancel: CancelToken, said: Callable[[str], None]) -> ToolOutcome:
    await asyncio.sleep(0)
    raise RuntimeError("unexpected")


def check_log(log: Log) -> None:
    """No reply that is not whole is unmarked, and all that is sent is in pairs."""
    check_pairs(log.chat_messages())
    for at, message in enumerate(log.messages):
        if message["role"] != "assistant":
            continue
        calls = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
        if message["stopReason"] in ("error", "aborted"):
            assert message["errorMessage"]
            assert not calls, "a call of a reply that failed would never get a result"
        after = log.messages[at + 1 : at + 1 + len(calls)]
        answered = [one.get("toolCallId") for one in after if one["role"] == "toolResult"]
        assert answered == calls[: len(answered)]
        if len(answered) < len(calls):
            assert at + 1 + len(answered) == len(log.messages), "only a crash leaves a call open"


@settings(max_examples=150, deadline=None)
@given(
    answers=ANSWERS,
    stop_at=st.one_of(st.none(), st.integers(0, 25)),
    crash_at=st.one_of(st.none(), st.integers(0, 25)),
    steer_at=st.one_of(st.none(), st.integers(0, 25)),
    rounds=st.integers(1, 4),
)
def test_any_answers_stops_and_crashes_leave_a_whole_session(
    answers: list[Any],
    stop_at: int | None,
    crash_at: int | None,
    steer_at: int | None,
    rounds: int,
) -> None:
    written: list[list[Any]] = [
        [*pieces, *([end] if end is not None else [])] for pieces, end in answers
    ]
    log, queue = Log(), MessageQueue()
    client = Scripted(*written, *[list(ENDLESS) for _ in range(30)])
    box = Box(look=_look, change=_look, fails=_fails)
    policy = RetryPolicy(tries=2, first_wait_s=0, jitter=0)

    def agent() -> AgentTurn:
        return AgentTurn(
            log, client, "test/model", "Help.", box, None, policy, queue=queue,
            limits=TurnLimits(rounds=rounds, same_calls=2),
        )  # fmt: skip

    async def story() -> None:
        cancel, heard = CancelToken(), 0

        def take(_event: TurnEvent) -> None:
            nonlocal heard
            heard += 1
            if heard == stop_at:
                cancel.cancel()
            if heard == steer_at:
                queue.steer(UserPrompt("Look elsewhere."))
            if heard == crash_at:
                asyncio.get_running_loop().call_soon(running.cancel)

        running = asyncio.ensure_future(agent().run("Go.", cancel, take))
        await asyncio.gather(running, return_exceptions=True)
        crashed = running.cancelled()
        if not crashed:
            result = running.result()
            assert bool(result.error) == (result.end not in ("done", "stopped"))
            open_calls = log.open_calls()
            assert not open_calls
        assert box.running == set()
        check_log(log)
        again = await agent().resume(CancelToken(), lambda _event: None)
        assert again.entries or crashed or again.end == "done"
        assert not log.open_calls()
        check_log(log)

    asyncio.run(story())
    for request in client.requests:
        check_pairs(request.messages)
    client.close()

"""Plays a script at a pace at which one can read along."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from explorer.models.events import Event, TextDelta, ThinkingDelta, ToolCallReady
from explorer.models.offline.pieces import Emit, IsCancelled, send_end
from explorer.models.offline.scenario import Scenario, ScriptedReply
from explorer.models.offline.scenario_place import Next, call_id, next_of
from explorer.models.request import ModelRequest, ToolCall

_PIECE = 6
"""Characters that come at once, as from a model."""
_NAP_S = 0.02
"""How long it sleeps before it looks whether it is to stop."""


class Stopped(Exception):
    """The person stopped the reply."""


def play(
    scenario: Scenario,
    pace: float,
    request: ModelRequest,
    emit: Emit,
    cancelled: IsCancelled,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Answer a request with what the script has next.

    ``pace``: 1 as the script says, 2 twice as fast, 0 all at once.
    """
    following = next_of(scenario, request.messages)
    reply = (
        scenario.turns[following.turn].replies[following.reply]
        if following.is_reply
        else ScriptedReply("", following.text)
    )
    try:
        _wait(scenario.pause_s, pace, cancelled, sleep)
        if request.thinking != "off":
            _stream(reply.thinking, ThinkingDelta, scenario.thinking_pace, pace, emit, cancelled,
                    sleep)  # fmt: skip
        text = _text(following, reply)
        _stream(text, TextDelta, scenario.text_pace, pace, emit, cancelled, sleep)
    except Stopped:
        return
    calls = _calls(scenario, following, reply)
    for call in calls:
        emit(ToolCallReady(call))
    made = reply.thinking + text + "".join(str(call.arguments) for call in calls)
    send_end(request, made, "tool_calls" if calls else "stop", emit, "provider")


def _text(following: Next, reply: ScriptedReply) -> str:
    if following.is_reply and following.text:
        return f"{following.text}\n\n{reply.text}"
    return reply.text


def _calls(scenario: Scenario, following: Next, reply: ScriptedReply) -> list[ToolCall]:
    place = following.turn, following.reply
    return [
        ToolCall(call_id(scenario, *place, at), call.tool, dict(call.arguments))
        for at, call in enumerate(reply.calls)
    ]


def _stream(
    text: str,
    event: Callable[[str], Event],
    characters_s: float,
    pace: float,
    emit: Emit,
    cancelled: IsCancelled,
    sleep: Callable[[float], None],
) -> None:
    for piece in _pieces(text, _PIECE if pace else 2_000):
        if cancelled():
            raise Stopped
        emit(event(piece))
        _wait(len(piece) / characters_s, pace, cancelled, sleep)


def _pieces(text: str, size: int) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _wait(
    seconds: float, pace: float, cancelled: IsCancelled, sleep: Callable[[float], None]
) -> None:
    """Wait as the pace says. Raises Stopped."""
    left = seconds / pace if pace else 0.0
    while left > 0:
        if cancelled():
            raise Stopped
        sleep(min(left, _NAP_S))
        left -= _NAP_S
    if cancelled():
        raise Stopped

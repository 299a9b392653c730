"""Plays a scenario: finds the place of a conversation in it, and streams the next reply.

The place is read from the conversation alone: the ids of the calls name it, and replies without
calls are known by their text. So a scenario continues after a restart, after a compaction and on
another branch.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from explorer.models.events import Event, TextDelta, ThinkingDelta, ToolCallReady
from explorer.models.offline.answer_stream import Emit, IsCancelled, send_end
from explorer.models.offline.scenario import Scenario, ScriptedReply
from explorer.models.request import ChatMessage, ModelRequest, ToolCall

_GO_ON = re.compile(
    r"^\s*(?:please\s+)?(?:continue|go\s+on|carry\s+on|go\s+ahead|proceed|keep\s+going|resume)"
    r"(?:\s+please)?[\s.!]*$|^\s*The conversation was compacted a moment ago"
    r"|^\s*Continue if you have next steps",
    re.IGNORECASE,
)

_PIECE = 6
"""Characters that come at once, as from a model."""
_NAP_S = 0.02
"""How long it sleeps before it looks whether it is to stop."""


class Next(Struct, frozen=True):
    """What to send now: a reply of the script, or one text."""

    turn: int = -1
    reply: int = -1
    text: str = ""
    """Text instead of a reply, or before it."""

    @property
    def is_reply(self) -> bool:
        return self.reply >= 0


class _Played(Struct, frozen=True):
    """A reply of the script that the conversation holds."""

    at: int
    """Its message."""
    turn: int
    reply: int
    passage: bool = False
    """Not the reply itself, but the text that followed its results."""


def call_id(scenario: Scenario, turn: int, reply: int, call: int) -> str:
    """An id for a call that names its place and is like no other."""
    return f"{scenario.name}-{turn}-{reply}-{call}-{secrets.token_hex(3)}"


def next_of(scenario: Scenario, messages: Sequence[ChatMessage]) -> Next:
    """What the script says to these messages."""
    played = _last_played(scenario, messages)
    asked = [m.text for m in messages[(played.at if played else -1) + 1 :] if m.role == "user"]
    if played is None:
        return _begin(scenario, _turn_asked(scenario, asked), asked)
    if played.passage:
        # What did not come out as written is tried once more.
        return Next(played.turn, played.reply)
    reply = scenario.turns[played.turn].replies[played.reply]
    if reply.calls:
        failed = _unexpected(reply, messages, played.at)
        if failed and not asked:
            return Next(text=scenario.passages[failed])
        return Next(played.turn, played.reply if failed else played.reply + 1)
    if asked and asks_to_go_on(asked[-1]):
        return Next(text=scenario.waits)
    return _begin(scenario, played.turn + 1, asked)


def next_message(scenario: Scenario, messages: Sequence[ChatMessage]) -> str:
    """The message that the person is offered to send now; empty while a turn is not over."""
    played = _last_played(scenario, messages)
    if played is None:
        return scenario.turns[0].message if not messages else ""
    reply = scenario.turns[played.turn].replies[played.reply]
    if reply.calls or played.passage or played.turn + 1 >= len(scenario.turns):
        return ""
    return scenario.turns[played.turn + 1].message


def _begin(scenario: Scenario, turn: int, asked: Sequence[str]) -> Next:
    if turn >= len(scenario.turns):
        return Next(text=scenario.end)
    offered = scenario.turns[turn].message
    other = bool(asked) and not any(_same(text, offered) for text in asked)
    return Next(turn, 0, scenario.unread if other else "")


def _turn_asked(scenario: Scenario, asked: Sequence[str]) -> int:
    """The turn whose message was sent, the first by default."""
    for at, turn in enumerate(scenario.turns):
        if any(_same(text, turn.message) for text in asked[-1:]):
            return at
    return 0


def _same(text: str, other: str) -> bool:
    return " ".join(text.split()) == " ".join(other.split())


def _last_played(scenario: Scenario, messages: Sequence[ChatMessage]) -> _Played | None:
    """The last reply of the script in a conversation; None when it holds none."""
    ids = re.compile(rf"{re.escape(scenario.name)}-(\d+)-(\d+)-\d+-[0-9a-f]+")
    last: _Played | None = None
    for at, message in enumerate(messages):
        if message.role != "assistant":
            continue
        named = [match for call in message.tool_calls if (match := ids.fullmatch(call.id))]
        if named and _exists(scenario, int(named[0][1]), int(named[0][2])):
            last = _Played(at, int(named[0][1]), int(named[0][2]))
        elif not message.tool_calls:
            last = _by_text(scenario, message.text.strip(), at, last) or last
    return last


def _exists(scenario: Scenario, turn: int, reply: int) -> bool:
    return turn < len(scenario.turns) and reply < len(scenario.turns[turn].replies)


def _by_text(scenario: Scenario, text: str, at: int, last: _Played | None) -> _Played | None:
    if last is not None and text in [passage.strip() for passage in scenario.passages.values()]:
        return _Played(at, last.turn, last.reply, passage=True)
    if last is not None and text == scenario.waits.strip():
        return _Played(at, last.turn, last.reply, last.passage)
    for turn, scripted in enumerate(scenario.turns):
        for reply, one in enumerate(scripted.replies):
            if not one.calls and text.endswith(one.text.strip()):
                return _Played(at, turn, reply)
    return None


def _unexpected(reply: ScriptedReply, messages: Sequence[ChatMessage], at: int) -> str:
    """The passage for the first result that is not what the script was written for, or none."""
    results = {m.tool_call_id: m.text for m in messages[at + 1 :] if m.role == "tool"}
    given = [results.get(call.id, "") for call in messages[at].tool_calls]
    for expectation in reply.expects:
        if expectation.call >= len(given) or not expectation.fits(given[expectation.call]):
            return expectation.otherwise
    return ""


# playing ------------------------------------------------------------------------------------------


class ReplyStopped(Exception):
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
    except ReplyStopped:
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
            raise ReplyStopped
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
            raise ReplyStopped
        sleep(min(left, _NAP_S))
        left -= _NAP_S
    if cancelled():
        raise ReplyStopped


def asks_to_go_on(text: str) -> bool:
    """Whether a message asks for nothing but to continue."""
    return _GO_ON.search(text) is not None

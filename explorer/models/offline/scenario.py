"""Scripted runs: their messages and tool calls, the small repository that they work on, and their
next reply to a conversation, streamed.

A scenario is one JSON file in ``resources/scenarios``; its README defines the format. Read whole or
not at all: an error names its place.

The place of a conversation in it is read from the conversation alone: the ids of the calls name it,
and replies without calls are known by their text. So a scenario continues after a restart, after a
compaction and on another branch.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from explorer.models.catalogue import SCENARIO_PREFIX, ModelInfo
from explorer.models.events import Event, TextDelta, ThinkingDelta, ToolCallReady
from explorer.models.offline.answer_stream import Emit, IsCancelled, send_end
from explorer.models.request import ChatMessage, ModelRequest, ToolCall
from explorer.settings import paths

FOLDER = "scenarios"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class ScenarioError(Exception):
    """A scenario file that cannot be played; the message names the place."""


class ScriptedCall(Struct, frozen=True):
    """A tool that the script runs, with the arguments as pi names them."""

    tool: str
    arguments: Mapping[str, Any]


class Expectation(Struct, frozen=True):
    """What the result of a call must hold for the script to go on as written."""

    call: int
    """The place of the call in its reply, from 0."""
    has: re.Pattern[str] | None
    lacks: re.Pattern[str] | None
    otherwise: str
    """The passage that replaces it."""

    def fits(self, result: str) -> bool:
        """Whether a result is what the script was written for."""
        if self.has is not None and self.has.search(result) is None:
            return False
        return self.lacks is None or self.lacks.search(result) is None


class ScriptedReply(Struct, frozen=True):
    """One reply: a thought, a text, calls, and what they should give."""

    thinking: str
    text: str
    calls: tuple[ScriptedCall, ...] = ()
    expects: tuple[Expectation, ...] = ()


class ScriptedTurn(Struct, frozen=True):
    """A message that the person is offered to send, and the replies to it."""

    message: str
    replies: tuple[ScriptedReply, ...]


class Scenario(Struct, frozen=True):
    """A whole script. Sizes in tokens, paces in characters a second, pauses in seconds."""

    name: str
    title: str
    about: str
    """What one sees in it, in a sentence or two."""
    window: int
    output_limit: int
    text_pace: float
    thinking_pace: float
    pause_s: float
    """Before each reply, as if the model had to be waited for."""
    files: Mapping[str, str]
    """The repository, by paths with forward slashes."""
    settings: Mapping[str, Any]
    """Settings of the sandbox as a project: small sizes, so that a short run grows too long."""
    turns: tuple[ScriptedTurn, ...]
    passages: Mapping[str, str]
    """The replies for results that differ from the script, by name."""
    unread: str
    """The text before the script goes on where the user wrote something that it does not offer."""
    waits: str
    """The reply to a continue message after the end of the turn."""
    end: str
    """The reply after the end of the script."""

    @property
    def model(self) -> str:
        """The name of the model that plays it."""
        return f"{SCENARIO_PREFIX}{self.name}"

    @property
    def info(self) -> ModelInfo:
        """The model that plays it, as models are listed."""
        return ModelInfo(
            self.model, f"{self.title} (scripted run, offline)", self.window, self.output_limit,
            offline=True, input_price=0.0, output_price=0.0, reasoning=True, images=False,
            tools=True,
        )  # fmt: skip


@cache
def scenarios() -> tuple[Scenario, ...]:
    """The scenarios that came with the program, by name. Raises ScenarioError."""
    try:
        folder = paths.resource(FOLDER)
    except FileNotFoundError:
        return ()
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".json")), key=_name)
    return tuple(read_scenario(file) for file in files)


def scenario_of(model: str) -> Scenario | None:
    """The scenario that a model plays; None when there is none of that name."""
    return next((scenario for scenario in scenarios() if scenario.model == model), None)


def _name(file: Traversable) -> str:
    return file.name


def read_scenario(file: Traversable) -> Scenario:
    """A scenario out of its file. Raises ScenarioError, OSError."""
    name = file.name.removesuffix(".json")
    reader = _Reader(file.name)
    if not _NAME.fullmatch(name):
        raise reader.wrong("the name", "must be small letters, digits and hyphens")
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise reader.wrong("the file", f"is not JSON: {error}") from error
    return reader.scenario(name, value)


class _Reader:
    """Takes a scenario apart, and names the place of what does not fit."""

    def __init__(self, file: str) -> None:
        self._file = file

    def wrong(self, where: str, why: str) -> ScenarioError:
        return ScenarioError(f"{self._file}: {where} {why}")

    def scenario(self, name: str, value: Any) -> Scenario:
        top = self._object(value, "the file")
        passages = self._texts(top, "passages")
        turns = self._list(top, "turns", "the file")
        return Scenario(
            name,
            self._text(top, "title", "the file"),
            self._text(top, "about", "the file"),
            int(self._number(top, "window")),
            int(self._number(top, "output_limit")),
            self._number(top, "text_pace"),
            self._number(top, "thinking_pace"),
            self._number(top, "pause_s"),
            self._files(top),
            self._object(top.get("settings", {}), "settings"),
            tuple(self._turn(one, f"turn {at}", passages) for at, one in enumerate(turns, 1)),
            passages,
            self._text(top, "unread", "the file"),
            self._text(top, "waits", "the file"),
            self._text(top, "end", "the file"),
        )

    def _files(self, top: Mapping[str, Any]) -> dict[str, str]:
        files: dict[str, str] = {}
        for path, lines in self._object(top.get("files"), "files").items():
            parts = PurePosixPath(path).parts
            if not parts or path.startswith("/") or ".." in parts or "\\" in path or ":" in path:
                raise self.wrong(f"the file {path!r}", "must lie inside the sandbox")
            if not isinstance(lines, list) or not all(isinstance(one, str) for one in lines):
                raise self.wrong(f"the file {path!r}", "must be a list of lines")
            files[path] = "".join(f"{line}\n" for line in lines)
        return files

    def _turn(self, value: Any, where: str, passages: Mapping[str, str]) -> ScriptedTurn:
        turn = self._object(value, where)
        replies = self._list(turn, "replies", where)
        read = [
            self._reply(one, f"{where}, reply {at}", passages) for at, one in enumerate(replies, 1)
        ]
        if not read or read[-1].calls or not all(reply.calls for reply in read[:-1]):
            raise self.wrong(where, "must end with its only reply without calls")
        return ScriptedTurn(self._text(turn, "message", where), tuple(read))

    def _reply(self, value: Any, where: str, passages: Mapping[str, str]) -> ScriptedReply:
        reply = self._object(value, where)
        calls = [
            ScriptedCall(
                self._text(self._object(one, where), "tool", where),
                self._object(one.get("arguments", {}), where),
            )
            for one in reply.get("calls", ())
        ]
        expects = [
            self._expectation(self._object(one, where), where, len(calls), passages)
            for one in reply.get("expects", ())
        ]
        return ScriptedReply(
            self._text(reply, "thinking", where, needed=False),
            self._text(reply, "text", where),
            tuple(calls),
            tuple(expects),
        )

    def _expectation(
        self, value: Mapping[str, Any], where: str, calls: int, passages: Mapping[str, str]
    ) -> Expectation:
        call = value.get("call", 0)
        if isinstance(call, bool) or not isinstance(call, int) or not 0 <= call < calls:
            raise self.wrong(where, f"expects something of call {call!r}, which it has not")
        otherwise = self._text(value, "otherwise", where)
        if otherwise not in passages:
            raise self.wrong(where, f"names the passage {otherwise!r}, which there is not")
        has, lacks = self._pattern(value, "has", where), self._pattern(value, "lacks", where)
        return Expectation(call, has, lacks, otherwise)

    def _pattern(self, value: Mapping[str, Any], key: str, where: str) -> re.Pattern[str] | None:
        text = self._text(value, key, where, needed=False)
        try:
            return re.compile(text) if text else None
        except re.error as error:
            raise self.wrong(where, f"has a pattern {text!r} that is not valid: {error}") from error

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(where, "must be an object")
        return value

    def _list(self, value: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
        value_list = value.get(key)
        if not isinstance(value_list, list) or not value_list:
            raise self.wrong(where, f"needs a list {key!r}")
        return value_list

    def _text(self, value: Mapping[str, Any], key: str, where: str, needed: bool = True) -> str:
        text = value.get(key, "")
        if isinstance(text, list) and all(isinstance(one, str) for one in text):
            text = "\n".join(text)
        if not isinstance(text, str) or (needed and not text.strip()):
            raise self.wrong(where, f"needs a text {key!r}")
        return text

    def _texts(self, top: Mapping[str, Any], key: str) -> dict[str, str]:
        value = self._object(top.get(key, {}), key)
        return {name: self._text(value, name, key) for name in value}

    def _number(self, top: Mapping[str, Any], key: str) -> float:
        number = top.get(key)
        if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
            raise self.wrong("the file", f"needs a number {key!r} above 0")
        return number


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

"""Scripted runs: their messages and tool calls, and the small repository that they work on.

A scenario is one JSON file in ``resources/scenarios``; its README defines the format. Read whole or
not at all: an error names its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from explorer.models.catalogue import SCENARIO_PREFIX, ModelInfo
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

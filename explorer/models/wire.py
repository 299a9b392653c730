"""Requests as litellm's keyword arguments, and litellm's chunks as events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.models.catalogue import ModelInfo
from explorer.models.events import (
    Event,
    Finished,
    ModelError,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.models.reply_reader import UnreadableReply, read_json, storable
from explorer.models.request import (
    ChatMessage,
    ImagePart,
    ModelRequest,
    ThinkingPart,
    ToolCall,
    as_level,
)
from explorer.session.json_values import MAX_COUNT, MAX_DEPTH, is_too_deep, recorded_count
from explorer.tokens.estimate import estimate_text

_STOPS: Mapping[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


_NEVER_CAME = "No arguments arrived for this call, and those of another one are damaged."
_SHOWN = 160
"""Characters of malformed arguments that are quoted."""
_MOST_TEXT = 8_000_000
"""Characters of an answer, all its parts together; long answers have less than a million."""
_MOST_CALLS = 1_000
_MOST_LEVELS = MAX_DEPTH - 20
"""Of the arguments of a call: the entry that they are stored in lies around them."""


def call_arguments(
    request: ModelRequest, info: ModelInfo, model: str | None = None
) -> dict[str, Any]:
    """Keyword arguments for `litellm.acompletion`; the output cap never above the model's (E19).

    ``model`` is what litellm calls it, where that is not the request's name for it.
    """
    arguments: dict[str, Any] = {
        "model": model or request.model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "drop_params": True,
        "max_retries": 0,
        "num_retries": 0,
    }
    limit = request.max_output_tokens
    if limit is not None:
        capped = limit if info.output_limit is None else min(limit, info.output_limit)
        arguments["max_tokens"] = max(1, capped)
    arguments["temperature"] = request.temperature
    arguments |= thinking_arguments(request.thinking, info, arguments.get("max_tokens"))
    if arguments["temperature"] is None:
        del arguments["temperature"]
    if request.tools:
        # Without this litellm looks for its tool servers, whose package is not installed
        # with it, and every call that offers a tool fails.
        arguments["_skip_mcp_handler"] = True
        arguments["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters or {"type": "object", "properties": {}},
                },
            }
            for tool in request.tools
        ]
        if request.tool_choice is not None:
            arguments["tool_choice"] = request.tool_choice
    return arguments


def _message(message: ChatMessage) -> dict[str, Any]:
    result: dict[str, Any] = {"role": message.role}
    if isinstance(message.content, str):
        result["content"] = message.content
    else:
        result["content"] = [
            {"type": "image_url", "image_url": {"url": f"data:{p.mime};base64,{p.data_base64}"}}
            if isinstance(p, ImagePart)
            else {"type": "text", "text": p.text}
            for p in message.content
        ]
    if message.tool_calls:
        result["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
        result["content"] = result["content"] or None
    if message.tool_call_id is not None:
        result["tool_call_id"] = message.tool_call_id
    if message.thinking is not None:
        # Without its signature a provider takes no thinking back.
        parts = [part for part in (message.thinking, *message.more_thinking) if part.signature]
        if parts:
            result["thinking_blocks"] = [_thinking_block(part) for part in parts]
    return result


def _thinking_block(part: ThinkingPart) -> dict[str, str]:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.signature}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


# thinking -----------------------------------------------------------------------------------------

_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}
"""Tokens of thinking, for models that take a number."""
_LEAST_BUDGET = 1024
"""Anthropic takes no smaller one."""
_LEAST_ANSWER = 1024
"""Tokens that are left for the answer itself at least."""
_DEFAULT_OUTPUT = 32_000
"""Where a model's output limit is unknown."""


def thinking_arguments(
    level: str | None, info: ModelInfo, max_tokens: int | None
) -> dict[str, Any]:
    """What a call through litellm is given for a level; nothing for a model that does not reason.

    ``max_tokens`` is the most that the answer may have, None for no bound. A model that takes a
    budget of thinking has it beside the answer, as far as its output limit goes; then the result
    has a separate ``max_tokens``, and ``temperature`` None where the model takes none with it.
    """
    wanted = as_level(level)
    if wanted is None or not info.reasoning:
        return {}
    if wanted == "off":
        return _none(info)
    if info.provider == "anthropic" and "adaptive" not in info.efforts:
        return _budget(_BUDGETS[wanted], info, max_tokens)
    effort: str = wanted
    if wanted == "minimal" and "minimal" not in info.efforts and info.provider != "gemini":
        effort = "low"
    return {"reasoning_effort": effort, **_let_through(info)}


def _none(info: ModelInfo) -> dict[str, Any]:
    """For models that think by default; others need no argument."""
    if "none" in info.efforts:
        return {"reasoning_effort": "none", **_let_through(info)}
    if info.provider == "gemini" and "2.5-flash" in info.id:
        return {"reasoning_effort": "disable"}
    return {}


def _budget(wanted: int, info: ModelInfo, max_tokens: int | None) -> dict[str, Any]:
    limit = info.output_limit or max(_DEFAULT_OUTPUT, max_tokens or 0)
    room = limit if max_tokens is None else min(limit, max_tokens + wanted)
    budget = min(wanted, room - _LEAST_ANSWER)
    if budget < _LEAST_BUDGET:
        return {}  # no room to think in
    thinking = {"type": "enabled", "budget_tokens": budget}
    return {"thinking": thinking, "max_tokens": room, "temperature": None}


def _let_through(info: ModelInfo) -> dict[str, Any]:
    """litellm drops what it does not know a model to take; a person or a server may know better."""
    if info.source_of("reasoning") in ("you", "server"):
        return {"allowed_openai_params": ["reasoning_effort"]}
    return {}


# the answer ---------------------------------------------------------------------------------------


class ChunkReader:
    """Reads the chunks of one streamed answer in order."""

    def __init__(self) -> None:
        self._calls: list[_Arriving] = []
        self._latest: dict[int, _Arriving] = {}
        """By index; some servers give all their calls one index."""
        self._usage: Usage | None = None
        self._size = 0

    def read(self, chunk: Any, counted_by_provider: Callable[[], bool]) -> Iterator[Event]:
        """The events of one chunk; usage and tool calls wait for `finish`.

        Raises ModelError where the answer has become too large.
        """
        usage = getattr(chunk, "usage", None)
        if usage is not None and counted_by_provider():
            self._usage = read_usage(usage)
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            thinking = getattr(delta, "reasoning_content", None)
            if thinking:
                yield ThinkingDelta(self._taken(thinking))
            for block in getattr(delta, "thinking_blocks", None) or ():
                if block.get("type") == "redacted_thinking":
                    yield ThinkingSigned(self._taken(str(block.get("data") or "")), redacted=True)
                elif block.get("signature"):
                    yield ThinkingSigned(self._taken(str(block["signature"])))
            if delta.content:
                yield TextDelta(self._taken(delta.content))
            for piece in getattr(delta, "tool_calls", None) or ():
                self._add_call(piece)

    def _taken(self, text: str) -> str:
        """A text that is part of the answer."""
        self._size += len(text)
        if self._size > _MOST_TEXT:
            message = f"The answer has more than {_MOST_TEXT:,} characters; the rest was not read."
            raise ModelError("bad_request", message)
        return storable(text)

    def _add_call(self, piece: Any) -> None:
        index = piece.index or 0
        call = self._latest.get(index)
        if call is None or (piece.id and call.id and piece.id != call.id):
            if len(self._calls) >= _MOST_CALLS:
                message = f"The answer has more than {_MOST_CALLS:,} tool calls."
                raise ModelError("bad_request", message)
            call = self._latest[index] = _Arriving(index)
            self._calls.append(call)
        call.id = self._taken(piece.id or "") or call.id
        call.name.append(self._taken(piece.function.name or ""))
        call.arguments.append(self._taken(piece.function.arguments or ""))

    def finish(self, reason: str, asked: Iterable[str] = ()) -> Iterator[Event]:
        """The tool calls, the usage and the end. Raises ModelError for an unusable end.

        ``asked``: the texts that were sent, for an estimate where the provider counted nothing.
        """
        if reason == "content_filter":
            raise ModelError("bad_request", "The provider's content filter stopped this answer.")
        stop = _STOPS.get(reason, "stop")
        if self._calls and stop == "stop":
            stop = "tool_calls"  # some servers say "stop" after calls
        if stop == "tool_calls":
            yield from map(ToolCallReady, self._whole_calls())
        yield UsageReport(self._usage or self._estimated(asked))
        yield Finished(stop)

    def _estimated(self, asked: Iterable[str]) -> Usage:
        read, written = sum(map(estimate_text, asked)), -(-self._size // 4)
        return Usage(read, written, total=read + written, source="estimate")

    def _whole_calls(self) -> Iterator[ToolCall]:
        arrived = sorted(self._calls, key=lambda call: call.index)
        whole = [call.whole(number) for number, call in enumerate(arrived)]
        damaged = any(call.problem for call in whole)
        for call, pieces in zip(whole, arrived, strict=True):
            # What belongs to one call may have come as another's: then it is not run without.
            if damaged and not call.problem and not any(pieces.arguments):
                yield replace(call, problem=_NEVER_CAME)
            else:
                yield call


class _Arriving(Struct):
    """A tool call in pieces."""

    index: int
    id: str = ""
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def whole(self, number: int) -> ToolCall:
        """The call; arguments that cannot be used become its problem, for the model to read."""
        call_id, name = self.id or f"call_{number}", "".join(self.name)
        raw = "".join(self.arguments)
        try:
            arguments = read_json(raw or "{}", "")
        except UnreadableReply as error:
            problem = f"The arguments are not JSON: {_place(raw, error.__cause__)}"
            return ToolCall(call_id, name, {}, problem, raw)
        if not isinstance(arguments, dict):
            problem = f"The arguments are not a JSON object: {raw[:_SHOWN]}"
            return ToolCall(call_id, name, {}, problem, raw)
        if is_too_deep(raw, arguments, _MOST_LEVELS):
            problem = f"The arguments are nested more than {_MOST_LEVELS} levels deep."
            return ToolCall(call_id, name, {}, problem, raw)
        return ToolCall(call_id, name, arguments)


def _place(raw: str, error: BaseException | None) -> str:
    """What is wrong with a JSON text, and the text about the place."""
    if not isinstance(error, json.JSONDecodeError):
        return "they are nested too deep"
    around = raw[max(0, error.pos - _SHOWN // 2) : error.pos + _SHOWN // 2]
    return f"{error.msg} at character {error.pos + 1:,} of {len(raw):,}, at: {around}"


def read_usage(usage: Any) -> Usage | None:
    """litellm's usage, whose prompt count includes the cached tokens, as ours (B9); None where a
    figure cannot be right."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = getattr(details, "cached_tokens", 0)
    written = getattr(usage, "cache_creation_input_tokens", 0)
    figures = {
        "read": read or getattr(usage, "cache_read_input_tokens", 0),
        "written": written or getattr(details, "cache_creation_tokens", 0),
        "prompt": getattr(usage, "prompt_tokens", 0),
        "output": getattr(usage, "completion_tokens", 0),
        "total": getattr(usage, "total_tokens", 0),
    }
    known = {name: recorded_count(figure or 0) for name, figure in figures.items()}
    whole = {name: figure for name, figure in known.items() if figure is not None}
    if len(whole) < len(known) or whole["prompt"] + whole["output"] > MAX_COUNT:
        return None
    return Usage(
        input=max(0, whole["prompt"] - whole["read"] - whole["written"]),
        output=whole["output"],
        cache_read=whole["read"],
        cache_write=whole["written"],
        total=whole["total"] or whole["prompt"] + whole["output"],
    )

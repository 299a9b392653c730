"""Our request in litellm's words, and litellm's chunks in ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

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
from explorer.models.info import ModelInfo
from explorer.models.request import ChatMessage, ImagePart, ModelRequest, ThinkingPart, ToolCall
from explorer.models.thinking import thinking_arguments

_STOPS: Mapping[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


_NEVER_CAME = "No arguments arrived for this call, and those of another one are damaged."
_SHOWN = 160
"""Characters of malformed arguments that are quoted."""


def call_arguments(
    request: ModelRequest, info: ModelInfo, model: str | None = None
) -> dict[str, Any]:
    """Keyword arguments for `litellm.acompletion`; the output cap never above the model's (E19).

    ``model`` is what litellm calls it, where that is not the request's own name for it.
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
        # Without this litellm looks for its own tool servers, whose package is not installed
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


class ChunkReader:
    """Reads the chunks of one streamed answer in order."""

    def __init__(self) -> None:
        self._calls: dict[int, dict[str, str]] = {}
        self._usage: Usage | None = None
        self._estimate: Usage | None = None

    def read(self, chunk: Any, counted_by_provider: Callable[[], bool]) -> Iterator[Event]:
        """The events of one chunk; usage and tool calls wait for `finish`."""
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            if counted_by_provider():
                self._usage = read_usage(usage, counted_by_provider=True)
            else:
                self._estimate = read_usage(usage, counted_by_provider=False)
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            thinking = getattr(delta, "reasoning_content", None)
            if thinking:
                yield ThinkingDelta(thinking)
            for block in getattr(delta, "thinking_blocks", None) or ():
                if block.get("type") == "redacted_thinking":
                    yield ThinkingSigned(str(block.get("data") or ""), redacted=True)
                elif block.get("signature"):
                    yield ThinkingSigned(str(block["signature"]))
            if delta.content:
                yield TextDelta(delta.content)
            for piece in getattr(delta, "tool_calls", None) or ():
                self._add_call(piece)

    def _add_call(self, piece: Any) -> None:
        call = self._calls.setdefault(piece.index or 0, {"id": "", "name": "", "arguments": ""})
        call["id"] = piece.id or call["id"]
        call["name"] += piece.function.name or ""
        call["arguments"] += piece.function.arguments or ""

    def finish(self, reason: str) -> Iterator[Event]:
        """The tool calls, the usage and the end. Raises ModelError for an unusable end."""
        if reason == "content_filter":
            raise ModelError("bad_request", "The provider's content filter stopped this answer.")
        stop = _STOPS.get(reason, "stop")
        if self._calls and stop == "stop":
            stop = "tool_calls"  # some servers say "stop" after calls
        if stop == "tool_calls":
            yield from map(ToolCallReady, self._whole_calls())
        usage = self._usage or self._estimate
        if usage is not None:
            yield UsageReport(usage)
        yield Finished(stop)

    def _whole_calls(self) -> Iterator[ToolCall]:
        whole = [_whole_call(index, self._calls[index]) for index in sorted(self._calls)]
        damaged = any(call.problem for call in whole)
        for call, arrived in zip(whole, map(self._calls.get, sorted(self._calls)), strict=True):
            # What belongs to one call may have come as another's: then it is not run without.
            if damaged and not call.problem and not (arrived or {}).get("arguments"):
                yield replace(call, problem=_NEVER_CAME)
            else:
                yield call


def _whole_call(index: int, call: Mapping[str, str]) -> ToolCall:
    """The call; arguments that cannot be used become its problem, for the model to read."""
    call_id, name, raw = call["id"] or f"call_{index}", call["name"], call["arguments"]
    try:
        arguments = json.loads(raw or "{}")
    except (ValueError, RecursionError) as error:  # the latter for a million brackets
        return ToolCall(call_id, name, {}, f"The arguments are not JSON: {_place(raw, error)}", raw)
    if not isinstance(arguments, dict):
        problem = f"The arguments are not a JSON object: {raw[:_SHOWN]}"
        return ToolCall(call_id, name, {}, problem, raw)
    return ToolCall(call_id, name, arguments)


def _place(raw: str, error: Exception) -> str:
    """What is wrong with a JSON text, and the text about the place."""
    if not isinstance(error, json.JSONDecodeError):
        return "they are nested too deep"
    around = raw[max(0, error.pos - _SHOWN // 2) : error.pos + _SHOWN // 2]
    return f"{error.msg} at character {error.pos + 1:,} of {len(raw):,}, at: {around}"


def read_usage(usage: Any, *, counted_by_provider: bool) -> Usage:
    """litellm's usage, whose prompt count includes the cached tokens, as ours (B9)."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = _count(getattr(details, "cached_tokens", 0)) or _count(
        getattr(usage, "cache_read_input_tokens", 0)
    )
    written = _count(getattr(usage, "cache_creation_input_tokens", 0)) or _count(
        getattr(details, "cache_creation_tokens", 0)
    )
    prompt = _count(getattr(usage, "prompt_tokens", 0))
    output = _count(getattr(usage, "completion_tokens", 0))
    return Usage(
        input=max(0, prompt - read - written),
        output=output,
        cache_read=read,
        cache_write=written,
        total=_count(getattr(usage, "total_tokens", 0)) or prompt + output,
        source="provider" if counted_by_provider else "estimate",
    )


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0

"""Makes sense of what a model server sends, in both languages that are spoken most.

Figures that cannot be right count as not reported. What can be read in one way only is read so;
what cannot be read at all raises Misunderstood, which says why in words that follow "the reply is
not understood:". The result has nothing but what is known, in the types that it should have.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from explorer.models.shown import storable
from explorer.session.json_values import MAX_COUNT

_MOST_CALLS = 1_000
_COUNTED = ("prompt_tokens", "completion_tokens", "total_tokens")
_MORE_COUNTED = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "prompt_cache_hit_tokens",
    "prompt_cache_miss_tokens",
)
_DETAILS = {
    "prompt_tokens_details": ("cached_tokens", "cache_creation_tokens"),
    "completion_tokens_details": ("reasoning_tokens",),
}
_MESSAGE_COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_KINDS = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


class Misunderstood(ValueError):
    """Why a reply cannot be read, as the end of a sentence."""


def read_json(text: str, what: str) -> Any:
    """The value of a JSON text, its texts storable. Raises Misunderstood."""
    try:
        return _storable(json.loads(text, parse_constant=_no_number))
    except RecursionError as error:
        raise Misunderstood(f"{what} is nested too deep") from error
    except Misunderstood:
        raise
    except ValueError as error:
        long = "digits" in str(error)
        raise Misunderstood(
            f"{what} {'has an endless number' if long else 'is not JSON'}"
        ) from error


def _no_number(_name: str) -> None:
    """NaN and the infinities are no JSON; no figure is read out of them."""


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): _storable(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def count(value: object) -> int | None:
    """A number of tokens; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MAX_COUNT or value != int(value):
        return None
    return int(value)


def _is(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), "an object")


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Misunderstood(f"{what} is {_is(value)}")
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _words(value: object, what: str) -> str | None:
    """A text, or the texts of a list of parts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        return "".join(part for part in parts if isinstance(part, str))
    raise Misunderstood(f"{what} is {_is(value)}")


# chat completions ---------------------------------------------------------------------------------


def clean_chunk(value: object) -> dict[str, Any] | None:
    """A chunk of chat completions; a refusal stays a refusal. Raises Misunderstood."""
    chunk = _object(value, "a chunk of it")
    if chunk.get("error"):
        return {"error": _refusal(chunk["error"], chunk)}
    choices = chunk.get("choices")
    if choices is None:
        choices = []
    if not isinstance(choices, list):
        raise Misunderstood(f"its list of choices is {_is(choices)}")
    clean: dict[str, Any] = {
        "id": _text(chunk.get("id")) or "chunk",
        "object": "chat.completion.chunk",
        "created": count(chunk.get("created")) or 0,
        "model": _text(chunk.get("model")) or "",
        # Only one answer was asked for.
        "choices": [_choice(choice) for choice in choices[:1]],
    }
    usage = clean_usage(chunk.get("usage"))
    if usage is not None:
        clean["usage"] = usage
    return clean


def _refusal(error: object, around: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(error, dict):
        return {
            name: value
            for name, value in error.items()
            if isinstance(value, str | int) and not isinstance(value, bool)
        } | {"message": _text(error.get("message")) or _text(around.get("message")) or ""}
    return {"message": error if isinstance(error, str) else _text(around.get("message")) or ""}


def _choice(value: object) -> dict[str, Any]:
    choice = _object(value, "a choice of it")
    delta = choice.get("delta")
    if delta is None:
        delta = choice.get("message")  # where a stream was asked for and none was made
    if delta is None:
        delta = {"content": choice.get("text")}
    return {
        "index": 0,
        "delta": _delta(_object(delta, "the delta of a chunk")),
        "finish_reason": _text(choice.get("finish_reason")) or None,
    }


def _delta(delta: Mapping[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = {"content": _words(delta.get("content"), "the content of a chunk")}
    if isinstance(delta.get("role"), str):
        clean["role"] = "assistant"
    thinking = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
    if thinking:
        clean["reasoning_content"] = thinking
    blocks = delta.get("thinking_blocks")
    if isinstance(blocks, list):
        clean["thinking_blocks"] = [_thinking(block) for block in blocks if isinstance(block, dict)]
    calls = delta.get("tool_calls")
    if isinstance(calls, list) and calls:
        clean["tool_calls"] = [_call(number, call) for number, call in enumerate(calls)]
    elif calls is not None and calls != []:
        raise Misunderstood(f"its list of tool calls is {_is(calls)}")
    return clean


def _thinking(block: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value
        for name in ("type", "thinking", "signature", "data")
        if isinstance(value := block.get(name), str)
    }


def _call(number: int, value: object) -> dict[str, Any]:
    call = _object(value, "a tool call of it")
    function = call.get("function")
    function = _object({} if function is None else function, "the function of a tool call")
    index = call.get("index")
    if index is None:
        index = number
    if count(index) is None or index >= _MOST_CALLS:
        raise Misunderstood("a tool call of it has an index that cannot be")
    name = function.get("name")
    if name is not None and not isinstance(name, str):
        raise Misunderstood(f"the name of a tool call is {_is(name)}")
    call_id = call.get("id")
    return {
        "index": int(index),
        "id": str(call_id) if isinstance(call_id, str | int) and call_id != "" else None,
        "type": "function",
        "function": {"name": name, "arguments": _arguments(function.get("arguments"))},
    }


def _arguments(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def clean_usage(value: object) -> dict[str, Any] | None:
    """The figures of chat completions; None where one of them cannot be right."""
    if not isinstance(value, dict):
        return None
    clean = _counts(value, (*_COUNTED[:2], *_MORE_COUNTED))
    if not clean:
        return None
    for name, inner in _DETAILS.items():
        details = value.get(name)
        found = _counts(details, inner) if isinstance(details, dict) else {}
        if found is None:
            return None
        if found:
            clean[name] = found
    clean = {"prompt_tokens": 0, "completion_tokens": 0} | clean
    parts = clean["prompt_tokens"] + clean["completion_tokens"]
    return clean | {"total_tokens": count(value.get("total_tokens")) or parts}


def _counts(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """The figures that are there; None where one cannot be right."""
    found = {name: value[name] for name in names if value.get(name) is not None}
    clean = {name: count(figure) for name, figure in found.items()}
    return None if None in clean.values() else clean


# Anthropic's messages -----------------------------------------------------------------------------


class MessageEvents:
    """Cleans the events of one reply in order."""

    def __init__(self) -> None:
        self._counted = True

    def clean(self, value: object) -> dict[str, Any] | None:
        """An event of Anthropic's stream; None for one that says nothing. Raises Misunderstood."""
        event = _object(value, "an event of it")
        kind = event.get("type")
        if kind == "error" or (event.get("error") and kind is None):
            return {"type": "error", "error": _refusal(event.get("error"), event)}
        if kind == "message_start":
            message = _object(event.get("message"), "the message of it")
            return {"type": kind, "message": _message(message) | self._usage(message)}
        if kind == "content_block_start":
            return _block_start(event)
        if kind == "content_block_delta":
            return _block_delta(event)
        if kind == "content_block_stop":
            return {"type": kind, "index": _index(event)}
        if kind == "message_delta":
            return self._message_delta(event)
        if kind == "message":
            raise Misunderstood("it is not a stream of events")
        if kind in ("message_stop", "ping"):
            return {"type": kind}
        if not isinstance(kind, str):
            raise Misunderstood(f"the type of an event is {_is(kind)}")
        return None  # an event of tomorrow

    def _message_delta(self, event: Mapping[str, Any]) -> dict[str, Any] | None:
        delta = event.get("delta")
        delta = _object({} if delta is None else delta, "the delta of an event")
        reason, usage = _text(delta.get("stop_reason")), self._usage(event)
        if reason is None and not usage:
            return None  # an end without a reason is none
        said = {"stop_reason": reason, "stop_sequence": None}
        return {"type": "message_delta", "delta": said, **usage}

    def _usage(self, around: Mapping[str, Any]) -> dict[str, Any]:
        """The figures so far. Where one was wrong, the later ones are part of a wrong sum."""
        value = around.get("usage")
        found = _counts(value, _MESSAGE_COUNTED) if isinstance(value, dict) else {}
        self._counted &= found is not None
        return {"usage": found} if found and self._counted else {}


def _index(event: Mapping[str, Any]) -> int:
    index = count(event.get("index", 0))
    if index is None or index >= _MOST_CALLS:
        raise Misunderstood("a block of it has an index that cannot be")
    return index


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": _text(message.get("id")) or "message", "type": "message", "role": "assistant",
        "model": _text(message.get("model")) or "", "content": [],
        "stop_reason": None, "stop_sequence": None,
    }  # fmt: skip


def _block_start(event: Mapping[str, Any]) -> dict[str, Any] | None:
    block = _object(event.get("content_block"), "a block of it")
    kind = block.get("type")
    clean: dict[str, Any]
    if kind == "text":
        clean = {"type": "text", "text": _words(block.get("text"), "the text of a block") or ""}
    elif kind == "thinking":
        clean = {"type": "thinking", "thinking": _text(block.get("thinking")) or ""}
    elif kind == "redacted_thinking":
        clean = {"type": kind, "data": _text(block.get("data")) or ""}
    elif kind == "tool_use":
        name, call_id = block.get("name"), block.get("id")
        if name is not None and not isinstance(name, str):
            raise Misunderstood(f"the name of a tool call is {_is(name)}")
        clean = {"type": kind, "id": _text(call_id) or "", "name": name or "", "input": {}}
    else:
        return None
    return {"type": "content_block_start", "index": _index(event), "content_block": clean}


_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def _block_delta(event: Mapping[str, Any]) -> dict[str, Any] | None:
    delta = _object(event.get("delta"), "the delta of an event")
    kind = delta.get("type")
    name = _DELTAS.get(kind) if isinstance(kind, str) else None
    if name is None:
        return None
    said = delta.get(name)
    words = _arguments(said) if name == "partial_json" else _words(said, f"the {name} of an event")
    clean = {"type": kind, name: words or ""}
    return {"type": "content_block_delta", "index": _index(event), "delta": clean}

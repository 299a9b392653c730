"""A model server's reply, parsed and rebuilt from the fields that are known, in their right types.

litellm and the clients beneath it fail variously on unexpected JSON and copy unfinished events
at every piece of bytes, so that they are handed clean events of one line each. Figures that cannot
be right count as not reported. What cannot be read at all raises UnreadableReply.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from explorer.session import json_values
from explorer.session.json_values import recorded_count

Format = Literal["completions", "messages"]
"""OpenAI's chat completions, or Anthropic's messages."""
_MOST_CALLS = 1_000
_LONGEST_ERROR = 200
"""Characters of an error that is plain text."""
_DONE = "[DONE]"
_LONE_OR_NUL = re.compile(r"[\x00\ud800-\udfff]")


class UnreadableReply(ValueError):
    """Why a reply cannot be read, as the end of a sentence: "the reply is not understood: ..."."""


def shortened(text: str, longest: int) -> str:
    """One line of at most ``longest`` characters, all of them printable."""
    begin = storable(text.lstrip()[: longest * 4])
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in begin).split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def storable(text: str) -> str:
    """The text with U+FFFD for what no file and no database takes: lone surrogates and NUL."""
    return _LONE_OR_NUL.sub("\ufffd", text)


def read_json(text: str, what: str) -> Any:
    """The value of a JSON text, its texts storable, NaN and infinities as None.

    Raises UnreadableReply, whose sentence begins with ``what``.
    """
    try:
        return _storable(json_values.read_json(text))
    except json.JSONDecodeError as error:
        raise UnreadableReply(f"{what} is not JSON") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableReply(f"{what} is nested too deep") from error


def _json_or_none(text: str) -> Any:
    try:
        return read_json(text, "")
    except UnreadableReply:
        return None


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): _storable(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


# events -----------------------------------------------------------------------------------------


class EventStream:
    """Server-sent events: takes bytes, gives cleaned events with one line of JSON each."""

    def __init__(self, format: Format, longest_event: int) -> None:
        self._clean = clean_chunk if format == "completions" else MessageEvents().clean
        self._named = format == "messages"
        self._longest = longest_event
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._name = ""
        self._size = 0
        self._events = 0
        self._plain: list[str] = []
        """Lines before the first event that are no part of one."""
        self.done = False
        """The server sent the end marker: what follows is not read."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The events that end in a piece. Raises UnreadableReply."""
        if piece.endswith(b"\r"):
            piece, carried = piece[:-1], [b"\r"]
        else:
            carried = []
        if b"\n" not in piece and b"\r" not in piece and not self._ends_in_cr():
            self._rest += [piece, *carried]
            return
        text = b"".join((*self._rest, piece)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = [rest, *carried]
        for line in lines:
            yield from self._line(line.decode("utf-8", "replace"))
            if self.done:
                return

    def _ends_in_cr(self) -> bool:
        return bool(self._rest) and self._rest[-1] == b"\r"

    def end(self) -> Iterator[bytes]:
        """What is left at the end. Raises UnreadableReply where nothing was a reply."""
        rest = b"".join(self._rest).decode("utf-8", "replace").strip("\r")
        self._rest = []
        if rest:
            yield from self._line(rest)
        if self._data:
            # An event that was cut off is none; litellm sees that the end is missing.
            with_end = _json_or_none("\n".join(self._data))
            if with_end is not None:
                yield from self._event()
        if not self._events and not self.done:
            yield from self._whole("\n".join(self._plain).strip())

    def _line(self, line: str) -> Iterator[bytes]:
        if not line:
            yield from self._event()
            return
        self._size += len(line)
        if self._size > self._longest:
            raise UnreadableReply(f"one event of it is larger than {self._longest:,} bytes")
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif not self._events and not (colon and field in ("", "id", "retry")):
            self._plain.append(line)
        elif not field:
            self._size -= len(line)  # a comment: only a sign of activity

    def _event(self) -> Iterator[bytes]:
        data, name = self._data, self._name
        self._data, self._name = [], ""
        if not self._plain:
            self._size = 0
        if not data:
            return
        self._events += 1
        self._plain.clear()
        joined = "\n".join(data)
        if joined.strip().startswith(_DONE):
            self.done = True
            yield b"data: [DONE]\n\n"
            return
        if not joined.strip():
            return
        # Some servers leave out the empty line between events.
        alone = len(data) > 1 and _json_or_none(joined) is None
        for text in data if alone else (joined,):
            yield from self._cleaned(text, name)

    def _cleaned(self, text: str, name: str) -> Iterator[bytes]:
        if name == "error":
            value = _json_or_none(text)
            if not isinstance(value, dict) or not value.get("error"):
                words = value.get("message") if isinstance(value, dict) else text
                message = shortened(str(words or text), _LONGEST_ERROR)
                value = {"type": "error", "error": {"message": message}}
        else:
            value = read_json(text, "an event of it")
        clean = self._clean(value)
        if clean is not None:
            kind = f"event: {clean['type']}\n" if self._named else ""
            yield f"{kind}data: {json.dumps(clean)}\n\n".encode()

    def _whole(self, text: str) -> Iterator[bytes]:
        """A reply that is no stream: a refusal, or all of it at once."""
        if not text:
            return  # as if the connection had been cut
        value = _json_or_none(text)
        if isinstance(value, dict):
            yield from self._cleaned(text, "")
        elif text.startswith("<"):
            raise UnreadableReply("it is a web page")
        else:
            raise UnreadableReply("it is not a stream of events")


# fields -----------------------------------------------------------------------------------------

_TYPE_NAMES = {
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def _type_name(value: object) -> str:
    return "null" if value is None else _TYPE_NAMES.get(type(value), "an object")


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableReply(f"{what} is {_type_name(value)}")
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
    raise UnreadableReply(f"{what} is {_type_name(value)}")


# chat completions ---------------------------------------------------------------------------------

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


def clean_chunk(value: object) -> dict[str, Any] | None:
    """A chunk of chat completions; a refusal stays a refusal. Raises UnreadableReply."""
    chunk = _object(value, "a chunk of it")
    if chunk.get("error"):
        return {"error": _refusal(chunk["error"], chunk)}
    choices = chunk.get("choices")
    if choices is None:
        choices = []
    if not isinstance(choices, list):
        raise UnreadableReply(f"its list of choices is {_type_name(choices)}")
    clean: dict[str, Any] = {
        "id": _text(chunk.get("id")) or "chunk",
        "object": "chat.completion.chunk",
        "created": recorded_count(chunk.get("created")) or 0,
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
        raise UnreadableReply(f"its list of tool calls is {_type_name(calls)}")
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
    if recorded_count(index) is None or index >= _MOST_CALLS:
        raise UnreadableReply("a tool call of it has an index that cannot be")
    name = function.get("name")
    if name is not None and not isinstance(name, str):
        raise UnreadableReply(f"the name of a tool call is {_type_name(name)}")
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
        counts = _counts(details, inner) if isinstance(details, dict) else {}
        if counts is None:
            return None
        if counts:
            clean[name] = counts
    clean = {"prompt_tokens": 0, "completion_tokens": 0} | clean
    parts = clean["prompt_tokens"] + clean["completion_tokens"]
    return clean | {"total_tokens": recorded_count(value.get("total_tokens")) or parts}


def _counts(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """The figures that are there; None where one cannot be right."""
    counts = {name: value[name] for name in names if value.get(name) is not None}
    clean = {name: recorded_count(figure) for name, figure in counts.items()}
    return None if None in clean.values() else clean


# Anthropic's messages -----------------------------------------------------------------------------

_MESSAGE_COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class MessageEvents:
    """Cleans the events of one reply in order."""

    def __init__(self) -> None:
        self._counted = True

    def clean(self, value: object) -> dict[str, Any] | None:
        """An event of Anthropic's stream; None for one without content. Raises UnreadableReply."""
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
            raise UnreadableReply("it is not a stream of events")
        if kind in ("message_stop", "ping"):
            return {"type": kind}
        if not isinstance(kind, str):
            raise UnreadableReply(f"the type of an event is {_type_name(kind)}")
        return None  # an event of tomorrow

    def _message_delta(self, event: Mapping[str, Any]) -> dict[str, Any] | None:
        delta = event.get("delta")
        delta = _object({} if delta is None else delta, "the delta of an event")
        reason, usage = _text(delta.get("stop_reason")), self._usage(event)
        if reason is None and not usage:
            return None  # an end without a reason is none
        end = {"stop_reason": reason, "stop_sequence": None}
        return {"type": "message_delta", "delta": end, **usage}

    def _usage(self, around: Mapping[str, Any]) -> dict[str, Any]:
        """The figures so far. Where one was wrong, the later ones are part of a wrong sum."""
        value = around.get("usage")
        counts = _counts(value, _MESSAGE_COUNTED) if isinstance(value, dict) else {}
        self._counted &= counts is not None
        return {"usage": counts} if counts and self._counted else {}


def _index(event: Mapping[str, Any]) -> int:
    index = recorded_count(event.get("index", 0))
    if index is None or index >= _MOST_CALLS:
        raise UnreadableReply("a block of it has an index that cannot be")
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
            raise UnreadableReply(f"the name of a tool call is {_type_name(name)}")
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
    value = delta.get(name)
    words = (
        _arguments(value) if name == "partial_json" else _words(value, f"the {name} of an event")
    )
    clean = {"type": kind, name: words or ""}
    return {"type": "content_block_delta", "index": _index(event), "delta": clean}

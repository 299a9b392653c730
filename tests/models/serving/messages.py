"""The stream of Anthropic's messages: named events, content in blocks that begin and end."""

from __future__ import annotations

from typing import Any

from tests.models.serving.lines import EventLines
from tests.models.serving.plans import HttpFailure, StreamFailure
from tests.models.serving.speaking import as_json

_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class MessageStream:
    """See `Spelling`. A text block is open until something else begins."""

    def __init__(self, out: EventLines, model: str) -> None:
        self._out = out
        self._model = model
        self._next = 0
        self._text_block: int | None = None
        self._blocks: dict[int, int] = {}

    def begin(self, usage: dict[str, Any] | None) -> None:
        message: dict[str, Any] = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": self._model,
            "content": [], "stop_reason": None, "stop_sequence": None,
        }  # fmt: skip
        if usage is not None:
            message["usage"] = {**_read(usage), "output_tokens": 1}
        self._event("message_start", {"message": message})
        self._event("ping", {})

    def text(self, piece: str) -> None:
        if self._text_block is None:
            self._text_block = self._open({"type": "text", "text": ""})
        self._delta(self._text_block, {"type": "text_delta", "text": piece})

    def thinking(self, text: str, signature: str) -> None:
        block = self._open({"type": "thinking", "thinking": "", "signature": ""})
        self._delta(block, {"type": "thinking_delta", "thinking": text})
        self._delta(block, {"type": "signature_delta", "signature": signature})
        self._close(block)

    def call_begins(self, number: int, call_id: str, name: str, arguments: str) -> None:
        self._end_text()
        wanted = self._blocks.get(number)
        content = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        self._blocks[number] = self._open(content, wanted)
        if arguments:
            self.call_goes_on(number, arguments)

    def call_goes_on(self, number: int, arguments: str) -> None:
        if number not in self._blocks:  # its name comes later
            self._end_text()
            self._blocks[number] = self._next
            self._next += 1
        delta = {"type": "input_json_delta", "partial_json": arguments}
        self._delta(self._blocks[number], delta)

    def call_ends(self, number: int) -> None:
        self._close(self._blocks[number])

    def finish(self, reason: str | None, usage: dict[str, Any] | None) -> None:
        self._end_text()
        if reason is None:
            return
        delta = {"stop_reason": _STOPS[reason], "stop_sequence": None}
        counted = {} if usage is None else {"usage": _written(usage)}
        self._event("message_delta", {"delta": delta, **counted})

    def count(self, usage: dict[str, Any]) -> None:
        delta = {"stop_reason": None, "stop_sequence": None}
        self._event("message_delta", {"delta": delta, "usage": _written(usage)})

    def error(self, plan: StreamFailure) -> None:
        self._event("error", {"error": {"type": plan.error_type, "message": plan.message}})

    def raw(self, line: str) -> None:
        self._out.data(line, "content_block_delta")

    def done(self) -> None:
        self._event("message_stop", {})

    def _open(self, content: dict[str, Any], index: int | None = None) -> int:
        if index is None:
            index, self._next = self._next, self._next + 1
        self._event("content_block_start", {"index": index, "content_block": content})
        return index

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        self._event("content_block_delta", {"index": index, "delta": delta})

    def _close(self, index: int) -> None:
        self._event("content_block_stop", {"index": index})

    def _end_text(self) -> None:
        if self._text_block is not None:
            self._close(self._text_block)
            self._text_block = None

    def _event(self, name: str, data: dict[str, Any]) -> None:
        self._out.data(as_json({"type": name, **data}), name)


def _read(usage: dict[str, Any]) -> dict[str, int]:
    read = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    written = usage.get("cache_creation_input_tokens", 0)
    return {
        "input_tokens": usage["prompt_tokens"] - read - written,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }


def _written(usage: dict[str, Any]) -> dict[str, int]:
    return {"output_tokens": usage["completion_tokens"]}


def failure_body(plan: HttpFailure) -> str:
    """The body of a refusal, where the plan has none of its own."""
    kind = plan.error_type or _ERROR_TYPES.get(plan.status, "api_error")
    return as_json({"type": "error", "error": {"type": kind, "message": plan.message}})

"""The stream of chat completions, as OpenAI and all that are compatible with it send it."""

from __future__ import annotations

import time
from typing import Any

from tests.models.serving.lines import EventLines
from tests.models.serving.plans import HttpFailure, StreamFailure
from tests.models.serving.speaking import as_json


class CompletionStream:
    """See `Spelling`."""

    def __init__(self, out: EventLines, model: str) -> None:
        self._out = out
        self._model = model

    def begin(self, usage: dict[str, Any] | None) -> None:
        """It begins with the first piece."""

    def text(self, piece: str) -> None:
        self._delta({"content": piece})

    def thinking(self, text: str, signature: str) -> None:
        self._delta({"reasoning_content": text})

    def call_begins(self, number: int, call_id: str, name: str, arguments: str) -> None:
        function = {"name": name, "arguments": arguments}
        call = {"index": number, "id": call_id, "type": "function", "function": function}
        self._delta({"tool_calls": [call]})

    def call_goes_on(self, number: int, arguments: str) -> None:
        self._delta({"tool_calls": [{"index": number, "function": {"arguments": arguments}}]})

    def call_ends(self, number: int) -> None:
        """Only the finish reason tells."""

    def finish(self, reason: str | None, usage: dict[str, Any] | None) -> None:
        if reason is not None:
            self._delta({}, reason)
        if usage is not None:
            self.count(usage)

    def count(self, usage: dict[str, Any]) -> None:
        self._out.data(as_json({**self._chunk(), "choices": [], "usage": usage}))

    def error(self, plan: StreamFailure) -> None:
        error = {"message": plan.message, "type": plan.error_type, "code": plan.code}
        self._out.data(as_json({"error": error}))

    def raw(self, line: str) -> None:
        self._out.data(line)

    def done(self) -> None:
        self._out.data("[DONE]")

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self._out.data(as_json({**self._chunk(), "choices": [choice]}))

    def _chunk(self) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self._model,
        }


def failure_body(plan: HttpFailure) -> str:
    """The body of a refusal, where the plan has none of its own."""
    return as_json({"error": {"message": plan.message, "type": plan.error_type, "code": plan.code}})

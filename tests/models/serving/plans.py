"""What a loopback provider may be told to do with a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

CallText = tuple[str, str, str]
"""A tool call: id, name, JSON arguments."""


class Answer(Struct, frozen=True):
    """A whole answer; `usage=None` leaves the usage chunk out, `finish=None` the finish reason.

    Usage and finish reason are written as chat completions have them; the Anthropic stream
    translates them. `prompt_tokens` holds what came from a cache (`prompt_tokens_details:
    {cached_tokens}`) and what went into one (`cache_creation_input_tokens`).
    """

    text: str = "hello world"
    pieces: int = 4
    finish: str | None = "stop"
    tool_calls: tuple[CallText, ...] = ()
    thinking: str = ""
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    done_line: bool = True
    measured: bool = False
    """Report what the request really takes, four characters a token, instead of `usage`."""
    per_second: float = 0.0
    """Pieces of text (call them tokens) sent in a second; 0 sends as fast as it can."""
    signature: str = "signed-thinking"
    """Anthropic only: what it signs its thinking with."""


class Stall(Struct, frozen=True):
    """Send `after` pieces of text, then nothing until the client goes away.

    `silent`: not even the status line. `in_call`: with the half of a tool call sent.
    """

    after: int = 1
    text: str = "some words that never end "
    silent: bool = False
    in_call: bool = False


class Cut(Struct, frozen=True):
    """Send `after` pieces, then end the connection: `clean` closes as if all were sent.

    `in_call`: with the half of a tool call sent.
    """

    after: int = 1
    clean: bool = True
    text: str = "half an answer"
    in_call: bool = False


class Malformed(Struct, frozen=True):
    """A data line in the middle that is not JSON."""

    line: str = '{"choices": [{"delta": '


Order = Literal["arguments-first", "interleaved", "finish-early", "usage-first"]


class WrongOrder(Struct, frozen=True):
    """Chunks as no provider should send them, and some do.

    "arguments-first": a call's arguments before its name; "interleaved": pieces of two calls in
    turns; "finish-early": the finish reason before the last piece of a call; "usage-first": the
    count before anything was said.
    """

    order: Order
    tool_calls: tuple[CallText, ...] = (
        ("call-a", "read", '{"path": "src/a.py", "limit": 40}'),
        ("call-b", "grep", '{"pattern": "retry", "path": "src"}'),
    )
    text: str = "Let me look."


class HttpFailure(Struct, frozen=True):
    """A status with a body; `retry_after` becomes the header, `raw_body` is sent as it is."""

    status: int
    message: str = "no"
    code: str | None = None
    error_type: str | None = None
    retry_after: str | None = None
    raw_body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamFailure(Struct, frozen=True):
    """An answer that begins well; then the provider says, inside the stream, that it failed."""

    after: int = 1
    message: str = "Overloaded"
    error_type: str = "overloaded_error"
    code: str | None = None
    text: str = "half an answer"


SimplePlan = (
    Answer | Stall | Cut | Malformed | WrongOrder | HttpFailure | StreamFailure
)  # fmt: skip
Plan = SimplePlan | Callable[[dict[str, Any]], SimplePlan]
"""What happens to a request, or a function that decides it from the request's body."""

HALF_A_CALL: CallText = ("call-half", "read", '{"path": "src/half.py"}')
"""The call of which `in_call` sends the first half."""

OVERFLOW = HttpFailure(
    400,
    "This model's maximum context length is 8192 tokens, your messages hold 9000.",
    code="context_length_exceeded",
    error_type="invalid_request_error",
)
RATE_LIMIT = HttpFailure(
    429, "Rate limit reached for requests", code="rate_limit_exceeded", retry_after="7"
)
SERVER_ERROR = HttpFailure(500, "The server had an error while processing your request.")
OVERLOADED = HttpFailure(529, "Overloaded", error_type="overloaded_error")


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> Answer:
    """A reply that calls tools: `calls(("read", {"path": "a.py"}), ...)`."""
    made = tuple((f"call-{at}", name, json.dumps(given)) for at, (name, given) in enumerate(named))
    return Answer(text=text, finish="tool_calls", tool_calls=made)


def ten_calls() -> Answer:
    """Ten tool calls in one reply."""
    return calls(*(("read", {"path": f"src/module_{number}.py"}) for number in range(10)))


def huge_call(size: int = 1_000_000) -> Answer:
    """One tool call with about `size` characters of arguments."""
    line = "The quick brown fox jumps over the lazy dog.\n"
    content = line * (size // len(line) + 1)
    return calls(("write", {"path": "large.txt", "content": content[:size]}))

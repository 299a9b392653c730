"""What comes back from a model while it answers, and how it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.models.request import ToolCall

UsageSource = Literal["provider", "estimate"]
StopReason = Literal["stop", "length", "tool_calls"]
ErrorKind = Literal[
    "overflow",
    "rate_limit",
    "auth",
    "network",
    "timeout",
    "bad_request",
    "server",
    "unavailable",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` leaves out what was read from or written to a cache.

    `total` is the provider's own sum where it gives one (B9). `source` says whether
    the provider counted or this side estimated.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    source: UsageSource = "provider"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingSigned:
    """The provider's signature of the thinking that came before it, which ends with it.

    `redacted`: of thinking that is not shown, so that nothing came before.
    """

    signature: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """A tool call that has arrived whole. Arguments that cannot be used are the call's `problem`:
    the answer is not lost with them."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The tokens of this call; sent once, before `Finished`."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The model said that its answer is over, and why. Always the last event."""

    stop_reason: StopReason
    short_summary: str = ""
    """Sentences for display, from an endpoint that gives them along with a summary (A29)."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing has come for a while; times in seconds. Nothing of an answer: it may come any number
    of times, between any two other events."""

    so_far_s: float
    limit_s: float
    """After so long the call ends."""

    @property
    def told(self) -> str:
        """In words, for the person."""
        return f"No byte for {self.so_far_s:.0f} s; ends after {self.limit_s:g} s."


Event = (
    TextDelta | ThinkingDelta | ThinkingSigned | ToolCallReady | UsageReport | Finished | Silence
)


class ModelError(Exception):
    """A call that gave no whole answer.

    Kinds: `overflow` (the request is larger than the window), `rate_limit`, `auth`,
    `network` (never reached, or the connection was cut), `timeout`, `bad_request`,
    `server` (the provider failed, worth another try), `unavailable` (no such model, or
    it cannot be called from here). `retry_after_s` is in seconds, where the provider said.
    """

    def __init__(self, kind: ErrorKind, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message = message
        self.retry_after_s = retry_after_s

    @property
    def told(self) -> str:
        """The message for a person, with how long the provider asks to wait."""
        if not self.retry_after_s:
            return self.message
        wait = f"{self.retry_after_s:g} second{'' if self.retry_after_s == 1 else 's'}"
        return f"{self.message.rstrip('.')}. The provider asks to wait {wait}."

    def __repr__(self) -> str:
        return f"ModelError({self.kind!r}, {self.message!r}, {self.retry_after_s!r})"


class Cancelled(Exception):
    """The call was given up through its cancel token."""

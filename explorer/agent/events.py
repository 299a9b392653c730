"""What a turn tells while it runs, and how it ends."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from explorer.agent.prompt import UserPrompt
from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import Event, ToolCall
from explorer.models.retry import Retry

TurnEnd = Literal["done", "stopped", "failed", "cut_short", "limit", "looping"]
"""``done``: the model came to an end. ``stopped``: by the person. ``cut_short``: at the output
limit. ``limit``: of ``TurnLimits``. ``looping``: the same calls with the same results."""


class RoundStarted(Struct, frozen=True):
    """The model is asked for a reply; the turn's first is number 1. What was streamed of a reply
    before, and is not stored, is void."""

    number: int


class Stored(Struct, frozen=True):
    """An entry was appended and is safe; its index."""

    entry: int


class Steered(Struct, frozen=True):
    """A message that had waited was appended as entry ``entry``."""

    entry: int
    prompt: UserPrompt


class ToolStarted(Struct, frozen=True):
    """A call is run; its approval, where it needs one, is asked for after this."""

    call: ToolCall


class ToolOutput(Struct, frozen=True):
    """The next piece of a running call's output."""

    call_id: str
    text: str


class ToolEnded(Struct, frozen=True):
    """A call came to its end; its result is appended after those of the calls before it."""

    call: ToolCall
    outcome: ToolOutcome


TurnEvent = Event | Retry | RoundStarted | Stored | Steered | ToolStarted | ToolOutput | ToolEnded


class TurnResult(Struct, frozen=True):
    """How a turn ended; ``error`` is the sentence for the person where it did not end well."""

    end: TurnEnd
    error: str = ""
    entries: tuple[int, ...] = ()

    @property
    def finished(self) -> bool:
        """The model finished its turn; no call was left open (E17)."""
        return self.end == "done"

"""What a turn tells while it runs, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.agent.prompt import UserPrompt
from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import Event, ToolCall
from explorer.models.retry import Retry

TurnEnd = Literal["done", "stopped", "failed", "cut_short", "limit", "looping"]
"""``done``: the model came to an end. ``stopped``: by the person. ``cut_short``: at the output
limit. ``limit``: of ``TurnLimits``. ``looping``: the same calls with the same results."""


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """The model is asked for a reply; the turn's first is number 1. What was streamed of a reply
    before, and is not stored, is void."""

    number: int


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry was appended and is safe; its index."""

    entry: int


@dataclass(frozen=True, slots=True)
class Steered:
    """A message that had waited was appended as entry ``entry``."""

    entry: int
    prompt: UserPrompt


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is run; its approval, where it needs one, is asked for after this."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The next piece of a running call's output."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call came to its end; its result is appended after those of the calls before it."""

    call: ToolCall
    outcome: ToolOutcome


TurnEvent = Event | Retry | RoundStarted | Stored | Steered | ToolStarted | ToolOutput | ToolEnded


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended; ``error`` is the sentence for the person where it did not end well."""

    end: TurnEnd
    error: str = ""
    entries: tuple[int, ...] = ()

    @property
    def finished(self) -> bool:
        """The model finished its turn; no call was left open (E17)."""
        return self.end == "done"

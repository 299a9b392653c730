"""Detects an agent that repeats itself: the same calls with the same results, again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import ToolCall

LONGEST_CYCLE = 3
PATIENCE = 2
"""Repetitions that are allowed after the model was warned."""

Step = Literal["go", "tell", "end"]


def fingerprint(calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]) -> str:
    """A round's calls and what they gave, in few characters; the ids of calls do not count."""
    digest = hashlib.sha256()
    for call, outcome in zip(calls, outcomes, strict=True):
        arguments = call.raw or json.dumps(call.arguments, sort_keys=True)
        for part in (call.name, arguments, outcome.text, str(outcome.is_error)):
            digest.update(part.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        for image in outcome.images:
            digest.update(image.data_base64.encode())
    return digest.hexdigest()


class Cycle(Struct, frozen=True):
    """What has come again: ``length`` rounds, ``times`` times in a row. ``whole``: the last of
    them is at its end."""

    length: int
    times: int
    whole: bool = True


def detect_cycle(rounds: Sequence[str]) -> Cycle:
    """The cycle of up to three rounds that the last rounds repeat most often; 1 time for none."""
    best = Cycle(1, 1)
    for length in range(1, LONGEST_CYCLE + 1):
        same = 0
        for at in range(len(rounds) - 1, length - 1, -1):
            if rounds[at] != rounds[at - length]:
                break
            same += 1
        times = same // length + 1
        if times > best.times:
            best = Cycle(length, times, same % length == 0)
    return best


class CycleGuard:
    """Watches the rounds of one turn."""

    def __init__(self, same_calls: int | None) -> None:
        """See ``TurnLimits.same_calls``."""
        self._most = max(2, same_calls) if same_calls is not None else None
        self._rounds: list[str] = []
        self.found = Cycle(1, 1)

    def observe(self, calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]) -> Step:
        """Take one round in; whether to go on, to tell the model, or to end the turn."""
        if self._most is None:
            return "go"
        self._rounds.append(fingerprint(calls, outcomes))
        del self._rounds[: -LONGEST_CYCLE * (self._most + PATIENCE)]
        self.found = detect_cycle(self._rounds)
        if self.found.times >= self._most + PATIENCE:
            return "end"
        return "tell" if self.found.times >= self._most and self.found.whole else "go"

    @property
    def note(self) -> str:
        """The warning to the model, appended to the repeated result."""
        return (
            f"[Note: {self._what} {self.found.times} times in a row, with the same arguments and"
            " the same results. Doing it again will not change that. Take another way, or say what"
            " you need.]"
        )

    @property
    def end_reason(self) -> str:
        """Why the turn was ended, for a person."""
        return (
            f"The turn was ended: the agent repeated itself. {self._what.capitalize()}"
            f" {self.found.times} times in a row with the same results, and it was warned before."
        )

    @property
    def _what(self) -> str:
        if self.found.length == 1:
            return "the same calls were made"
        return f"the same {self.found.length} rounds of calls were made"

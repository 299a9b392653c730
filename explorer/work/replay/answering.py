"""The model and the tools of a play: they answer with what was recorded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ImagePart,
    ModelError,
    ModelRequest,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    ToolSpec,
    Usage,
    UsageReport,
)
from explorer.session.text import blocks_of, well_formed
from explorer.tokens.estimate import estimate_text
from explorer.work.replay.recorded import calls_of

PIECE = 24
"""UTF-16 units of one piece of text: about six tokens."""
_TICK_S = 0.02
_STOPS: Mapping[str, StopReason] = {"length": "length", "toolUse": "tool_calls"}


class Pace:
    """How fast a play goes, and whether it stands still. Used from any thread."""

    def __init__(self, tokens_per_s: float = 200.0) -> None:
        """``tokens_per_s``: 0 plays everything at once."""
        self.tokens_per_s = tokens_per_s
        self._goes = threading.Event()
        self._goes.set()

    @property
    def is_paused(self) -> bool:
        """Nothing is played until ``go_on``."""
        return not self._goes.is_set()

    def pause(self) -> None:
        """Stand still after the piece that is played now."""
        self._goes.clear()

    def go_on(self) -> None:
        """Play on."""
        self._goes.set()

    def wait(self, tokens: float, cancelled: Callable[[], bool]) -> None:
        """Wait as long as so many tokens take, and while the play stands still. Blocks."""
        left = tokens / self.tokens_per_s if self.tokens_per_s > 0 else 0.0
        while left > 0 and not cancelled():
            step = min(left, _TICK_S)
            threading.Event().wait(step)
            left -= step
        while not cancelled() and not self._goes.wait(_TICK_S):
            continue


class RecordedModel:
    """Answers every request with the next reply that it was given.

    What was asked is not looked at: a recording cannot answer otherwise. It reports tokens as a
    provider does, since some profiles go by nothing else; they are estimates of what the request
    holds now (four UTF-16 units each), since the recorded ones tell of another context.
    """

    def __init__(self, pace: Pace, window: int | None = None) -> None:
        """``window``: tokens that a request may take; a larger one is refused."""
        self._pace = pace
        self._window = window
        self._replies: deque[Mapping[str, Any]] = deque()
        self._lock = threading.Lock()

    def load(self, replies: Iterable[Mapping[str, Any]]) -> None:
        """The messages that come next; what was left of others is dropped."""
        with self._lock:
            self._replies = deque(replies)

    @property
    def left(self) -> int:
        """Replies that were not asked for yet."""
        with self._lock:
            return len(self._replies)

    def answer(
        self, request: ModelRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> None:
        """Play one reply. Raises ModelError: overflow for a request that is larger than the
        window, which leaves the reply for the next; unavailable where the recording has none."""
        read = sum(map(_tokens, request.messages))
        if self._window is not None and read > self._window:
            told = f"The request takes {read:,} tokens, and the window holds {self._window:,}."
            raise ModelError("overflow", told)
        with self._lock:
            message = self._replies.popleft() if self._replies else None
        if message is None:
            raise ModelError("unavailable", "The recording holds no further reply here.")
        written = 0
        for event, tokens in _events(message):
            self._pace.wait(tokens, cancelled)
            if cancelled():
                return
            written += tokens
            emit(event)
        emit(UsageReport(Usage(read, written, total=read + written)))
        emit(Finished(_STOPS.get(str(message.get("stopReason", "")), "stop")))


def _tokens(message: ChatMessage) -> int:
    calls = "".join(f"{call.name}{call.arguments}" for call in message.tool_calls)
    return estimate_text(message.text + calls)


def _events(message: Mapping[str, Any]) -> Iterable[tuple[Event, int]]:
    """The events of a reply, each with its tokens by the estimate."""
    for block in blocks_of(message.get("content")):
        kind = block.get("type")
        said = block.get(kind) if kind in ("text", "thinking") else None
        if isinstance(said, str):
            make = TextDelta if kind == "text" else ThinkingDelta
            for piece in _pieces(well_formed(said)):
                yield make(piece), estimate_text(piece)
    for called in calls_of(message):
        arguments = called.get("arguments")
        known = dict(arguments) if isinstance(arguments, Mapping) else {}
        call = ToolCall(str(called.get("id", "")), str(called.get("name", "")), known)
        yield ToolCallReady(call), estimate_text(str(known))


def _pieces(text: str) -> Iterable[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


class RecordedTools:
    """Gives every call the result that was recorded for it; nothing is run."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._names: tuple[str, ...] = ()

    def load(
        self, replies: Iterable[Mapping[str, Any]], answers: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """The replies that come next, and the results of their calls by the id of the call."""
        self._answers = dict(answers)
        called = (str(call.get("name", "")) for reply in replies for call in calls_of(reply))
        self._names = tuple(dict.fromkeys(called))

    def specs(self) -> tuple[ToolSpec, ...]:
        """Every tool that is called next, by its name: whatever was called is known."""
        return tuple(ToolSpec(name, "Gives what was recorded.") for name in self._names)

    def is_exclusive(self, call: ToolCall) -> bool:
        """Nothing is changed by what is only told."""
        return False

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """The recorded result, or one that says that there is none."""
        message = self._answers.get(call.id)
        if message is None:
            return ToolOutcome("The recording holds no result of this call.", is_error=True)
        blocks = blocks_of(message.get("content"))
        texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
        images = tuple(
            ImagePart(str(block.get("mimeType", "")), str(block.get("data", "")))
            for block in blocks
            if block.get("type") == "image"
        )
        details = message.get("details")
        return ToolOutcome(
            "\n".join(texts),
            message.get("isError") is True,
            images,
            dict(details) if isinstance(details, Mapping) else {},
        )

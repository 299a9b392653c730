"""What goes into a turn and what comes out of it: the person's prompts and the queue of those that
wait, what it tells while it runs and how it ends, and how it makes room in the context.

A steering message goes in after the tool calls of the running reply; a follow-up when the agent
would be done. All methods of the queue belong to one event loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import CancelToken, ChatMessage, Event, ImagePart, ToolCall, ToolSpec
from explorer.models.retry import Retry
from explorer.session.entries import Content, ImageBlock, UserMessage, text_content


class Outgoing(Struct, frozen=True):
    """The request that a prompt is rendered for."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...] = ()
    pictures: bool = True
    """Whether the model can see any, as far as is known."""


class TooLarge(Struct, frozen=True):
    """A reply that tells that the window is too small for the context (A10, B14)."""

    entry: int
    """Where it is stored."""
    outcome: Literal["overflow", "answered"]
    """Refused, or answered without having seen everything."""
    read_tokens: int = 0


class Room(Struct, frozen=True):
    """Whether room was made, so that the reply can be made again."""

    made: bool
    sentence: str = ""
    """Why not, as a sentence; empty when it was not tried."""


class ContextPort(Protocol):
    """Makes room in the context. The reply that found none leaves the active path."""

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> Sequence[ChatMessage] | None:
        """What is sent, the system's words first, kept within a budget; None leaves the context
        as it is. Raises ModelError and Cancelled as a model does."""

    async def make_room(self, model: str, reply: TooLarge, cancel: CancelToken) -> Room:
        """Compact so that the request that led to ``reply`` can be sent again."""


class NoContextPort:
    """The default, without any means: a request that is too large fails."""

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> Sequence[ChatMessage] | None:
        return None

    async def make_room(self, model: str, reply: TooLarge, cancel: CancelToken) -> Room:
        return Room(False)


class UserPrompt(Struct, frozen=True):
    """One message of the person. ``images`` are base64 without a data-URL prefix."""

    text: str
    images: tuple[ImagePart, ...] = ()

    @classmethod
    def of(cls, prompt: UserPrompt | str) -> UserPrompt:
        """A prompt of words alone, or the prompt as it is."""
        return cls(prompt) if isinstance(prompt, str) else prompt

    def message(self, *, synthetic: bool = False) -> UserMessage:
        """The message as it is stored. ``synthetic``: it was generated, not typed."""
        text = text_content(self.text) if self.text or not self.images else ()
        return UserMessage((*text, *image_blocks(self.images)), synthetic)


def image_blocks(images: Sequence[ImagePart]) -> Content:
    """Pictures as blocks of a stored message."""
    return tuple(ImageBlock(image.mime, image.data_base64) for image in images)


QueueKind = Literal["steering", "follow-up"]


class Queued(Struct, frozen=True):
    """One message that waits."""

    prompt: UserPrompt
    kind: QueueKind


class MessageQueue:
    """What waits for one session, each kind in the order in which it was sent."""

    def __init__(self) -> None:
        self._waiting: list[Queued] = []
        self._listeners: list[Callable[[], None]] = []

    @property
    def waiting(self) -> tuple[Queued, ...]:
        """Everything that waits, in the order in which it was sent."""
        return tuple(self._waiting)

    def steer(self, prompt: UserPrompt) -> None:
        """Let the agent read it after the tool calls that run now."""
        self._change([*self._waiting, Queued(prompt, "steering")])

    def follow_up(self, prompt: UserPrompt) -> None:
        """Let the agent read it when it would be done."""
        self._change([*self._waiting, Queued(prompt, "follow-up")])

    def take_steering(self) -> list[UserPrompt]:
        """All steering messages; they wait no longer."""
        return self._take("steering")

    def take_follow_up(self) -> list[UserPrompt]:
        """The first follow-up, alone, since each is answered before the next is read; empty when
        there is none."""
        return self._take("follow-up", most=1)

    def take_back(self) -> list[UserPrompt]:
        """Everything, for the person to change or to send again."""
        taken = [each.prompt for each in self._waiting]
        self._change([])
        return taken

    def remove(self, queued: Queued) -> None:
        """Let one message wait no longer; nothing happens when it was taken meanwhile."""
        self._change([each for each in self._waiting if each is not queued])

    def put_back(self, prompts: Sequence[UserPrompt], kind: QueueKind) -> None:
        """Let messages wait that were taken and could not be stored, before all others."""
        self._change([*(Queued(prompt, kind) for prompt in prompts), *self._waiting])

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every change; the returned function ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def _take(self, kind: QueueKind, most: int | None = None) -> list[UserPrompt]:
        taken = [each for each in self._waiting if each.kind == kind][:most]
        gone = {id(each) for each in taken}
        self._change([each for each in self._waiting if id(each) not in gone])
        return [each.prompt for each in taken]

    def _change(self, waiting: list[Queued]) -> None:
        if len(waiting) == len(self._waiting):
            return
        self._waiting = waiting
        for listener in list(self._listeners):
            listener()


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

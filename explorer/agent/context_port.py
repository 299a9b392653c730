"""The interface by which a running turn makes room in the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from explorer.models.client import CancelToken, ChatMessage, ToolSpec


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

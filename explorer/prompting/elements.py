"""What a prompt is made of: a tree of elements, each with its rank and its share (A44).

``priority`` decides what goes first when the whole is too large: the lowest among siblings, then
the lowest in it, and so on; between equals the one that holds the lowest child, then the one
declared first. Content that has no priority, nor anything above it, is never dropped.

``flex_grow`` decides who is asked first how much it needs. Siblings without one are rendered
first, then those with the highest number, then the lower ones, each group with what is left.
(The words "a growing element renders after its siblings" are true of every growing element; among
them the higher number comes first.) Within a group the budget is divided by ``flex_basis``;
``flex_reserve`` holds tokens back for an element that is rendered later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

from explorer.prompting.text import BreakOn, Count
from explorer.prompting.turns import PromptImage, Role, Thinking, ToolUse


class Sizing(NamedTuple):
    """The limits that an element gets when it is rendered."""

    budget: int
    """Tokens that it may take."""
    count: Count
    """Counts tokens of a text."""


class Element(Struct, frozen=True, kw_only=True):
    """What every element can say of itself."""

    name: str = ""
    priority: int | None = None
    flex_grow: int | None = None
    flex_basis: int = 1
    flex_reserve: int = 0
    pass_priority: bool = False
    """Its children are ranked among its siblings, not among themselves."""
    keep: str = ""
    """Elements of one name are dropped together; a tool result bears the id of its call."""


class TextElement(Element, frozen=True):
    """Words in a message; kept or dropped as one."""

    text: str
    tokens: int | None = None
    """Where it is known already; counted otherwise."""
    source: int = -1
    """The entry that it came from."""


class TextChunk(Element, frozen=True):
    """A long text, of which as much is kept from the start as its budget holds."""

    text: str
    break_on: BreakOn = "line"
    source: int = -1


class Image(Element, frozen=True):
    """A picture in a message."""

    picture: PromptImage
    tokens: int
    source: int = -1


class CachePoint(Element, frozen=True):
    """What stands before it was sent like this already: a cache holds it, and nothing of it is
    dropped."""


class ElementGroup(Element, frozen=True):
    """Elements that belong together."""

    children: Sequence[Element]


class Chunk(Element, frozen=True):
    """Elements that are kept or dropped as one."""

    children: Sequence[Element]


class TokenLimit(Element, frozen=True):
    """Never more than ``most`` tokens; what is too much is dropped by priority before anything
    else is."""

    most: int
    children: Sequence[Element]


class PrioritizedList(Element, frozen=True):
    """Children ranked by their place: ``descending`` drops the last first, else the first."""

    children: Sequence[Element]
    descending: bool = False


class Sized(Element, frozen=True):
    """An element that sees its budget and can count before it says what it consists of."""

    render: Callable[[Sizing], Sequence[Element]]


class MessageElement(Element, frozen=True):
    """One message. Its calls go with the results that bear their ids."""

    role: Role
    children: Sequence[Element] = ()
    calls: Sequence[ToolUse] = ()
    call_tokens: Sequence[int] | None = None
    """Tokens of each call, where known."""
    call_id: str | None = None
    thinking: Thinking | None = None
    source: int = -1
    overhead: int = 0
    """Tokens that the message takes besides its content."""

"""What elements become when they are rendered: a tree that knows its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from explorer.prompting.elements import Element, Message
from explorer.prompting.messages import ToolUse

NodeKind = Literal["group", "chunk", "message", "text", "image", "point"]
HIGHEST = 2**53 - 1
"""The rank of what has no priority."""


class Node:
    """One element of a rendered prompt. Only the renderer changes it."""

    __slots__ = (
        "alive",
        "budget",
        "calls",
        "children",
        "counted",
        "element",
        "guarded",
        "heap",
        "kind",
        "lowest_first",
        "order",
        "own",
        "parent",
        "priority",
        "required",
        "source",
        "text",
        "tokens",
        "total",
    )

    def __init__(
        self, element: Element, kind: NodeKind, parent: Node | None, priority: int | None
    ) -> None:
        self.element = element
        self.kind: NodeKind = kind
        self.parent = parent
        self.priority = HIGHEST if priority is None else priority
        self.required: bool = priority is None and (parent is None or parent.required)
        """Neither it nor anything above it has a priority: it is never dropped for room."""
        self.children: list[Node] = []
        self.budget = 0
        """Tokens that it was told it may take."""
        self.own = 0
        """Tokens of the node itself, besides its children's."""
        self.tokens = 0
        """Tokens of what is left of it."""
        self.total = 0
        """Tokens before anything was dropped."""
        self.source = -1
        self.text = ""
        self.calls: list[tuple[ToolUse, int]] = []
        """The calls of a message that are left, with their tokens."""
        self.alive = True
        self.counted = False
        """Content that may be dropped, of which something has to be left."""
        self.guarded = False
        """All of it stands before a cache point."""
        self.order = 0
        """Its place in the order of declaration."""
        self.heap: list[tuple[int, int, int, Node]] | None = None
        self.lowest_first: list[Node] | None = None

    @property
    def is_unit(self) -> bool:
        """Whether it is dropped as one."""
        if self.kind in ("text", "image", "chunk"):
            return True
        return self.kind == "message" and not any(child.alive for child in self.children)

    @property
    def title(self) -> str:
        """What it is called, for people."""
        if self.element.name:
            return self.element.name
        if isinstance(self.element, Message):
            return self.element.role
        return self.kind

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in the order of declaration."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def sources(self, *, left: bool = True) -> tuple[int, ...]:
        """The entries that it came from, ascending; of what is left of it, or of all."""
        found = {node.source for node in self.walk() if node.alive or not left}
        return tuple(sorted(found - {-1}))

"""What a prompt is made of, a tree of elements, each with its rank and its share (A44); and what
they become when they are rendered: a tree that knows its tokens.

``priority`` decides what goes first when the whole is too large: the lowest among siblings, then
the lowest in it, and so on; between equals the one that holds the lowest child, then the one
declared first. Content that has no priority, nor anything above it, is never dropped.

``flex_grow`` decides who is asked first how much it needs. Siblings without one are rendered first,
then those with the highest number, then the lower ones, each group with what is left. (The words "a
growing element renders after its siblings" are true of every growing element; among them the higher
number comes first.) Within a group the budget is divided by ``flex_basis``; ``flex_reserve`` holds
tokens back for an element that is rendered later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from explorer.prompting.text import BreakOn, Count, fitting_start
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


NodeKind = Literal["group", "chunk", "message", "text", "image", "point"]
HIGHEST = 2**53 - 1
"""The rank of what has no priority."""


class PromptNode:
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
        "own_tokens",
        "parent",
        "priority",
        "required",
        "source",
        "text",
        "tokens",
        "total",
    )

    def __init__(
        self, element: Element, kind: NodeKind, parent: PromptNode | None, priority: int | None
    ) -> None:
        self.element = element
        self.kind: NodeKind = kind
        self.parent = parent
        self.priority = HIGHEST if priority is None else priority
        self.required: bool = priority is None and (parent is None or parent.required)
        """Neither it nor anything above it has a priority: it is never dropped for room."""
        self.children: list[PromptNode] = []
        self.budget = 0
        """Tokens that it may take."""
        self.own_tokens = 0
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
        self.heap: list[tuple[int, int, int, PromptNode]] | None = None
        self.lowest_first: list[PromptNode] | None = None

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
        if isinstance(self.element, MessageElement):
            return self.element.role
        return self.kind

    def walk(self) -> Iterator[PromptNode]:
        """The node and all below it, in the order of declaration."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def sources(self, *, left: bool = True) -> tuple[int, ...]:
        """The entries that it came from, ascending; of what is left of it, or of all."""
        sources = {node.source for node in self.walk() if node.alive or not left}
        return tuple(sorted(sources - {-1}))


_UNGROWN = float("inf")
"""Elements without flex_grow come before all that have one."""


def lay_out(elements: Sequence[Element], budget: int, count: Count) -> PromptNode:
    """The nodes of elements that share ``budget`` tokens. Nothing is dropped yet."""
    root = PromptNode(ElementGroup(elements, name="prompt"), "group", None, None)
    _Layout(count).fill(root, elements, budget)
    _finish(root)
    return root


class _Layout:
    def __init__(self, count: Count) -> None:
        self._count = count

    def fill(self, node: PromptNode, elements: Sequence[Element], budget: int) -> None:
        """Render the children of a node in the order of their claims on the budget."""
        node.budget = budget
        children: list[PromptNode | None] = [None] * len(elements)
        groups: dict[float, list[int]] = {}
        for at, element in enumerate(elements):
            claim = _UNGROWN if element.flex_grow is None else element.flex_grow
            groups.setdefault(claim, []).append(at)
        left = budget - node.own_tokens
        reserved = sum(element.flex_reserve for element in elements) if len(groups) > 1 else 0
        for grow in sorted(groups, reverse=True):
            members = groups[grow]
            if reserved:
                reserved -= sum(elements[at].flex_reserve for at in members)
            room = max(0, left - reserved)
            shares = sum(elements[at].flex_basis for at in members) or 1
            for at in members:
                element = elements[at]
                share = room * element.flex_basis // shares
                child = self._render(element, node, share, self._rank(node, element, at))
                children[at] = child
                left -= min(child.total, share)
        node.children = [child for child in children if child is not None]
        node.total = node.tokens = node.own_tokens + sum(child.total for child in node.children)

    @staticmethod
    def _rank(parent: PromptNode, element: Element, at: int) -> int | None:
        listed = parent.element
        if not isinstance(listed, PrioritizedList):
            return element.priority
        base = listed.priority or 0
        return base - at if listed.descending else base - len(listed.children) + at

    def _render(
        self, element: Element, parent: PromptNode, budget: int, rank: int | None
    ) -> PromptNode:
        if isinstance(element, TextElement):
            node = PromptNode(element, "text", parent, rank)
            node.text, node.source = element.text, element.source
            known = element.tokens
            node.own_tokens = self._count(element.text) if known is None else known
            return _leaf(node, budget)
        if isinstance(element, TextChunk):
            node = PromptNode(element, "text", parent, rank)
            node.text = fitting_start(element.text, budget, self._count, element.break_on)
            node.source, node.own_tokens = (
                element.source,
                self._count(node.text) if node.text else 0,
            )
            return _leaf(node, budget)
        if isinstance(element, Image):
            node = PromptNode(element, "image", parent, rank)
            node.own_tokens, node.source = element.tokens, element.source
            return _leaf(node, budget)
        if isinstance(element, CachePoint):
            return _leaf(PromptNode(element, "point", parent, rank), budget)
        if isinstance(element, MessageElement):
            return self._message(element, parent, budget, rank)
        node = PromptNode(element, "chunk" if isinstance(element, Chunk) else "group", parent, rank)
        if isinstance(element, Sized):
            self.fill(node, element.render(Sizing(budget, self._count)), budget)
        elif isinstance(element, TokenLimit):
            self.fill(node, element.children, min(budget, element.most))
        elif isinstance(element, ElementGroup | Chunk | PrioritizedList):
            self.fill(node, element.children, budget)
        return node

    def _message(
        self, element: MessageElement, parent: PromptNode, budget: int, rank: int | None
    ) -> PromptNode:
        node = PromptNode(element, "message", parent, rank)
        node.source = element.source
        sizes = element.call_tokens
        if sizes is None:
            sizes = [self._count(call.text) for call in element.calls]
        node.calls = list(zip(element.calls, sizes, strict=True))
        node.own_tokens = element.overhead + sum(sizes)
        self.fill(node, element.children, budget)
        # Texts of one message stand on separate lines, and a line end may be a token.
        joints = max(0, sum(part.kind == "text" for part in node.walk()) - 1)
        node.own_tokens += joints
        node.tokens = node.total = node.total + joints
        return node


def _leaf(node: PromptNode, budget: int) -> PromptNode:
    node.budget = budget
    node.tokens = node.total = node.own_tokens
    return node


def _finish(root: PromptNode) -> None:
    """Number the nodes as they were declared, and guard what stands before the last cache point."""
    nodes = list(root.walk())
    point = -1
    for order, node in enumerate(nodes):
        node.order = order
        if node.kind == "point":
            point = order
    if point < 0:
        return
    for node in reversed(nodes):
        if node.order > point:
            continue
        if node.children:
            node.guarded = all(child.guarded for child in node.children)
        else:
            node.guarded = True

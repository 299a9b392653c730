"""What goes first when a rendered prompt is over its budget (A44).

The lowest priority among siblings, then the lowest in it. Each container keeps its children in
a heap, so that dropping a thousand of two thousand costs no thousand searches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Literal

from msgspec import Struct

from explorer.prompting.elements import (
    HIGHEST,
    Element,
    Image,
    MessageElement,
    PromptNode,
    TokenLimit,
    lay_out,
)
from explorer.prompting.text import Count
from explorer.prompting.turns import PromptMessage

Why = Literal["priority", "limit", "kept-together"]
_LEAF = -1
"""Where priorities tie, what holds nothing goes before what holds something."""


class Dropped(Struct, frozen=True):
    """One thing that is not in the prompt, in the order in which it went."""

    title: str
    priority: int | None
    """Its rank among its siblings; None where it has none."""
    tokens: int
    sources: tuple[int, ...]
    why: Why
    reason: str
    """A sentence for a person."""
    node: PromptNode


class Dropper:
    """Drops from one tree, and remembers what and why."""

    def __init__(self, root: PromptNode) -> None:
        self._root = root
        self.dropped: list[Dropped] = []
        self._together: dict[str, list[PromptNode]] = {}
        self._callers: dict[str, PromptNode] = {}
        self._limited = False
        """Whether the node of a ``TokenLimit`` stays: then everything in it may be dropped."""
        self._refused = False
        self._units = 0
        for node in root.walk():
            if node.element.keep:
                self._together.setdefault(node.element.keep, []).append(node)
            for call, _ in node.calls:
                self._callers[call.id] = node
            node.counted = _is_counted(node)
            self._units += node.counted

    def limits(self) -> None:
        """Bring every ``TokenLimit`` within its size, the innermost first."""
        limited = [node for node in self._root.walk() if isinstance(node.element, TokenLimit)]
        self._limited = True
        for node in reversed(limited):
            most = node.element.most if isinstance(node.element, TokenLimit) else 0
            while node.tokens > most and self._drop_lowest(node, f"{node.title} holds {most:,}"):
                pass
        self._limited = False
        if limited:
            for node in self._root.walk():
                node.heap = None

    def to_fit(self, budget: int) -> bool:
        """Drop until the tree takes at most ``budget`` tokens; False when it cannot."""
        words = f"the budget of {budget:,} tokens"
        while self._root.tokens > budget:
            if not self._drop_lowest(self._root, words):
                return False
        return True

    # choosing ----------------------------------------------------------------------------------

    def _drop_lowest(self, container: PromptNode, limit: str) -> bool:
        """Drop one thing of a container; False when nothing of it may go, or nothing at all."""
        heap = container.heap
        if heap is None:
            heap = container.heap = [
                (node.priority, _lowest_priority(node), node.order, node)
                for node in _ranked(container)
                if self._may_go(node)
            ]
            heapify(heap)
        while heap and not self._refused:
            priority, lowest, order, node = heap[0]
            if not node.alive:
                heappop(heap)
            elif (now := _lowest_priority(node)) != lowest:
                heapreplace(heap, (priority, now, order, node))
            elif self._remove(node, limit) if node.is_unit else self._drop_lowest(node, limit):
                return True
            elif not self._refused:
                heappop(heap)
        return False

    def _may_go(self, node: PromptNode) -> bool:
        if node.guarded or node.kind == "point":
            return False
        return self._limited or not node.required or bool(node.children)

    # removing ----------------------------------------------------------------------------------

    def _remove(self, node: PromptNode, limit: str) -> bool:
        """Drop a node and what goes with it; False when it may not go, which is final when
        nothing would be left."""
        going = self._with_partners(node)
        if any(gone.guarded or (gone.required and not self._limited) for gone in going):
            return False
        units = sum(part.counted for gone in going for part in gone.walk())
        if not self._limited and units >= self._units:
            self._refused = True
            return False
        for gone in going:
            if not gone.alive:
                continue
            why: Why = "limit" if self._limited else "priority"
            reason = f"{_rank(gone)}; {limit}."
            if gone is not node:
                why = "kept-together"
                reason = f"A call and its result are never torn: it goes with “{node.title}”."
            self._take_out(gone, why, reason)
        return True

    def _with_partners(self, node: PromptNode) -> list[PromptNode]:
        """The node, and what may not stay without it: the results of its calls, and the message
        of whose calls only that one was left."""
        going, seen = [node], {id(node)}
        for gone in going:
            for part in (*gone.walk(), *_emptied(gone, seen)):
                if not part.alive:
                    continue
                partners = list(self._together.get(part.element.keep, ()))
                for call, _ in part.calls:
                    partners += self._together.get(call.id, ())
                caller = self._callers.get(part.element.keep)
                if caller is not None and not self._says_more(caller, seen):
                    partners.append(caller)
                for partner in partners:
                    if partner.alive and not _is_within(partner, seen):
                        seen.add(id(partner))
                        going.append(partner)
        return going

    def _says_more(self, caller: PromptNode, gone: set[int]) -> bool:
        """Whether a message has text, or calls whose results stay."""
        if caller.guarded or any(child.alive for child in caller.children):
            return True
        return any(
            all(
                node.alive and not _is_within(node, gone)
                for node in self._together.get(call.id, ())
            )
            for call, _ in caller.calls
        )

    def _take_out(self, node: PromptNode, why: Why, reason: str) -> None:
        rank = None if node.priority == HIGHEST else node.priority
        sources, tokens = node.sources(), node.tokens
        self.dropped.append(Dropped(node.title, rank, tokens, sources, why, reason, node))
        for part in node.walk():
            self._end(part)
            caller = self._callers.get(part.element.keep)
            if caller is not None and caller.alive:
                self._take_call(caller, part.element.keep)
        _lighten(node.parent, tokens)
        above = node.parent
        # A container of which nothing is left goes without a word.
        while above is not None and above.parent is not None and above.alive:
            if above.calls or any(child.alive for child in above.children):
                return
            left = above.tokens
            self._end(above)
            _lighten(above.parent, left)
            above = above.parent

    def _take_call(self, message: PromptNode, call_id: str) -> None:
        gone = sum(tokens for call, tokens in message.calls if call.id == call_id)
        message.calls = [pair for pair in message.calls if pair[0].id != call_id]
        message.own_tokens -= gone
        _lighten(message, gone)
        if message.counted and not message.calls:
            message.counted = False
            self._units -= 1

    def _end(self, node: PromptNode) -> None:
        node.alive = False
        self._units -= node.counted
        node.counted = False


def _lighten(node: PromptNode | None, tokens: int) -> None:
    while node is not None:
        node.tokens -= tokens
        node = node.parent


def _is_counted(node: PromptNode) -> bool:
    """Whether it is content that may be dropped, of which something has to be left."""
    if node.required or node.guarded:
        return False
    if node.kind == "message":
        return bool(node.calls)
    return node.kind in ("text", "image")


def _ranked(container: PromptNode) -> Iterator[PromptNode]:
    """The children, those of an element that passes its priority on in its place."""
    for child in container.children:
        if not child.alive:
            continue
        if child.element.pass_priority and child.children and child.kind == "group":
            yield from _ranked(child)
        else:
            yield child


def _lowest_priority(node: PromptNode) -> int:
    """The lowest priority among the children that are left."""
    if node.kind in ("text", "image"):
        return _LEAF
    rows = node.lowest_first
    if rows is None:
        rows = sorted(node.children, key=lambda child: child.priority, reverse=True)
        node.lowest_first = rows
    while rows and not rows[-1].alive:
        rows.pop()
    return rows[-1].priority if rows else HIGHEST


def _emptied(node: PromptNode, gone: set[int]) -> Iterator[PromptNode]:
    """What is above a node and holds nothing but what goes."""
    above = node.parent
    while above is not None and above.parent is not None and not above.calls:
        if any(child.alive and id(child) not in gone for child in above.children):
            return
        yield above
        gone.add(id(above))
        above = above.parent


def _is_within(node: PromptNode, seen: set[int]) -> bool:
    """Whether a node is one of ``seen`` or below one."""
    above: PromptNode | None = node
    while above is not None:
        if id(above) in seen:
            return True
        above = above.parent
    return False


def _rank(node: PromptNode) -> str:
    """Why this one, in words."""
    chain: list[str] = []
    at: PromptNode | None = node
    while at is not None and at.parent is not None:
        if at.priority != HIGHEST:
            chain.append(f"{at.title} has priority {at.priority}")
        at = at.parent
    if not chain:
        return "The first that was declared"
    return "Lowest first: " + ", in ".join(chain)


class RenderedPrompt(Struct, frozen=True, eq=False):
    """What came of a prompt."""

    messages: tuple[PromptMessage, ...]
    tokens: int
    """Of the messages; never above ``budget``."""
    budget: int
    dropped: tuple[Dropped, ...]
    """In the order in which it went."""
    root: PromptNode
    """The whole tree, with the budget of every element and what is left of it."""


class BudgetExceededError(Exception):
    """Even the content of the highest priority does not fit (A45)."""

    def __init__(
        self, needed: int, budget: int, root: PromptNode, dropped: Sequence[Dropped]
    ) -> None:
        super().__init__(
            f"The prompt needs {needed:,} tokens after everything that may go was dropped, and "
            f"its budget is {budget:,}."
        )
        self.needed = needed
        self.budget = budget
        self.root = root
        self.dropped = tuple(dropped)


def render(elements: Sequence[Element], budget: int, count: Count) -> RenderedPrompt:
    """Render elements to at most ``budget`` tokens.

    ``count`` is asked only where an element does not bring its tokens along. Raises
    BudgetExceededError when what may not be dropped (content without a priority, what a cache
    holds, the last and highest of the rest) is too large alone.
    """
    root = lay_out(elements, budget, count)
    dropper = Dropper(root)
    dropper.limits()
    if not dropper.to_fit(budget):
        raise BudgetExceededError(root.tokens, budget, root, dropper.dropped)
    messages = tuple(_messages(root))
    return RenderedPrompt(messages, root.tokens, budget, tuple(dropper.dropped), root)


def _messages(root: PromptNode) -> Iterator[PromptMessage]:
    for node in root.walk():
        element = node.element
        if not isinstance(element, MessageElement) or not node.alive:
            continue
        leaves = [leaf for leaf in node.walk() if leaf.alive and leaf.kind in ("text", "image")]
        if not (leaves or node.calls or element.role == "tool"):
            continue  # nobody takes a message of nothing
        yield PromptMessage(
            element.role,
            _joined([leaf.text for leaf in leaves if leaf.kind == "text"]),
            tuple(call for call, _ in node.calls),
            element.call_id,
            tuple(leaf.element.picture for leaf in leaves if isinstance(leaf.element, Image)),
            element.thinking,
            node.sources(),
            node.tokens,
        )


def _joined(texts: Sequence[str]) -> str:
    """Texts of one message, each on a separate line."""
    out = ""
    for text in texts:
        if out and text and not out.endswith("\n"):
            out += "\n"
        out += text
    return out

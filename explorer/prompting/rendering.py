"""A prompt rendered to a budget: its messages, and what had to go (A44, A45)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.prompting.dropping import Dropped, Dropper
from explorer.prompting.elements import Element, Image, Message
from explorer.prompting.layout import lay_out
from explorer.prompting.messages import PromptMessage
from explorer.prompting.nodes import Node
from explorer.prompting.text import Count


@dataclass(frozen=True, slots=True, eq=False)
class Rendering:
    """What came of a prompt."""

    messages: tuple[PromptMessage, ...]
    tokens: int
    """Of the messages; never above ``budget``."""
    budget: int
    dropped: tuple[Dropped, ...]
    """In the order in which it went."""
    root: Node
    """The whole tree, with the budget of every element and what is left of it."""


class BudgetExceededError(Exception):
    """Even the content of the highest priority does not fit (A45)."""

    def __init__(self, needed: int, budget: int, root: Node, dropped: Sequence[Dropped]) -> None:
        super().__init__(
            f"The prompt needs {needed:,} tokens after everything that may go was dropped, and "
            f"its budget is {budget:,}."
        )
        self.needed = needed
        self.budget = budget
        self.root = root
        self.dropped = tuple(dropped)


def render(elements: Sequence[Element], budget: int, count: Count) -> Rendering:
    """Render elements to at most ``budget`` tokens.

    ``count`` is asked only where an element does not bring its tokens along. Raises
    BudgetExceededError when what may not be dropped (content without a priority, what a cache
    holds, the last and highest of the rest) is too large by itself.
    """
    root = lay_out(elements, budget, count)
    dropper = Dropper(root)
    dropper.limits()
    if not dropper.to_fit(budget):
        raise BudgetExceededError(root.tokens, budget, root, dropper.dropped)
    messages = tuple(_messages(root))
    return Rendering(messages, root.tokens, budget, tuple(dropper.dropped), root)


def _messages(root: Node) -> Iterator[PromptMessage]:
    for node in root.walk():
        element = node.element
        if not isinstance(element, Message) or not node.alive:
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
    """Texts of one message, each on a line of its own."""
    out = ""
    for text in texts:
        if out and text and not out.endswith("\n"):
            out += "\n"
        out += text
    return out

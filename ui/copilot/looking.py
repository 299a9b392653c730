"""What the page shows of a prompt, worked out on a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.prompting.layout import Node
from explorer.prompting.rendering import BudgetExceededError, Dropped, render

if TYPE_CHECKING:  # the workbench is there after the first paint, its types before
    from explorer.work.prompt import PreparedPrompt

Prepare = Callable[[], "PreparedPrompt"]
"""Reads the prompt of the session as it stands; blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One rendering of a prompt, to look at. Sizes in tokens."""

    prepared: PreparedPrompt
    budget: int
    root: Node
    dropped: tuple[Dropped, ...]
    tokens: int
    """What is left of the prompt, or what it needs when it does not fit."""
    fits: bool
    keeps_cached: bool

    @property
    def ratio(self) -> float:
        """How full the context is: messages and tools of what both may take."""
        return self.prepared.budget.ratio(self.tokens)


def look(prepared: PreparedPrompt, budget: int | None, keep_cached: bool) -> Look:
    """Render a prompt to a budget (None: its own), whether or not it fits."""
    wanted = prepared.budget.messages if budget is None else budget
    elements = prepared.elements(keep_cached=keep_cached)
    try:
        found = render(elements, wanted, prepared.prompt.count)
    except BudgetExceededError as error:
        return Look(prepared, wanted, error.root, error.dropped, error.needed, False, keep_cached)
    return Look(prepared, wanted, found.root, found.dropped, found.tokens, True, keep_cached)

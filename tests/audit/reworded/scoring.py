"""Compares what the audit takes for the same with what is marked as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from explorer.facts.comparison import Agreement, compare
from tests.audit.reworded import Pair


@dataclass
class Score:
    """Counts over pairs."""

    same: int = 0
    other: int = 0
    right: int = 0
    missed: list[Pair] = field(default_factory=list)
    made_up: list[Pair] = field(default_factory=list)

    @property
    def found(self) -> int:
        """Pairs that the audit takes for the same."""
        return self.right + len(self.made_up)

    @property
    def precision(self) -> float:
        """The share of those that are, 0 to 1."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the same that are taken for it, 0 to 1."""
        return self.right / self.same if self.same else 1.0


def says(pair: Pair) -> bool:
    """Whether the audit takes a line for a statement in other words."""
    return compare(pair.said, pair.told) is Agreement.SAME


def score(pairs: Sequence[Pair]) -> Score:
    """Precision and recall over pairs."""
    total = Score()
    for pair in pairs:
        found = says(pair)
        total.same += pair.same
        total.other += not pair.same
        total.right += found and pair.same
        if pair.same and not found:
            total.missed.append(pair)
        if found and not pair.same:
            total.made_up.append(pair)
    return total

"""What can be compared, and what came of comparing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from explorer.audit.difference import Difference
from explorer.audit.drift import Drift


class Key(NamedTuple):
    """Names a summary."""

    kind: str
    """``entry`` for one that is stored, ``draft``."""
    number: int
    """The entry's index, or the draft's id."""

    @property
    def code(self) -> str:
        """It as a text, for list boxes."""
        return f"{self.kind}:{self.number}"

    @classmethod
    def of(cls, code: str) -> Key:
        """The key of a ``code``."""
        kind, _, number = code.partition(":")
        return cls(kind, int(number))


class Place(NamedTuple):
    """Where a draft is committed, as the person is told."""

    button: str = "Co&mmit"
    told: str = ""
    """What becomes of the leaf; empty at the leaf."""
    leaving: int | None = None
    """The leaf that is left for it; None at the leaf."""


HERE = Place()


@dataclass(frozen=True, slots=True)
class Subject:
    """A summary that can be chosen for the comparison."""

    key: Key
    name: str
    facts: str
    """What tells it from others, in a few words."""
    place: Place = HERE
    """Of a draft."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What a worker found out."""

    keys: tuple[Key, ...]
    """One per candidate."""
    difference: Difference | None
    """None of fewer than two."""
    drift: Drift
    """Of all compactions on the path."""
    generations: tuple[Key, ...]
    """One per summary of ``drift``."""

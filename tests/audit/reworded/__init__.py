"""Statements of users beside lines that a summary could have: do both say the same?

A block of ``tuning.txt``, ``wider.txt`` or ``held_out.txt`` is one statement and the lines told of
it, blocks are parted by a blank line::

    constraint: A 409 is a conflict, not a hiccup: it is not retried.
    same: Never retry a 409 (conflict)
    not: Retry 409 like 5xx

The first line names the kind of the statement: ``constraint``, ``decision``, ``todo`` or
``request``. ``same``: whoever reads the line alone knows what was said, in other words or with a
word of context more. ``not``: another number, another object, the opposite, something weaker or
stronger, one half of two, the value of before, or another matter in much the same words.

``wider.txt`` was written by the hand that wrote the rules, to tune on more than ``tuning.txt``.
Nothing is tuned on ``held_out.txt``: it is there to be counted, not to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.facts import FactKind

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """A statement, a line of a summary, and whether the line says it."""

    kind: FactKind
    said: str
    told: str
    same: bool


def read_pairs(name: str) -> list[Pair]:
    """The pairs of ``tuning``, ``wider`` or ``held_out``.

    Raises ValueError where a block is not as it should be.
    """
    pairs: list[Pair] = []
    for block in (_HERE / f"{name}.txt").read_text("utf-8").strip().split("\n\n"):
        head, *lines = block.splitlines()
        kind, _, said = head.partition(": ")
        for line in lines:
            verdict, _, told = line.partition(": ")
            if verdict not in ("same", "not") or not told or not said:
                raise ValueError(f"neither told the same nor not: {line!r} of {head!r}")
            pairs.append(Pair(FactKind(kind), said, told, verdict == "same"))
    return pairs

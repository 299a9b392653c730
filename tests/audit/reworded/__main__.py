"""Prints how well lines that say a statement in other words are told from those that do not.

python -m tests.audit.reworded            precision and recall of both sets
python -m tests.audit.reworded --wrong    and the pairs of the tuning set judged wrongly
"""

from __future__ import annotations

import sys

from tests.audit.reworded import read_pairs
from tests.audit.reworded.scoring import Score, score


def _print(name: str, one: Score) -> None:
    print(
        f"{name:<12}{one.same:>6} same{one.other:>6} not   said to be the same {one.found:>4}   "
        f"precision {one.precision:.3f}   recall {one.recall:.3f}"
    )


def main() -> None:
    """Print the figures."""
    for name in ("tuning", "wider", "held_out"):
        found = score(read_pairs(name))
        _print(name, found)
        if "--wrong" in sys.argv and name != "held_out":
            for verdict, pairs in (("missed", found.missed), ("made up", found.made_up)):
                for pair in pairs:
                    print(
                        f"  {verdict:<8} {pair.kind.value}: {pair.said!r}\n           {pair.told!r}"
                    )


if __name__ == "__main__":
    main()

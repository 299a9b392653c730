"""Prints precision and recall of the extraction per kind."""

from __future__ import annotations

import sys

from explorer.facts import FactKind
from tests.audit.planted.reading import read_set
from tests.audit.planted.scoring import BARS, Score, score, score_stale


def _line(name: str, one: Score, bar: tuple[float, float] | None) -> str:
    wanted = f"{bar[0]:.2f} / {bar[1]:.2f}" if bar else ""
    kept = bar is None or (one.recall >= bar[0] and one.precision >= bar[1])
    return (
        f"  {name:<12}{one.planted:>8}{one.recall:>9.3f}{one.found:>8}{one.precision:>11.3f}"
        f"   {wanted:<12}{'' if kept else 'below'}"
    ).rstrip()


def main() -> None:
    """Print the tables."""
    wrong = "--wrong" in sys.argv
    at = sys.argv.index("--set") + 1 if "--set" in sys.argv else 0
    for name in (sys.argv[at],) if at else ("tuning", "held_out", "unseen", "fresh"):
        sessions = read_set(name)
        scores = score(sessions)
        print(f"\n{name} ({len(sessions)} sessions)")
        print(f"  {'kind':<12}{'marked':>8}{'recall':>9}{'found':>8}{'precision':>11}   bar")
        rows = [(kind.value, scores[kind], BARS.get(kind)) for kind in FactKind if kind in scores]
        for label, one, bar in [*rows, ("stale", score_stale(sessions), None)]:
            print(_line(label, one, bar))
            if wrong:
                for text in one.missed:
                    print(f"      missed   {text}")
                for text in one.made_up:
                    print(f"      made up  {text}")


if __name__ == "__main__":
    main()

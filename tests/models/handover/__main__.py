"""What a successor is still told after five summaries of summaries.

    python -m tests.models.handover            prints the table
    python -m tests.models.handover --lost     and names what was lost, and what is stale
    python -m tests.models.handover --text     and prints the last summaries at 20 %

Of the sessions that are held out only the counts are printed, unless ``--held-out`` is given.
"""

from __future__ import annotations

import sys

from tests.models.handover import HELD_OUT, measure, read_all
from tests.models.survival import SHARES


def main() -> None:
    """Print the table."""
    for session in read_all():
        shown = session.name not in HELD_OUT or "--held-out" in sys.argv
        print(f"\n{session.name}{' (held out)' if session.name in HELD_OUT else ''}")
        for share in SHARES:
            score = measure([session], share)
            print(f"  {share:.0%}: {score.told} of {score.wanted} told, {len(score.stale)} stale")
            if "--lost" in sys.argv and shown:
                named = (f"stale: {line}" for line in score.stale)
                print("".join(f"      {line}\n" for line in (*score.lost, *named)), end="")
                print("".join(f"      {line}\n" for line in score.oversize), end="")
            if "--text" in sys.argv and shown and share == SHARES[1]:
                print(score.summaries[-1])


if __name__ == "__main__":
    main()

"""`python -m tests.attacks [--minutes N] [--only NAME] [--seed S] [--rounds N]`.

Runs the attacks in turn with fresh seeds, prints each finding as it comes and a table at the end.
Status 1 when there was a finding.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.attacks.attack import run_round
from tests.attacks.catalogue import ATTACKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all attacks, or those named; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for how long (default 1)")
    parser.add_argument(
        "--only", action="append", choices=[attack.name for attack in ATTACKS], metavar="NAME",
        help="one attack; may be given several times: "
        + ", ".join(attack.name for attack in ATTACKS),
    )  # fmt: skip
    parser.add_argument("--seed", help="the first round's seed (default: a fresh one)")
    parser.add_argument("--rounds", type=int, help="end after so many rounds of each attack")
    options = parser.parse_args(arguments)
    chosen = [attack for attack in ATTACKS if not options.only or attack.name in options.only]
    base = options.seed or secrets.token_hex(6)
    end = time.monotonic() + options.minutes * 60
    rounds: Counter[str] = Counter()
    seconds: dict[str, float] = dict.fromkeys((attack.name for attack in chosen), 0.0)
    findings: Counter[str] = Counter()
    number = 0
    while time.monotonic() < end and (options.rounds is None or number < options.rounds):
        for attack in chosen:
            if number and time.monotonic() >= end:
                break
            started = time.monotonic()
            for finding in run_round(attack, base if number == 0 else f"{base}.{number}"):
                findings[attack.name] += 1
                print(finding, flush=True)
            rounds[attack.name] += 1
            seconds[attack.name] += time.monotonic() - started
        number += 1
    print(f"{'attack':<16}{'rounds':>8}{'seconds':>10}{'findings':>10}   seed {base}")
    for attack in chosen:
        name = attack.name
        print(f"{name:<16}{rounds[name]:>8}{seconds[name]:>10.0f}{findings[name]:>10}")
    return 1 if findings.total() else 0


if __name__ == "__main__":
    sys.exit(main())

"""How many of the marked losses the audit reports, and what it reports besides.

python -m tests.audit.lost [tuning|apart] [--all]     ``--all`` names each
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.audit.lost import read_set


def main() -> None:
    """Print the counts of a set."""
    words = sys.argv[1:]
    reported: Counter[str] = Counter()
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    tempting: list[str] = []
    for session in read_set("apart" if "apart" in words else "tuning"):
        planted.update(mark.kind for mark in session.marks)
        seen = set()
        for finding in session.findings():
            reported[finding.group] += 1
            mark = session.mark_of(finding)
            if mark is not None:
                right[finding.group] += 1
                seen.add(mark)
            else:
                tempting += [
                    other.text
                    for other in session.marks
                    if other.kind == "not" and other.text in finding.fact.text
                ]
            if "--all" in words:
                state = "right" if mark else "FALSE"
                print(f"{session.name}: {state} {finding.group}: {finding.text} | {finding.reason}")
        found.update(mark.kind for mark in seen)
        if "--all" in words:
            for mark in session.marks:
                if mark.kind != "not" and mark not in seen:
                    print(f"{session.name}: missed {mark.kind}: {mark.text}")
    for group in reported:
        print(f"{group}: {right[group]} of {reported[group]} reported are right")
    for kind in ("lost", "open", "wrong"):
        print(f"{kind}: {found[kind]} of {planted[kind]} planted are found")
    print(f"no loss, but reported as one: {len(tempting)} of {planted['not']} {tempting}")


if __name__ == "__main__":
    main()

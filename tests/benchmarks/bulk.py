"""Many small sessions audited into the tables: with one process and two, and with nothing new."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median

SESSIONS, QUICK, ROUNDS = 10_000, 600, 3
FASTER, AGAIN, GROWTH = 1.7, 0.05, 1.25
"""Two processes against one; a run with nothing new against the first; the command's own memory at
the end against that after a quarter."""


def measure(bench: Bench) -> list[Row]:
    """Speeds are measured on a fifth of the sessions, with one process and two in turn, since a
    shared machine is not as busy all the time."""
    count, home = QUICK if bench.quick else SESSIONS, bench.empty_home()
    megabytes = bench.child("bulk", "fill", home, sessions=count)

    def audit(out: str, processes: int, project: str = "") -> dict[str, float]:
        found: dict[str, float] = bench.child(
            "bulk", "audit", home, out=str(bench.folder / out), processes=processes, project=project
        )
        return found

    first, again = audit("out", 2), audit("out", 2)
    pairs = [(audit(f"one-{n}", 1, "orders"), audit(f"two-{n}", 2, "orders"))
             for n in range(ROUNDS)]  # fmt: skip
    one, two = (median([pair[at]["s"] for pair in pairs]) for at in (0, 1))
    faster, part = median([a["s"] / b["s"] for a, b in pairs]), count // 5
    ratios = ", ".join(f"{a['s'] / b['s']:.2f}" for a, b in pairs)
    growth, share = first["end_mb"] / first["quarter_mb"], again["s"] / first["s"]
    return [
        Row(f"audit of {count:,} sessions of {1000 * megabytes / count:.0f} KB, two processes",
            f"{first['s']:.1f} s", f"{count / first['s']:.0f} a second; the command's own process"
            f" {1000 * first['busy_s'] / count:.1f} ms of the processor for each; load"
            f" {first['load']:.1f}"),
        Row("the command's own memory then, after a quarter", f"{first['quarter_mb']:.0f} MB",
            f"at the end {first['end_mb']:.0f} MB", f"at most {GROWTH} times as much at the end",
            growth <= GROWTH),
        Row("the same again with nothing new", f"{again['s']:.1f} s", f"{share:.1%} of the first",
            f"under {AGAIN:.0%} of the first", share < AGAIN),
        Row(f"{part:,} of them, one process and two", f"{one:.1f} and {two:.1f} s",
            f"{ratios} times as fast, load {pairs[-1][1]['load']:.1f}", f"{FASTER} times as fast",
            faster >= FASTER),
    ]  # fmt: skip

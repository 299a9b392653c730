"""Many small sessions audited into the tables: with one process and two, and with nothing new."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row

SESSIONS, QUICK = 10_000, 300
FASTER, AGAIN, GROWTH = 1.7, 0.05, 1.25
"""Two processes against one; a run with nothing new against the first; the command's own memory at
the end against that after a quarter."""


def measure(bench: Bench) -> list[Row]:
    count, home = QUICK if bench.quick else SESSIONS, bench.empty_home()
    megabytes = bench.child("bulk", "fill", home, sessions=count)
    of = f"audit of {count:,} sessions of {1000 * megabytes / count:.0f} KB"
    one, two, again = (
        bench.child("bulk", "audit", home, out=str(bench.folder / out), processes=processes)
        for out, processes in (("out-1", 1), ("out-2", 2), ("out-2", 2))
    )
    faster, share = one["s"] / two["s"], again["s"] / one["s"]
    growth = two["end_mb"] / two["quarter_mb"]
    return [
        Row(f"{of}, one process", f"{one['s']:.1f} s", f"{count / one['s']:.0f} a second,"
            f" of which the command's own process {1000 * one['busy_s'] / count:.1f} ms of the"
            f" processor for each, load {one['load']:.1f}"),
        Row("the same, two processes", f"{two['s']:.1f} s",
            f"{faster:.2f} times as fast, load {two['load']:.1f}", f"{FASTER} times as fast",
            faster >= FASTER),
        Row("the command's own memory then, after a quarter", f"{two['quarter_mb']:.0f} MB",
            f"at the end {two['end_mb']:.0f} MB; with one process {one['quarter_mb']:.0f} and"
            f" {one['end_mb']:.0f} MB", f"at most {GROWTH} times as much at the end",
            growth <= GROWTH),
        Row("the same again with nothing new", f"{again['s']:.1f} s", f"{share:.1%} of the first",
            f"under {AGAIN:.0%} of the first", share < AGAIN),
    ]  # fmt: skip

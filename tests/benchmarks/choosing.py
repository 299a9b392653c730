"""Choosing one of all models: the dialog opens at once, and no letter waits for the list."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

OPEN_MS, FRAME_MS = 50.0, 16.0
TITLES = {"letter": "a letter typed into the search", "arrow": "a step of the arrow keys"}


def measure(bench: Bench) -> list[Row]:
    home = bench.home(bench.session(1_000))
    found = bench.child("window_models", "searching", home, rounds=bench.rounds)
    rows = [
        Row(
            f"dialog of {found['models']:,} models: opened and painted",
            ms(median(found["open"])),
            f"{len(found['open'])} times",
            f"{OPEN_MS:.0f} ms",
            median(found["open"]) < OPEN_MS,
        )
    ]
    for name, title in TITLES.items():
        times = found[name]
        most = percentile(times, 0.95)
        rows.append(
            Row(
                f"{title}, painted",
                f"{ms(median(times))}, 95 % under {ms(most)}, worst {ms(max(times))}",
                f"{len(times):,} frames",
                f"95 % under {FRAME_MS:.0f} ms",
                most < FRAME_MS,
            )
        )
    return rows

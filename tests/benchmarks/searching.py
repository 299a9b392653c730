"""A search over all entries of a library of many gigabytes."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

FIRST_MS = 300.0
LIMIT = 500
"""Entries that the window asks for."""


def measure(bench: Bench) -> list[Row]:
    home = bench.empty_home()
    made = bench.child("searching", "fill", home, gigabytes=bench.gigabytes)
    found = bench.child("searching", "find", home, rounds=bench.rounds, limit=LIMIT)
    size = f"{made['bytes'] / 1e9:.1f} GB in {made['sessions']:,} sessions"
    return [
        Row(
            f"search over all, {size}: {name}",
            f"first hits after {ms(median(one['first_ms']))}, {one['hits']:,} found",
            f"all after {ms(median(one['ms']))}, of which the processor"
            f" {ms(median(one['cpu_ms']))}; {one['searched']:,} sessions searched",
            f"{FIRST_MS:.0f} ms",
            median(one["first_ms"]) < FIRST_MS,
        )
        for name, one in found.items()
    ]

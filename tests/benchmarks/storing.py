"""Appending durably, opening the database, loading a session without a window."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

APPEND_BAR_MS = 1.0


def measure(bench: Bench) -> list[Row]:
    entries = 100_000
    home = bench.home(bench.session(entries))
    loaded = bench.child("storing", "load", home)
    appended = bench.child("storing", "append", home, count=1_000)["ms"]
    return [
        Row(
            "append an entry, durable and acknowledged",
            ms(median(appended)),
            f"95 % under {ms(percentile(appended, 0.95))}, worst {ms(max(appended))}",
            "median under 1 ms",
            median(appended) < APPEND_BAR_MS,
        ),
        Row("open the database", ms(median(loaded["open_ms"]))),
        Row(
            f"load a session of {entries:,} entries from it",
            ms(median(loaded["load_ms"])),
            f"{loaded['grown_mb']:.0f} MB of memory",
        ),
    ]

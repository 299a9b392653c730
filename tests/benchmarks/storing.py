"""Appending durably, opening the database, loading a session without a window."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

APPEND_BAR_MS = 1.0
SYNC_BAR = 2.0
"""Whoever waits for one entry waits for the disk; how long that takes is the disk's affair."""


def measure(bench: Bench) -> list[Row]:
    entries = 100_000
    home = bench.home(bench.session(entries))
    loaded = bench.child("storing", "load", home)
    appended = bench.child("storing", "append", home, count=1_000)
    one, many, synced = appended["ms"], appended["together_ms"], median(appended["sync_ms"])
    return [
        Row(
            "append an entry, on the disk and acknowledged, one at a time",
            f"{ms(median(one))}, {median(one) / synced:.1f}x",
            f"a bare sync of 40 KB {ms(synced)};"
            f" 95 % under {ms(percentile(one, 0.95))}, worst {ms(max(one))}",
            f"{SYNC_BAR:.0f}x a bare sync",
            median(one) < SYNC_BAR * synced,
        ),
        Row(
            f"the same where {appended['together']} wait at once, for each",
            f"{ms(median(many))}, {median(many) / synced:.2f}x",
            f"95 % under {ms(percentile(many, 0.95))}, worst {ms(max(many))}",
            "median under 1 ms",
            median(many) < APPEND_BAR_MS,
        ),
        Row("open the database", ms(median(loaded["open_ms"]))),
        Row(
            f"load a session of {entries:,} entries from it",
            ms(median(loaded["load_ms"])),
            f"{loaded['grown_mb']:.0f} MB of memory",
        ),
    ]

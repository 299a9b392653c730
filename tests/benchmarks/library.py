"""A library of 20,000 sessions: read, opened as a page, filtered letter by letter."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

SESSIONS = 20_000
FIRST_MS, LETTER_MS = 200.0, 200.0
_TITLES = {
    "first": "its first rows",
    "whole": "all rows",
    "filter": "two words as a filter",
    "sums": "the sums of what they let through",
}


def measure(bench: Bench) -> list[Row]:
    home = bench.empty_home()
    bench.child("window_library", "fill", home, sessions=SESSIONS)
    read = bench.child("window_library", "read", home, rounds=bench.rounds)
    rows = [
        Row(f"library of {SESSIONS:,}, read without a window: {title}", f"{ms(median(read[name]))}")
        for name, title in _TITLES.items()
    ]
    found = bench.child("window_library", "browse", home)
    letter = percentile(found["letter"], 0.95)
    return [
        *rows,
        Row(
            "the same as a page: its first rows painted",
            ms(found["first_ms"]),
            f"all {found['rows']:,} after {ms(found['whole_ms'])}, of which the processor"
            f" {ms(found['cpu_ms'])}",
            f"{FIRST_MS:.0f} ms",
            found["first_ms"] < FIRST_MS,
        ),
        Row(
            "a letter typed into its filter: the rows follow",
            f"{ms(median(found['letter']))}, 95 % under {ms(letter)}",
            f"{len(found['letter'])} letters",
            f"95 % under {LETTER_MS:.0f} ms",
            letter < LETTER_MS,
        ),
    ]

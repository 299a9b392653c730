"""The offline model over a megabyte of conversation, alone and beside the window."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms
from tests.benchmarks.stalling import stalls

ENTRIES = 1_000


def measure(bench: Bench) -> list[Row]:
    home = bench.home(bench.session(ENTRIES, chain=True))
    found = bench.child("summarizing", "extractive", home, rounds=bench.rounds)
    beside = bench.child("window_stalls", "summarizing", home)
    size = found["characters"] / 1e6
    return [
        Row(
            f"summarize {size:.1f} MB of conversation offline",
            ms(median(found["ms"])),
            f"{ms(beside['ms'])} beside the window",
        ),
        stalls("while the offline model summarizes", beside["draft"]),
    ]

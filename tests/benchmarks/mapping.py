"""Frames of the map at 200,000 entries, beside 2,000."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

SMALL, LARGE = 2_000, 200_000
MOST_MS, WORST_MS, MOST_RATIO = 8.0, 16.0, 2.0
NAMES = {"pan": "pan", "pan far": "jump", "zoom": "zoom from actual size to all", "fit": "fit all"}


def measure(bench: Bench) -> list[Row]:
    large = 100_000 if bench.quick else LARGE
    count = 60 if bench.quick else 240
    few = bench.child("window_map", "frames", bench.home(bench.session(SMALL)), count=count)
    many = bench.child("window_map", "frames", bench.home(bench.session(large)), count=count)
    rows = []
    for name, title in NAMES.items():
        most, worst = percentile(many[name], 0.95), max(many[name])
        ratio = median(many[name]) / median(few[name])
        rows.append(
            Row(
                f"{title}, {large:,} entries",
                f"{ms(median(many[name]))}, 95 % under {ms(most)}, worst {ms(worst)}",
                f"{SMALL:,}: {ms(median(few[name]))}, so {ratio:.1f}x",
                f"95 % under {MOST_MS:.0f} ms, none over {WORST_MS:.0f}, at most {MOST_RATIO:.0f}x",
                most < MOST_MS and worst <= WORST_MS and ratio <= MOST_RATIO,
            )
        )
    return rows

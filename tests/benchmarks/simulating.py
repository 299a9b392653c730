"""Walking a recorded session under every profile, and sweeping two sizes.

Times of the processor: nothing is waited for, and one thread does it all.
"""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

BAR_MS, BAR_AT = 1_000.0, 10_000


def measure(bench: Bench) -> list[Row]:
    sizes = (1_000, 10_000) if bench.quick else (1_000, 10_000, 20_000, 40_000)
    rows: list[Row] = []
    for entries in sizes:
        path = str(bench.session(entries, chain=True))
        found = bench.child("simulating", "simulate_all", session=path)
        length = found["length"][0]
        for key, title in (("200000", "window 200k"), ("60000", "window 60k")):
            took = median(found[key])
            judged = entries == BAR_AT
            rows.append(
                Row(
                    f"what if, five profiles and the recorded line, {title}, {entries:,} entries",
                    ms(took),
                    f"{took / length * 1000:,.1f} us an entry, "
                    f"{found[f'{key} compactions'][0]:,.0f} compactions",
                    f"under {BAR_MS / 1000:.0f} s" if judged else "",
                    took < BAR_MS if judged else None,
                )
            )
        if entries == BAR_AT:
            rows.append(Row(f"sweep of 12 x 12 sizes, {entries:,} entries", ms(found["sweep"][0])))
    return rows

"""The audit of a whole session: every entry scanned once, every compaction judged.

Times of the processor: nothing is waited for, and one thread does it all.
"""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

BAR_MS, BAR_AT = 2_000.0, 10_000


def measure(bench: Bench) -> list[Row]:
    sizes = (1_000, 10_000) if bench.quick else (1_000, 10_000, 40_000)
    rows: list[Row] = []
    for entries in sizes:
        found = bench.child("auditing", "audit_all", session=str(bench.session(entries)))
        took = median(found["scan"]) + median(found["judge"])
        judged = entries == BAR_AT
        rows.append(
            Row(
                f"audit, all compactions, {entries:,} entries of {found['mb'][0]:.0f} MB",
                ms(took),
                f"scan {ms(median(found['scan']))}, {found['compactions'][0]:.0f} compactions "
                f"judged in {ms(median(found['judge']))}",
                f"under {BAR_MS / 1000:.0f} s" if judged else "",
                took < BAR_MS if judged else None,
            )
        )
    return rows

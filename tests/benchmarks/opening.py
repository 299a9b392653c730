"""Opening a stored session of 100,000 entries in the window."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

ENTRIES = 100_000
ROWS_MS, WHOLE_MS, MEMORY_MB = 60, 250, 300


def measure(bench: Bench) -> list[Row]:
    home = bench.home(bench.session(ENTRIES))
    found = bench.child("window_open", "open_session", home, rounds=bench.rounds + 2)
    rows, whole = median(found["rows_ms"]), median(found["whole_ms"])
    first = f"the first time {ms(found['rows_ms'][0])}"
    return [
        Row(
            f"open a stored session of {ENTRIES:,}: first rows painted",
            ms(rows), first, f"{ROWS_MS} ms", rows <= ROWS_MS,
        ),
        Row(
            "the same: whole map painted",
            ms(whole),
            f"the first time {ms(found['whole_ms'][0])}",
            f"{WHOLE_MS} ms",
            whole <= WHOLE_MS,
        ),
        Row(
            "memory of the window with it",
            f"{found['memory_mb']:.0f} MB",
            f"{found['before_mb']:.0f} MB before; after opening it {len(found['rows_ms'])} times"
            f" at most {found['peak_mb']:.0f} MB",
            f"under {MEMORY_MB} MB",
            found["memory_mb"] < MEMORY_MB,
        ),
    ]  # fmt: skip

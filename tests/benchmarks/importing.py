"""Importing a file, beside a bare pass of ``json.loads`` over its lines."""

from __future__ import annotations

import shutil

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

BAR = 1.5
PER_ENTRY_KB = 0.5
"""What the index of an entry may take in memory; its payload must not stay there."""


def measure(bench: Bench) -> list[Row]:
    sizes = (10_000, 100_000) if bench.quick else (10_000, 200_000)
    rows, peaks = [], []
    for entries in sizes:
        row, peak = _measure(bench, entries)
        rows.append(row)
        peaks.append(peak)
    grown = peaks[1] - peaks[0]
    allowed = (sizes[1] - sizes[0]) * PER_ENTRY_KB / 1024
    megabytes = bench.session(sizes[1]).stat().st_size / 1e6
    rows.append(
        Row(
            f"memory of that import, peak ({megabytes:,.0f} MB of file)",
            f"{peaks[1]:.0f} MB",
            f"{peaks[0]:.0f} MB for {sizes[0]:,}",
            f"flat: the index only, {PER_ENTRY_KB} KB an entry",
            grown <= allowed,
        )
    )
    return rows


def _measure(bench: Bench, entries: int) -> tuple[Row, float]:
    path = str(bench.session(entries))
    bare, whole, peaks = [], [], []
    for _ in range(bench.rounds):
        bare.append(bench.child("importing", "parse", session=path)["ms"])
        home = bench.empty_home()
        found = bench.child("importing", "store", home, session=path)
        shutil.rmtree(home)
        whole.append(found["ms"])
        peaks.append(found["peak_mb"])
    ratio = median(a / b for a, b in zip(whole, bare, strict=True))
    row = Row(
        f"import {entries:,} entries into SQLite",
        f"{ms(median(whole))}, {ratio:.2f}x",
        f"json.loads of the lines {ms(median(bare))}",
        f"{BAR}x",
        ratio <= BAR,
    )
    return row, median(peaks)

"""Rendering a prompt to its budget."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

BAR_MS, BAR_AT = 50.0, 2_000


def measure(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    for elements in (500, 2_000) if bench.quick else (500, 2_000, 10_000):
        # Four nodes for every three messages, and a chunk around each round.
        found = bench.child("rendering", "renders", messages=elements * 2 // 5)
        whole, half = median(found["whole"]), median(found["half"])
        size = f"{found['elements'][0]:,.0f} elements"
        judged = elements == BAR_AT
        rows.append(Row(f"render a prompt of {size}, all of it fits", ms(whole)))
        rows.append(
            Row(
                f"render a prompt of {size} to half of its tokens",
                ms(half),
                f"{found['dropped'][0]:,.0f} dropped",
                f"under {BAR_MS:g} ms" if judged else "",
                half < BAR_MS if judged else None,
            )
        )
    return rows

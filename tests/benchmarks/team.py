"""A team's library: sessions published, and tens of thousands listed, searched and filtered."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile
from tests.team.cluster import why_not

PUBLISHED, SESSIONS = 1_000, 35_000
"""Of 57 entries each: two million."""
QUICK = 50, 2_000
FIRST_MS, SEARCH_MS, LETTER_MS = 200.0, 300.0, 200.0


def measure(bench: Bench) -> list[Row]:
    """Says why where there is no PostgreSQL."""
    if reason := why_not():
        return [Row("a team's library", "–", reason)]
    published, sessions = QUICK if bench.quick else (PUBLISHED, SESSIONS)
    found = bench.child(
        "team", "measure", bench.empty_home(), published=published, sessions=sessions,
        rounds=bench.rounds,
    )  # fmt: skip
    size = f"{found['sessions']:,} sessions, {found['entries']:,} entries"
    took, letters = found["publishing_s"], found["letters_ms"]
    return [
        Row(f"{published:,} sessions published", f"{took:.0f} s",
            f"{1000 * took / published:.0f} ms each"),
        Row(f"a team's library of {size}: the newest 200", ms(found["first_ms"]),
            f"all {ms(found['all_ms'])}", f"{FIRST_MS:.0f} ms", found["first_ms"] < FIRST_MS),
        *(Row(f"the same, searched for {name}: the first 200", ms(took), "",
              f"{SEARCH_MS:.0f} ms", took < SEARCH_MS)
          for name, took in found["search_ms"].items()),
        Row("a letter typed into its filter: the rows follow",
            f"{ms(median(letters))}, 95 % under {ms(percentile(letters, 0.95))}",
            f"{len(letters)} letters", f"95 % under {LETTER_MS:.0f} ms",
            percentile(letters, 0.95) < LETTER_MS),
    ]  # fmt: skip

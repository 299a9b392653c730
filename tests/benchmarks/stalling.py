"""How long the window stands still while it works."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, ms, percentile

LONGEST_MS, MOST_MS = 50.0, 16.0


def measure(bench: Bench) -> list[Row]:
    entries = 20_000 if bench.quick else 100_000
    seconds = 5 if bench.quick else 15
    path = bench.session(entries)
    home = bench.home(path)
    imported = bench.child("window_stalls", "importing", bench.empty_home(), session=str(path))
    opened = bench.child("window_stalls", "opening", home)
    counted = bench.child("window_stalls", "counting", home, seconds=seconds)
    streamed = bench.child("window_stalls", "streaming", home, seconds=seconds)
    return [
        stalls("the window with nothing to do", imported["nothing"]),
        stalls(f"while importing and opening {entries:,} entries", imported["import"]),
        stalls("while indexing and counting them", imported["index"]),
        stalls("while opening that session", opened["open"]),
        stalls("while going through the inspector's tabs", opened["tabs"]),
        stalls("while counting tokens", counted["count"]),
        stalls("while 200 tokens a second come into a draft", streamed["draft"]),
        stalls("while 200 tokens a second come into the conversation", streamed["talk"]),
    ]


def stalls(what: str, late: list[float]) -> Row:
    worst, most = max(late), percentile(late, 0.99)
    return Row(
        f"stalls {what}",
        f"longest {ms(worst)}, 99 % under {ms(most)}",
        f"{len(late):,} beats",
        f"{LONGEST_MS:.0f} ms, 99 % under {MOST_MS:.0f}",
        worst < LONGEST_MS and most < MOST_MS,
    )

"""The conversation: opened, scrolled, searched, and written into while it is read."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile
from tests.benchmarks.stalling import stalls

SMALL, LARGE = 5_000, 100_000
OPEN_MS, FRAME_MS, JUMP_MS = 50.0, 16.0, 33.0
TICK_MS = 16.0
NAMES = {"wheel": "scrolled by the wheel", "page": "by a screen"}


def measure(bench: Bench) -> list[Row]:
    count = 80 if bench.quick else 240
    rows: list[Row] = []
    for entries in (SMALL, 20_000 if bench.quick else LARGE):
        home = bench.home(bench.session(entries, chain=True))
        found = bench.child("window_talk", "reading", home, count=count)
        what = f"conversation of {entries:,} messages"
        rows.append(
            Row(
                f"{what}: opened at its end, painted",
                ms(median(found["open"])),
                f"{found['items']:,} items",
                f"{OPEN_MS:.0f} ms",
                median(found["open"]) < OPEN_MS,
            )
        )
        rows += [
            _frames(f"{what}, {title}", found[name], FRAME_MS) for name, title in NAMES.items()
        ]
        rows.append(_frames(f"{what}, jumped to anywhere", found["jump"], JUMP_MS))
        rows.append(Row(f"{what}: a word found {found['hits']:,} times", ms(found["find"])))
        rows.append(stalls(f"while {entries:,} messages are searched", found["find late"]))
    home = bench.home(bench.session(SMALL, chain=True))
    seconds = 5 if bench.quick else 15
    streamed = bench.child("window_talk", "streaming", home, seconds=seconds)
    for name, late in streamed.items():
        worst, most = max(late), percentile(late, 0.99)
        rows.append(
            Row(
                f"200 tokens a second of {name} at the end of a reply of 100 KB",
                f"longest tick {ms(worst)}, 99 % under {ms(most)}",
                f"{len(late):,} beats",
                f"{TICK_MS:.0f} ms",
                worst < TICK_MS,
            )
        )
    return rows


def _frames(what: str, times: list[float], bar: float) -> Row:
    most, worst = percentile(times, 0.95), max(times)
    return Row(
        what,
        f"{ms(median(times))}, 95 % under {ms(most)}, worst {ms(worst)}",
        f"{len(times):,} frames",
        f"95 % under {bar:.0f} ms",
        most < bar,
    )

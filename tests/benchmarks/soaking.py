"""A long evening: what the window takes while another program appends for minutes."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.children.process import memory_mb
from tests.benchmarks.report import Row

SECONDS, QUICK_SECONDS = 570, 40
SIZES = (2_000, 1_500, 1_000)
"""Entries of the three sessions."""
OPENINGS = 50
MORE_DESCRIPTORS, KB_PER_ENTRY, MORE_MB = 12, 3.0, 3.0

_Sample = list[float]


def measure(bench: Bench) -> list[Row]:
    home = bench.home(*(bench.session(size) for size in SIZES))
    seconds = QUICK_SECONDS if bench.quick else SECONDS
    found = bench.child("window_soak", "soak", home, seconds=seconds, openings=OPENINGS)
    samples: list[_Sample] = found["samples"]
    # What a first look at every tab takes is not growth.
    early = samples[len(samples) // 5]
    middle, last = samples[len(samples) // 2], samples[-1]
    return [
        *_counts(samples[0], early, middle, last, found["end"]),
        *_growth(early, middle, last),
        *_openings(found["openings_mb"]),
    ]


def _counts(
    first: _Sample, early: _Sample, middle: _Sample, last: _Sample, end: _Sample
) -> list[Row]:
    minutes = last[0] / 60
    more = max(last[1], end[1]) - early[1]
    return [
        Row(
            f"descriptors, {last[4] - first[4]:,.0f} entries appended in {minutes:.1f} minutes",
            f"{first[1]:.0f}, {middle[1]:.0f}, {last[1]:.0f} at start, middle, end",
            f"{end[1]:.0f} after {OPENINGS} openings",
            f"at most {MORE_DESCRIPTORS} more than at a fifth",
            more <= MORE_DESCRIPTORS,
        ),
        Row(
            "threads meanwhile",
            f"{first[2]:.0f}, {middle[2]:.0f}, {last[2]:.0f}",
            f"{end[2]:.0f} after the openings",
        ),
    ]


def _growth(early: _Sample, middle: _Sample, last: _Sample) -> list[Row]:
    appended = max(1.0, last[4] - early[4])
    each = (last[3] - early[3]) * 1024 / appended
    per_minute = (last[3] - middle[3]) / max(last[0] - middle[0], 1) * 60
    known = bool(memory_mb())
    return [
        Row(
            "memory per appended entry of 1 KB",
            f"{each:.2f} KB",
            f"{early[3]:.0f} MB after {early[0]:.0f} s, {last[3]:.0f} MB at the end",
            f"{KB_PER_ENTRY:.0f} KB",
            each <= KB_PER_ENTRY if known else None,
        ),
        Row("growth in the second half", f"{per_minute:.2f} MB a minute", "1,200 entries a minute"),
    ]


def _openings(memory: list[float]) -> list[Row]:
    tenth, thirtieth, fiftieth = memory[9], memory[29], memory[49]
    return [
        Row(
            "memory after the 10th, 30th, 50th opening of three sessions",
            f"{tenth:.1f}, {thirtieth:.1f}, {fiftieth:.1f} MB",
            f"{memory[0]:.1f} MB after the first",
            f"at most {MORE_MB:.0f} MB more after the 50th than after the 30th",
            fiftieth - thirtieth <= MORE_MB if memory_mb() else None,
        )
    ]

"""Selecting an entry whose payload is 10 MB."""

from __future__ import annotations

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms
from tests.benchmarks.stalling import stalls

ANSWER_MS = 50


def measure(bench: Bench) -> list[Row]:
    home = bench.home(bench.large_result(10 << 20))
    found = bench.child("window_large", "select", home, rounds=bench.rounds)
    answer = max(found["answer_ms"])
    return [
        Row(
            "select an entry with a tool result of 10 MB: the inspector answers",
            ms(median(found["answer_ms"])),
            f"worst {ms(answer)}",
            f"{ANSWER_MS} ms",
            answer < ANSWER_MS,
        ),
        stalls("while the rest of it comes in", found["late"]),
    ]

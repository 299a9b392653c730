"""From the start of the process to the first painted window, beside a bare PySide6 window."""

from __future__ import annotations

import json
import sys
import time

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms

BAR = 1.5


def measure(bench: Bench) -> list[Row]:
    home = bench.home(bench.session(1_000))
    bare, painted, ready, slow = [], [], [], set()
    for number in range(bench.rounds * 2 + 1):
        least = float(_start(bench, "bare_window", home))
        found = json.loads(_start(bench, "first_paint", home))
        if number:  # the first round warms the disk's cache
            bare.append(least)
            painted.append(found["painted_ms"])
            ready.append(found["ready_ms"])
            slow.update(found["slow"])
    ratio = median(a / b for a, b in zip(painted, bare, strict=True))
    return [
        Row(
            "first painted window, cold",
            f"{ms(median(painted))}, {ratio:.2f}x",
            f"bare PySide6 window {ms(median(bare))}",
            f"{BAR}x",
            ratio <= BAR,
        ),
        Row("the window with all its panes, the library read", ms(median(ready))),
        Row("slow packages imported before the paint", ", ".join(sorted(slow)) or "none"),
    ]


def _start(bench: Bench, module: str, home: object) -> str:
    command = [sys.executable, "-m", f"tests.benchmarks.children.{module}"]
    return bench.run([*command, str(time.monotonic_ns())], str(home)).strip()

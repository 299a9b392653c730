"""Selecting an entry with a huge payload."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tests.benchmarks.children.window import Heartbeat, Paints, run_window, until
from ui.main_window import TABS
from ui.session import WindowSession


def select(home: str, rounds: int) -> dict[str, Any]:
    """Ms from selecting the largest entry to the inspector's answer, and the stalls after it."""
    return run_window(lambda running: _select(running, rounds))


async def _select(running: WindowSession, rounds: int) -> dict[str, Any]:
    bench, window = running.state.bench, running.window
    assert bench is not None
    await running.sessions.open_now(bench.sessions()[0].key)
    window.inspector.setCurrentIndex(TABS.index("entry"))
    await asyncio.sleep(1)
    tree = window.map.model.tree
    large = max(range(len(tree)), key=lambda at: tree.columns.estimate[at])
    beat, painted = Heartbeat(), Paints(window.entry)
    found: dict[str, Any] = {"answer_ms": [], "late": []}
    for _ in range(rounds):
        window.map.select(0 if large else 1)
        await asyncio.sleep(0.5)
        painted.times.clear()
        with beat.beating():
            start = time.perf_counter()
            window.map.select(large)
            await until(lambda: bool(painted.times))
            found["answer_ms"].append((painted.times[0] - start) * 1000)
            await asyncio.sleep(3)
        found["late"] += beat.late
    return found

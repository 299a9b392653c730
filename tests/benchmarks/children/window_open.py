"""Opening a stored session in the window."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tests.benchmarks.children.process import memory_mb
from tests.benchmarks.children.window import Paints, run_window, until
from ui.session import WindowSession


def open_session(home: str, rounds: int) -> dict[str, Any]:
    """Open the first session several times: ms to the first rows and to the whole map."""
    return run_window(lambda running: _open(running, rounds))


async def _open(running: WindowSession, rounds: int) -> dict[str, Any]:
    bench, state, pane = running.state.bench, running.state, running.window.map
    assert bench is not None
    key = bench.sessions()[0].key
    painted = Paints(pane.view.viewport())
    laid: list[float] = []
    pane.model.layout_changed.connect(lambda: laid.append(time.perf_counter()))
    found: dict[str, Any] = {"rows_ms": [], "whole_ms": [], "before_mb": memory_mb()}
    for number in range(rounds):
        painted.times.clear()
        laid.clear()
        start = time.perf_counter()
        await running.sessions.open_now(key)
        await until(lambda: bool(painted.times))
        found["rows_ms"].append((painted.times[0] - start) * 1000)
        await until(lambda: not pane.model.is_laying_out)
        await until(lambda: painted.times[-1] > laid[-1])
        whole = next(at for at in painted.times if at > laid[-1])
        found["whole_ms"].append((whole - start) * 1000)
        await asyncio.sleep(1.0)
        if not number:
            found["memory_mb"] = memory_mb()
        state.show(None)
        bench.close(key)
        await asyncio.sleep(0.2)
    found["peak_mb"] = memory_mb("VmHWM")
    return found

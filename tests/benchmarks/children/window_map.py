"""Frames of the map in the window: pan, zoom, fit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.children.window import paint, run_window, until
from ui.map.pane import MapPane
from ui.session import WindowSession


def frames(home: str, count: int) -> dict[str, Any]:
    """Times in ms of single frames, by what moved; the first session of the home."""
    return run_window(lambda running: _frames(running, count))


async def _frames(running: WindowSession, count: int) -> dict[str, Any]:
    bench, pane = running.state.bench, running.window.map
    assert bench is not None
    await running.sessions.open_now(bench.sessions()[0].key)
    await until(lambda: not pane.model.is_laying_out)
    await asyncio.sleep(1.5)
    found: dict[str, Any] = {
        "pan": _pan(pane, count),
        "pan far": _jump(pane, count),
        "zoom": _zoom(pane, count),
        "fit": _fit(pane, max(10, count // 6)),
    }
    found["entries"] = len(pane.model.tree)
    return found


def _time(change: Callable[[], None]) -> float:
    start = time.perf_counter()
    change()
    paint()
    return (time.perf_counter() - start) * 1000


def _pan(pane: MapPane, count: int) -> list[float]:
    """Scrolled by hand: a few pixels a frame, at the actual size and as boxes."""
    found = []
    bar = pane.view.verticalScrollBar()
    for zoom in (1.0, 0.3, 0.02):
        pane.view.set_zoom(zoom)
        bar.setValue(bar.maximum() // 2)
        paint()
        found += [_time(lambda: bar.setValue(bar.value() + 37)) for _ in range(count // 3)]
    return found


def _jump(pane: MapPane, count: int) -> list[float]:
    """Every frame elsewhere, as with the minimap."""
    pane.view.set_zoom(1.0)
    bar = pane.view.verticalScrollBar()
    paint()
    step = bar.maximum() // count
    return [_time(lambda at=at: bar.setValue(at * step)) for at in range(count)]


def _zoom(pane: MapPane, count: int) -> list[float]:
    """From the actual size to the whole session, and back."""
    view = pane.view
    view.set_zoom(1.0)
    paint()
    least = view.fit_zoom()
    steps = [least ** (at / count * 2) for at in range(count // 2)]
    return [_time(lambda zoom=zoom: view.set_zoom(zoom)) for zoom in steps + steps[::-1]]


def _fit(pane: MapPane, count: int) -> list[float]:
    """The whole session on screen, from the actual size."""
    found = []
    for _ in range(count):
        pane.view.actual()
        paint()
        found.append(_time(pane.view.fit))
    return found

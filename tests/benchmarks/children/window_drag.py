"""Sliders and the cut on a long path: from the hand to the paint."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.benchmarks.children.window import paint, run_window, until
from ui.main_window import TABS
from ui.map.interactions import useful_cuts
from ui.session import WindowSession


def drag(home: str, steps: int) -> dict[str, Any]:
    """Times in ms of single steps of a slider and of the dragged cut."""
    return run_window(lambda running: _drag(running, steps))


async def _drag(running: WindowSession, steps: int) -> dict[str, Any]:
    bench, window = running.state.bench, running.window
    assert bench is not None
    await running.sessions.open_now(bench.sessions()[0].key)
    await until(lambda: not window.map.model.is_laying_out)
    window.inspector.setCurrentIndex(TABS.index("compaction"))
    await asyncio.sleep(1.5)
    slider = []
    for number in range(steps):
        keep = window.compaction.setup.keep
        before = window.compaction.partition
        start = time.perf_counter()
        keep.track.setValue(300 + 600 * number // steps)
        paint()
        slider.append((time.perf_counter() - start) * 1000)
        if window.compaction.partition is before and number > 1:
            slider.pop()
        await asyncio.sleep(0)
    cut = await _drag_cut(running, steps)
    return {"slider": slider, "cut": cut}


async def _drag_cut(running: WindowSession, steps: int) -> list[float]:
    view, model = running.window.map.view, running.window.map.model
    cuts = useful_cuts(model)
    view.set_zoom(0.25)
    view.reveal(model.partition.path[view.cut_now()], centre=True)
    await asyncio.sleep(0.1)
    port = view.viewport()
    at = QPointF(40, view.cut_line())
    _mouse(port, QEvent.Type.MouseButtonPress, at)
    found, seen = [], view.cut_now()
    for number in range(steps):
        # Up and down over a good part of the view, always to another valid cut.
        y = port.height() * (0.2 + 0.6 * (number % 30) / 30)
        start = time.perf_counter()
        _mouse(port, QEvent.Type.MouseMove, QPointF(40, y))
        paint()
        took = (time.perf_counter() - start) * 1000
        if view.cut_now() != seen:
            found.append(took)
        seen = view.cut_now()
        await asyncio.sleep(0)
    _mouse(port, QEvent.Type.MouseButtonRelease, QPointF(40, y))
    if len(found) < steps // 2:
        raise RuntimeError(f"the cut moved {len(found)} of {steps} times; {len(cuts)} valid cuts")
    return found


def _mouse(widget: QWidget, kind: QEvent.Type, at: QPointF) -> None:
    none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
    button = none if kind == QEvent.Type.MouseMove else left
    held = none if kind == QEvent.Type.MouseButtonRelease else left
    place = QPointF(widget.mapToGlobal(at))
    event = QMouseEvent(kind, at, place, button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)

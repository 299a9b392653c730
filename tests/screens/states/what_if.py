"""What a session would have come to under other rules."""

from __future__ import annotations

from collections.abc import AsyncIterator

from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.audit.what_if.window import WhatIfWindow


async def opened(scene: Scene, window: int = 40_000) -> WhatIfWindow:
    """The window, with a context window in which the rules differ."""
    live = scene.live
    live.keys("Ctrl+Alt+W")
    view = await live.dialog(WhatIfWindow)
    await live.until(lambda: view.drawing is not None, "the lines")
    if window:
        before = view.drawing
        view.window_box.box.setValue(window)
        await live.until(lambda: view.drawing is not before, "other lines")
    await live.settle()
    return view


@state("what-if", main=True, doubled=True)
async def chart(scene: Scene) -> AsyncIterator[None]:
    view = await opened(scene)
    view.chart.setFocus()
    for _ in range(12):
        QTest.keyClick(view.chart, Qt.Key.Key_Right)
    await scene.live.idle()
    yield
    view.close()


@state("what-if-nothing")
async def nothing(scene: Scene) -> AsyncIterator[None]:
    view = await opened(scene, 0)
    yield
    view.close()


@state("what-if-own-line", dark=True)
async def own(scene: Scene) -> AsyncIterator[None]:
    view = await opened(scene)
    before = view.drawing
    view.added_rules.keep.setValue(9_000)
    view.added_rules.add.click()
    view.legend.chips["pi"].click()
    await scene.live.until(lambda: view.drawing is not before, "another line")
    found = view.drawing
    assert found is not None
    sign = found.lines[-1].signs[0]
    place = view.chart.scale()
    QTest.mouseMove(view.chart, QPointF(place.x(sign.x), place.y(sign.y) - 7).toPoint())
    await scene.live.idle()
    yield
    view.close()


@state("what-if-sweep", main=True, doubled=True)
async def swept(scene: Scene) -> AsyncIterator[None]:
    view = await opened(scene)
    view.pages.setCurrentIndex(1)
    view.sweep.start.click()
    await scene.live.until(lambda: view.sweep.sweep is not None, "the map")
    await scene.live.idle()
    yield
    view.close()


@state("what-if-long", base="large")
async def long(scene: Scene) -> AsyncIterator[None]:
    view = await opened(scene, 0)
    yield
    view.close()

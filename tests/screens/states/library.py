"""The window of all sessions: its table, a filter, hits, and empty places."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.library.page import LibraryPage


async def opened(scene: Scene) -> LibraryPage:
    live = scene.live
    live.keys("Ctrl+Shift+O")
    page = await live.dialog(LibraryPage)
    await live.until(lambda: page.totals.bars.bars, "the sums")
    return page


@state("library", "several", main=True, doubled=True)
async def library(scene: Scene) -> AsyncIterator[None]:
    page = await opened(scene)
    page.table.setFocus()
    scene.live.keys("Shift+Down", to=page.table)
    yield


@state("library-projects", "several")
async def projects(scene: Scene) -> AsyncIterator[None]:
    page = await opened(scene)
    page.totals.choice.setFocus()
    scene.live.keys("Down", to=page.totals.choice)
    yield


@state("library-hits", "several", small=True)
async def hits(scene: Scene) -> AsyncIterator[None]:
    page = await opened(scene)
    scene.live.type("retry", to=page.filters.line)
    scene.live.press_button("Search texts", page.filters)
    await scene.live.until(page.hits.isVisible, "the hits")
    yield


@state("library-moved", "several", small=True, dark=True)
async def moved(scene: Scene) -> AsyncIterator[None]:
    page = await opened(scene)
    page.table.setFocus()
    scene.live.keys("Down", "Delete", to=page.table)
    await scene.live.until(page.notice.isVisible, "the offer to take it back")
    yield


@state("library-trash", "several", small=True)
async def trash(scene: Scene) -> AsyncIterator[None]:
    page = await opened(scene)
    scene.live.keys("Alt+T", to=page)
    await scene.live.until(page.put_away.isVisible, "the empty trash")
    yield

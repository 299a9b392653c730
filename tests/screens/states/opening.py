"""Opening: the welcome, a session near and far, a database that is damaged."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow
from ui.map.canvas import Level


@state("welcome", "empty", main=True, doubled=True)
async def welcome(scene: Scene) -> AsyncIterator[None]:
    yield


@state("welcome-recent", "several", dark=True)
async def recent(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+W")
    await scene.live.until(scene.live.window.welcome.isVisible, "the page")
    yield


async def _called_out(scene: Scene, number: int) -> None:
    live = scene.live
    live.session.actions["tour"].trigger()
    callout = live.session.tour.callout
    await live.until(callout.isVisible, "the first callout")
    for _ in range(number):
        live.keys("Return")
        await live.settle(40)


@state("callout-tree", main=True, doubled=True)
async def tree(scene: Scene) -> AsyncIterator[None]:
    await _called_out(scene, 0)
    yield


@state("callout-cut", main=True, doubled=True)
async def cut(scene: Scene) -> AsyncIterator[None]:
    await _called_out(scene, 1)
    yield


@state("callout-lost", main=True, doubled=True)
async def lost(scene: Scene) -> AsyncIterator[None]:
    await _called_out(scene, 2)
    yield


@state("session", main=True, doubled=True)
async def session(scene: Scene) -> AsyncIterator[None]:
    yield


@state("session-scaled", scale=200)
async def session_scaled(scene: Scene) -> AsyncIterator[None]:
    yield


@state("session-turns")
async def turns(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.setFocus()
    while scene.live.window.map.view.level is not Level.TURNS:
        scene.live.keys("-")
        await scene.live.settle(1)
    yield


@state("session-fitted", dark=True)
async def fitted(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.setFocus()
    scene.live.keys("0")
    yield


@state("session-list", dark=True, small=True, doubled=True)
async def as_list(scene: Scene) -> AsyncIterator[None]:
    bar = scene.live.window.map.bar
    scene.live.click(bar.shown.buttons()[1])
    yield


@state("large-fitted", "large")
async def large(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.setFocus()
    scene.live.keys("0")
    await scene.live.settle(60)
    yield


@state("large-bottom", "large", dark=True, small=True)
async def large_bottom(scene: Scene) -> AsyncIterator[None]:
    yield


@state("damaged-database")
async def damaged(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await live.close()
    database = next(scene.home.glob("data/*.db"))
    for beside in scene.home.glob("data/*.db-*"):
        beside.unlink()
    data = database.read_bytes()
    database.write_bytes(data[: len(data) * 9 // 10])
    scene.live = await RunningWindow.start(live.app, size=(1440, 900))
    live.window, live.session, live.task = (
        scene.live.window, scene.live.session, scene.live.task,
    )  # fmt: skip
    live.is_closed = False
    yield

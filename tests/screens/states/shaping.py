"""Pins and omissions: on the map, in the panel, in the context, and the range that is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.pruned_sample import write_much_output
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.map.navigation import LeavingDialog


async def _shape(scene: Scene) -> None:
    live = scene.live
    live.drop(write_much_output(scene.home / "much-output.jsonl"))
    await live.until(lambda: len(live.document.tree) == 26, "the session")
    await live.idle()
    shaping = live.session.entry_edits
    shaping.pin([0, 5])
    await live.until(lambda: len(live.document.tree) == 27, "the pin")
    shaping.omit([2])
    await live.until(lambda: len(live.document.tree) == 28, "the omission")
    await live.idle()


@state("shaped", main=True, doubled=True)
async def shaped(scene: Scene) -> AsyncIterator[None]:
    await _shape(scene)
    scene.live.keys("Ctrl+3")
    scene.live.window.compaction.setup.shaped.set_expanded(True)
    scene.live.window.map.select(5)
    await scene.live.idle()
    yield


@state("shaped-from-here", main=True)
async def from_here(scene: Scene) -> AsyncIterator[None]:
    await _shape(scene)
    scene.live.window.map.select(10)
    await scene.live.idle()
    scene.live.keys("Ctrl+Alt+H")
    await scene.live.dialog(LeavingDialog)
    yield

"""Pruning: what would go and why, and what it leaves on map, ledger and inspector."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.pruned_sample import write_much_output
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.compaction.prune_dialog import PruneDialog


async def _open(scene: Scene) -> None:
    scene.live.drop(write_much_output(scene.home / "much-output.jsonl"))
    await scene.live.until(lambda: len(scene.live.document.tree) == 26, "the session")
    await scene.live.idle()


@state("prune-asked", main=True, doubled=True)
async def prune(scene: Scene) -> AsyncIterator[None]:
    await _open(scene)
    scene.live.keys("Ctrl+Alt+P")
    await scene.live.dialog(PruneDialog)
    yield


@state("pruned", main=True, doubled=True)
async def pruned(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await _open(scene)
    live.keys("Ctrl+Alt+P")
    dialog = await live.dialog(PruneDialog)
    live.press_button("Prune", dialog)
    await live.until(lambda: len(live.document.tree) == 27, "the prune entry")
    await live.back()
    live.keys("Ctrl+3")
    await live.idle()
    yield


@state("pruned-result", main=True)
async def pruned_result(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await _open(scene)
    live.keys("Ctrl+Alt+P")
    dialog = await live.dialog(PruneDialog)
    live.press_button("Prune", dialog)
    await live.until(lambda: len(live.document.tree) == 27, "the prune entry")
    await live.back()
    live.keys("Ctrl+1")
    live.window.map.select(4)
    await live.idle()
    yield

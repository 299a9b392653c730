"""Looking: the context, entries of every kind, searches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from explorer.session.kinds import Flag, Kind
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow


def find(live: RunningWindow, wanted: Callable[[int], bool]) -> int:
    """The first entry for which something holds."""
    return next(at for at in range(len(live.document.tree)) if wanted(at))


@state("context", main=True, doubled=True)
async def context(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("Ctrl+2")
    live.window.map.setFocus()
    live.window.map.select(150)
    live.keys("Down")
    yield


@state("entry-diff", main=True, doubled=True)
async def entry_diff(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    columns = live.document.tree.columns

    def edits(at: int) -> bool:
        is_call = columns.kind[at] == Kind.ASSISTANT and columns.flags[at] & Flag.HAS_TOOL_CALL
        return bool(is_call) and any(
            one.name == "edit" for one in live.document.payloads.shown.entry(at).calls
        )

    live.window.map.select(find(live, edits))
    yield


@state("entry-image", dark=True)
async def entry_image(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(2)
    yield


@state("entry-raw", small=True, dark=True, doubled=True)
async def entry_raw(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(9)
    scene.live.keys("Alt+W")
    await scene.live.until(scene.live.window.entry.raw.isVisible, "the JSON")
    yield


@state("entry-compaction", small=True, doubled=True)
async def entry_compaction(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(105)
    yield


@state("search-hits", main=True, doubled=True)
async def search_hits(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("/")
    live.type("error")
    await live.until(lambda: "/" in live.window.header.search.count.text(), "the hits")
    live.keys("Return", "Return")
    yield


@state("search-none", small=True, dark=True, doubled=True)
async def search_none(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("/")
    scene.live.type("kangaroo")
    await scene.live.until(lambda: scene.live.window.header.search.count.text(), "the answer")
    yield


@state("search-everywhere", "several", main=True, doubled=True)
async def search_everywhere(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("/")
    live.type("retry")
    live.click(live.window.header.search.everywhere)
    await live.until(lambda: live.window.header.search.results.isVisible(), "the list")
    yield

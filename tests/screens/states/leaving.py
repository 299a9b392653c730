"""Going elsewhere: leaving a branch with a summary of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.models.server import Stall
from tests.screens.stage import Scene
from tests.screens.states.registry import SUMMARY, state
from tests.ui.window.running import RunningWindow
from ui.map.navigation import SUMMARIZE, WITH_INSTRUCTIONS, LeavingDialog


async def leave(live: RunningWindow) -> LeavingDialog:
    """Ask to go to an entry that the last compaction lies after."""
    live.window.map.setFocus()
    live.window.map.select(240)
    live.keys("Return")
    return await live.dialog(LeavingDialog)


async def choose(live: RunningWindow, dialog: LeavingDialog, keys: str, choice: int) -> None:
    """A mnemonic presses its button for a moment before it is chosen."""
    live.keys(keys)
    await live.until(lambda: dialog.choices.checkedId() == choice, "the choice")


@state("leaving-1-question", main=True, doubled=True)
async def leaving_question(scene: Scene) -> AsyncIterator[None]:
    dialog = await leave(scene.live)
    await choose(scene.live, dialog, "Alt+I", WITH_INSTRUCTIONS)
    scene.live.type("Say which tests were added.")
    yield


@state("leaving-2-streaming", provider=True, small=True, dark=True)
async def leaving_streaming(scene: Scene) -> AsyncIterator[None]:
    scene.server.plan(Stall(after=1, text=SUMMARY))
    dialog = await leave(scene.live)
    await choose(scene.live, dialog, "Alt+S", SUMMARIZE)
    scene.live.keys("Return")
    await scene.live.until(lambda: dialog.stream.toPlainText(), "the text")
    yield
    scene.live.keys("Esc")


@state("leaving-3-summary", doubled=True)
async def leaving_summary(scene: Scene) -> AsyncIterator[None]:
    dialog = await leave(scene.live)
    await choose(scene.live, dialog, "Alt+S", SUMMARIZE)
    scene.live.keys("Return")
    await scene.live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    yield

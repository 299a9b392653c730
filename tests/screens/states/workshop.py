"""The prompt workshop, and a draft checked and mended."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow
from ui.workshop.dialog import TABS, WorkshopDialog
from ui.workshop.mend_window import MendWindow


async def workshop(live: RunningWindow) -> WorkshopDialog:
    """The workshop, opened by its key."""
    live.keys("Ctrl+Alt+T")
    return await live.dialog(WorkshopDialog)


@state("workshop", main=True, doubled=True)
async def workshop_text(scene: Scene) -> AsyncIterator[None]:
    await workshop(scene.live)
    yield


@state("workshop-edited", dark=True, doubled=True)
async def workshop_edited(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    assert live.session.state.bench is not None
    live.session.state.bench.prompts.save("history-update", "## Goal\n[what it is for]", "short")
    dialog = await workshop(live)
    dialog.list.select("reminder")
    live.type(" {{problem}}", to=dialog.editor.text)
    await live.idle()
    yield


@state("workshop-request", main=True)
async def workshop_request(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    dialog = await workshop(live)
    dialog.tabs.setCurrentIndex(TABS.index("request"))
    await live.until(lambda: "tokens" in dialog.preview.sizes.text(), "the request")
    await live.idle()
    yield


@state("workshop-versions", dark=True, doubled=True)
async def workshop_versions(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    bench = live.session.state.bench
    assert bench is not None
    text = bench.prompts.shipped("history-update")
    bench.prompts.save("history-update", text.replace("once", "exactly once"), "more strictly")
    bench.prompts.save("history-update", text.replace("## Goal", "## Aim"), "other words")
    dialog = await workshop(live)
    dialog.tabs.setCurrentIndex(TABS.index("versions"))
    await live.idle()
    yield


@state("workshop-tried", "several", main=True, doubled=True)
async def workshop_tried(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    dialog = await workshop(live)
    text = dialog.text.replace("## Critical Context", "## Remarks")
    dialog.editor.text.setPlainText(text)
    dialog.tabs.setCurrentIndex(TABS.index("try"))
    await live.until(lambda: bool(dialog.trial.points()), "the places")
    live.press_button("Try", dialog)
    await live.until(lambda: "compared" in dialog.trial.message.text(), "the trial")
    yield


async def drafted(live: RunningWindow) -> MendWindow:
    """An offline draft, checked."""
    live.keys("Ctrl+Shift+K")
    await live.until(lambda: live.window.compaction.has_drafts, "a draft")
    live.keys("Ctrl+Alt+C")
    window = await live.dialog(MendWindow)
    await live.until(lambda: "instruction" in window.title.text(), "what is found")
    return window


@state("check-and-mend", main=True, doubled=True)
async def check_and_mend(scene: Scene) -> AsyncIterator[None]:
    await drafted(scene.live)
    yield


@state("mended", main=True, doubled=True)
async def mended(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    window = await drafted(live)
    live.press_button("Mend it", window)
    await live.until(lambda: "regained" in window.title.text(), "the change")
    yield

"""Compaction: the preview, the request, the draft and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import BASES, PROFILES
from tests.models.server import Answer, Stall
from tests.screens.stage import Scene
from tests.screens.states.registry import SUMMARY, state
from tests.ui.window.running import RunningWindow, visible
from ui.compaction.request_window import RequestWindow
from ui.profiles.compare_window import CompareWindow
from ui.profiles.dialog import ProfilesDialog


async def cut_inside_a_turn(live: RunningWindow) -> Partition:
    """Step the size of the kept tail until the cut falls inside a turn."""
    live.keys("Ctrl+3")
    track = live.window.compaction.setup.keep.track
    track.setFocus()
    for _ in range(40):
        prepared = live.partition.preparation
        if isinstance(prepared, Preparation) and prepared.is_split_turn:
            await live.idle()
            return live.partition
        live.keys("Left", to=track)
        await live.settle(1)
    raise AssertionError("no size of the kept tail splits a turn")


async def show_cut(live: RunningWindow) -> None:
    """Bring the cut to the middle of the map."""
    shown = live.partition
    live.window.map.view.reveal(shown.path[shown.cut], centre=True)
    await live.settle()


@state("cut-inside-a-turn", main=True, doubled=True)
async def cut_in_turn(scene: Scene) -> AsyncIterator[None]:
    await cut_inside_a_turn(scene.live)
    await show_cut(scene.live)
    yield


@state("cut-inside-a-turn-scaled", scale=200)
async def cut_scaled(scene: Scene) -> AsyncIterator[None]:
    await cut_inside_a_turn(scene.live)
    await show_cut(scene.live)
    yield


@state("cut-dragged")
async def cut_dragged(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await cut_inside_a_turn(live)
    await show_cut(live)
    surface, at, cut = live.window.map.view.viewport(), live.cut_point(), live.partition.cut
    QTest.mousePress(surface, Qt.MouseButton.LeftButton, pos=at)
    for step in range(1, 9):
        QTest.mouseMove(surface, at + QPoint(0, -30 * step))
        await live.settle(1)
    assert live.partition.cut < cut, "the cut did not follow the mouse"
    yield
    QTest.mouseRelease(surface, Qt.MouseButton.LeftButton, pos=at)


@state("rules", small=True, doubled=True)
async def rules(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+3")
    scene.live.click(scene.live.window.compaction.setup.rules)
    yield


@state("nothing-to-compact", "several", small=True, dark=True, doubled=True)
async def nothing(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("Ctrl+3")
    live.window.map.setFocus()
    live.keys("Home", "Down", "Down", "Down")
    QTest.mouseClick(
        live.window.map.view.viewport(), Qt.MouseButton.LeftButton,
        pos=live.map_point(live.window.map.selected),
    )  # fmt: skip
    live.window.compaction.set_at(live.window.map.selected)
    yield


@state("request", main=True, doubled=True)
async def request(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await cut_inside_a_turn(live)
    box = live.window.compaction.setup.instructions
    box.setFocus()
    live.type("Keep every rule about 409 in the words of the person.")
    live.click(live.window.compaction.setup.request)
    requests = await live.dialog(RequestWindow)
    await live.until(lambda: requests.tabs.count() == 2, "the two requests")
    yield


def shown_text(inside: QWidget) -> str:
    """What stands in the visible text boxes."""
    return "\n".join(box.toPlainText() for box in visible(inside, QPlainTextEdit))


@state("draft-streaming", dark=True, provider=True, doubled=True)
async def streaming(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Stall(after=1, text=SUMMARY))
    await cut_inside_a_turn(live)
    live.press_button("Summarize", live.window.compaction)
    streams = live.window.compaction.draft.streaming
    await live.until(lambda: "### In Progress" in shown_text(streams), "the text")
    yield


async def finished_draft(live: RunningWindow) -> None:
    await cut_inside_a_turn(live)
    await show_cut(live)
    live.press_button("Summarize", live.window.compaction)
    panel = live.window.compaction
    await live.until(lambda: panel.draft.drafts(), "the draft")
    panel.draft.editor.setFocus()
    live.keys("Ctrl+Home")
    live.type("## Never forget\n- A 409 is never retried, whatever the header says.\n\n")


@state("draft-edited", main=True, doubled=True)
async def draft_edited(scene: Scene) -> AsyncIterator[None]:
    await finished_draft(scene.live)
    yield


@state("draft-failed", provider=True, doubled=True)
async def draft_failed(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Answer(text=SUMMARY, finish="length"))
    live.keys("Ctrl+3")
    live.press_button("Summarize", live.window.compaction)
    await live.until(live.window.compaction.notice.isVisible, "the reason")
    yield


@state("committed", main=True, doubled=True)
async def committed(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await finished_draft(live)
    entries = len(live.document.tree)
    live.press_button("Commit", live.window.compaction)
    await live.until(lambda: len(live.document.tree) == entries + 1, "the compaction")
    await live.idle()
    yield


# profiles -------------------------------------------------------------------------------------


@state("profiles", main=True, doubled=True)
async def profiles(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.session.actions.registry["profiles"].trigger()
    dialog = await live.dialog(ProfilesDialog)
    dialog.select("omp")
    await live.settle()
    yield


@state("profiles-own", dark=True)
async def own_profile(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.session.profiles._copy(BASES["omp"], "omp", "oh-my-pi, my way")
    live.session.actions.registry["profiles"].trigger()
    dialog = await live.dialog(ProfilesDialog)
    dialog.select("oh-my-pi-my-way")
    dialog.page.rules.show_all()
    await live.settle()
    dialog.page.area.ensureWidgetVisible(dialog.page.rules.row("keep_recent_tokens"), 0, 300)
    await live.settle()
    yield


@state("profiles-compared", main=True, doubled=True)
async def compared(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("Ctrl+Shift+M")
    window = await live.dialog(CompareWindow)
    await live.until(
        lambda: len(window.cards) == len(PROFILES) and "Looking" not in live.words(window),
        "the comparison",
    )
    yield

"""What the film shows: from the tree to a compaction, what it lost, and its undo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from tests.film.camera import CAPTION, Camera, encode
from tests.screens.stage import Homes, Job
from tests.ui.window.running import RunningWindow
from ui.event_loop import open_loop
from ui.map.navigation import LeavingDialog

SIZE = (1280, 800)
_NOT_A_STORY = Job("film", None, "empty", size=SIZE)  # type: ignore[arg-type]
INSTRUCTION = "Keep every rule about 409 in my own words."


def film(outdir: Path, folder: Path, *, short: bool, keeps: bool) -> None:
    """Film the story, or its short form. Raises NotReached when the window does not follow."""
    app = QApplication.instance() or QApplication(["session-explorer-film"])
    assert isinstance(app, QApplication)
    target = outdir / ("tour.gif" if short else "film.mp4")
    frames = outdir / f"{target.stem}-frames" if keeps else None
    if frames is not None:
        frames.mkdir(exist_ok=True)
    loop = open_loop(app)
    with loop:
        loop.run_until_complete(_film(app, target, folder / target.stem, frames, short=short))


async def _film(
    app: QApplication, target: Path, folder: Path, frames: Path | None, *, short: bool
) -> None:
    folder.mkdir()
    Homes(folder).of(_NOT_A_STORY)
    live = await RunningWindow.start(app, size=SIZE)
    encoder = encode(target, (SIZE[0], SIZE[1] + CAPTION))
    try:
        live.window.move(0, 0)
        camera = Camera(live, encoder, frames)
        await (_tour if short else _story)(camera)
        assert encoder.stdin is not None
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise OSError(f"ffmpeg could not write {target}")
        print(f"{target}  {camera.seconds:.0f} s  {target.stat().st_size / 1e6:.2f} MB", flush=True)
    finally:
        if encoder.poll() is None:
            encoder.kill()
        await live.close()


async def _open(camera: Camera) -> None:
    live = camera.live
    await camera.click(live.window.welcome.example)
    await live.until(live.session.tour.callout.isVisible, "the first note")
    live.keys("Esc")
    await live.idle()


async def _click_row(camera: Camera, entry: int) -> None:
    live = camera.live
    live.window.map.view.reveal(entry, centre=True)
    await camera.hold(0.5)
    await camera.click(live.window.map.view.viewport(), live.map_point(entry))


async def _compaction_tab(camera: Camera) -> None:
    bar = camera.live.window.inspector.tabBar()
    await camera.click(bar, bar.tabRect(2).center())


async def _show_cut(camera: Camera) -> None:
    shown = camera.live.partition
    camera.live.window.map.view.reveal(shown.path[shown.cut], centre=True)
    await camera.live.settle(10)


async def _drag_cut(camera: Camera, by: int) -> None:
    await _show_cut(camera)
    surface = camera.live.window.map.view.viewport()
    await camera.drag(surface, camera.live.cut_point(), QPoint(0, by))
    await camera.live.idle()
    await _show_cut(camera)


async def _instruct(camera: Camera) -> None:
    box = camera.live.window.compaction.setup.instructions
    await camera.click(box)
    box.setFocus()
    await camera.type(INSTRUCTION)


async def _draft(camera: Camera) -> None:
    live = camera.live
    await camera.click(live.button("Summarize", live.window.compaction))
    await camera.wait(lambda: live.window.compaction.draft.drafts(), "the draft")


async def _commit(camera: Camera) -> int:
    live = camera.live
    entries = len(live.document.tree)
    await camera.click(live.button("Commit", live.window.compaction))
    await camera.wait(lambda: len(live.document.tree) > entries, "the compaction")
    await live.idle()
    return live.document.leaf


async def _losses(camera: Camera, compaction: int) -> None:
    live = camera.live
    live.session.fidelity.look_at_entry(compaction)
    page = live.session.fidelity.page
    await camera.wait(lambda: page.isVisible() and page.shown is not None, "what was lost")


async def _undo(camera: Camera, compaction: int) -> None:
    live = camera.live
    live.keys("Ctrl+Z")
    await camera.wait(lambda: live.document.leaf != compaction, "the undo")
    await live.idle()


async def _story(camera: Camera) -> None:
    live = camera.live
    await camera.say("Session Explorer: what a coding agent remembers, and what it lost", 5)
    await camera.say("An example comes with it: a session in which an agent repaired a test", 4)
    await _open(camera)
    await camera.say("Left: the session as a tree. Time runs down, one row per entry", 6)
    await camera.say("The strong line is the active path: what the agent goes on from", 5)
    live.window.map.view.scroll_to(0)
    await camera.say("It begins with the first message of the person", 4)
    await _click_row(camera, 105)
    await camera.say("A compaction: from here on, a summary stands for all that was before it", 6)
    await camera.say("The panel beside the map shows the selected entry: here, the summary", 5)
    await _click_row(camera, 252)
    await camera.say("Any entry can be gone to. The agent then goes on from there", 5)
    await _leave(camera)
    await _click_row(camera, live.document.leaf)
    await camera.say("Now a compaction, before it happens", 3)
    await _compaction_tab(camera)
    await _show_cut(camera)
    await camera.say("The cut: entries above it would be summarized, those below are kept", 6)
    await camera.say("The sentence beside it says why it falls there", 4)
    await _drag_cut(camera, -120)
    await camera.say(
        "The cut can be dragged. It stops only where it leaves no call without a result", 6
    )
    await camera.say("The bar shows how much room the context takes, before and after", 5)
    await camera.say("An instruction says what the summary must keep", 3.5)
    await _instruct(camera)
    await camera.say("It goes into every request, in these words", 4)
    await camera.say("Summarize: here without a key and offline, by rules of the program's own", 4)
    await _draft(camera)
    await camera.say("A draft changes nothing yet. Its text can be read against its sources", 6)
    await camera.say("And edited, before it is committed", 4)
    compaction = await _commit(camera)
    await camera.say(
        "Committed: the compaction is the new end of the path, and the context is small", 6
    )
    await camera.say("What did it lose?", 3)
    await _losses(camera, compaction)
    await camera.say(
        "The audit looks for every standing rule in the summary and in what was kept", 6
    )
    await _losses(camera, 105)
    await camera.say(
        "The first compaction of this session did worse: each finding names its entry", 6
    )
    links = live.session.fidelity.page.detail.links
    if links and links[0].isVisible():
        await camera.click(links[0])
        await camera.say("One click leads to the place in the session", 5)
    await camera.say("Not good enough? Ctrl+Z takes the compaction back", 3.5)
    await _undo(camera, compaction)
    await camera.say(
        "The path goes on as before. The compaction stays in the log: nothing is lost", 6
    )
    await camera.say("Session Explorer: look at what is forgotten, and do it better", 6)


async def _leave(camera: Camera) -> None:
    live, leaf = camera.live, camera.live.document.leaf
    live.window.map.setFocus()
    live.keys("Return")
    dialog = await live.dialog(LeavingDialog)
    await camera.say(
        "What lies after it becomes a branch; it can be summarized for the way back", 6
    )
    await camera.say("Here without a summary. Nothing is deleted: the branch stays in the tree", 4)
    await camera.click(dialog.go)
    await camera.wait(lambda: live.document.leaf != leaf, "the new leaf")
    await live.back()
    await camera.say("The leaf moved, and the agent's context with it", 5)


async def _tour(camera: Camera) -> None:
    live = camera.live
    live.press_button("Look at an example")
    await live.until(live.session.tour.callout.isVisible, "the first note")
    live.keys("Esc")
    await live.idle()
    await camera.say("A session is a tree. The strong line is what the agent goes on from", 4)
    await _compaction_tab(camera)
    await _show_cut(camera)
    await camera.say("A compaction would summarize what is above the cut, and keep the rest", 4)
    await _drag_cut(camera, -120)
    await camera.say("Drag the cut to keep more", 3)
    await camera.say("Summarize: offline, without a key", 3)
    await _draft(camera)
    compaction = await _commit(camera)
    await camera.say("The summary now stands for the older entries. What did it lose?", 3.5)
    await _losses(camera, compaction)
    await camera.say("The audit looks for every standing rule in what is left", 3.5)
    await _undo(camera, compaction)
    await camera.say("Undo: the path goes on as before", 3)

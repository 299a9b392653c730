"""The states of the window, each reached by keys and the mouse."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from explorer.compaction.partition import Partition
from explorer.compaction.prepare import Preparation
from explorer.session.kinds import Flag, Kind
from tests.generated import write_session
from tests.models.server import Answer, Stall
from tests.screens.stage import MODEL, Job, Scene, Story
from tests.ui.window.running import RunningWindow, sample_path, visible
from ui.compaction.request_window import RequestWindow
from ui.library.found import FoundDialog
from ui.map.geometry import Level
from ui.shell.keys_page import KeysPage
from ui.shell.leaving import SUMMARIZE, WITH_INSTRUCTIONS, LeavingDialog
from ui.shell.palette import CommandPalette

SMALL = (1024, 700)
JOBS: list[Job] = []
SUMMARY = (
    "## Goal\nMake the pushes of todo-api survive a sync hub that answers 503 and 429, without "
    "a test that fails once in twenty runs.\n\n## Constraints & Preferences\n- The hub may slow "
    "us down, never speed us up.\n- A 409 is never retried, whatever the header says.\n- No new "
    "dependency.\n\n## Progress\n### Done\n- The backoff waits on an event instead of the clock."
    "\n- `tests/test_wake.py` fails on the code as it was.\n\n### In Progress\n- The wording of "
)


def state(
    name: str,
    base: str = "sample",
    *,
    main: bool = False,
    dark: bool = False,
    small: bool = False,
    scale: int = 100,
    provider: bool = False,
) -> Callable[[Story], Story]:
    """Register a state; ``main`` ones are taken light and dark, large and small."""

    def register(story: Story) -> Story:
        preferences = {"summary_model": MODEL, "agent_model": MODEL} if provider else {}
        job = Job(name, story, base, "dark" if dark else "light", scale=scale)
        job = replace(job, size=SMALL if small else job.size, preferences=preferences)
        looks = [(job.theme, job.size)]
        if main:
            looks = [(look, size) for look in ("light", "dark") for size in ((1440, 900), SMALL)]
        for look, size in looks:
            words = f"{name}-{look}-{size[0]}x{size[1]}" + (f"-{scale}" if scale != 100 else "")
            JOBS.append(replace(job, name=words, theme=look, size=size))
        return story

    return register


# opening -----------------------------------------------------------------------------------------


@state("welcome", "empty", main=True)
async def welcome(scene: Scene) -> AsyncIterator[None]:
    yield


@state("session", main=True)
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


@state("session-list", dark=True, small=True)
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


# compaction --------------------------------------------------------------------------------------


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


@state("cut-inside-a-turn", main=True)
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


@state("rules", small=True)
async def rules(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+3")
    scene.live.click(scene.live.window.compaction.setup.rules)
    yield


@state("nothing-to-compact", "several", small=True, dark=True)
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


@state("request", main=True)
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


@state("draft-streaming", dark=True, provider=True)
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


@state("draft-edited", main=True)
async def draft_edited(scene: Scene) -> AsyncIterator[None]:
    await finished_draft(scene.live)
    yield


@state("draft-failed", provider=True)
async def draft_failed(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Answer(text=SUMMARY, finish="length"))
    live.keys("Ctrl+3")
    live.press_button("Summarize", live.window.compaction)
    await live.until(live.window.compaction.notice.isVisible, "the reason")
    yield


@state("committed", main=True)
async def committed(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await finished_draft(live)
    entries = len(live.document.tree)
    live.press_button("Commit", live.window.compaction)
    await live.until(lambda: len(live.document.tree) == entries + 1, "the compaction")
    await live.idle()
    yield


# going elsewhere ---------------------------------------------------------------------------------


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


@state("leaving-1-question", main=True)
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


@state("leaving-3-summary")
async def leaving_summary(scene: Scene) -> AsyncIterator[None]:
    dialog = await leave(scene.live)
    await choose(scene.live, dialog, "Alt+S", SUMMARIZE)
    scene.live.keys("Return")
    await scene.live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    yield


# looking -----------------------------------------------------------------------------------------


def find(live: RunningWindow, wanted: Callable[[int], bool]) -> int:
    """The first entry for which something holds."""
    return next(at for at in range(len(live.document.tree)) if wanted(at))


@state("context", main=True)
async def context(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("Ctrl+2")
    live.window.map.setFocus()
    live.window.map.select(150)
    live.keys("Down")
    yield


@state("entry-diff", main=True)
async def entry_diff(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    columns = live.document.tree.columns

    def edits(at: int) -> bool:
        is_call = columns.kind[at] == Kind.ASSISTANT and columns.flags[at] & Flag.HAS_TOOL_CALL
        return bool(is_call) and '"edit"' in str(live.document.entry(at)).replace("'", '"')

    live.window.map.select(find(live, edits))
    yield


@state("entry-image", dark=True)
async def entry_image(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(2)
    yield


@state("entry-raw", small=True, dark=True)
async def entry_raw(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(9)
    scene.live.keys("Alt+W")
    await scene.live.until(scene.live.window.entry.raw.isVisible, "the JSON")
    yield


@state("entry-compaction", small=True)
async def entry_compaction(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.select(105)
    yield


@state("search-hits", main=True)
async def search_hits(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("/")
    live.type("error")
    await live.until(lambda: "/" in live.window.header.search.count.text(), "the hits")
    live.keys("Return", "Return")
    yield


@state("search-none", small=True, dark=True)
async def search_none(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("/")
    scene.live.type("kangaroo")
    await scene.live.until(lambda: scene.live.window.header.search.count.text(), "the answer")
    yield


@state("search-everywhere", "several", main=True)
async def search_everywhere(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.keys("/")
    live.type("retry")
    live.click(live.window.header.search.everywhere)
    await live.until(lambda: live.window.header.search.results.isVisible(), "the list")
    yield


# dialogs -----------------------------------------------------------------------------------------


@state("palette", main=True)
async def palette(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+Shift+P")
    await scene.live.dialog(CommandPalette)
    scene.live.type("le")
    yield


@state("keys", dark=True)
async def keys_page(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.setFocus()
    scene.live.keys("?")
    await scene.live.dialog(KeysPage)
    yield


@state("found")
async def found(scene: Scene) -> AsyncIterator[None]:
    live, here = scene.live, Path(os.environ["HOME"]) / ".pi/agent/sessions/--home-sam-src-queue--"
    here.mkdir(parents=True, exist_ok=True)
    for seed in (11, 12, 13):
        write_session(here / f"2026-03-0{seed - 10}.jsonl", 40, seed=seed)
    shutil.copy(sample_path(), here.parent / "retry-that-flakes.jsonl")
    live.press_button("Find", live.window.library)
    dialog = await live.dialog(FoundDialog)
    dialog.list.setFocus()
    live.keys("Down", "Space")
    yield


@state("found-nothing", small=True)
async def found_nothing(scene: Scene) -> AsyncIterator[None]:
    shutil.rmtree(Path(os.environ["HOME"]) / ".pi", ignore_errors=True)
    scene.live.press_button("Find", scene.live.window.library)
    await scene.live.dialog(FoundDialog)
    yield


@state("import-of-a-broken-file", main=True)
async def broken(scene: Scene) -> AsyncIterator[None]:
    live, file = scene.live, scene.home / "half-a-session.jsonl"
    lines = sample_path().read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:60]) + b'{"type":"message","id":"x\n' + lines[60][:90])
    live.drop(file)
    await live.until(lambda: live.notice, "the notice")
    await live.idle()
    yield


@state("menu-of-an-entry", small=True)
async def entry_menu(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.window.map.setFocus()
    live.window.map.select(250)
    live.window.map.view.menu_requested.emit(
        250, live.window.map.view.viewport().mapToGlobal(QPointF(live.map_point(250)).toPoint())
    )
    yield
    live.keys("Esc")


# the agent ---------------------------------------------------------------------------------------


@state("agent-answering", provider=True)
async def answering(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    text = "The three tests that touch the clock are in `tests/test_retry_after.py`; I would "
    scene.server.plan(Stall(after=3, text=text))
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    await live.until(
        lambda: "touch the clock" in live.window.agent.conversation.toPlainText(), "it"
    )
    yield
    live.keys("Esc")


@state("agent-answered", dark=True)
async def answered(scene: Scene) -> AsyncIterator[None]:
    live, folder = scene.live, scene.home / "todo-api"
    (folder / "src").mkdir(parents=True)
    (folder / "README.md").write_text("# todo-api\n\nPushes to-dos to a sync hub.\n")
    (folder / "src/retry.py").write_text("def backoff(attempt):\n    return 2**attempt\n")
    live.session.agent._workspace_chosen(str(folder))
    live.keys("F7")
    live.type("What is in this folder?\n")
    await live.until(lambda: not live.session.agent.running, "the end of the answer")
    await live.idle()
    yield

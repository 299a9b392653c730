"""Branching with the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.models.server import Answer, Stall
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.branching.agent_stop import StopAgentDialog
from ui.branching.fork import ForkDialog
from ui.branching.runs import RunsDialog, RunsWindow

OTHER = "openai/gpt-4o"
QUESTION = "How would you make the retry test stop failing, without a longer wait?"
FIRST = (
    "I would take the clock out of it. `retry_after` reads `time.monotonic()` itself, so the test "
    "has to sleep; given a clock as an argument it can be moved by hand. Three tests change, and "
    "nothing waits any more."
)
SECOND = (
    "I would take the clock out of it. `retry_after` reads `time.monotonic()` itself, so a "
    "monkeypatch of that function in `conftest.py` is enough. No test changes, and nothing waits "
    "any more."
)


@state("going-while-it-works", provider=True, doubled=True)
async def going(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Stall(after=3, text="The three tests that touch the clock are "))
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    await live.until(
        lambda: "touch the clock" in live.window.agent.conversation.toPlainText(), "it"
    )
    live.click_entry(252)
    live.window.map.setFocus()
    live.keys("Return")
    await live.dialog(StopAgentDialog)
    yield
    live.keys("Esc")
    live.session.agent.stop()
    await live.idle()


@state("message-anew", main=True, doubled=True)
async def anew(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.click_entry(live.document.leaf)
    live.window.map.setFocus()
    live.keys("Ctrl+E")
    await live.until(live.session.navigation.new_version.strip.isVisible, "the line")
    await live.idle()
    yield


@state("fork-dialog", dark=True, doubled=True)
async def fork(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.click_entry(252)
    live.window.map.setFocus()
    live.keys("Ctrl+Shift+B")
    await live.dialog(ForkDialog)
    yield
    live.keys("Esc")


@state("fork-opened", main=True)
async def forked(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    origin = live.document.key
    live.click_entry(252)
    live.window.map.setFocus()
    live.keys("Ctrl+Shift+B")
    dialog = await live.dialog(ForkDialog)
    live.press_button("Fork", dialog)
    await live.until(lambda: live.document.key != origin, "the fork")
    await live.idle()
    yield


@state("branches-compared", dark=True, doubled=True)
async def compared(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, 0)
    yield


@state("branches-turn-by-turn", dark=True, doubled=True)
async def turn_by_turn(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, 1)
    yield


async def _compare(scene: Scene, page: int) -> None:
    live = scene.live
    tree, leaf = live.document.tree, live.document.leaf
    ends = [end for end in tree.leaves() if end != leaf]
    live.session.differences.compare(leaf, max(ends, key=lambda end: len(tree.path(end))))
    shown = live.session.differences
    await live.until(lambda: shown.window is not None and shown.window.found, "the comparison")
    assert shown.window is not None
    shown.window.pages.setCurrentIndex(page)
    await live.settle()


@state("side-by-side-asked", provider=True, doubled=True)
async def asked(scene: Scene) -> AsyncIterator[None]:
    await _ask(scene)
    yield
    scene.live.keys("Esc")


@state("side-by-side", dark=True, provider=True, doubled=True)
async def side_by_side(scene: Scene) -> AsyncIterator[None]:
    scene.server.plan(Stall(after=9, text=FIRST[:150]), model="gpt-4o-mini")
    scene.server.plan(Answer(SECOND), model="gpt-4o")
    window = await _run(scene)
    live = scene.live
    await live.until(lambda: window.columns[1].run.is_over, "the quick one")
    await live.until(lambda: len(window.columns[0].stream.text()) > 100, "the slow one")
    await live.settle()
    yield
    window.runs.stop()
    await live.until(lambda: window.is_over, "the end")
    await live.idle()


@state("side-by-side-compared", dark=True, provider=True)
async def answers(scene: Scene) -> AsyncIterator[None]:
    scene.server.plan(Answer(FIRST), model="gpt-4o-mini")
    scene.server.plan(Answer(SECOND), model="gpt-4o")
    window = await _run(scene)
    live = scene.live
    await live.until(lambda: window.is_over, "the end")
    await live.idle()
    live.press_button("Compare", window)
    shown = live.session.differences
    await live.until(lambda: shown.window is not None and shown.window.found, "the comparison")
    window.hide()
    await live.settle()
    yield


async def _ask(scene: Scene) -> RunsDialog:
    live = scene.live
    folder = scene.home / "todo-api"
    folder.mkdir()
    live.session.agent.folder.choose(str(folder))
    live.keys("F7")
    live.type(QUESTION)
    live.keys("Ctrl+Shift+E")
    dialog = await live.dialog(RunsDialog)
    box = dialog.rows[1][0]
    box.setCurrentIndex(box.findData(OTHER))
    box.activated.emit(box.currentIndex())
    await live.settle()
    return dialog


async def _run(scene: Scene) -> RunsWindow:
    dialog = await _ask(scene)
    dialog.words.setFocus()
    scene.live.keys("Ctrl+Return")
    runs = scene.live.session.runs
    await scene.live.until(lambda: runs.window is not None, "the columns")
    assert runs.window is not None
    return runs.window

"""The conversation: read, opened, searched, selected in, and while a tool runs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from explorer.agent.turn_interface import RoundStarted, ToolOutput, ToolStarted
from explorer.models.client import TextDelta, ThinkingDelta, ToolCall, ToolCallReady
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow


async def give_room(live: RunningWindow) -> None:
    """Draw the line between map and conversation up, as who reads the conversation does."""
    splitter, handle = live.window.left, live.window.left.handle(1)
    middle = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    for _ in range(3):
        QTest.mouseMove(handle, middle + QPoint(0, -splitter.height() // 6))
        await live.settle(2)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle)
    await live.settle(20)


@state("conversation", "talk", main=True, doubled=True)
async def conversation(scene: Scene) -> AsyncIterator[None]:
    await give_room(scene.live)
    scene.live.keys("F9")
    await scene.live.settle(30)
    yield


@state("conversation-from-the-start", "talk", main=True)
async def from_the_start(scene: Scene) -> AsyncIterator[None]:
    await give_room(scene.live)
    scene.live.keys("F9", "Home")
    await scene.live.settle(30)
    yield


@state("conversation-opened", "talk", main=True, doubled=True)
async def opened(scene: Scene) -> AsyncIterator[None]:
    """The edit, the failed command and the compaction show what is behind them."""
    live = scene.live
    await give_room(live)
    view = live.window.agent.conversation.view
    live.keys("F9", "Ctrl+Home")
    for _ in range(60):
        told = view.accessibleDescription()
        if "folded" in told and told.startswith(("edit", "bash pytest", "Compacted")):
            live.keys("Right")
            await live.settle(2)
            if told.startswith("Compacted"):
                break
        live.keys("J")
        await live.settle(1)
    else:
        raise AssertionError("the compaction was not reached")
    live.keys("Home", "PgDown")
    await live.settle(30)
    yield


@state("conversation-found", "talk", main=True)
async def found(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await give_room(live)
    talk = live.window.agent.conversation
    live.keys("F9", "Ctrl+F")
    live.type("409")
    await live.until(lambda: talk.finding.is_over and len(talk.finding.hits), "what is found")
    live.keys("Return")
    await live.settle(30)
    yield


@state("conversation-selected", "talk", dark=True)
async def selected(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await give_room(live)
    live.keys("F9", "End")
    await live.settle(20)
    port = live.window.agent.conversation.view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(260, 60))
    for share in (1, 2, 3):
        QTest.mouseMove(port, QPoint(260, 60 + share * (port.height() - 100) // 3))
        await live.settle(2)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(260, port.height() - 40))
    yield


@state("conversation-arriving", "talk", main=True)
async def arriving(scene: Scene) -> AsyncIterator[None]:
    """A reply with its thinking and a call that runs."""
    live = scene.live
    await give_room(live)
    agent = live.window.agent
    agent.set_running(True, "openai/gpt-4o-mini is answering…")
    one = ToolCall("w", "bash", {"command": "pytest -q --maxfail=1 tests/"})
    for event in (
        RoundStarted(1),
        ThinkingDelta("The other module has the same pattern, so the same change will do."),
        TextDelta("I'll run **all** tests with the change in `sync.py`:"),
        ToolCallReady(one),
        ToolStarted(one),
        ToolOutput("w", "tests/test_retry.py ..........\ntests/test_sync.py ....."),
    ):
        agent.turn_event(event)
    await live.settle(60)
    yield
    agent.set_running(False)

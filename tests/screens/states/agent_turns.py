"""The agent at work."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.models.server import Answer, Stall
from tests.screens.stage import Scene
from tests.screens.states.registry import state


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


@state("agent-answered", dark=True, doubled=True)
async def answered(scene: Scene) -> AsyncIterator[None]:
    live, folder = scene.live, scene.home / "todo-api"
    (folder / "src").mkdir(parents=True)
    (folder / "README.md").write_text("# todo-api\n\nPushes to-dos to a sync hub.\n")
    (folder / "src/retry.py").write_text("def backoff(attempt):\n    return 2**attempt\n")
    live.session.agent.folder.choose(str(folder))
    live.keys("F7")
    live.type("What is in this folder?\n")
    await live.until(lambda: not live.session.agent.running, "the end of the answer")
    await live.idle()
    yield


def call(name: str, **arguments: str) -> tuple[str, str, str]:
    """A call as the provider streams it."""
    return f"call-{name}", name, json.dumps(arguments)


def calls(*made: tuple[str, str, str]) -> Answer:
    return Answer(text="", tool_calls=made, finish="tool_calls")


def folder_of(scene: Scene) -> Path:
    """A small project, chosen as the folder of the agent."""
    folder = scene.home / "todo-api"
    (folder / "src").mkdir(parents=True)
    (folder / "tests").mkdir()
    for name in ("src/retry.py", "src/hub.py", "tests/test_retry.py", "README.md"):
        (folder / name).write_text(f"# {name}\n")
    scene.live.session.agent.folder.choose(str(folder))
    return folder


@state("composer-commands", dark=True, doubled=True)
async def commands(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("F7")
    scene.live.type("/")
    yield
    scene.live.keys("Esc")


@state("composer-files")
async def files(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    folder_of(scene)
    live.keys("F7")
    live.type("Look at @rtry")
    await live.until(lambda: live.window.agent.completion.lines, "the files")
    yield
    live.keys("Esc")


@state("composer-pictures", small=True, provider=True, doubled=True)
async def pictures(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.session.agent.choose_model("openai/gpt-3.5-turbo")
    live.keys("F7")
    live.type("What is wrong in these?")
    for colour in ("#2458c5", "#b5541c"):
        image = QImage(900, 500, QImage.Format.Format_RGB32)
        image.fill(QColor(colour))
        QApplication.clipboard().setImage(image)
        live.keys("Ctrl+V")
    await live.until(lambda: len(live.window.agent.chips.attachments) == 2, "the pictures")
    await live.idle()
    yield


@state("agent-waiting-messages", main=True, provider=True, doubled=True)
async def waiting_messages(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Stall(after=3, text="The three tests that touch the clock are "))
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    await live.until(
        lambda: "touch the clock" in live.window.agent.conversation.toPlainText(), "it"
    )
    live.type("Leave tests/test_wake.py alone.\n")
    live.type("Then run them ten times.")
    live.keys("Alt+Return")
    live.type("And tell me")
    yield
    live.keys("Esc")


@state("approval-command", main=True, provider=True, doubled=True)
async def approval_command(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    folder_of(scene)
    scene.server.plan(calls(call("bash", command="python -m pytest -q tests/test_retry.py")))
    live.keys("F7")
    live.type("Run the tests.\n")
    await live.until(lambda: live.window.agent.card.is_armed, "the question")
    yield
    live.keys("Esc")


@state("approval-edit", provider=True, dark=True, small=True)
async def approval_edit(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    folder = folder_of(scene)
    (folder / "src/retry.py").write_text("def wait(attempt):\n    return 2**attempt\n")
    new = "    # The hub may slow us down, never speed us up.\n"
    new += "    return max(2**attempt, retry_after)"
    edit = call("edit", path="src/retry.py", oldText="    return 2**attempt", newText=new)
    scene.server.plan(calls(call("read", path="src/retry.py")), calls(edit))
    live.keys("F7")
    live.type("Let it wait.\n")
    await live.until(lambda: live.window.agent.card.is_armed, "the question")
    yield
    live.keys("Esc")


@state("agent-interrupted", provider=True)
async def interrupted(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.plan(Stall(after=3, text="The three tests that touch the clock are "))
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    await live.until(
        lambda: "touch the clock" in live.window.agent.conversation.toPlainText(), "it"
    )
    live.keys("Esc")
    await live.until(lambda: live.window.agent.bar.go_on.isVisible(), "the offer")
    await live.idle()
    yield


@state("allow-all", dark=True)
async def allow_all(scene: Scene) -> AsyncIterator[None]:
    folder_of(scene)
    scene.live.window.agent.bar.mode.setFocus()
    scene.live.keys("Down", "Down")
    await scene.live.dialog(QMessageBox)
    yield
    scene.live.keys("Esc")

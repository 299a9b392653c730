"""The agent at work."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.models.server import Stall
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

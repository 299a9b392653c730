"""A scripted run, from its first message to the compaction in its middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from explorer.settings.paths import ensure, settings_path
from tests.screens.stage import Scene
from tests.screens.states.registry import state


def at_once() -> None:
    """Nobody reads along."""
    ensure(settings_path().parent)
    settings_path().write_text(json.dumps({"models.scriptedPace": 0}), encoding="utf-8")


async def allow_until_done(scene: Scene, most: int = 600) -> None:
    """Say yes to every question of a turn."""
    live = scene.live
    for _ in range(most):
        if not live.session.agent.running:
            return
        if live.window.agent.card.is_armed:
            live.click(live.window.agent.card.buttons["once"])
        await asyncio.sleep(0.05)
    raise AssertionError("the run did not come to its end")


@state("scripted-begun", base="empty", main=True, doubled=True)
async def begun(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.session.actions["watch_run"].trigger()
    await live.until(lambda: live.window.agent.composer.toPlainText(), "the first message")
    await live.idle()
    yield


@state("scripted-run", base="empty", main=True)
async def whole(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    at_once()
    live.session.actions["watch_run"].trigger()
    await live.until(lambda: live.window.agent.composer.toPlainText(), "the first message")
    await live.idle()
    for _ in range(2):
        live.keys("Return", to=live.window.agent.composer)
        await live.until(lambda: live.session.agent.running, "the turn")
        await allow_until_done(scene)
        await live.idle()
    yield

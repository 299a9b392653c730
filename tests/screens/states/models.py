"""The dialog of models: the list, the figures, keys and servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from tests.models.test_servers import OLLAMA
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.models.dialog import ModelsDialog


async def opened(scene: Scene) -> ModelsDialog:
    scene.live.keys("Ctrl+M")
    dialog = await scene.live.dialog(ModelsDialog)
    await scene.live.until(lambda: dialog.models.row is not None, "the list of models")
    await scene.live.idle()
    return dialog


@state("models", main=True, doubled=True)
async def models(scene: Scene) -> AsyncIterator[None]:
    await opened(scene)
    yield


@state("models-all", dark=True, small=True, doubled=True)
async def models_all(scene: Scene) -> AsyncIterator[None]:
    live, dialog = scene.live, await opened(scene)
    dialog.models.only.setFocus()
    live.keys("Space")
    dialog.models.search.setFocus()
    live.type("claude 4-5")
    live.keys("Down", "Down")
    yield


@state("models-figures", doubled=True)
async def models_figures(scene: Scene) -> AsyncIterator[None]:
    live, dialog = scene.live, await opened(scene)
    live.type("gpt-5")
    await live.settle()
    page = dialog.models
    if page.figures.isVisible():
        live.click(page.figures)
        await live.settle()
    field = page.details.figures["window"].field
    field.setFocus()
    field.selectAll()  # type: ignore[attr-defined]
    live.type("64k\n")
    await live.idle()
    yield


@state("models-keys", dark=True, small=True, doubled=True)
async def models_keys(scene: Scene) -> AsyncIterator[None]:
    live, dialog = scene.live, await opened(scene)
    dialog.show_key("openai")
    await live.idle()
    live.press_button("Test", dialog.keys)
    await live.until(lambda: dialog.keys.message.text(), "the end of the test")
    await live.idle()
    yield


@state("models-servers", small=True, doubled=True)
async def models_servers(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    scene.server.pages.clear()
    scene.server.pages.update(OLLAMA)
    live.session.models.addresses = (scene.server.root, "http://127.0.0.1:9")
    dialog = await opened(scene)
    dialog.show_page("servers")
    live.press_button("Look for servers", dialog.servers)
    await live.until(lambda: dialog.servers.message.text(), "the end of the search")
    await live.idle()
    yield
    scene.server.pages.clear()
    await asyncio.sleep(0)


@state("models-no-server", dark=True)
async def models_no_server(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    live.session.models.addresses = ("http://127.0.0.1:9",)
    dialog = await opened(scene)
    dialog.show_page("servers")
    live.press_button("Look for servers", dialog.servers)
    await live.until(lambda: dialog.servers.message.text(), "the end of the search")
    await live.idle()
    yield


@state("models-box", dark=True)
async def models_box(scene: Scene) -> AsyncIterator[None]:
    """The box below the conversation, open at its end."""
    box = scene.live.window.agent.models
    box.showPopup()
    await scene.live.settle()
    box.popup.table.scrollToBottom()
    yield
    box.hidePopup()

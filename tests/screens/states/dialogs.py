"""Dialogs and menus."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from PySide6.QtCore import QPointF

from explorer.extensions.manager import user_folder
from tests.extensions.making import handler, write
from tests.generated import write_session
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow, sample_path
from ui.extensions.dialog import ExtensionsDialog
from ui.library.found import FoundDialog
from ui.shell.command_palette import CommandPalette, ShortcutsPage
from ui.shell.help_pages import GlossaryPage


@state("palette", main=True, doubled=True)
async def palette(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+Shift+P")
    await scene.live.dialog(CommandPalette)
    scene.live.type("le")
    yield


@state("keys", dark=True, doubled=True)
async def keys_page(scene: Scene) -> AsyncIterator[None]:
    scene.live.window.map.setFocus()
    scene.live.keys("?")
    await scene.live.dialog(ShortcutsPage)
    yield


@state("glossary", main=True, doubled=True)
async def glossary_page(scene: Scene) -> AsyncIterator[None]:
    scene.live.session.actions["glossary"].trigger()
    await scene.live.dialog(GlossaryPage)
    scene.live.type("tail")
    yield


async def press_find(live: RunningWindow) -> None:
    """Press the button below the sessions, which a narrow window shows when asked."""
    live.keys("F8")
    await live.settle()
    live.press_button("Find", live.window.library)


@state("found", doubled=True)
async def found(scene: Scene) -> AsyncIterator[None]:
    live, here = scene.live, Path(os.environ["HOME"]) / ".pi/agent/sessions/--home-sam-src-queue--"
    here.mkdir(parents=True, exist_ok=True)
    for seed in (11, 12, 13):
        write_session(here / f"2026-03-0{seed - 10}.jsonl", 40, seed=seed)
    shutil.copy(sample_path(), here.parent / "retry-that-flakes.jsonl")
    await press_find(live)
    dialog = await live.dialog(FoundDialog)
    dialog.list.setFocus()
    live.keys("Down", "Space")
    yield


@state("found-nothing", small=True, doubled=True)
async def found_nothing(scene: Scene) -> AsyncIterator[None]:
    shutil.rmtree(Path(os.environ["HOME"]) / ".pi", ignore_errors=True)
    await press_find(scene.live)
    await scene.live.dialog(FoundDialog)
    yield


@state("extensions", main=True, doubled=True)
async def extensions(scene: Scene) -> AsyncIterator[None]:
    write(user_folder(), "guard", handler("session_before_compact", "return None"))
    write(user_folder(), "broken", "x = 1\nimport nothing_of_that_name\n")
    live = scene.live
    live.session.actions["extensions"].trigger()
    dialog = await live.dialog(ExtensionsDialog)
    live.press_button("Reload", dialog)
    await live.until(lambda: dialog.notice.notice, "the end of loading")
    yield


@state("import-of-a-broken-file", main=True, doubled=True)
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

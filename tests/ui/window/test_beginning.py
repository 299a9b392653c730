"""Sessions that are begun in the window: an empty one, and a scripted run up to its compaction."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from explorer.models.offline.scenario import scenarios
from explorer.session.kinds import Kind
from explorer.settings.paths import ensure, settings_path
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import choose_file


def at_once() -> None:
    """Nobody reads along."""
    ensure(settings_path().parent)
    settings_path().write_text(json.dumps({"models.scriptedPace": 0}), encoding="utf-8")


async def allow_all(live: RunningWindow) -> int:
    """Allow everything that the turn asks about, by the mouse; how often it asked."""
    asked = 0
    for _ in range(1200):
        if not live.session.agent.running:
            return asked
        card = live.window.agent.card
        if card.is_armed:
            live.click(card.buttons["once"])
            asked += 1
        await asyncio.sleep(0.05)
    raise AssertionError("the turn did not come to its end")


async def test_a_new_session_begins_where_the_agent_works(house: House, tmp_path: Path) -> None:
    live = await house.start(sample_path())
    live.session.agent.folder.choose(str(tmp_path))
    before = live.document.key
    live.keys("Ctrl+N")
    await live.until(lambda: live.document.key != before, "the new session")
    await live.idle()
    assert live.document.header.cwd == str(tmp_path)
    assert len(live.document.tree) == 0
    assert live.window.agent.composer.hasFocus()
    assert live.session.agent.folder.chosen == str(tmp_path), "as it was allowed a moment ago"
    key = live.document.key
    live.keys("Ctrl+N")
    await live.idle()
    assert live.document.key == key, "an empty session is not begun twice"
    live.type("list files\n")
    await live.until(lambda: not live.session.agent.running and live.document.leaf > 0, "a turn")
    await live.idle()
    assert live.document.title == "list files"


async def test_without_a_folder_one_is_asked_for(house: House, tmp_path: Path) -> None:
    live = await house.start()
    live.keys("Ctrl+N")
    dialog = await live.dialog(QFileDialog)
    assert dialog.windowTitle() == "Folder that the agent shall work in"
    await choose_file(live, tmp_path)
    await live.until(lambda: live.has_document, "the new session")
    await live.idle()
    assert live.session.agent.folder.folder is not None, "who chose a folder is not asked again"
    assert live.document.header.cwd == str(tmp_path)


async def test_a_scripted_run_is_watched_from_the_menu_help(house: House) -> None:
    at_once()
    live = await house.start()
    live.session.actions["watch_run"].trigger()
    composer, (scenario, *_) = live.window.agent.composer, scenarios()
    await live.until(lambda: composer.toPlainText(), "the first message")
    await live.idle()
    assert composer.hasFocus() and composer.toPlainText() == scenario.turns[0].message
    assert live.window.agent.model == scenario.model
    assert "You are asked before each change" in live.notice
    live.keys("Return")
    await live.until(lambda: live.session.agent.running, "the turn")
    asked = await allow_all(live)
    await live.idle()
    assert asked == 5, "three runs of the tests and two edits"
    tree = live.document.tree
    kinds = [tree.kind(at) for at in tree.path(live.document.leaf)]
    assert Kind.COMPACTION in kinds
    assert "All 14 tests pass" in live.window.agent.conversation.toPlainText()
    assert composer.toPlainText() == scenario.turns[1].message
    assert "press Enter" not in live.notice


async def test_a_sandbox_that_cannot_be_made_is_told(
    house: House, explorer_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = await house.start()
    (explorer_home / "data" / "sandboxes").write_text("in the way")
    live.session.actions["watch_run"].trigger()
    await live.until(lambda: live.notice, "the reason")
    assert "The sandbox cannot be made" in live.notice
    assert not live.has_document

"""The settings: as they are, and with a file that is partly wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator

from explorer.settings.paths import settings_path
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from ui.settings.dialog import SettingsDialog

WRONG = """{
  // what I use
  "compaction": {
    "keepRecentTokens": 12000,
    "reserveTokens": "lots",
    "keepRecent": 9
  },
  "chat.advanced.summarizeAgentConversationHistoryThreshold": 42
}
"""


@state("settings", main=True, dark=True, small=True, doubled=True)
async def settings(scene: Scene) -> AsyncIterator[None]:
    scene.live.keys("Ctrl+,")
    await scene.live.dialog(SettingsDialog)
    yield


@state("settings-wrong", dark=True, doubled=True)
async def settings_wrong(scene: Scene) -> AsyncIterator[None]:
    settings_path().write_text(WRONG, encoding="utf-8")
    live = scene.live
    live.keys("Ctrl+,")
    dialog = await live.dialog(SettingsDialog)
    await live.until(lambda: "keepRecent" in live.words(dialog), "the problems")
    live.type("tokens")
    yield

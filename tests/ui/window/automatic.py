"""A window whose session is compacted by itself, and hands to bring it there."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.session.kinds import Kind
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path

AGENT, SUMMARIZER = "openai/gpt-4o-mini", "openai/gpt-4o"
FULL = {"prompt_tokens": 41_000, "completion_tokens": 500, "total_tokens": 41_500}
ROOM = {"prompt_tokens": 9_000, "completion_tokens": 20, "total_tokens": 9_020}


async def small(
    house: House, profile: str = "explorer", session: Path | None = None
) -> RunningWindow:
    """The bundled session, or a copy, under a window that a turn of 41,000 tokens fills."""
    live = await house.start(session or sample_path())
    live.session.state.set_profile(profile)
    live.session.state.set_rules(replace(PROFILES[profile], pruning=None))
    live.session.state.set_settings(Settings(45_000, 5_000, 2_000))
    await live.idle()
    return live


def say(live: RunningWindow, text: str) -> None:
    """Type a message and send it."""
    live.keys("F7")
    live.type(f"{text}\n")


async def answered(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


async def asked(live: RunningWindow) -> None:
    await live.until(lambda: live.session.automatic_progress.asks, "the question")
    await live.settle()


def strip(live: RunningWindow) -> str:
    """What the line above the message box says, or nothing."""
    shown = live.window.agent.automatic
    return shown.words if shown.isVisible() else ""


def compactions(live: RunningWindow) -> int:
    """On the active path."""
    tree = live.document.tree
    return sum(tree.kind(entry) is Kind.COMPACTION for entry in tree.path(live.document.leaf))


def tab_words(live: RunningWindow) -> str:
    """What the compaction's tab is called now."""
    return live.window.inspector.tabText(2)

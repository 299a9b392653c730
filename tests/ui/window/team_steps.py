"""What stories of a team's library have in common."""

from __future__ import annotations

from pathlib import Path

from explorer.settings.libraries import add_library
from explorer.store.library import LibraryCopy
from explorer.store.postgres import TeamLibrary
from tests.store.sources import FileSource, chain, message, write_file
from tests.ui.window.house import House
from tests.ui.window.library_steps import titles
from tests.ui.window.running import RunningWindow
from ui.library.page import LibraryPage

LOST_S = 2.0
"""Within which a lost server is said."""
SEEN_S = 1.0
"""Within which others see what is published and written."""
KEY = "sk-ant-" + "api03-Qx7LmZ2pVr9TkWc4NdHsYb6F"


def session_file(folder: Path, name: str, entries: int = 4, secret: str = "") -> Path:
    """A session of its own in a file."""
    header = {"type": "session", "version": 3, "id": name, "cwd": "/w", "timestamp": ""}
    lines = chain(entries)
    if secret:
        lines.append(message(entries, f"e{entries - 1}", f"use {secret}"))
    lines[0]["message"]["content"] = f"session {name}"
    return write_file(folder / f"{name}.jsonl", lines, header)


def publish_file(team: TeamLibrary, path: Path) -> int:
    """Publish a file as the person of the library; its key there."""
    return team.take_copy(FileSource(path)).key


def publish_sample(live: RunningWindow, team: TeamLibrary) -> int:
    """Publish the bundled session out of the window's library; its key there."""
    return team.take_copy(
        LibraryCopy(live.document.shared.store, live.document.key, masks=True)
    ).key


async def with_team(house: House, address: str, session: Path | None = None) -> RunningWindow:
    """A window of a person who has added a team's library."""
    add_library("acme", address, None)
    live = await house.start(session)
    await live.idle()
    return live


async def at_team(live: RunningWindow) -> LibraryPage:
    """The window of all sessions with the team's library in it."""
    page = await opened_page(live)
    live.choose(page.filters.libraries, "acme")
    await live.until(lambda: page.team == "acme", "the team's library")
    return page


async def opened_page(live: RunningWindow) -> LibraryPage:
    live.keys("Ctrl+Shift+O")
    page = await live.dialog(LibraryPage)
    await live.until(lambda: page.stack.currentIndex() > 0, "the sessions")
    return page


async def lists(live: RunningWindow, page: LibraryPage, *wanted: str) -> None:
    """Wait until these titles are listed."""
    await live.until(lambda: sorted(titles(page)) == sorted(wanted), f"{wanted} in the list")

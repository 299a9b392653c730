"""Searching again whenever something changes where sessions were found."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from explorer.services.discovery import Places, Scan
from explorer.services.follower import SessionWatch, folders_of
from explorer.workbench import Workbench
from tests import homes


def names(found: Scan) -> set[str]:
    return {one.found.path.stem for one in found.sessions}


def test_each_change_is_searched_and_other_files_are_not(bench: Workbench, tmp_path: Path) -> None:
    home = tmp_path / "home"
    homes.pi_session(home, "quay-1", "/home/dev/quay")
    watch = SessionWatch(bench.store, Places(home, {}), quiet_s=0.05)

    async def story() -> None:
        async with contextlib.aclosing(watch.scans()) as scans:

            async def until(fits: Callable[[Scan], bool]) -> None:
                async with asyncio.timeout(60):
                    async for found in scans:
                        if fits(found):
                            return

            await until(lambda found: names(found) == {"quay-1"})
            homes.pi_session(home, "fresh", "/home/dev/new", age=None)
            await until(lambda found: names(found) == {"quay-1", "fresh"})
            grown = homes.pi_session(home, "fresh", "/home/dev/new", entries=9, age=None)
            size = grown.stat().st_size
            await until(lambda found: size in [one.found.size for one in found.sessions])
            homes.codex_session(home, 7, "/w")
            watch.look_again()
            await until(lambda found: len(found.sessions) == 3)

    asyncio.run(story())


def test_the_home_itself_is_never_watched(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    (home / ".aider.chat.history.md").write_text("# aider chat started at 2026-01-05 09:00:00\n")
    places = Places(home, {}, (tmp_path / "more",))
    (tmp_path / "more").mkdir()

    async def first() -> Scan:
        async with contextlib.aclosing(SessionWatch(bench.store, places).scans()) as scans:
            async for found in scans:
                return found
        raise AssertionError("nothing was found")

    found = asyncio.run(first())
    assert "aider" in {one.found.format for one in found.sessions}
    folders = folders_of(found, places)
    assert home not in folders and home.parent not in folders
    assert home / ".pi/agent/sessions" in folders, "where the folder of a new project appears"
    assert tmp_path / "more" in folders

"""Going on in the session's own agent, and to the sessions one step away."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from tests.formats.files import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow
from tests.ui.window.steps import open_sample
from ui.shell.command_palette import CommandPalette


async def test_the_command_to_resume_is_copied(house: House) -> None:
    live = await house.start()
    assert not live.session.actions["copy_resume"].isEnabled(), "no session is shown"
    await open_sample(live)
    await choose(live, "copy the command to resume")
    copied = QGuiApplication.clipboard().text()
    document = live.session.state.document
    assert document is not None
    assert copied.endswith(f"pi --session {document.header.session_id}")
    assert copied.startswith("cd ")


@pytest.mark.skipif(sys.platform != "linux", reason="a terminal of Linux")
async def test_the_agent_goes_on_in_the_terminal_that_was_chosen(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran.txt"
    terminal = tmp_path / "x-terminal-emulator"
    terminal.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {ran}.part; mv {ran}.part {ran}\n')
    terminal.chmod(terminal.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    live = await house.start()
    await open_sample(live)
    await choose(live, "resume in a terminal")
    await live.until(ran.exists, "the terminal")
    assert "pi --session" in ran.read_text()


async def test_a_fork_leads_to_the_session_above_and_back(house: House, tmp_path: Path) -> None:
    first = write_session(tmp_path / "first.jsonl", "s-1", ["one", "two"])
    fork = write_session(
        tmp_path / "fork.jsonl", "s-2", ["one", "two", "more"], parentSession="s-1"
    )
    live = await house.start()
    live.drop(first, fork)
    await live.until(lambda: live.session.actions["parent_session"].isEnabled(), "the fork")
    live.keys("Ctrl+Alt+Up")
    await live.until(lambda: shown(live) == "s-1", "the session above")
    assert live.window.map.selected == 1, "where the fork left it"
    await live.until(lambda: live.session.actions["child_session"].isEnabled(), "its fork")
    live.keys("Ctrl+Alt+Down")
    await live.until(lambda: shown(live) == "s-2", "the fork again")


async def choose(live: RunningWindow, words: str) -> None:
    """Run an action by the command palette."""
    live.keys("Ctrl+Shift+P")
    await live.dialog(CommandPalette)
    live.type(words)
    live.keys("Return")


def shown(live: RunningWindow) -> str:
    document = live.session.state.document
    return document.header.session_id if document is not None else ""

"""The command by which a session's own agent goes on with it, and a terminal to run it in."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from explorer.formats.registry import adapter_of
from explorer.session.records import STARTED, SessionHeader
from explorer.store.rows import SessionRow

_TERMINALS: Mapping[str, tuple[str, ...]] = {
    "x-terminal-emulator": ("-e",),
    "gnome-terminal": ("--",),
    "konsole": ("-e",),
    "xfce4-terminal": ("-x",),
    "kitty": (),
    "alacritty": ("-e",),
    "foot": (),
    "wezterm": ("start", "--"),
    "xterm": ("-e",),
}
"""Terminals of Linux and what stands before the command that they shall run, best first."""


class ResumeCommand(NamedTuple):
    """What a person would type."""

    agent: str
    """The agent's name for people."""
    arguments: tuple[str, ...]
    folder: str
    """Where it must be run; empty where the session does not say."""

    def line(self, windows: bool = False) -> str:
        """One line for a shell. ``windows``: for its command prompt."""
        if windows:
            command = subprocess.list2cmdline(self.arguments)
            return f'cd /d "{self.folder}" && {command}' if self.folder else command
        command = shlex.join(self.arguments)
        return f"cd {shlex.quote(self.folder)} && {command}" if self.folder else command


def resume_command(header: SessionHeader) -> ResumeCommand | None:
    """How the session's agent goes on with it; None where it has no command for that, and for an
    agent or a summary that another session asked for."""
    if header.relation in STARTED or not header.session_id:
        return None
    adapter = adapter_of(header.format)
    arguments = tuple(adapter.resume(header))
    return ResumeCommand(adapter.title, arguments, header.cwd) if arguments else None


def resume_command_of(row: SessionRow) -> ResumeCommand | None:
    """``resume_command`` of a session as the library lists it."""
    return resume_command(
        SessionHeader(
            row.session_id, row.format, row.version, row.cwd, row.started_ms, row.parent_session,
            "", relation=row.relation, parent_call=row.parent_call,
            agent_version=row.agent_version,
        )
    )  # fmt: skip


def terminal_command(
    line: str, system: str, chosen: str, which: Callable[[str], str | None]
) -> Sequence[str]:
    """What opens a terminal that runs a line and stays open; empty where no terminal is found.

    ``system``: as ``sys.platform`` names it. ``chosen``: the person's terminal, as a command that
    takes another one at its end; empty for the first that is there. ``which`` finds a program.
    """
    if system == "win32":
        return (*(shlex.split(chosen, posix=False) or ("cmd", "/c", "start", "cmd", "/k")), line)
    if system == "darwin" and not chosen:
        quoted = line.replace("\\", "\\\\").replace('"', '\\"')
        script = f'tell application "Terminal" to do script "{quoted}"'
        return ("osascript", "-e", script, "-e", 'tell application "Terminal" to activate')
    shell = ("sh", "-c", f'{line}; exec "${{SHELL:-sh}}"')
    if chosen:
        return (*shlex.split(chosen), *shell)
    for name, before in _TERMINALS.items():
        if which(name):
            return (name, *before, *shell)
    return ()

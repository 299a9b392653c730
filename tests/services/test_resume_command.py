"""A session goes on in its own agent: the command, and the terminal that runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from explorer.services.resume_command import ResumeCommand, resume_command, terminal_command
from explorer.session.records import SessionHeader

HEADER = SessionHeader("s-1", "pi", 3, "/home/sam/my work", 0.0, "", "{}")


def test_the_command_names_the_session_and_its_folder() -> None:
    command = resume_command(HEADER)
    assert command is not None
    assert command.line() == "cd '/home/sam/my work' && pi --session s-1"
    assert command.line(windows=True) == 'cd /d "/home/sam/my work" && pi --session s-1'


@pytest.mark.parametrize("relation", ["subagent", "compactor"])
def test_what_another_session_started_cannot_be_resumed(relation: str) -> None:
    header = SessionHeader("s-1", "pi", 3, "/w", 0.0, "s-0", "{}", relation=relation)  # type: ignore[arg-type]
    assert resume_command(header) is None
    assert resume_command(SessionHeader("", "pi", 3, "/w", 0.0, "", "{}")) is None


def test_words_for_the_shell_stay_words(tmp_path: Path) -> None:
    """A hostile name of a session or folder runs nothing."""
    folder = tmp_path / "a'; touch evil; '"
    folder.mkdir()
    command = ResumeCommand("pi", ("echo", "$(touch evil)", "`id`", "; ls"), str(folder))
    out = subprocess.run(
        ["sh", "-c", command.line()], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert out.stdout == "$(touch evil) `id` ; ls\n"
    assert not list(tmp_path.rglob("evil"))


def test_the_first_terminal_that_is_there_is_taken() -> None:
    there = {"konsole", "xterm"}
    found = terminal_command("ls", "linux", "", lambda name: name if name in there else None)
    assert found[:4] == ("konsole", "-e", "sh", "-c") and found[4].startswith("ls; ")
    assert terminal_command("ls", "linux", "", lambda _name: None) == ()
    chosen = terminal_command("ls", "linux", "my-term --hold -e", lambda _name: None)
    assert chosen[:3] == ("my-term", "--hold", "-e")
    assert terminal_command('say "hi"', "darwin", "", lambda _name: None)[2] == (
        'tell application "Terminal" to do script "say \\"hi\\""'
    )
    assert terminal_command("dir", "win32", "", lambda _name: None)[-1] == "dir"

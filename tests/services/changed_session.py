"""A session in a folder of its own whose last turn changed files there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.formats.files import Json, header, reply, user, write

LEFT, HERE = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
ASKED, CHANGED = 1, 7
"""Entries of the session: the reply to go back to, and the end of the branch that changed files."""


def _called(entry_id: str, parent: str, name: str, **arguments: str) -> Json:
    call = {"type": "toolCall", "id": f"c-{entry_id}", "name": name, "arguments": arguments}
    return reply(entry_id, parent, call, stopReason="toolUse")


def _result(entry_id: str, parent: str, name: str, *, is_error: bool = False) -> Json:
    line = user(entry_id, parent)
    line["message"] = {
        "role": "toolResult", "toolCallId": f"c-{parent}", "toolName": name,
        "content": [{"type": "text", "text": "done"}], "isError": is_error,
    }  # fmt: skip
    return line


def changed_session(folder: Path, *, in_git: bool) -> Path:
    """Make the folder as the session left it; returns the session's file, which lies beside it."""
    folder.mkdir()
    calc = folder / "calc.py"
    calc.write_text(LEFT, encoding="utf-8")
    (folder / "other.py").write_text("x = 1\n", encoding="utf-8")
    if in_git:
        for arguments in (
            ["init", "-q"], ["add", "."],
            ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"],
        ):  # fmt: skip
            subprocess.run(["git", *arguments], cwd=folder, check=True, timeout=20)
    calc.write_text(HERE, encoding="utf-8")
    lines = [
        header(cwd=str(folder)),
        user("a", None, "What does calc.py do?"),
        reply("b", "a"),
        user("c", "b", "Add, do not subtract."),
        _called("d", "c", "edit", path="calc.py", oldText="a - b", newText="a + b"),
        _result("e", "d", "edit"),
        _called("f", "e", "write", path="other.py", content="x = 2\n"),
        _result("g", "f", "write", is_error=True),
        reply("h", "g"),
    ]
    return write(folder.parent / "changed.jsonl", lines)

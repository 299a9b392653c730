"""Homes with sessions of several agents, as the agents write them, and a watch on what is read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.formats import opencode_store as opencode
from tests.formats.files import MORNING, chain, header

UUID = "00000000-0000-4000-8000-{:012}"


def write_lines(path: Path, lines: list[Any], age: int | None = 0) -> Path:
    """A file with a JSON value per line; ``age``: seconds by which it is older than the others,
    None where it is written now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if age is not None:
        os.utime(path, (1_767_700_000 - age, 1_767_700_000 - age))
    return path


def pi_session(home: Path, name: str, cwd: str, entries: int = 3, age: int | None = 0) -> Path:
    place = home / ".pi/agent/sessions" / f"-{cwd.replace('/', '-')}--" / f"{name}.jsonl"
    return write_lines(place, [header(id=name, cwd=cwd), *chain(entries)], age)


def claude_session(home: Path, number: int, cwd: str, age: int = 0, root: str = ".claude") -> Path:
    name = UUID.format(number)
    lines = [
        {"type": "user", "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None,
         "isSidechain": False, "cwd": cwd, "sessionId": name, "version": "2.0.1",
         "timestamp": MORNING, "message": {"role": "user", "content": f"claude, line {at}"}}
        for at in range(2)
    ]  # fmt: skip
    place = home / root / "projects" / cwd.replace("/", "-") / f"{name}.jsonl"
    return write_lines(place, lines, age)


def codex_session(home: Path, number: int, cwd: str, age: int = 0, root: str = ".codex") -> Path:
    name = UUID.format(number)
    said = {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "codex, look"}]}  # fmt: skip
    meta = {"id": name, "timestamp": MORNING, "cwd": cwd, "originator": "codex_cli_rs",
            "cli_version": "0.50.0"}  # fmt: skip
    lines = [
        {"timestamp": MORNING, "type": "session_meta", "payload": meta},
        {"timestamp": MORNING, "type": "response_item", "payload": said},
    ]
    place = home / root / "sessions/2026/01/05" / f"rollout-2026-01-05T09-00-00-{name}.jsonl"
    return write_lines(place, lines, age)


def opencode_sessions(home: Path, *names: str) -> Path:
    """One database with all of them, whose project is ``lab``."""
    place = home / ".local/share/opencode/opencode.db"
    place.parent.mkdir(parents=True, exist_ok=True)
    sessions = (
        opencode.session(name, opencode.user(f"{name}-m", 0, "hello"), at=at)
        for at, name in enumerate(names)
    )
    return opencode.write_database(place, *sessions)


def usual_home(home: Path) -> Path:
    """Six sessions of four agents: two of pi, one of Claude Code and Codex CLI, two of opencode."""
    pi_session(home, "quay-1", "/home/dev/quay", age=10)
    pi_session(home, "quay-2", "/home/dev/quay", age=5)
    claude_session(home, 1, "/home/dev/quay", age=20)
    codex_session(home, 2, "/home/dev/pier", age=30)
    opencode_sessions(home, "ses-a", "ses-b")
    return home


_watched: list[tuple[str, list[str]]] = []
"""What is watched now: the start of a path, and what was read below it."""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched or event not in ("open", "os.listdir", "os.scandir", "sqlite3.connect"):
        return
    for root, seen in _watched:
        if arguments and root in str(arguments[0]):
            seen.append(str(arguments[0]))


sys.addaudithook(_hook)


@contextmanager
def reads_below(folder: Path) -> Iterator[list[str]]:
    """The files and folders below one that Python opens or lists meanwhile."""
    watch = (str(folder), list[str]())
    _watched.append(watch)
    try:
        yield watch[1]
    finally:
        _watched.remove(watch)

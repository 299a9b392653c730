"""Extensions written to disk and loaded, and views of a preparation for their handlers."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import PROFILES, Settings
from explorer.extensions.answers import BeforeCompact, BeforeTree, Compacting
from explorer.extensions.events import (
    CompactionView,
    NavigationEnds,
    SessionAccess,
    TreeView,
)
from explorer.extensions.extension_folder import Extension, LoadedFolder
from explorer.extensions.runner import HookRunner
from explorer.formats.pi.entries import agent_message, read_message
from explorer.models.events import CancelToken
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import Session
from tests.formats.files import header, reply, user
from tests.formats.files import write as write_lines

T = TypeVar("T")
EXPLORER = PROFILES["explorer"]
SETTINGS = Settings(context_window=10_000, reserve_tokens=1000, keep_recent_tokens=60)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def write(folder: Path, name: str, code: str) -> Path:
    """Write ``NAME.py`` (or what ``name`` says) into a folder; returns the file."""
    file = folder / (name if "." in name else f"{name}.py")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(code).lstrip("\n"), encoding="utf-8")
    return file


def handler(event: str, body: str, head: str = "def", signature: str = "event, ctx") -> str:
    """The code of an extension with one handler."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    return (
        "import asyncio, sys, threading, time\n\n\ndef activate(hooks):\n"
        f'    @hooks.on("{event}")\n    {head} handle({signature}):\n{lines}\n'
    )


def load(folder: Path, limit_s: float = 10.0) -> list[Extension]:
    loaded = LoadedFolder(folder, "user")
    loaded.load(limit_s)
    return loaded.extensions


def runner(folder: Path, limit_s: float = 10.0) -> HookRunner:
    """Everything in a folder; fails when something there does not load."""
    found = load(folder)
    assert [str(e.problem) for e in found if e.problem] == []
    return HookRunner(found, "/home/me/shop", lambda: limit_s)


def session() -> Session:
    """Six short turns, each naming a port."""
    made = Session()
    for number in range(6):
        made.user(text=f"Question {number}: keep the port at 808{number}. " + "words " * 20)
        made.reply(text=f"Answer {number}. " + "more " * 20)
    return made


def preparation(made: Session | None = None) -> tuple[Preparation, SessionAccess]:
    made = made or session()
    tree = made.tree
    prepared = prepare(tree, made.leaf, EXPLORER, SETTINGS)
    assert isinstance(prepared, Preparation), prepared.reason
    around = SessionAccess(
        tree.columns.ids,
        lambda indices: _copies(made, indices),
        lambda indices: [agent_message(entry) for entry in _copies(made, indices)],
        read_message,
        load_templates(),
        "/home/me/shop",
        "session-1",
    )
    return prepared, around


def _copies(made: Session, indices: Sequence[int]) -> list[dict[str, Any]]:
    """Entries as a store gives them: new objects at every reading."""
    return [json.loads(json.dumps(dict(entry.recorded))) for entry in made.read(indices)]


def view() -> CompactionView:
    prepared, around = preparation()
    return CompactionView(prepared, "What was before.", around)


def tree_view(wants: bool = True) -> TreeView:
    _prepared, around = preparation()
    way = NavigationEnds(2, 2, 11, 2, range(3, 12), range(3, 12), wants)
    return TreeView(way, EXPLORER, SETTINGS, around)


def before_compact(hooks: HookRunner, instructions: str = "") -> BeforeCompact:
    return wait(hooks.before_compact(view, instructions, CancelToken()))


def compacting(hooks: HookRunner) -> Compacting:
    return wait(hooks.compacting(view, "", CancelToken()))


def before_tree(hooks: HookRunner, wants: bool = True) -> BeforeTree:
    return wait(hooks.before_tree(lambda: tree_view(wants), wants, CancelToken()))


def conversation(folder: Path, form: str = "pi", secret: str = "") -> Path:
    """A session of ten long turns, in which a file was written and another read."""
    first = header() if form == "pi" else {**header(), "title": "Work"}
    lines: list[dict[str, Any]] = [first]
    last: str | None = None

    def add(line: Callable[..., dict[str, Any]], *more: Any) -> None:
        nonlocal last
        name = f"e{len(lines)}"
        lines.append(line(name, last, *more))
        last = name

    for turn in range(10):
        add(user, f"Question {turn}. {secret} " + "The port is 8080. " * 120)
        call = {
            "type": "toolCall", "id": f"c{turn}", "name": "write" if turn else "read",
            "arguments": {"path": f"src/file{turn}.py"},
        }  # fmt: skip
        add(reply, {"type": "text", "text": "Done. " * 240}, call)
    return write_lines(folder / "session.jsonl", lines)

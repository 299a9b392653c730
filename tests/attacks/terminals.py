"""Sessions whose every text, id and name steers a terminal, printed by every command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from explorer.settings import paths
from tests.attacks.attack import Attack
from tests.commands.processes import called
from tests.session.hidden import FORBIDDEN

Json = dict[str, Any]

_POISON = [
    *(char for char in sorted(FORBIDDEN) if not "\ud801" <= char < "\udfff"),
    "\n", "\r\n", "\t", "\x1b[2J", "\x1b]0;title\x07", "\x9b31m",
    "\nsession-explorer: all is well", "\U000e0041", "漢", "🙂", "👩‍🚀", "e\u0301", " " * 200,
]  # fmt: skip
_SHAPE = ("type", "role", "version", "timestamp", "api", "stopReason")
"""What a session is recognized by, and what is a number to its reader."""
_REFERENCES = ("id", "parentId", "targetId", "fromId", "firstKeptEntryId", "toolCallId")
_ROWS = ("list", "import", "tree", "context", "fork", "export", "pin", "preview", "what-if")
"""Commands whose lines are all their own: they print no text of several lines."""


def _poisoned(random: Random, text: str) -> str:
    for _ in range(random.randrange(1, 5)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(_POISON) + text[at:]
    return text


class _Poisoner:
    """Poisons a session; an id becomes the same one everywhere."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ids: dict[str, str] = {}

    def value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: self.value(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, key) for inner in value]
        if not isinstance(value, str) or key in _SHAPE:
            return value
        if key in _REFERENCES:
            return self._ids.setdefault(value, _poisoned(self._random, value))
        if key == "cwd":
            return "/" + _poisoned(self._random, "home/project").replace("\0", "")
        return _poisoned(self._random, value)


def _sample() -> list[Json]:
    """Entries of every kind on one path, two of them compactions."""
    with paths.resource_path("samples", "retry-that-flakes.jsonl").open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    seen: dict[tuple[str, str], int] = {}
    chosen = []
    for line in lines:
        kind = (line["type"], line.get("message", {}).get("role", ""))
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= (6 if kind[0] == "message" else 2):
            chosen.append(line)
    known = [line["id"] for line in chosen]
    for at, line in enumerate(chosen[1:], start=1):
        line["parentId"] = known[at - 1] if at > 1 else None
        for name in ("targetId", "fromId", "firstKeptEntryId"):
            if name in line:
                line[name] = known[max(1, at - 4)]
    return chosen


_SAMPLE = _sample()
_LONGEST_NAME = 200
"""Bytes; file systems take some more."""


def _word(random: Random, text: str) -> str:
    """A poisoned text as the system gives it to a program: without NUL, and of surrogates only
    those that stand for bytes."""
    return re.sub("[\0\ud800-\udfff]", "\udcff", _poisoned(random, text))


def _file(random: Random, folder: Path) -> Path:
    poisoner = _Poisoner(random)
    lines = [poisoner.value(line) for line in _SAMPLE]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    cut = random.randrange(2)  # a last line that nobody finished
    name = os.fsencode(_word(random, "session.jsonl").replace("/", ""))
    path = folder / os.fsdecode(name[:_LONGEST_NAME])
    path.write_text(text + '{"type": "mess\x1b[2Jage'[: cut * 99], encoding="utf-8")
    return path


def _commands(file: Path, folder: Path, leaf: str, word: str) -> Iterator[tuple[str, ...]]:
    """Command lines that print what is in a session; those of ``--json`` come in both forms."""
    for words in (
        ("list",), ("tree", "1"), ("tree", "1", "--all"), ("context", "1"), ("search", word),
        ("search", "port"), ("preview", "1"), ("preview", "1", "--at", leaf), ("what-if", "1"),
        ("audit", "1"), ("compact", "1", "--dry-run", "--at", "#20"), ("prune", "1", "--dry-run"),
        ("pin", "1", leaf), ("replay", str(file)), ("fork", "1", "--name", word),
        ("branch", "1", "--to", "#3", "--dry-run"), ("run", f"read {word}", "--session", "1"),
        ("export", "1", str(folder / f"out {word.replace('/', '')}.jsonl")),
        ("profiles", "compare", "1"), ("models", "list", word), ("prompts", "show", word),
        ("extensions", "trust", f"/no/{word}"), ("extensions", "list"),
    ):  # fmt: skip
        yield words
        yield (*words, "--json")
    yield ("run", f"run `echo {word}`", "--session", "1", "--events", "--yes")
    yield ("audit", "1", "--format", "md")
    yield ("audit", "1", "--format", "html")
    yield ("context", word)
    yield ("tree", "1", "--at", word)
    yield (word,)


def attack(random: Random, folder: Path) -> Iterable[str]:
    """Import one hostile session and print it in every way."""
    before = dict(os.environ)
    os.environ[paths.HOME_VARIABLE] = str(folder / "home")
    try:
        file = _file(random, folder)
        yield from _found(("import", str(file)))
        word = _word(random, "port")
        for words in _commands(file, folder, f"#{random.randrange(8)}", word):
            yield from _found(words)
    finally:
        os.environ.clear()
        os.environ |= before


def _found(words: tuple[str, ...]) -> Iterator[str]:
    status, out, err = called(*words)
    for name, text in (("output", out), ("errors", err)):
        if there := FORBIDDEN & set(text):
            at = min(text.index(char) for char in there)
            yield f"{words!r}: {name} has {sorted(there)!r}: {text[max(0, at - 60) : at + 20]!r}"
        if words[0] in _ROWS and "\nsession-explorer: all is well" in text:
            yield f"{words!r}: {name} has a line that the session made"
    if "--json" in words and not status:
        try:
            json.loads(out)
        except ValueError as error:
            yield f"{words!r}: its document is none: {error}"


TERMINALS = Attack("terminals", attack, 2)

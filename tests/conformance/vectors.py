"""Reads a session file and its reference vector, the file as the program reads it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.formats.pi.entries import read_entry
from explorer.formats.registry import open_source
from explorer.session.tree import SessionTree

DATA = Path(__file__).parent / "data"
_LONE = re.compile("[\ud800-\udfff]")


@dataclass
class Vector:
    """One session with what its producer computed from it."""

    session: str
    """The path of its session's file."""
    expected: dict[str, Any]
    tree: SessionTree
    entries: list[dict[str, Any]]
    known_as: tuple[str, ...]
    """How the vector names each entry: by its id, or by its place in a file without ids."""
    leaf: int = -1
    """Where the file says that work goes on, or -1."""

    def __post_init__(self) -> None:
        self._at = {name: at for at, name in enumerate(self.known_as)}

    def index(self, name: object) -> int:
        """The entry that the vector names, -1 for none."""
        return -1 if name is None else self._at[str(name)]

    def prompt_of(self, entry: int) -> int:
        """The prompt tokens that the provider reported with a reply; -1 for none."""
        usage = read_entry(self.entries[entry]).usage
        return usage.prompt if usage is not None else -1

    def names(self, entries: Any) -> list[str]:
        """Entries as the vector names them."""
        return [self.known_as[entry] for entry in entries]


def vector_files(directory: Path, producer: str) -> list[Path]:
    """The vectors of a producer in a directory, by what they say, not by their name."""
    found = []
    for path in sorted(directory.glob("*.expected.json")):
        with path.open(encoding="utf-8") as file:
            if json.load(file)["producer"].startswith(producer):
                found.append(path)
    return found


def load(path: Path) -> Vector:
    """One vector with its session, read as the program reads it."""
    expected = json.loads(path.read_text("utf-8"))
    session = path.with_name(path.name.replace(".expected.json", ".jsonl"))
    return load_session(
        session if session.exists() else path.parent / expected["session"], expected
    )


def load_session(session: Path, expected: dict[str, Any] | None = None) -> Vector:
    """A session, read as the program reads it, with what its producer computed, if anything."""
    expected = expected or {"ids": "entry id"}
    source = open_source(session)
    records = [record for batch in source.batches() for record in batch]
    tree = SessionTree()
    for record in records:
        tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    names = list(tree.columns.ids)
    if str(expected["ids"]).startswith("index"):
        in_file = sorted(range(len(records)), key=lambda at: records[at].line)
        for place, at in enumerate(in_file):
            names[at] = str(place)
    entries = [json.loads(record.raw) for record in records]
    leaf = source.report.leaf
    return Vector(str(session), expected, tree, entries, tuple(names), -1 if leaf is None else leaf)


def utf8_hash(text: str) -> str:
    """The first 16 digits of the SHA-256 of a text in UTF-8, lone surrogates as JavaScript does."""
    return hashlib.sha256(_LONE.sub("\ufffd", text).encode("utf-8")).hexdigest()[:16]

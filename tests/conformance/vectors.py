"""Reads a session file and its reference vector straight into a tree, without the file readers."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.session.describe import describe
from explorer.session.tree import SessionTree
from explorer.tokens.estimate import estimate_entry

DATA = Path(__file__).parent / "data"
_LONE = re.compile("[\ud800-\udfff]")


@dataclass
class Vector:
    """One session with what its producer computed from it."""

    name: str
    expected: dict[str, Any]
    tree: SessionTree
    entries: list[dict[str, Any]]

    def index(self, name: object) -> int:
        """The entry that the vector names, -1 for none."""
        return -1 if name is None else self.tree.index_of(str(name))

    def names(self, entries: Any) -> list[str]:
        """Entries as the vector names them."""
        return [self.tree.columns.ids[entry] for entry in entries]


def vector_files(directory: Path, producer: str) -> list[Path]:
    """The vectors of a producer in a directory, by what they say, not by their name."""
    found = []
    for path in sorted(directory.glob("*.expected.json")):
        with path.open(encoding="utf-8") as file:
            if json.load(file)["producer"].startswith(producer):
                found.append(path)
    return found


def load(path: Path) -> Vector:
    """One vector with its session. Files of version 1 have no ids: the index names an entry."""
    expected = json.loads(path.read_text("utf-8"))
    session = path.with_name(path.name.replace(".expected.json", ".jsonl"))
    if not session.exists():
        session = path.parent / expected["session"]
    lines = session.read_text("utf-8").split("\n")
    entries = [json.loads(line) for line in lines if line.strip()]
    by_index = not entries[0].get("version") or entries[0].get("version") == 1
    entries = [entry for entry in entries if entry.get("type") != "session"]
    tree = SessionTree()
    for at, entry in enumerate(entries):
        if by_index:
            parent = at - 1
            # That version counts the header too.
            if "firstKeptEntryIndex" in entry:
                entry["firstKeptEntryId"] = str(entry["firstKeptEntryIndex"] - 1)
        else:
            parent = tree.index_of(entry["parentId"]) if entry.get("parentId") else -1
        name = str(at) if by_index else entry["id"]
        tree.append(name, parent, describe(entry), estimate_entry(entry))
    return Vector(path.name, expected, tree, entries)


def utf8_hash(text: str) -> str:
    """The first 16 digits of the SHA-256 of a text in UTF-8, lone surrogates as JavaScript does."""
    return hashlib.sha256(_LONE.sub("\ufffd", text).encode("utf-8")).hexdigest()[:16]

"""Sessions in memory for tests of the window's parts."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from explorer.formats.pi.entries import read_entry
from explorer.models.catalogue import no_listed_cost
from explorer.services.privacy import Privacy
from explorer.services.session_tokens import TokenCounts
from explorer.session.context import ContextCache, PathContext
from explorer.session.describe import describe
from explorer.session.entries import Entry, TokenUsage
from explorer.session.json_values import read_json
from explorer.session.tree import SessionTree
from explorer.tokens.estimate import estimate_entry


class MemoryPayloads:
    """Payloads of a session that is wholly in memory, as raw lines with their first lines."""

    def __init__(self) -> None:
        self._raw: list[str] = []
        self._previews: list[str] = []

    def append(self, raw: str, preview: str) -> None:
        self._raw.append(raw)
        self._previews.append(preview)

    def raw(self, index: int) -> str:
        return self._raw[index]

    def entry(self, index: int) -> Entry:
        return read_entry(read_json(self._raw[index]))

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        return [self.entry(index) for index in indices]

    def raws(self, indices: Sequence[int]) -> list[tuple[int, str]]:
        return [(index, self._raw[index]) for index in indices]

    def usages(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[int, TokenUsage | None]]:
        return [(index, self.entry(index).usage) for index, _ in wanted]

    def previews(self, indices: Sequence[int]) -> list[str]:
        return [self._previews[index] for index in indices]

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        return self.previews(indices), []


class NumberedLines:
    """Words for the rows of entries that are nowhere else; ``asked``: whose were read."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def previews(self, indices: Sequence[int]) -> list[str]:
        self.asked.extend(indices)
        return [f"entry {index}" for index in indices]

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        return self.previews(indices), []


class MemoryDocument:
    """A document over entries in memory: what the panes ask for, without a database."""

    def __init__(self, entries: Iterable[Mapping[str, Any]] = ()) -> None:
        self.key = 0
        self.tree = SessionTree()
        self.entries = MemoryPayloads()
        self.payloads = SimpleNamespace(stored=self.entries, shown=self.entries)
        self.shared = SimpleNamespace(privacy=Privacy())
        # It counts as an opened session does; its agent records what its calls cost.
        self._contexts = ContextCache()
        self.tokens: Any = TokenCounts(self, self._contexts, self.entries, None, None)
        self.usage = SimpleNamespace(listed_cost=no_listed_cost)
        self.read_only = ""
        self.writer = self
        self.own: set[int] = set()
        """Entries that this program recorded."""
        for entry in entries:
            self.add(entry)

    @property
    def leaf(self) -> int:
        return len(self.tree) - 1

    def add(self, entry: Mapping[str, Any]) -> int:
        """Append an entry; its parent must be there already."""
        read = read_entry(entry)
        facts = describe(read)
        parent_id = entry.get("parentId")
        parent = self.tree.index_of(parent_id) if isinstance(parent_id, str) else -1
        index = self.tree.append(str(entry["id"]), parent, facts, estimate_entry(read))
        self.entries.append(json.dumps(entry, ensure_ascii=False), facts.preview)
        return index

    def context(self, at: int | None = None) -> PathContext:
        return self._contexts.at(self.tree, self.leaf if at is None else at)

    def made_here(self, index: int) -> bool:
        """As of a file that another agent wrote."""
        return index in self.own

    def count_by(self, factor: float) -> None:
        """Pretend that a tokenizer counted."""
        self.tokens.weights = array("i", (int(v * factor) for v in self.tree.columns.estimate))


class Talk:
    """Writes a session entry by entry, each below the one before."""

    def __init__(self) -> None:
        self.document = MemoryDocument()
        self.last: str | None = None
        self.time = 1_767_603_600_000

    def entry(self, entry_type: str, **fields: Any) -> int:
        entry_id = fields.pop("id", f"e{len(self.document.tree):07x}")
        self.time += 7_000
        entry = {"type": entry_type, "id": entry_id, "parentId": self.last, "timestamp": self.time}
        index = self.document.add({**entry, **fields})
        self.last = entry_id
        return index

    def message(self, role: str, content: Any = None, **fields: Any) -> int:
        return self.entry("message", message={"role": role, "content": content, **fields})

    def user(self, text: str) -> int:
        return self.message("user", text)

    def reply(self, *blocks: Mapping[str, Any] | str, **fields: Any) -> int:
        content = [{"type": "text", "text": b} if isinstance(b, str) else dict(b) for b in blocks]
        return self.message("assistant", content, provider="anthropic", model="claude", **fields)

    def result(self, call_id: str, text: str, tool: str = "read", **fields: Any) -> int:
        content = [{"type": "text", "text": text}]
        return self.message(
            "toolResult", content, toolCallId=call_id, toolName=tool, **{"isError": False, **fields}
        )

    def turns(self, number: int, size: int = 400) -> None:
        """A user message, a reply with a call, its result and an answer, several times."""
        for turn in range(number):
            call = f"c{len(self.document.tree)}"
            self.user(f"Do step {turn} of the work " + "x" * size)
            self.reply(call_block(call, "read", path=f"src/part_{turn}.py"))
            self.result(call, "line of the file\n" * (size // 8))
            self.reply(f"Step {turn} is done. " + "y" * size)


def call_block(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def load_file(path: Path) -> MemoryDocument:
    """A session file of which every line has an id, or of version 1, whose lines have none."""
    document = MemoryDocument()
    last: str | None = None
    for number, line in enumerate(path.read_bytes().decode().split("\n")):
        if not line.strip():
            continue
        entry = json.loads(line)
        if entry.get("type") == "session":
            continue
        if "id" not in entry:
            entry = {**entry, "id": f"line{number}", "parentId": last}
        last = entry["id"]
        document.add(entry)
    return document

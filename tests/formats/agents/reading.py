"""A session of another agent, read whole, to be asked what the facts about its file ask."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from explorer.formats.registry import adapter_for, read_record
from explorer.session.columns import ColumnBuilder
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Entry,
    ImageBlock,
    ToolResultMessage,
    UserMessage,
)
from explorer.session.records import EntryRecord, SessionHeader, SessionSource
from explorer.session.tree import SessionTree


class Reading:
    """One session of a file."""

    def __init__(self, path: Path, session_id: str = "") -> None:
        self.adapter = adapter_for(path)
        self.source: SessionSource = self.adapter.open(path, session_id=session_id)
        self.records: list[EntryRecord] = [one for batch in self.source.batches() for one in batch]
        self.header: SessionHeader = self.source.header
        self.report = self.source.report

    @cached_property
    def entries(self) -> list[Entry]:
        """Read again from the records, as everything above the store does."""
        return [read_record(self.adapter.name, one.raw) for one in self.records]

    @cached_property
    def tree(self) -> SessionTree:
        builder = ColumnBuilder()
        for one in self.records:
            builder.append(one.entry_id, one.parent, one.facts, one.estimate)
        return SessionTree(builder.columns)

    def bodies(self, kind: type) -> list[tuple[int, object]]:
        """Index and body of the entries that say something of this class."""
        return [(at, one.body) for at, one in enumerate(self.entries) if isinstance(one.body, kind)]

    @property
    def prompts(self) -> list[str]:
        """What the person typed, in the order of the file."""
        return [
            entry.text
            for entry in self.entries
            if isinstance(entry.body, UserMessage) and not entry.body.synthetic
        ]

    @property
    def replies(self) -> list[AssistantMessage]:
        """Replies of the model."""
        return [one.body for one in self.entries if isinstance(one.body, AssistantMessage)]

    @property
    def results(self) -> list[ToolResultMessage]:
        """Tool results."""
        return [one.body for one in self.entries if isinstance(one.body, ToolResultMessage)]

    @property
    def compactions(self) -> list[CompactionSummary]:
        """Compactions that its agent made."""
        return [one.body for one in self.entries if isinstance(one.body, CompactionSummary)]

    @property
    def call_ids(self) -> set[str]:
        """Ids of all tool calls."""
        return {call.id for one in self.entries for call in one.calls}

    @property
    def images(self) -> int:
        """Pictures, those in results included."""
        return sum(isinstance(block, ImageBlock) for one in self.entries for block in one.content)

    @property
    def output_tokens(self) -> int:
        """Output tokens of all replies together."""
        return sum(one.usage.output for one in self.replies if one.usage is not None)

    @property
    def models(self) -> list[str]:
        """Names of the models that answered, sorted."""
        return sorted({one.model for one in self.replies if one.model})

    def lines(self) -> Counter[str]:
        """All lines that are kept: of records, asides and the header."""
        return Counter(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from self.header.raw.split("\n")
        for one in self.records:
            yield from one.raw.split("\n")
        for aside in self.report.asides:
            yield from aside.raw.decode("utf-8", "surrogateescape").split("\n")


def record_lines(path: Path) -> list[int]:
    """The numbers of a file's lines that are records, from 1: facts count records alone."""
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            if isinstance(json.loads(line.removeprefix(b"\xef\xbb\xbf")), dict):
                found.append(number)
        except ValueError:
            continue
    return found

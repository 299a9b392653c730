"""Sessions made up for the store's tests, read by a reader of ten lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.formats.pi.entries import read_entry
from explorer.session.describe import describe
from explorer.session.records import Aside, EntryRecord, ReadReport, SessionHeader
from explorer.tokens.estimate import estimate_entry

HEADER = {
    "type": "session",
    "version": 3,
    "id": "s-1",
    "timestamp": "2026-01-02T03:04:05.000Z",
    "cwd": "/w",
}


def message(number: int, parent: str | None, text: str, role: str = "user") -> dict[str, Any]:
    """A message entry with a readable id."""
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": parent,
        "timestamp": "2026-01-02T03:04:06.000Z",
        "message": {"role": role, "content": text},
    }


def chain(count: int, first: int = 0) -> list[dict[str, Any]]:
    """A chain of messages, in turn by the person and the agent."""
    return [
        message(
            at,
            f"e{at - 1}" if at else None,
            f"line number {at}",
            "assistant" if at % 2 else "user",
        )
        for at in range(first, first + count)
    ]


def tool_entries(command: str, printed: str) -> list[dict[str, Any]]:
    """A reply that calls a tool with a command, and what that printed."""
    call, result = message(0, None, "", "assistant"), message(1, "e0", printed, "toolResult")
    call["message"]["content"] = [
        {"type": "toolCall", "id": "call-1", "name": "bash", "arguments": {"command": command}}
    ]
    result["message"] |= {"toolCallId": "call-1", "toolName": "bash", "isError": False}
    return [call, result]


def write_file(path: Path, entries: list[Any], header: dict[str, Any] | None = None) -> Path:
    """A session file; an entry that is a text is written as it is."""
    lines = [header or HEADER, *entries]
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    path.write_text(text + "\n", encoding="utf-8", errors="surrogateescape")
    return path


class FileSource:
    """Reads what ``write_file`` writes: entries in order, parents before their children."""

    def __init__(self, path: Path | str, batch: int = 1000) -> None:
        self.path = str(path)
        self.files = (self.path,)
        self.report = ReadReport(bytes_total=Path(path).stat().st_size)
        self._batch = batch
        with Path(path).open("rb") as file:
            raw = file.readline().rstrip(b"\n").decode()
        head = json.loads(raw)
        self.header = SessionHeader(
            head["id"], "pi", head["version"], head["cwd"], 0.0, head.get("parentSession", ""), raw
        )

    def batches(self) -> Iterator[list[EntryRecord]]:
        ids: dict[str, int] = {}
        batch: list[EntryRecord] = []
        with Path(self.path).open("rb") as file:
            for number, line in enumerate(file, 1):
                self.report.bytes_done += len(line)
                if number == 1:
                    continue
                try:
                    raw = line.rstrip(b"\n").decode()
                    entry = json.loads(raw)
                except ValueError as error:
                    self.report.asides.append(Aside(number, line, str(error)))
                    continue
                parent = ids.get(entry["parentId"], -1) if entry.get("parentId") else -1
                self.report.leaf = ids[entry["id"]] = len(ids)
                facts = describe(read_entry(entry))
                batch.append(
                    EntryRecord(
                        entry["id"], parent, number, raw, facts, estimate_entry(read_entry(entry))
                    )
                )
                if len(batch) >= self._batch:
                    yield batch
                    batch = []
        if batch:
            yield batch

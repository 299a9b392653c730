"""Session files for the tests, written line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.formats.pi.export import Line
from explorer.formats.pi.source import FileSource, open_source
from explorer.session.records import EntryRecord

Json = dict[str, Any]
MORNING = "2026-01-05T09:00:00.000Z"


def header(**fields: Any) -> Json:
    base = {"type": "session", "version": 3, "id": "s-1", "timestamp": MORNING, "cwd": "/home/dev"}
    return base | fields


def user(entry_id: str, parent_id: str | None, text: str = "hello") -> Json:
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent_id,
        "timestamp": MORNING,
        "message": {"role": "user", "content": text, "timestamp": 1767603600000},
    }


def reply(entry_id: str, parent_id: str | None, *blocks: Json, **fields: Any) -> Json:
    message = {
        "role": "assistant",
        "content": list(blocks) or [{"type": "text", "text": "done"}],
        "provider": "anthropic",
        "model": "some-model",
        "usage": {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15},
        "stopReason": "stop",
    }
    return user(entry_id, parent_id) | {"message": message | fields}


def entry(entry_type: str, entry_id: str, parent_id: str | None, **fields: Any) -> Json:
    base = {"type": entry_type, "id": entry_id, "parentId": parent_id, "timestamp": MORNING}
    return base | fields


def chain(count: int) -> list[Json]:
    """``e0`` to ``e<count - 1>``, each below the one before."""
    return [user(f"e{at}", f"e{at - 1}" if at else None, f"text {at}") for at in range(count)]


def dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def write(path: Path, lines: Sequence[Json | bytes], newline: bytes = b"\n") -> Path:
    """Write values as JSON and bytes as they are, one per line."""
    raw = [line if isinstance(line, bytes) else dumps(line) for line in lines]
    path.write_bytes(b"".join(line + newline for line in raw))
    return path


def read(path: Path) -> tuple[FileSource, list[EntryRecord]]:
    """Open and read a whole file, checking what holds for every one."""
    source = open_source(path)
    records = [record for batch in source.batches() for record in batch]
    for index, record in enumerate(records):
        assert -1 <= record.parent < index
    assert len({record.entry_id for record in records}) == len(records)
    report = source.report
    assert report.bytes_done == path.stat().st_size
    if records:
        assert report.leaf is not None and -1 <= report.leaf < len(records)
    return source, records


def shape(records: Sequence[EntryRecord]) -> list[tuple[str, str]]:
    """(id, parent's id) of every record, in index order."""
    return [
        (record.entry_id, records[record.parent].entry_id if record.parent >= 0 else "")
        for record in records
    ]


def accounted(source: FileSource, records: Sequence[EntryRecord]) -> list[bytes]:
    """Every line that was kept somewhere, by line number; no number may be kept twice."""
    kept = {record.line: record.raw.encode() for record in records}
    kept |= {aside.line: aside.raw for aside in source.report.asides}
    assert len(kept) == len(records) + len(source.report.asides)
    lines = [kept[number] for number in sorted(kept)]
    if source.header.raw:
        missing = next(n for n in range(1, len(kept) + 2) if n not in kept)
        lines.insert(missing - 1, source.header.raw.encode())
    return lines


def in_file_order(source: FileSource, records: Sequence[EntryRecord]) -> list[Line]:
    """The lines as an export takes them: entries and what was kept aside."""
    lines: list[Line] = [(record.line, record.raw) for record in records]
    lines += [(aside.line, aside.raw) for aside in source.report.asides]
    return sorted(lines, key=lambda line: line[0])


def write_session(path: Path, session_id: str, texts: list[str], **header: Any) -> Path:
    """A pi session of messages by turns."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session_id, "timestamp": MORNING, "cwd": "/w"}
        | header
    ]
    for at, text in enumerate(texts):
        lines.append({
            "type": "message", "id": f"{at:08x}", "parentId": f"{at - 1:08x}" if at else None,
            "timestamp": MORNING, "message": {"role": "user", "content": text, "timestamp": 0},
        })  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    return path

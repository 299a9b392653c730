"""Session files in the manner of Claude Code, written for one test each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.agents.reading import Reading

SESSION = "0a0a0a0a-1111-4222-8333-444444444444"
USAGE = {
    "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 20,
}  # fmt: skip


class Lines:
    """Records of a session; each hangs on the one before unless ``on`` names another."""

    def __init__(self, session: str = SESSION, **fields: Any) -> None:
        self.session = session
        self.records: list[Any] = []
        self.fields = fields
        self.last: str | None = None

    def node(self, kind: str, identity: str, on: Any = ..., **fields: Any) -> Lines:
        """A record with a place in the tree."""
        stamp = f"2026-05-01T10:{len(self.records) // 60:02}:{len(self.records) % 60:02}.000Z"
        self.records.append({
            "parentUuid": self.last if on is ... else on, "isSidechain": False, "type": kind,
            "uuid": identity, "timestamp": stamp, "sessionId": self.session, "cwd": "/tide",
            "version": "2.1.197", "gitBranch": "main", **self.fields, **fields,
        })  # fmt: skip
        self.last = identity
        return self

    def user(self, identity: str, content: Any, on: Any = ..., **fields: Any) -> Lines:
        """A message of role user."""
        message = {"role": "user", "content": content}
        return self.node("user", identity, on, message=message, **fields)

    def result(self, identity: str, call: str, content: Any = "done", on: Any = ...) -> Lines:
        """What a tool returned."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user(identity, [block], on)

    def reply(self, identity: str, message: str, *blocks: Any, on: Any = ..., **more: Any) -> Lines:
        """One record of a reply: texts and calls, a call as (id, name)."""
        content = [
            {"type": "text", "text": one}
            if isinstance(one, str)
            else {"type": "tool_use", "id": one[0], "name": one[1], "input": {}}
            for one in blocks
        ]
        fields = {
            "id": message, "role": "assistant", "model": "m-1", "stop_reason": "end_turn",
            "usage": USAGE, "content": content, **more,
        }  # fmt: skip
        return self.node("assistant", identity, on, message=fields)

    def boundary(self, identity: str, logical: Any, **facts: Any) -> Lines:
        """Where a compaction happened."""
        metadata = {"trigger": "auto", "preTokens": 900, **facts}
        return self.node(
            "system", identity, None, subtype="compact_boundary", logicalParentUuid=logical,
            compactMetadata=metadata,
        )  # fmt: skip

    def summary(self, identity: str, text: str, on: Any = ...) -> Lines:
        """The summary behind a boundary."""
        return self.user(identity, text, on, isCompactSummary=True)

    def note(self, **fields: Any) -> Lines:
        """A record without a place in the tree."""
        self.records.append(fields)
        return self

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one) + "\n" for one in self.records), "utf-8")
        return path

    def read(self, folder: Path) -> Reading:
        """Write the file under the session's name and read it."""
        return Reading(self.write(folder / f"{self.session}.jsonl"))


def shape(reading: Reading) -> dict[str, str]:
    """By id of an entry: the id of its parent; empty for a root."""
    ids = [one.entry_id for one in reading.records]
    return {
        one.entry_id: ids[one.parent] if one.parent >= 0 else "" for one in reading.records
    }  # fmt: skip


def leaf_id(reading: Reading) -> str:
    """The id of the entry where the agent stands."""
    assert reading.report.leaf is not None
    return reading.records[reading.report.leaf].entry_id


def problems(reading: Reading) -> str:
    """All problems in one text."""
    return "\n".join(one.reason for one in reading.report.problems)

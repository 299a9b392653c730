"""Sessions of opencode for the tests, written to each of its stores."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]
BEGIN = 1_790_000_000_000
"""Milliseconds since 1970: when the first message is written."""
SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
  title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, priority TEXT, position INTEGER);
"""


def text(words: str, **fields: Any) -> Json:
    return {"type": "text", "text": words} | fields


def tool(call_id: str, status: str = "completed", name: str = "bash", **state: Any) -> Json:
    given = {"status": status, "input": {"command": "ls"}, "time": {"start": BEGIN, "end": BEGIN}}
    if status == "completed":
        given |= {"output": f"output of {call_id}", "metadata": {}}
    return {"type": "tool", "tool": name, "callID": call_id, "state": given | state}


def message(name: str, at: int, role: str, parts: Iterable[Json], **fields: Any) -> Json:
    """A message; its parts are numbered. ``at``: seconds after the first."""
    info = {"id": name, "role": role, "time": {"created": BEGIN + at * 1000}} | fields
    listed = [{"id": f"{name}-p{number}"} | part for number, part in enumerate(parts)]
    return {"info": info, "parts": listed}


def user(name: str, at: int, *parts: Json | str, **fields: Any) -> Json:
    listed = [text(part) if isinstance(part, str) else part for part in parts]
    return message(name, at, "user", listed, agent="build", **fields)


def reply(name: str, at: int, *parts: Json | str, **fields: Any) -> Json:
    listed = [text(part) if isinstance(part, str) else part for part in parts]
    usual = {
        "modelID": "some-model", "providerID": "some", "finish": "stop", "cost": 0.5,
        "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 1}},
    }  # fmt: skip
    return message(name, at, "assistant", listed, **(usual | fields))


def compaction(
    name: str, at: int, words: str | None = "what happened", *, auto: bool = False, **asked: Any
) -> list[Json]:
    """The message that asks, and the summary; without the latter where there are no words."""
    part = {"type": "compaction", "auto": auto} | asked
    messages = [user(name, at, part)]
    if words is not None:
        fields = {"summary": True, "mode": "compaction", "parentID": name}
        messages.append(reply(f"{name}-s", at, words, **fields))
    return messages


def session(name: str, *messages: Json | Sequence[Json], at: int = 0, **fields: Any) -> Json:
    """A session as it is exported. ``at``: seconds from the first message's time."""
    listed: list[Json] = []
    for one in messages:
        listed += [one] if isinstance(one, dict) else one
    created = BEGIN + at * 1000
    info = {
        "id": name, "projectID": "lab", "directory": "/home/dev/lab", "title": f"About {name}",
        "version": "1.18.33", "time": {"created": created, "updated": created + 500},
    }  # fmt: skip
    return {"info": info | fields, "messages": listed}


def write_export(path: Path, one: Json) -> Path:
    path.write_text(json.dumps(one, indent=2), "utf-8")
    return path


def write_database(path: Path, *sessions: Json) -> Path:
    with sqlite3.connect(path) as db:
        db.executescript(SCHEMA)
        for one in sessions:
            insert(db, one)
    db.close()
    return path


def insert(db: sqlite3.Connection, one: Json) -> None:
    info = one["info"]
    revert = json.dumps(info["revert"]) if "revert" in info else None
    db.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            info["id"], info["projectID"], info.get("parentID"), info["directory"], info["title"],
            info["version"], revert, info["time"]["created"], info["time"]["updated"],
        ),
    )  # fmt: skip
    for each in one["messages"]:
        insert_message(db, info["id"], each)


def insert_message(db: sqlite3.Connection, session_id: str, one: Json) -> None:
    info = one["info"]
    time = info["time"]["created"]
    data = json.dumps({name: value for name, value in info.items() if name != "id"})
    row = (info["id"], session_id, time, time, data)
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
    for part in one["parts"]:
        data = json.dumps({name: value for name, value in part.items() if name != "id"})
        row = (part["id"], info["id"], session_id, time, time, data)
        db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def log(db: sqlite3.Connection, session_id: str, *events: tuple[str, Json]) -> None:
    """Events of a session, in order."""
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
    for number, (name, data) in enumerate(events, last + 1):
        row = (f"evt-{number}", session_id, number, f"{name}.1", json.dumps(data))
        db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", row)


def written(one: Json) -> list[tuple[str, Json]]:
    """The events that say that a message and its parts were written."""
    events = [("message.updated", {"info": one["info"]})]
    for part in one["parts"]:
        placed = part | {"messageID": one["info"]["id"]}
        events.append(("message.part.updated", {"part": placed}))
    return events


def removed(*names: str) -> list[tuple[str, Json]]:
    return [("message.removed", {"messageID": name}) for name in names]


def write_folder(root: Path, *sessions: Json) -> list[Path]:
    """The older folder below ``root``; gives the files that describe the sessions."""
    files = []
    for one in sessions:
        info = one["info"]
        name = info["id"]
        files.append(_write(root / "storage/session" / info["projectID"] / f"{name}.json", info))
        for each in one["messages"]:
            message_id = each["info"]["id"]
            _write(root / "storage/message" / name / f"{message_id}.json", each["info"])
            for part in each["parts"]:
                _write(root / "storage/part" / message_id / f"{part['id']}.json", part)
    return files


def _write(path: Path, value: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path

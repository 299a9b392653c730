"""What a thread's header says: which session it is, and whose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.formats.codex.files import Meta, Rollout, Shelf, rollout, value_of
from explorer.formats.codex.lines import call_id_of, payload_of
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import line_groups
from explorer.session.json_values import time_ms
from explorer.session.records import Relation, SessionHeader


def make_header(
    meta: Meta, path: Path, title: str = "", parent_call: str = "", origin: str = ""
) -> SessionHeader:
    """The header of a thread. ``origin``: the session whose records it begins with, as far as its
    files tell."""
    payload = meta.payload
    relation, parent = relation_of(payload, origin)
    return SessionHeader(
        session_id=meta.thread_id or rollout(path).thread_id or path.stem,
        format="codex",
        version=1 if payload.get("history_mode") == "paginated" else 0,
        cwd=text_field(payload, "cwd"),
        time_ms=time_ms(payload.get("timestamp")) or time_ms(meta.value.get("timestamp")),
        parent_session=parent,
        raw=meta.raw.decode("utf-8", "replace"),
        title=title,
        relation=relation,
        parent_call=parent_call,
        agent_version=text_field(payload, "cli_version"),
    )


def relation_of(payload: Mapping[str, Any], origin: str = "") -> tuple[Relation, str]:
    """What a session is to another one, and to which. An agent that begins with a copy of its
    parent is an agent and no fork."""
    source = object_field(payload, "source")
    parent = parent_of(payload)
    forked = text_field(payload, "forked_from_id") or origin
    if source.get("subagent") == "compact":
        return "compactor", parent or forked
    if "subagent" in source or parent:
        return "subagent", parent or forked
    return ("fork", forked) if forked else ("", "")


def parent_of(payload: Mapping[str, Any]) -> str:
    """The thread that started an agent; empty for a session of its own."""
    source = object_field(payload, "source")
    spawned = object_field(object_field(source, "subagent"), "thread_spawn")
    return text_field(payload, "parent_thread_id") or text_field(spawned, "parent_thread_id")


def spawning_call(shelf: Shelf, parent: str, thread_id: str) -> str:
    """The call of the parent that started an agent, by the first line of the parent's files that
    names it; empty where none does."""
    files = [one for one in shelf.of_thread(parent) if not one.is_compressed]
    found = shelf.find(parent) if parent and not files else None
    for one in files or ([found] if found is not None and not found.is_compressed else []):
        call = _call_in(one, thread_id.encode())
        if call:
            return call
    return ""


def _call_in(one: Rollout, thread_id: bytes) -> str:
    try:
        with one.path.open("rb") as file:
            for lines, _ in line_groups(file):
                for raw in lines:
                    if thread_id in raw:
                        call = _spawn_of(value_of(raw))
                        if call:
                            return call
    except OSError:
        return ""
    return ""


def _spawn_of(value: Mapping[str, Any] | None) -> str:
    payload = payload_of(value or {})
    kind = text_field(payload, "type")
    item = text_field(object_field(payload, "item"), "type")
    if kind.endswith("_output") or "spawn" in kind or item.startswith("Collab"):
        return call_id_of(payload)
    return ""

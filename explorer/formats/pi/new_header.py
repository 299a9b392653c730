"""Headers of new sessions, and of forks, as pi writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from msgspec.structs import replace

from explorer.formats.jsonl import parse_exactly
from explorer.formats.pi.entry_writer import iso_time
from explorer.formats.pi.export import dumps, made_header
from explorer.formats.pi.header import VERSION
from explorer.session.records import SessionHeader

_BITS = 128


def session_uuid(time_ms: float, random: Random) -> str:
    """An id that sorts by its time, as pi gives them: a UUID of version 7."""
    bits = (int(time_ms) & (2**48 - 1)) << 80 | random.getrandbits(80)
    bits = bits & ~(0xF << 76) | 0x7 << 76
    bits = bits & ~(0x3 << 62) | 0x2 << 62
    text = f"{bits:0{_BITS // 4}x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def new_header(cwd: str, time_ms: float, random: Random, parent_session: str = "") -> SessionHeader:
    """The header of a session that begins now in the folder ``cwd``.

    ``time_ms`` counts from 1970; ``parent_session`` names the file or the id of the session that
    it was forked from. Raises ValueError for a time that cannot be written.
    """
    session_id = session_uuid(time_ms, random)
    line = {
        "type": "session",
        "version": VERSION,
        "id": session_id,
        "timestamp": iso_time(time_ms),
        "cwd": cwd,
    }
    if parent_session:
        line["parentSession"] = parent_session
    raw = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return SessionHeader(session_id, "pi", VERSION, cwd, time_ms, parent_session, raw)


def fork_header(header: SessionHeader, path: str, time_ms: float, random: Random) -> SessionHeader:
    """The header of a fork: the origin's, unknown fields included, with a new id and
    time, and the origin's file as its parent, or where there is none the origin's id."""
    parent = path or header.session_id
    version = VERSION if header.version == 1 else header.version
    line: Mapping[str, Any] = {}
    if header.raw:
        value = parse_exactly(header.raw.encode("utf-8", "surrogatepass"))
        line = value if isinstance(value, dict) else {}
    session_id = session_uuid(time_ms, random)
    required = {
        "version": version,
        "id": session_id,
        "timestamp": iso_time(time_ms),
        "parentSession": parent,
    }
    raw = dumps({**(line or made_header(header)), **required})
    return replace(
        header, session_id=session_id, version=version, time_ms=time_ms, parent_session=parent,
        raw=raw,
    )  # fmt: skip

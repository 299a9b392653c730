"""Lines of older or other sessions as pi's version 3, and headers of new sessions, and of forks, as
pi writes them.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any, BinaryIO, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer import private_files
from explorer.formats.jsonl import BadLine, Verbatim, parse, parse_exactly
from explorer.formats.pi import omp
from explorer.formats.pi.entry_writer import iso_time, write_entry
from explorer.formats.pi.header import (
    ENTRY_TYPES,
    EXTENSION_KEY,
    HEADER_TYPE,
    LEAF_TYPE,
    VERSION,
    model_change,
    positional_id,
    with_kept_id,
)
from explorer.session.edit_entries import SHAPE_TYPES, ShapeKind
from explorer.session.entries import CustomData, Entry
from explorer.session.records import FormatName, SessionHeader


class PiUpgrade:
    """Turns the lines of one session, in the order of its file, into pi's version 3.

    What needs no change stays as it was written. Types that pi does not know are kept: it reads
    over them.
    """

    def __init__(self, header: SessionHeader) -> None:
        self.unknown_types: Counter[str] = Counter()
        """How many entries of each type that pi does not know were written."""
        self._format: FormatName = header.format
        self._linear = header.version == 1
        self._last_id: str | None = None

    def header(self, value: dict[str, Any]) -> str:
        """The header's line with version 3."""
        return dumps(value | {"version": VERSION})

    def entry(self, raw: str, place: int) -> str:
        """An entry's line. ``place`` counts the JSON values of the file from the header, which
        is 0; it is -1 for an entry made here, which is in order already."""
        value = _exactly(raw)
        before = value
        if self._linear and place >= 0:
            value = self._with_ids(value, place)
        value = _renamed_role(value)
        if self._format == "omp":
            value = _from_omp(value)
        self._last_id = value.get("id")
        kind = value.get("type")
        if isinstance(kind, str) and kind not in ENTRY_TYPES:
            self.unknown_types[kind] += 1
        return raw if value is before else dumps(value)

    def _with_ids(self, value: dict[str, Any], place: int) -> dict[str, Any]:
        head = {
            "type": value.get("type"),
            "id": positional_id(place),
            "parentId": self._last_id,
        }
        rest = {key: field for key, field in value.items() if key not in head}
        if value.get("type") == "compaction":
            rest = with_kept_id(rest)
        return head | rest


def _exactly(raw: str) -> dict[str, Any]:
    value = parse_exactly(raw.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict) else {}


def _renamed_role(value: dict[str, Any]) -> dict[str, Any]:
    message = value.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        return value | {"message": message | {"role": "custom"}}
    return value


def _from_omp(value: dict[str, Any]) -> dict[str, Any]:
    if omp.EXTENSION_KEY in value:
        value = {
            EXTENSION_KEY if key == omp.EXTENSION_KEY else key: field
            for key, field in value.items()
        }
    model = value.get("model")
    if value.get("type") == "model_change" and isinstance(model, str) and "modelId" not in value:
        rest = {key: field for key, field in value.items() if key != "model"}
        return rest | model_change(*omp.split_model(model))
    return value


# Stands for a number until the rest is written; no file can know it.
_MARK = secrets.token_hex(16)
_MARKED = re.compile(f'"{_MARK}([^"]*)"')


def dumps(value: Any) -> str:
    """A JSON value on one line as the agents write it: no spaces, no needless escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_marked)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"), default=_marked)
    return _MARKED.sub(r"\1", text) if _MARK in text else text


def _marked(value: object) -> str:
    if not isinstance(value, Verbatim):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    return _MARK + value.digits


AsFormat = Literal["original", "pi-v3"]
Line = tuple[int, str | bytes]
"""Line number in the file it came from, 0 for an entry made here; and the line: text for an
entry, bytes for what was kept aside. The header's is not among them."""

_LINES_BETWEEN_REPORTS = 1_000


class ExportError(ValueError):
    """A session that the chosen format cannot hold; the text says which would."""


class LeafMark(Struct, frozen=True):
    """Where an agent shall go on, and the id and time of an entry that marks it, where one is
    needed."""

    leaf_id: str
    """Id of the leaf; empty for before the first entry."""
    entry_id: str
    time_ms: float


class ExportReport(Struct):
    """What was written."""

    path: str
    entries: int = 0
    marked_leaf: bool = False
    """Whether an entry was added that makes the leaf the last line."""
    left_out: list[int] = field(default_factory=list)
    """Numbers of lines that the format has no place for (pi-v3: what was kept aside)."""
    unknown_types: dict[str, int] = field(default_factory=dict)
    """pi-v3: entries of types that pi reads over, by type."""
    read_over: dict[str, int] = field(default_factory=dict)
    """Pins, omissions and rules of kept messages, by ``customType``: this program follows them when
    it reads the file, other agents read over them and see the context without."""
    masked: int | None = None
    """Entries in which secrets were masked; None where it was written as it was recorded."""


def export_session(
    lines: Iterable[Line],
    header: SessionHeader,
    out: str | os.PathLike[str],
    as_format: AsFormat = "original",
    *,
    leaf: LeafMark | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExportReport:
    """Write a session's lines to ``out``: those of its file in their order there, then those
    made here.

    ``original`` writes every line as it was, what was kept aside included, and entries made here
    after them. ``pi-v3`` brings pi's versions 1 and 2 and oh-my-pi to pi's version 3 and leaves
    out what was kept aside. A session without a header gets one. With ``leaf``, an entry
    that carries nothing is added unless the leaf is the last one already.

    The file appears whole or not at all; an existing one keeps its permissions, a new one is
    readable by its owner alone. ``progress`` gets the number of entries written.

    Raises ExportError when a version 1 file would have to contain new entries or a moved leaf,
    OSError.
    """
    target = Path(out)
    report = ExportReport(str(target))
    writer = _Writer(header, as_format, report)
    with private_files.replacement(target, keeps_mode=True) as file:
        for line in lines:
            writer.write(file, line)
            if progress is not None and report.entries % _LINES_BETWEEN_REPORTS == 0:
                progress(report.entries)
        writer.finish(file, leaf)
        if progress is not None:
            progress(report.entries)
    return report


class _Writer:
    def __init__(self, header: SessionHeader, as_format: AsFormat, report: ExportReport) -> None:
        self._header = header
        self._report = report
        self._upgrade = PiUpgrade(header) if as_format == "pi-v3" else None
        self._bound_to_order = header.version == 1 and self._upgrade is None
        self._next_line = 1
        # Places count the JSON values of the file; a header that is missing had place 0.
        self._place = 0 if header.raw else 1
        self._header_passed = not header.raw
        self._header_written = False
        self._last = ""
        self._last_place = 0

    def write(self, file: BinaryIO, line: Line) -> None:
        number, raw = line
        # The header is the first line that is neither an entry nor kept aside.
        if not self._header_passed and number != self._next_line:
            self._header_passed = True
            self._place += 1
        if not self._header_written and (self._header_passed or self._upgrade is not None):
            self._write_header(file)
        self._next_line = number + 1
        if isinstance(raw, bytes):
            self._write_aside(file, number, raw)
            return
        if self._bound_to_order and not number:
            raise ExportError("A file of version 1 cannot hold new entries; export as pi-v3")
        if self._upgrade is not None:
            raw = self._upgrade.entry(raw, self._place if number else -1)
        self._last, self._last_place = raw, self._place
        self._place += 1
        self._note_shape(raw)
        self._report.entries += 1
        _put(file, raw.encode())

    def _note_shape(self, raw: str) -> None:
        if not any(f'"{name}"' in raw for name in SHAPE_TYPES):
            return
        value = parse(raw.encode())
        name = value.get("customType")
        is_custom = value.get("type") == "custom" and isinstance(name, str)
        if is_custom and name in SHAPE_TYPES:
            found = self._report.read_over
            found[name] = found.get(name, 0) + 1

    def _write_aside(self, file: BinaryIO, number: int, raw: bytes) -> None:
        if self._header.version == 1 and _is_value(raw):
            self._place += 1
        if self._upgrade is None:
            _put(file, raw)
        else:
            self._report.left_out.append(number)

    def _write_header(self, file: BinaryIO) -> None:
        self._header_written = True
        raw = self._header.raw
        if self._upgrade is not None:
            value = parse_exactly(raw.encode()) if raw else made_header(self._header)
            raw = self._upgrade.header(value)
        _put(file, (raw or dumps(made_header(self._header))).encode())

    def finish(self, file: BinaryIO, leaf: LeafMark | None) -> None:
        if not self._header_written:
            self._write_header(file)
        if self._upgrade is not None:
            self._report.unknown_types = dict(self._upgrade.unknown_types)
        if leaf is None or self._leads_to(leaf.leaf_id):
            return
        if self._bound_to_order:
            raise ExportError("A file of version 1 has its leaf at its end; export as pi-v3")
        mark = Entry.of(CustomData(LEAF_TYPE), leaf.entry_id, leaf.leaf_id, leaf.time_ms)
        _put(file, dumps(write_entry(mark, self._header.format)).encode())
        self._report.marked_leaf = True

    def _leads_to(self, leaf_id: str) -> bool:
        """Whether an agent that takes the last line for the leaf comes to this one."""
        if not self._last:
            return not leaf_id
        if self._bound_to_order:
            return leaf_id == positional_id(self._last_place)
        last = parse(self._last.encode())
        if last.get("id") == leaf_id:
            return True
        return last.get("customType") == LEAF_TYPE and (last.get("parentId") or "") == leaf_id


def _put(file: BinaryIO, line: bytes) -> None:
    file.write(line)
    file.write(b"\n")


def _is_value(raw: bytes) -> bool:
    try:
        parse(raw)
    except BadLine:
        return False
    return True


def made_header(header: SessionHeader) -> dict[str, Any]:
    """A header line for a session whose file had none."""
    made: dict[str, Any] = {"type": HEADER_TYPE}
    if header.version != 1:
        made["version"] = header.version
    made |= {
        "id": header.session_id,
        "timestamp": iso_time(header.time_ms),
        "cwd": header.cwd,
    }
    if header.parent_session:
        made["parentSession"] = header.parent_session
    return made


def shape_note(read_over: dict[str, int]) -> str:
    """What a person should know of a file with pins, omissions and rules of kept messages."""
    counts = [
        f"{number:,} {_entries_of(SHAPE_TYPES[name], number)}" for name, number in read_over.items()
    ]
    return (
        f"{', '.join(counts)}: Session Explorer follows them when it reads the file; "
        "pi and oh-my-pi read over them and see the context without."
    )


def _entries_of(kind: ShapeKind, number: int) -> str:
    noun = {"pin": "pin", "omit": "omission", "keep-user-messages": "rule"}[kind]
    return noun if number == 1 else f"{noun}s"


_BITS = 128


def session_uuid(time_ms: float, random: Random) -> str:
    """An id that sorts by its time, as pi gives them: a UUID of version 7."""
    bits = (int(time_ms) & (2**48 - 1)) << 80 | random.getrandbits(80)
    bits = bits & ~(0xF << 76) | 0x7 << 76
    bits = bits & ~(0x3 << 62) | 0x2 << 62
    text = f"{bits:0{_BITS // 4}x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def new_header(cwd: str, time_ms: float, random: Random) -> SessionHeader:
    """The header of a session that begins now in the folder ``cwd``.

    ``time_ms`` counts from 1970. Raises ValueError for a time that cannot be written.
    """
    session_id = session_uuid(time_ms, random)
    line = {
        "type": "session",
        "version": VERSION,
        "id": session_id,
        "timestamp": iso_time(time_ms),
        "cwd": cwd,
    }
    raw = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return SessionHeader(session_id, "pi", VERSION, cwd, time_ms, "", raw)


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

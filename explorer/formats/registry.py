"""The formats that are known, and what is done with a session of any of them.

The file of a session whose agent's dialect is only read is put together again from its records.
Some of them hold lines that stood apart, or lines of which only a part is theirs, and then their
order is not known. What comes out is therefore compared with the size of the file that was read,
and nothing is guessed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from explorer.formats.adapter import Adapter, FoundSession, IsCancelled, Progress
from explorer.formats.aider import AIDER
from explorer.formats.claude_code.adapter import CLAUDE_CODE
from explorer.formats.cline import CLINE
from explorer.formats.codex.adapter import CODEX
from explorer.formats.copilot_chat.adapter import COPILOT_CHAT
from explorer.formats.copilot_cli.adapter import COPILOT_CLI
from explorer.formats.gemini.adapter import GEMINI
from explorer.formats.jsonl import BYTE_ORDER_MARK
from explorer.formats.opencode.adapter import OPENCODE
from explorer.formats.pi.adapter import OMP, PI
from explorer.formats.pi.entry_writer import write_entry
from explorer.formats.roo import ROO
from explorer.formats.typed_source import apply_annotation, split_annotation
from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import FormatName, SessionSource

ADAPTERS: dict[FormatName, Adapter] = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "opencode": OPENCODE,
    "copilot-chat": COPILOT_CHAT,
    "copilot-cli": COPILOT_CLI,
    "gemini": GEMINI,
    "cline": CLINE,
    "roo": ROO,
    "aider": AIDER,
    # pi takes every line with an id for an entry: it is asked last.
    "pi": PI,
    "omp": OMP,
}
"""By name, in the order in which files are looked at."""

LIST_STARTED: frozenset[FormatName] = frozenset(("codex", "cline", "opencode", "pi", "omp", "roo"))
"""Formats whose ``Adapter.find`` lists what sessions started as well. Who imports all that is found
need not ask for what comes with each (``Adapter.related``), which goes through all files anew."""
HEAD_BYTES = 16 << 10
"""How much of a file is looked at to recognise it."""
_OURS = '{"sessionExplorer":1,'
"""Begins a record that this program added to a session of a format that it does not write."""


def adapter_of(format_name: FormatName) -> Adapter:
    """The adapter of a format; pi's for one that is not known, whose sessions can still be listed
    and deleted."""
    return ADAPTERS.get(format_name, PI)


def open_source(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    cancelled: IsCancelled | None = None,
    session_id: str = "",
) -> SessionSource:
    """Open a session file of any known format; see ``Adapter.open``.

    Raises FormatError when the file is no session, OSError when it cannot be read or is no file.
    """
    place = Path(path)
    return adapter_for(place).open(place, progress, cancelled, session_id)


def adapter_for(place: Path) -> Adapter:
    """The adapter of a file, by what it begins with.

    Raises OSError when it cannot be read or is no file: a pipe or a device may have no end.
    """
    if not stat.S_ISREG(place.stat().st_mode):
        reason = "a folder" if place.is_dir() else "a pipe or a device"
        raise OSError(errno.EINVAL, f"This is {reason}, not a file", str(place))
    with place.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for adapter in ADAPTERS.values():
        if adapter.recognises(place, head):
            return adapter
    # What looks like nothing may be a damaged file of pi, and else it says why it is none.
    return PI


def discover(
    home: Path,
    environment: Mapping[str, str],
    agents: Collection[FormatName] = (),
    failed: Callable[[FormatName, Exception], object] | None = None,
) -> Iterator[FoundSession]:
    """The sessions of all agents in their usual places, newest first within each; see
    ``Adapter.find``. ``agents``: only of these, where any are named. ``failed``: is given the
    error that ended the search for one agent's sessions; the others are searched all the same.
    """
    for name, adapter in ADAPTERS.items():
        if agents and name not in agents:
            continue
        try:
            yield from adapter.find(home, environment)
        except Exception as error:  # whatever files of one agent do, the others are found
            if failed is None:
                raise
            failed(name, error)


def read_record(format_name: FormatName, record: str | bytes) -> Entry:
    """A stored record as a typed entry."""
    is_ours = record[: len(_OURS)] in (_OURS, _OURS.encode())
    adapter = PI if is_ours else adapter_of(format_name)
    if adapter.writes or is_ours:
        return adapter.read(record)
    text = record if isinstance(record, str) else record.decode("utf-8", "surrogatepass")
    lines, note = split_annotation(text)
    return apply_annotation(adapter.read(lines), note) if note else adapter.read(lines)


def usage_in(format_name: FormatName, record: str, context: int) -> TokenUsage | None:
    """See ``Adapter.usage``."""
    adapter = PI if record.startswith(_OURS) else adapter_of(format_name)
    lines, note = split_annotation(record)
    if '"usage":' in note:
        return read_record(format_name, record).usage
    return adapter.usage(lines, context)


def write_record(format_name: FormatName, entry: Entry) -> str:
    """The record of a new entry for a session of a format.

    Raises ValueError for a time that cannot be written.
    """
    adapter = adapter_of(format_name)
    return adapter.write(entry) if adapter.writes else _OURS + PI.write(entry)[1:]


def pi_lines(
    format_name: FormatName, lines: Iterable[tuple[int, str | bytes]]
) -> Iterator[tuple[int, str | bytes]]:
    """The lines of a session of a format that is only read, its entries as pi writes them. What
    was put aside is left out: it is in the dialect of the file."""
    for number, line in lines:
        if isinstance(line, str):
            yield number, PI.write(read_record(format_name, line))


def entry_json(format_name: FormatName, entry: Entry) -> dict[str, Any]:
    """An entry as pi's JSON object, the form in which extensions see entries (A38): its record
    itself where that is one."""
    if adapter_of(format_name) in (PI, OMP) and entry.recorded:
        return dict(entry.recorded)
    return write_entry(entry, "pi")


Line = tuple[int, str | bytes]


class NotOneFile(ValueError):
    """The records are not the lines of one file, each at its place."""

    def __init__(self) -> None:
        super().__init__("its records are not the lines of one file, each at its place")


def original_file(header: str, lines: Iterable[Line], size: int) -> bytes:
    """The bytes of the file that a session was read from.

    ``header``: the line that says what session it is; it may be an entry too. ``lines``: number
    and record, or line that was put aside, in the order of the file. ``size``: bytes of the file,
    as it was read last. Raises NotOneFile.
    """
    ordered = b"\n".join(_in_order(lines, header.encode("utf-8", "surrogatepass")))
    for begin in (b"", BYTE_ORDER_MARK):
        for end in (b"\n", b""):
            if len(begin) + len(ordered) + len(end) == size:
                return begin + ordered + end
    raise NotOneFile


def _in_order(lines: Iterable[Line], header: bytes) -> Iterator[bytes]:
    """All records; the header where the first line is none of theirs."""
    following = 1
    for number, raw in lines:
        if following == 1 and number == 2:
            yield header
            following = number
        if number != following:
            raise NotOneFile
        record = raw
        if isinstance(raw, str):
            record = split_annotation(raw)[0].encode("utf-8", "surrogatepass")
        assert isinstance(record, bytes)
        yield record
        following += record.count(b"\n") + 1

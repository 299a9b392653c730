"""Lines of a file turned into columns, nothing placed yet, here or in a separate process: what an
import's speed hangs on.

The shapes that nearly all lines have are read here in one pass over their blocks; whatever looks
different in any way goes through ``describe`` and ``estimate_entry``, which say what is right.

The separate process takes the parsing off the lock under which the window and the database's writer
run, and puts a second core to use. Both read the file, in the same pieces; only what was understood
passes from one to the other, and only as long as the file does not change. The process ends when
the file or the one who listens does. Its loss costs nothing but time: who listens can understand
the next piece as well.
"""

from __future__ import annotations

import gc
import json
import marshal
import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from io import FileIO
from itertools import compress, count
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, NamedTuple

import orjson

from explorer.formats.jsonl import line_groups
from explorer.formats.pi import omp
from explorer.formats.pi.entries import read_entry, read_usage
from explorer.formats.pi.header import HEADER_TYPE, LEAF_TYPE
from explorer.session.describe import STOP_FLAGS, Facts, describe, result_flags
from explorer.session.file_tools import FILE_TOOLS, file_ops
from explorer.session.json_values import MAX_COUNT, MAX_DEPTH, is_too_deep
from explorer.session.kinds import Flag, Kind
from explorer.session.records import Ops
from explorer.session.text import PREVIEW_UNITS, call_title, cut_line, first_line, prompt_line
from explorer.tokens.estimate import estimate_entry, json_units, utf16_units

LARGE_BYTES = 64 << 10
BATCH_LINES = 1_000
_LEAST = 2 * MAX_DEPTH

_USER, _ASSISTANT, _TOOL_RESULT = int(Kind.USER), int(Kind.ASSISTANT), int(Kind.TOOL_RESULT)
_TEXT, _LARGE = int(Flag.HAS_TEXT), int(Flag.LARGE)
_THINKING, _CALL = int(Flag.HAS_THINKING), int(Flag.HAS_TOOL_CALL)

_NOTHING = (None, None, "", None, None, 0, None, None)
"""compaction, branch, thinking level, label, name, error, prune, shape of an entry without any."""
_COMMON = 10
"""How many of the facts come before those."""

Row = tuple[Any, ...]
"""Kind, flags, time, usage, model, preview, call id, tool, estimate."""


class Piece(NamedTuple):
    """Some lines of a file."""

    lines: list[bytes]
    end: int
    """Bytes from the start of the file to where the next line begins."""
    done: int
    """Bytes read so far, when these are the last lines of what was read at once; else 0."""


class Digest(NamedTuple):
    """What was understood of some lines. Columns leave out the positions in ``others``; ``ops``
    and ``rare`` are by place in the columns."""

    others: list[int]
    """Indices of the lines that need the slow parser, ascending."""
    columns: tuple[Row, ...]
    """Ids, parents' ids (None for a root), then the columns of a ``Row``; empty when all lines
    are others."""
    ops: dict[int, Ops]
    rare: dict[int, Facts]
    characters: int
    """Of all lines together; 0 when there are others."""


def pieces(file: BinaryIO) -> Iterator[Piece]:
    """The lines from the file's start on, about 1,000 or 1 MB at a time; the same for the same
    content. Raises OSError when the file cannot be read on."""
    end = 0
    for lines, done in line_groups(file):
        for at in range(0, len(lines), BATCH_LINES):
            part = lines[at : at + BATCH_LINES]
            end += sum(map(len, part)) + len(part)
            yield Piece(part, end, done if at + BATCH_LINES >= len(lines) else 0)


def digest(lines: list[bytes]) -> Digest:
    """Understand lines one by one."""
    rows: list[Row] = []
    others: list[int] = []
    ops: dict[int, Ops] = {}
    rare: dict[int, Facts] = {}
    loads, large, add = orjson.loads, LARGE_BYTES, rows.append
    for at, line in enumerate(lines):
        try:
            entry = loads(line)
            entry_id, parent_id = entry["id"], entry["parentId"]
            plain = _is_plain(entry, entry_id, parent_id)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            plain = False
        # Counting here what ``is_too_deep`` counts spares a call for nearly every line.
        if plain and len(line) > _LEAST and line.count(b"[") + line.count(b"{") > MAX_DEPTH:
            plain = not is_too_deep(line, entry)
        if not plain:
            others.append(at)
            continue
        try:
            row = _of_message(entry, ops, len(rows))
        except (KeyError, TypeError, AttributeError, ValueError):
            ops.pop(len(rows), None)
            row = _of_any(entry, rare, len(rows))
        if len(line) > large:
            row = (row[0], row[1] | _LARGE, *row[2:])
            if len(rows) in rare:
                rare[len(rows)] = rare[len(rows)]._replace(flags=row[1])
        add((entry_id, parent_id, *row))
    columns = tuple(zip(*rows, strict=True))
    return Digest(others, columns, ops, rare, 0 if others else characters(lines))


def _is_plain(entry: Any, entry_id: object, parent_id: object) -> bool:
    """Whether a line is an entry like any other: no header, title slot or mark of a leaf."""
    if type(entry_id) is not str or not entry_id:
        return False
    if parent_id is not None and type(parent_id) is not str:
        return False
    kind = entry["type"]
    if kind == "message":
        return True
    if kind == HEADER_TYPE or kind == omp.TITLE_TYPE:
        return False
    return not (kind == "custom" and entry.get("customType") == LEAF_TYPE)


def characters(lines: list[bytes]) -> int:
    """Characters of lines that are valid UTF-8."""
    return sum([len(line) if line.isascii() else len(line.decode()) for line in lines])


def _of_any(entry: dict[str, Any], rare: dict[int, Facts], place: int) -> Row:
    typed = read_entry(entry)
    facts = describe(typed)
    if facts.user_images or facts.ops or facts[_COMMON:] != _NOTHING:
        rare[place] = facts
    kind, flags, moment, usage, model, preview = facts[:6]
    return (
        int(kind),
        int(flags),
        moment,
        usage,
        model,
        preview,
        facts.call_id,
        facts.tool,
        estimate_entry(typed),
    )


def _of_message(entry: dict[str, Any], ops: dict[int, Ops], place: int) -> Row:
    """The row of a message in its usual shape; raises an error of the kind that looking into
    something else raises when it is in any other."""
    if entry["type"] != "message":
        raise ValueError("what only has a field of that name")
    message = entry["message"]
    role = message["role"]
    stamp = entry["timestamp"]
    # A text that names no zone is rare and means UTC; ``time_ms`` sees to it.
    moment = datetime.fromisoformat(stamp).timestamp() * 1000 if stamp.endswith("Z") else 0
    if not moment:
        raise ValueError("not as JavaScript writes a moment, or long ago")
    if role == "assistant":
        return _reply(message, moment, ops, place)
    content = message["content"]
    if type(content) is not str:
        (block,) = content
        if block["type"] != "text":
            raise ValueError("an image, or what is not known")
        content = block["text"]
    preview = first_line(content)
    tokens = (utf16_units(content) + 3) // 4
    if role == "toolResult":
        call_id, tool = message["toolCallId"], message["toolName"]
        if type(call_id) is not str or type(tool) is not str:
            raise TypeError("no name of a call or of a tool")
        if message.get("isError") is True or "prunedAt" in message:
            raise ValueError("an error, or pruned: both have more to tell than most results")
        flags = _TEXT | result_flags(content)
        return _TOOL_RESULT, flags, moment, -1, "", preview, call_id, tool, tokens
    if role == "user":
        if "synthetic" in message:
            raise ValueError("nobody may have typed it")
        return _USER, _TEXT, moment, -1, "", prompt_line(content), "", "", tokens
    raise ValueError("a role that few messages have")


def _reply(
    message: dict[str, Any],
    moment: float,
    ops: dict[int, Ops],
    place: int,
) -> Row:
    flags = STOP_FLAGS.get(message["stopReason"], 0)
    text = thinking = calls = ""
    found: Ops = ()
    counted = 0
    for block in message["content"]:
        kind = block["type"]
        if kind == "text":
            part = block["text"]
            counted += utf16_units(part)
            text = text or first_line(part)
        elif kind == "thinking":
            part = block["thinking"]
            counted += utf16_units(part)
            flags |= _THINKING
            thinking = thinking or part.lstrip()
        elif kind == "toolCall":
            name, arguments = block["name"], block["arguments"]
            if arguments is None:
                raise ValueError("no arguments")
            counted += utf16_units(name) + json_units(arguments)
            flags |= _CALL
            if not text and len(calls) < PREVIEW_UNITS:
                calls += (" · " if calls else "") + call_title(name, arguments)
            if name in FILE_TOOLS:
                found += _file_ops(block, name)
        else:
            raise ValueError("an image, or what is not known")
    if text:
        flags |= _TEXT
    preview = text or cut_line(calls) or first_line(thinking)
    if not preview:
        raise ValueError("a reply that says nothing")
    if found:
        ops[place] = found
    usage = message["usage"]["totalTokens"]
    if type(usage) is not int or not 0 < usage <= MAX_COUNT:
        found_usage = read_usage(message["usage"])
        usage = found_usage.context if found_usage is not None else -1
    model = _model(message["provider"], message["model"])
    return _ASSISTANT, flags, moment, usage, model, preview, "", "", (counted + 3) // 4


def _file_ops(block: dict[str, Any], name: str) -> Ops:
    call_id = block["id"]
    if type(call_id) is not str:
        raise TypeError("no name of a call")
    # Plain tuples pass from one process to another.
    return tuple([tuple(op) for op in file_ops(name, block["arguments"], call_id)])


@lru_cache(maxsize=256)
def _model(provider: str, model: str) -> str:
    if not (model and type(model) is str and type(provider) is str):
        raise ValueError("no name of a model")
    return f"{provider}/{model}"


_LENGTH = struct.Struct("<Q")
_PIPE_BYTES = 1 << 20
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""glibc gives memory back to the system after every group of lines and asks for it again, which
takes a fifth of the time."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.formats.pi.digest import serve; serve()"
)


_FIRST_HERE = 6
"""Pieces understood by the one who listens, about what there is time for until the process is
ready."""
_HERE_EVERY = 5
"""And then each of so many: placing and storing leaves that one some time, and the process is what
an import waits for."""


def is_apart(number: int) -> bool:
    """Whether the process understands the piece of this number, counted from 0."""
    return number >= _FIRST_HERE and number % _HERE_EVERY != 0


class DigestLost(Exception):
    """The process could not be started, or ended before the file did."""


class DigestProcess:
    """A process that understands the pieces of a file."""

    def __init__(self, place: Path, file: FileIO) -> None:
        """Start it on the file at ``place``, which is open as ``file``. Raises DigestLost."""
        self._file = file
        self._state = _state(file)
        if not sys.executable or getattr(sys, "frozen", False):
            raise DigestLost("this program has no interpreter of its own to start")
        # What is found through these needs nothing else of the environment.
        ours = [str(Path(__file__).parents[2]), str(Path(orjson.__file__).parents[1])]
        path = json.dumps([*ours, *(one for one in sys.path if one and one not in ours)])
        try:
            with place.open("rb", buffering=0) as child_file:
                if _state(child_file) != self._state:
                    raise DigestLost("the file is being replaced")
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _START, path],
                    stdin=child_file,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=os.environ | _KEEP_MEMORY,
                    pipesize=_PIPE_BYTES,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
        except OSError as error:
            raise DigestLost(f"no process could be started ({error})") from error

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def __enter__(self) -> DigestProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, wherever it is."""
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.kill()
        self._process.wait()

    def next(self, piece: Piece) -> Digest:
        """What the next piece that it understands holds, which was read here as ``piece``.

        Raises DigestLost when the process ended, or the file has changed."""
        output = self._process.stdout
        assert output is not None
        (size,) = _LENGTH.unpack(self._read(output, _LENGTH.size))
        end, columns, rare, *rest = marshal.loads(self._read(output, size))
        if end != piece.end or _state(self._file) != self._state:
            raise DigestLost("the file has changed")
        others, ops, count = rest
        return Digest(others, columns, ops, pickle.loads(rare), count)

    def _read(self, output: IO[bytes], size: int) -> bytes:
        block = output.read(size)
        if len(block) < size:
            raise DigestLost(f"the process that parsed it ended with {self._process.wait()}")
        return block


def _state(file: FileIO) -> tuple[int, int, int]:
    """What tells whether an open file is the one that was read, as it was then."""
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_mtime_ns


def serve() -> None:
    """What the process does."""
    # A key pressed in the terminal is for the program that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with open(0, "rb", buffering=0) as file, open(1, "wb", buffering=0) as output:
        try:
            for piece in compress(pieces(file), map(is_apart, count())):
                digested = digest(piece.lines)
                rare = pickle.dumps(digested.rare)
                answer = (
                    piece.end,
                    digested.columns,
                    rare,
                    digested.others,
                    digested.ops,
                    digested.characters,
                )
                content = marshal.dumps(answer)
                _write(output, _LENGTH.pack(len(content)) + content)
        except BrokenPipeError:
            return


def _write(output: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[output.write(rest) :]

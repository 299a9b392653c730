"""Understanding a file's lines in a separate process.

That takes the parsing off the lock under which the window and the database's writer run, and puts
a second core to use. Both read the file, in the same pieces; only what was understood passes from
one to the other, and only as long as the file does not change. The process ends when the file or
the one who listens does. Its loss costs nothing but time: who listens can understand the next
piece as well.
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
from io import FileIO
from itertools import compress, count
from pathlib import Path
from types import TracebackType
from typing import IO

import orjson

from explorer.formats.pi.digest import Digest, Piece, digest, pieces

_LENGTH = struct.Struct("<Q")
_PIPE_BYTES = 1 << 20
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""glibc gives memory back to the system after every group of lines and asks for it again, which
takes a fifth of the time."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.formats.pi.digest_process import serve; serve()"
)


_FIRST_HERE = 8
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

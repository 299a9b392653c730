"""Understanding a file's lines in a process of its own.

That takes the parsing off the lock under which the window and the database's writer run, and puts
a second core to use. The process reads the open file it is given as its input and writes what it
understood to its output; it ends when the file or the one who listens does. Its loss costs
nothing but time: whoever listens knows where to read on.
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
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO

import orjson

from explorer.formats.digest import Digest, digests

_LENGTH = struct.Struct("<Q")
_PIPE_BYTES = 1 << 20
_PLAIN = 2
"""The marshalling without references between values: quicker, and there are none."""
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""glibc gives memory back to the system after every group of lines and asks for it again, which
takes a fifth of the time."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.formats.digest_process import serve; serve()"
)


class DigestLost(Exception):
    """The process could not be started, or ended before the file did."""


class DigestProcess:
    """A process that understands the lines of a file from its start on."""

    def __init__(self, file: FileIO) -> None:
        """Start it. Raises DigestLost. ``file`` shares its position with the process and must not
        be read meanwhile."""
        file.seek(0)
        if not sys.executable or getattr(sys, "frozen", False):
            raise DigestLost("this program has no interpreter of its own to start")
        # What is found through these needs nothing else of the environment.
        ours = [str(Path(__file__).parents[2]), str(Path(orjson.__file__).parents[1])]
        path = json.dumps([*ours, *(one for one in sys.path if one and one not in ours)])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, path],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | _KEEP_MEMORY,
                pipesize=_PIPE_BYTES,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise DigestLost(f"no process could be started ({error})") from error

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

    def digests(self) -> Iterator[Digest]:
        """What ``digests`` gives of the file. Raises DigestLost when the process ends early."""
        output = self._process.stdout
        assert output is not None
        while size := _LENGTH.unpack(self._read(output, _LENGTH.size))[0]:
            lines, others, columns, ops, rare, *rest = marshal.loads(self._read(output, size))
            yield Digest(lines, others, columns, ops, pickle.loads(rare), *rest)

    def _read(self, output: IO[bytes], size: int) -> bytes:
        found = output.read(size)
        if len(found) < size:
            raise DigestLost(f"the process that parsed it ended with {self._process.wait()}")
        return found


def serve() -> None:
    """What the process does."""
    # A key pressed in the terminal is for the program that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with open(0, "rb", buffering=0) as file, open(1, "wb", buffering=0) as output:
        try:
            for one in digests(file):
                found = marshal.dumps((*one[:4], pickle.dumps(one.rare), *one[5:]), _PLAIN)
                _write(output, _LENGTH.pack(len(found)))
                _write(output, found)
            _write(output, _LENGTH.pack(0))
        except BrokenPipeError:
            return


def _write(output: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[output.write(rest) :]

"""A tokenizer in a separate process, so that counting a session does not take the interpreter
from the window."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from explorer.formats.registry import read_record
from explorer.session.records import FormatName
from explorer.tokens.counters import DEFAULT_ENCODING, Counter, TiktokenCounter, count_entry

_COUNT = struct.Struct("<I")
_PLAIN_TEXT = ""
"""In place of a format's name: what is counted is a text."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.services.counting_process import serve; serve(sys.argv[2])"
)


class CountingLost(Exception):
    """The process could not be started, or has ended."""


class ProcessCounter:
    """A ``Counter`` whose tokenizer is in a separate process. May be used from any thread.

    Where no process can be had, or it ends, it counts here: slower, and a window feels it.
    """

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        """Start the process and wait for the tokenizer: a third of a second."""
        self._lock = threading.Lock()
        self._here: TiktokenCounter | None = None
        self._process: _Process | None = None
        self.name, self._note = encoding, ""
        try:
            self._process = _Process(encoding)
            self.name, self._note = self._process.name, self._process.note
        except CountingLost:
            self._here = TiktokenCounter(encoding)
            self.name = self._here.name

    @property
    def note(self) -> str:
        """What a person should know about the counts; empty when there is nothing."""
        return self._here.note if self._here is not None else self._note

    @property
    def available(self) -> bool:
        """Whether the tokenizer itself counts."""
        return self.name != "estimate"

    @property
    def pid(self) -> int:
        """The number of the process, 0 without one."""
        return self._process.pid if self._process is not None else 0

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return self._count(_PLAIN_TEXT, [text])[0]

    def count_records(self, format_name: FormatName, records: Sequence[str]) -> list[int]:
        """Tokens of entries as they are recorded, as ``count_entry`` counts them; 0 for a record
        that cannot be read."""
        return self._count(format_name, records)

    def _count(self, format_name: FormatName, records: Sequence[str]) -> list[int]:
        content = [record.encode("utf-8", "surrogatepass") for record in records]
        with self._lock:
            if self._process is not None:
                try:
                    return self._process.count(format_name, content)
                except CountingLost:
                    self._process.close()
                    self._process = None
            if self._here is None:
                self._here = TiktokenCounter(self.name)
        return [_count_record(self._here, format_name, record) for record in content]

    def close(self) -> None:
        """End the process, whatever it is doing. What is counted later is counted here."""
        process = self._process
        if process is not None:
            process.close()


class _Process:
    def __init__(self, encoding: str) -> None:
        # An empty name would be the folder that it is started in.
        path = json.dumps([str(Path(__file__).parents[2]), *filter(None, sys.path)])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, path, encoding],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise CountingLost(f"no process could be started ({error})") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        try:
            hello = json.loads(_read(self._output, *_COUNT.unpack(_read(self._output, 4))))
        except CountingLost:
            self.close()
            raise
        self.name, self.note = str(hello["name"]), str(hello["note"])

    @property
    def pid(self) -> int:
        return self._process.pid

    def count(self, format_name: FormatName, records: list[bytes]) -> list[int]:
        name, sizes = format_name.encode(), array("Q", map(len, records))
        try:
            self._input.write(_COUNT.pack(len(name)) + name + _COUNT.pack(len(records)))
            self._input.write(sizes.tobytes())
            for record in records:
                self._input.write(record)
            self._input.flush()
            return array("q", _read(self._output, 8 * len(records))).tolist()
        except (OSError, ValueError) as error:
            raise CountingLost(f"the counting process is gone ({error})") from error

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            try:
                pipe.close()
            except OSError:
                continue  # what was still in the pipe is not wanted any more


def _read(pipe: IO[bytes], size: int) -> bytes:
    block = pipe.read(size)
    if len(block) < size:
        raise CountingLost("the counting process has ended")
    return block


def _count_record(counter: Counter, format_name: FormatName, record: bytes) -> int:
    if format_name == _PLAIN_TEXT:
        return counter.count(record.decode("utf-8", "surrogatepass"))
    return count_entry(counter, read_record(format_name, record))


def serve(encoding: str) -> None:
    """The process's main function: count until its input closes."""
    # A key pressed in the terminal is for the program that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    counter = TiktokenCounter(encoding)
    with os.fdopen(0, "rb") as asked, os.fdopen(1, "wb") as output:
        hello = json.dumps({"name": counter.name, "note": counter.note}).encode()
        output.write(_COUNT.pack(len(hello)) + hello)
        output.flush()
        while head := asked.read(_COUNT.size):
            name = asked.read(*_COUNT.unpack(head)).decode()
            (count,) = _COUNT.unpack(asked.read(_COUNT.size))
            sizes = array("Q", asked.read(8 * count))
            counts = array("q", (_count_record(counter, name, asked.read(at)) for at in sizes))
            output.write(counts.tobytes())
            output.flush()

"""Counting the entries of a session, a few hundred lines at a time.

Loading a tokenizer keeps the interpreter's lock for 140 ms, and reading the lines takes it over and
over: a window would show both. So it is done in a process of its own, which takes the tokenizer's
80 MB with it when it ends.
"""

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

from explorer.session.json_values import read_json
from explorer.tokens.counters import Counter, TiktokenCounter, count_entry

DEFAULT_ENCODING = "o200k_base"
_COUNT = struct.Struct("<I")
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.tokens.counting import serve; serve(sys.argv[2])"
)


class CountingLost(Exception):
    """The process could not be started, or has ended."""


class ProcessCounter:
    """A ``Counter`` whose tokenizer is in a process of its own. May be used from any thread.

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
        return self.count_lines([json.dumps({"type": "custom_message", "content": text})])[0]

    def count_lines(self, lines: Sequence[str]) -> list[int]:
        """Tokens of entries as they stand in a file, as ``count_entry`` counts them; 0 for a line
        that is no JSON object."""
        content = [line.encode("utf-8", "surrogatepass") for line in lines]
        with self._lock:
            if self._process is not None:
                try:
                    return self._process.count(content)
                except CountingLost:
                    self._process.close()
                    self._process = None
            if self._here is None:
                self._here = TiktokenCounter(self.name)
        return [_count_line(self._here, line) for line in content]

    def close(self) -> None:
        """End the process, whatever it is doing. What is counted later is counted here."""
        process = self._process
        if process is not None:
            process.close()


class _Process:
    def __init__(self, encoding: str) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise CountingLost("this program has no interpreter of its own to start")
        root = str(Path(__file__).parents[2])
        path = json.dumps([root, *(one for one in sys.path if one and one != root)])
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

    def count(self, lines: list[bytes]) -> list[int]:
        sizes = array("Q", map(len, lines))
        try:
            self._input.write(_COUNT.pack(len(lines)) + sizes.tobytes())
            for line in lines:
                self._input.write(line)
            self._input.flush()
            return array("q", _read(self._output, 8 * len(lines))).tolist()
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
    found = pipe.read(size)
    if len(found) < size:
        raise CountingLost("the counting process has ended")
    return found


def _count_line(counter: Counter, line: bytes) -> int:
    try:
        entry = read_json(line)
    except ValueError:
        return 0
    return count_entry(counter, entry) if isinstance(entry, dict) else 0


def serve(encoding: str) -> None:
    """What the process does: count until nobody asks any more."""
    # A key pressed in the terminal is for the program that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    counter = TiktokenCounter(encoding)
    with os.fdopen(0, "rb") as asked, os.fdopen(1, "wb") as told:
        hello = json.dumps({"name": counter.name, "note": counter.note}).encode()
        told.write(_COUNT.pack(len(hello)) + hello)
        told.flush()
        while head := asked.read(_COUNT.size):
            (count,) = _COUNT.unpack(head)
            sizes = array("Q", asked.read(8 * count))
            counts = array("q", (_count_line(counter, asked.read(size)) for size in sizes))
            told.write(counts.tobytes())
            told.flush()

"""Counting tokens with a tokenizer, offline, or with the estimate where there is none.

tiktoken wants to fetch its encodings from the network; the litellm wheel carries three of them,
so they are read from there, without importing litellm (which takes seconds).
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Protocol

import tiktoken

from explorer.session.json_values import read_json
from explorer.tokens.estimate import IMAGE_TOKENS, estimate_entry, estimate_text, js_json

PIECE_BYTES = 100_000
"""What the tokenizer is given at once: it panics on a million spaces."""

ENCODINGS: dict[str, tuple[str, str]] = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "p50k_base": (
        "ec7223a39ce59f226a68acc30dc1af2788490e15",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
}
"""Encodings that can be read offline: file name and SHA-256 of the file."""

_loading = threading.Lock()


class Counter(Protocol):
    """Counts the tokens of texts."""

    @property
    def name(self) -> str:
        """What counts, for people."""

    @property
    def note(self) -> str:
        """What a person should know about the counts; empty when there is nothing."""

    def count(self, text: str) -> int:
        """Tokens of a text. Never raises for what a text holds."""


class EstimateCounter:
    """UTF-16 units divided by four (B8)."""

    name = "estimate"
    note = ""

    def count(self, text: str) -> int:
        """Tokens of a text by the estimate."""
        return estimate_text(text)


class TiktokenCounter:
    """A tokenizer of the tiktoken library, without network.

    When the encoding cannot be had, ``available`` is false, the estimate counts, and ``note``
    says why.
    """

    def __init__(self, encoding: str = "o200k_base", directory: Path | None = None) -> None:
        """``directory``: where the encoding files are; default is the litellm wheel's."""
        self.name = encoding
        self.note = ""
        self._encoding: tiktoken.Encoding | None = None
        try:
            self._encoding = _load(encoding, directory or wheel_directory())
        except (OSError, ValueError) as error:
            self.name = "estimate"
            self.note = f"Tokens are estimated: the tokenizer {encoding} is missing ({error})."

    @property
    def available(self) -> bool:
        """Whether the tokenizer itself counts."""
        return self._encoding is not None

    def count(self, text: str) -> int:
        """Tokens of a text."""
        if self._encoding is None:
            return estimate_text(text)
        return sum(self._count(self._encoding, piece) for piece in pieces(text))

    def _count(self, encoding: tiktoken.Encoding, piece: str) -> int:
        try:
            return len(encoding.encode_ordinary(piece))
        except BaseException as error:
            # A panic of the Rust code does not derive from Exception, and its class has no name
            # that could be imported.
            if type(error).__name__ != "PanicException":
                raise
            self.note = f"A part of a text was estimated: the tokenizer {self.name} failed on it."
            return estimate_text(piece)


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most ``PIECE_BYTES``, cut after line ends where there are any."""
    limit = PIECE_BYTES if text.isascii() else PIECE_BYTES // 4
    start = 0
    while len(text) - start > limit:
        stop = text.rfind("\n", start + limit // 2, start + limit) + 1 or start + limit
        yield text[start:stop]
        start = stop
    if start < len(text):
        yield text[start:]


def wheel_directory() -> Path:
    """Where the litellm wheel keeps its encoding files. Raises FileNotFoundError without it."""
    found = find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("litellm is not installed")
    return Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


def _load(name: str, directory: Path) -> tiktoken.Encoding:
    if name not in ENCODINGS:
        raise ValueError(f"no encoding {name}; there are {', '.join(ENCODINGS)}")
    file_name, digest = ENCODINGS[name]
    with _loading:
        # tiktoken deletes a damaged file and asks the network for another, so look first.
        if hashlib.sha256((directory / file_name).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{directory / file_name} is damaged")
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(directory)
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


def count_entry(counter: Counter, entry: Mapping[str, Any]) -> int:
    """Tokens of an entry: its texts by the counter, every image ``IMAGE_TOKENS``; metadata 0.

    Unlike the estimate column this counts images of user messages too (B6).
    """
    if isinstance(counter, EstimateCounter):
        return estimate_entry(entry) + IMAGE_TOKENS * _user_images(entry)
    message = entry.get("message")
    if entry.get("type") == "message":
        source: Mapping[str, Any] = message if isinstance(message, dict) else {}
    elif entry.get("type") in ("custom_message", "compaction", "branch_summary"):
        source = entry
    else:
        return 0
    total = sum(counter.count(text) for text in _own_texts(source))
    content = source.get("content")
    if isinstance(content, str):
        return total + counter.count(content)
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "image":
            total += IMAGE_TOKENS
        elif text := _block_text(block):
            total += counter.count(text)
    return total


def _own_texts(source: Mapping[str, Any]) -> Iterator[str]:
    """Texts that are fields of a message or entry, not blocks of its content."""
    for key in ("summary", "command", "code", "output"):
        value = source.get(key)
        if isinstance(value, str):
            yield value
    files = source.get("files")
    for file in files if isinstance(files, list) else []:
        if isinstance(file, dict):
            yield from (file[key] for key in ("path", "content") if isinstance(file.get(key), str))


def _block_text(block: Mapping[str, Any]) -> str:
    block_type = block.get("type")
    if block_type == "toolCall":
        arguments = js_json(block["arguments"]) if "arguments" in block else ""
        return f"{block.get('name') or ''}{arguments}"
    value = block.get(block_type) if block_type in ("text", "thinking") else None
    return value if isinstance(value, str) else ""


def _user_images(entry: Mapping[str, Any]) -> int:
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "user":
        return 0
    content = message.get("content")
    if not isinstance(content, list):
        return 0
    return sum(1 for block in content if isinstance(block, dict) and block.get("type") == "image")


DEFAULT_ENCODING = "o200k_base"
_COUNT = struct.Struct("<I")
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from explorer.tokens.counters import serve; serve(sys.argv[2])"
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

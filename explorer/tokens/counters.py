"""Counting tokens with a tokenizer, offline, or with the estimate where there is none.

tiktoken wants to fetch its encodings from the network; the litellm wheel carries three of them,
so they are read from there, without importing litellm (which takes seconds).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import tiktoken

from explorer.session.entries import (
    Body,
    BranchSummary,
    CompactionSummary,
    Entry,
    FilesMessage,
    ImageBlock,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    UserMessage,
    images_of,
)
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
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("litellm is not installed")
    return Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


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


def count_entry(counter: Counter, entry: Entry) -> int:
    """Tokens of an entry: its texts by the counter, every image ``IMAGE_TOKENS``; metadata 0.

    Unlike the estimate column this counts images of user messages too (B6).
    """
    body = entry.body
    if isinstance(counter, EstimateCounter):
        images = len(images_of(body.content)) if isinstance(body, UserMessage) else 0
        return estimate_entry(entry) + IMAGE_TOKENS * images
    total = sum(counter.count(text) for text in _field_texts(body) if text)
    for block in entry.content:
        match block:
            case ImageBlock():
                total += IMAGE_TOKENS
            case TextBlock() | ThinkingBlock():
                total += counter.count(block.text)
            case ToolCallBlock():
                arguments = js_json(block.arguments) if block.arguments is not None else ""
                total += counter.count(f"{block.name}{arguments}")
    return total


def _field_texts(body: Body) -> Iterator[str]:
    """Texts that are fields of a message or summary, not blocks of its content."""
    match body:
        case CompactionSummary() | BranchSummary() | SummaryMessage():
            yield body.summary
        case ShellMessage():
            yield from (body.command, body.output)
        case FilesMessage():
            for file in body.files:
                yield from (file.path, file.content)


DEFAULT_ENCODING = "o200k_base"

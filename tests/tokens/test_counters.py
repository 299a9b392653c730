"""Tokenizers that count without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.formats.pi.entries import read_entry
from explorer.tokens.counters import (
    ENCODINGS,
    PIECE_BYTES,
    EstimateCounter,
    TiktokenCounter,
    count_entry,
    pieces,
)


@pytest.fixture(scope="module", params=sorted(ENCODINGS))
def counter(request: pytest.FixtureRequest) -> TiktokenCounter:
    return TiktokenCounter(request.param)


def test_encodings_are_read_from_the_wheel(counter: TiktokenCounter) -> None:
    """The suite lets nothing reach the network."""
    assert counter.available
    assert counter.note == ""
    assert counter.count("hello world") == 2


def test_a_million_spaces_are_counted_and_do_not_panic(counter: TiktokenCounter) -> None:
    assert 0 < counter.count(" " * 1_000_000) < 1_000_000
    assert counter.note == ""


def test_odd_texts_are_counted(counter: TiktokenCounter) -> None:
    assert counter.count("") == 0
    assert counter.count("a\ud800b") > 1
    # Session text never turns into a control token.
    assert counter.count("<|endoftext|>") > 1


def test_pieces_are_small_and_lose_nothing() -> None:
    for text in ("ab\n" * 100_000, "x" * 250_001, "日" * 90_000, "", "short"):
        parts = list(pieces(text))
        assert "".join(parts) == text
        assert all(len(part.encode()) <= PIECE_BYTES for part in parts)


def test_a_missing_encoding_falls_back_to_the_estimate_and_says_so(tmp_path: Path) -> None:
    counter = TiktokenCounter("o200k_base", directory=tmp_path)
    assert not counter.available
    assert counter.count("12345") == 2
    assert counter.name == "estimate"
    assert "o200k_base" in counter.note


def test_a_damaged_encoding_is_neither_used_nor_deleted(tmp_path: Path) -> None:
    damaged = tmp_path / ENCODINGS["o200k_base"][0]
    damaged.write_bytes(b"not an encoding")
    counter = TiktokenCounter("o200k_base", directory=tmp_path)
    assert not counter.available
    assert "damaged" in counter.note
    assert damaged.exists()


def test_an_unknown_encoding_is_named() -> None:
    assert "nothing_base" in TiktokenCounter("nothing_base").note


def test_counting_does_not_import_litellm() -> None:
    code = (
        "import sys; from explorer.tokens.counters import TiktokenCounter;"
        "assert TiktokenCounter().available; assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_b6_entries_count_their_texts_and_every_image() -> None:
    counter = TiktokenCounter("o200k_base")
    image = {"type": "image", "data": ""}
    user = {"role": "user", "content": [{"type": "text", "text": "hello world"}, image]}
    assert count_entry(counter, read_entry({"type": "message", "message": user})) == 1202
    assert count_entry(EstimateCounter(), read_entry({"type": "message", "message": user})) == 1203
    reply = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hello world"},
            {"type": "toolCall", "name": "read", "arguments": {"path": "a"}},
        ],
    }
    call = counter.count('read{"path":"a"}')
    assert count_entry(counter, read_entry({"type": "message", "message": reply})) == 2 + call
    bash = {"role": "bashExecution", "command": "hello", "output": "hello world"}
    assert count_entry(counter, read_entry({"type": "message", "message": bash})) == 3
    assert count_entry(counter, read_entry({"type": "compaction", "summary": "hello world"})) == 2
    assert (
        count_entry(counter, read_entry({"type": "custom_message", "content": "hello world"})) == 2
    )
    assert count_entry(counter, read_entry({"type": "label", "label": "hello"})) == 0
    mention = {"role": "fileMention", "files": [{"path": "hello", "content": "hello world"}]}
    assert count_entry(counter, read_entry({"type": "message", "message": mention})) == 3

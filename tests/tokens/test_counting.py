"""Counting lines in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.formats.pi.entries import read_entry
from explorer.services.counting_process import ProcessCounter
from explorer.tokens.counters import TiktokenCounter, count_entry


def line(text: str, **more: object) -> str:
    return json.dumps({"type": "message", "message": {"role": "user", "content": text}} | more)


LINES = [
    line("Read src/queue.py and tell me what it does."),
    line("naïve 日本 " * 40),
    line("a lone surrogate \ud800 stays"),
    json.dumps({"type": "label", "targetId": "a", "label": "b"}),
    "no JSON at all",
    "[1, 2]",
    "",
    '{"type": "message", "message": {"role": "user", "content": "\\ud800 and \\n more"}}',
]


def here(name: str = "o200k_base") -> list[int]:
    counter = TiktokenCounter(name)
    return [count_entry(counter, read_entry(entry)) for entry in map(entry_of, LINES)]


def entry_of(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@pytest.fixture
def counter() -> Iterator[ProcessCounter]:
    made = ProcessCounter()
    yield made
    made.close()


def test_a_process_counts_what_the_tokenizer_counts_here(counter: ProcessCounter) -> None:
    assert counter.pid
    assert counter.count_records("pi", LINES) == here()
    assert counter.count_records("pi", []) == []
    assert here()[0] > 5 and here()[3:7] == [0, 0, 0, 0]
    text = "What a summary says,\nwith naïve words and \ud800."
    assert counter.count(text) == TiktokenCounter().count(text)
    assert (counter.name, counter.note, counter.available) == ("o200k_base", "", True)


def test_an_encoding_that_is_missing_is_estimated_and_said_so() -> None:
    counter = ProcessCounter("no_such_base")
    assert not counter.available
    assert "no_such_base" in counter.note
    assert counter.count_records("pi", LINES) == here("no_such_base")
    counter.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_when_the_process_is_killed_the_counts_go_on(counter: ProcessCounter) -> None:
    assert counter.count_records("pi", LINES) == here()
    os.kill(counter.pid, signal.SIGKILL)
    assert counter.count_records("pi", LINES) == here()
    assert counter.pid == 0


def test_without_an_interpreter_to_start_it_counts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    counter = ProcessCounter()
    assert counter.pid == 0
    assert counter.count_records("pi", LINES) == here()

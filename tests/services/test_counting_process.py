"""The process that counts: what goes in and comes out, and what is done without it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from explorer.services.counting_process import ProcessCounter
from explorer.tokens.counters import DEFAULT_ENCODING, TiktokenCounter
from tests.store.sources import message

TEXTS = ["", "one two three", "é 値段 \ud800 " * 50, "x" * 5_000]


@pytest.fixture(scope="module")
def counter() -> Iterator[ProcessCounter]:
    made = ProcessCounter()
    yield made
    made.close()


def test_texts_and_records_are_counted_as_they_are_here(counter: ProcessCounter) -> None:
    here = TiktokenCounter()
    assert (counter.name, counter.note, counter.available) == (here.name, here.note, True)
    assert counter.name == DEFAULT_ENCODING and counter.pid > 0
    assert [counter.count(text) for text in TEXTS] == [here.count(text) for text in TEXTS]
    records = [json.dumps(message(at, None, text)) for at, text in enumerate(TEXTS)]
    counted = counter.count_records("pi", [*records, "no record", ""])
    assert counted == [*(here.count(text) for text in TEXTS), 0, 0]
    assert counter.count_records("pi", []) == []


def test_what_is_counted_after_its_end_is_counted_here(counter: ProcessCounter) -> None:
    counter.close()
    assert counter.count("one two three") == TiktokenCounter().count("one two three")
    assert counter.pid == 0 and counter.available

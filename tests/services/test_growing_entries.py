"""A session of another agent that is read again while its agent still writes its last entries."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from explorer.formats import registry
from explorer.services.changes import Change, EntriesAppended, EntriesChanged
from explorer.tokens.counters import EstimateCounter
from explorer.workbench import Workbench
from tests.services.test_new_format import MAGIC, Parley
from tests.store.conftest import eventually

FIRST = [
    [1, None, "me", "Look at the quay."],
    [2, 1, "bot", "I look."],
]
GREW = [2, 1, "bot", ["c1", "read", {"path": "quay.py"}]]
ANSWER = [3, 2, "tool", ["c1", "QUAY = 7"]]


def write(path: Path, lines: list[object]) -> Path:
    path.write_text("\n".join([MAGIC.decode() + "quay", *map(json.dumps, lines)]) + "\n")
    return path


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setitem(registry.ADAPTERS, "parley", Parley())
    return write(tmp_path / "quay.parley", FIRST)


def test_an_entry_that_grew_is_shown_as_it_is_now(bench: Workbench, file: Path) -> None:
    async def story() -> None:
        key = (await bench.import_file(file)).key
        document = await bench.open(key)
        changes: list[Change] = []
        bench.subscribe(changes.append)
        assert document.payloads.shown.entry(1).calls == () and document.leaf == 1
        await document.usage.follow()
        before = document.tree.columns.estimate[1]
        document.context()
        report = await bench.import_file(write(file, [*FIRST, GREW, ANSWER]))
        assert (report.added, report.replaced) == (1, (1,))
        assert [call.name for call in document.payloads.shown.entry(1).calls] == ["read"]
        assert document.tree.columns.estimate[1] > before
        lines = bench.store.records(key, 0, 2)
        assert bench.sessions()[0].size == sum(len(one.raw) for one in lines)
        ops = document.tree.columns.ops
        assert (list(ops.entry), list(ops.result), ops.paths) == ([1], [2], ["quay.py"])
        assert document.leaf == 2 and document.context().messages == [0, 1, 2]
        kinds = [type(one) for one in changes]
        assert kinds.index(EntriesChanged) < kinds.index(EntriesAppended)
        again = bench.store.load(key).tree.columns
        assert list(again.estimate) == list(document.tree.columns.estimate)
        assert again.ops.paths == ["quay.py"]

    asyncio.run(story())


def test_a_secret_that_it_grew_by_is_masked(bench: Workbench, file: Path) -> None:
    key = "ghp_" + "x1Y2z3W4v5U6" * 3

    async def story() -> None:
        document = await bench.open((await bench.import_file(file)).key)
        shown = document.payloads.shown
        assert shown.first_words([1])[0] == ["I look."] and "I look." in str(shown.entry(1))
        await bench.import_file(write(file, [FIRST[0], [2, 1, "bot", f"I look by {key}"]]))
        assert key not in str(shown.entry(1)) and "I look by ghp_" in str(shown.entry(1))
        (words,), _ = shown.first_words([1])
        assert words.startswith("I look by ghp_") and key not in words

    asyncio.run(story())


def test_a_tokenizers_count_of_it_is_not_used_any_more(bench: Workbench, file: Path) -> None:
    async def story() -> None:
        key = (await bench.import_file(file)).key
        document = await bench.open(key)
        assert await document.tokens.count(
            EstimateCounter(), lambda _done, _all: None, lambda: False
        )
        counted = document.tokens.entry_tokens(1)
        await bench.import_file(write(file, [*FIRST, GREW, ANSWER]))
        assert document.tokens.weights is not None and document.tokens.weights[1] == -1
        assert document.tokens.entry_tokens(1) == document.tree.columns.estimate[1] > counted
        await document.tokens.count_new()
        assert min(document.tokens.weights) >= 0 and len(document.tokens.weights) == 3

    asyncio.run(story())


def test_its_new_words_are_found_and_the_old_ones_are_not(bench: Workbench, file: Path) -> None:
    key = bench.import_blocking(file).key
    eventually(lambda: bench.store.search_state().complete, "the index is complete")
    assert len(list(bench.store.search("look"))) == 2
    changed = [FIRST[0], [2, 1, "bot", "Seen. It is a harbour."]]
    bench.import_blocking(write(file, changed))
    eventually(lambda: bench.store.search_state().complete, "the index is complete again")
    assert [hit.index for hit in bench.store.search("harbour", key)] == [1]
    assert [hit.index for hit in bench.store.search("look", key)] == [0]


def test_what_was_added_here_stays_below_it(bench: Workbench, file: Path) -> None:
    async def story() -> None:
        key = (await bench.import_file(file)).key
        document = await bench.open(key)
        await document.edits.set_label(1, "the quay")
        await bench.import_file(write(file, [*FIRST, GREW, ANSWER]))
        assert document.tree.labels() == {1: "the quay"}
        assert len(document.tree) == 4 and list(document.tree.columns.parent) == [-1, 0, 1, 1]

    asyncio.run(story())

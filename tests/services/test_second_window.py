"""Two windows on one database: what one appends, the other is told of by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from explorer.services.changes import Change, EntriesAppended, LabelsChanged, LeafMoved
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, close_bench, open_bench


def test_a_second_window_is_told_of_what_the_first_appends(database: Path) -> None:
    first, second = open_bench(database), open_bench(database)
    key = first.import_blocking(SAMPLE).key
    mine, theirs = first.open_blocking(key), second.open_blocking(key)
    seen: list[Change] = []
    told = asyncio.Event()

    async def follow() -> list[int]:
        loop = asyncio.get_running_loop()

        def note(change: Change) -> None:
            seen.append(change)
            if isinstance(change, LabelsChanged):
                told.set()

        second.subscribe(note)
        stop = second.watch(loop.call_soon_threadsafe)
        message = {"role": "user", "content": "from the first window"}
        appended = [
            await mine.writer.append(entry_body("message", message=message), mine.leaf),
            await mine.edits.set_label(3, "look here"),
        ]
        async with asyncio.timeout(20):
            await told.wait()
        stop()
        return appended

    leaf = theirs.leaf
    appended = asyncio.run(follow())
    news = [change for change in seen if isinstance(change, EntriesAppended)]
    assert [at for c in news for at in range(c.first, c.first + c.count)] == appended
    assert theirs.tree.columns.ids == mine.tree.columns.ids
    assert theirs.tree.labels()[3] == "look here"
    # Where the second one is, is its own affair.
    assert theirs.leaf == leaf
    assert not [change for change in seen if isinstance(change, LeafMoved)]
    for bench in (first, second):
        close_bench(bench)


def test_a_leaf_that_moves_while_an_import_is_taken_in_stays_within_the_tree(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_bench(database), open_bench(database)
    report = first.import_blocking(SAMPLE)
    mine, theirs = first.open_blocking(report.key), second.open_blocking(report.key)
    pull = theirs.writer.pull

    def pull_and_be_outrun() -> bool:
        pulled = pull()
        message = {"role": "user", "content": "from the first window"}
        asyncio.run(mine.writer.append(entry_body("message", message=message), mine.leaf))
        return pulled

    monkeypatch.setattr(theirs.writer, "pull", pull_and_be_outrun)
    second.take_import(report)
    assert theirs.leaf < len(theirs.tree) < len(mine.tree)
    for bench in (first, second):
        close_bench(bench)

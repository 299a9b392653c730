"""A window that is open for hours: what it uses stays as it is, whatever goes on in it."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QThreadPool

from explorer.services.draft_records import Draft
from explorer.settings.paths import database_path, resource_path
from explorer.store.database import MOST_IDLE
from tests.descriptors import CAN_COUNT, open_descriptors
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import draft
from ui.main_window import TABS

MOST_CONNECTIONS = MOST_IDLE + 3
"""With the one that writes, the search index, and one that is about to be closed."""
BLOCKS_PER_ENTRY = 8
"""Of Python's memory, for an entry of 700 bytes of which only the columns stay."""
APPENDED = 500

APPENDS = """
import json, sys, time
from explorer.store import Store
path, key = sys.argv[1], int(sys.argv[2])
with Store.open(path) as store:
    parent = store.load(key).tree.columns.ids[-1]
    for order in sys.stdin:
        count, pause = order.split()
        for number in range(int(count)):
            entry_id = f"more-{time.time_ns():x}"
            content = [{"type": "text", "text": f"{number} " + "and so it goes on " * 30}]
            entry = {"type": "message", "id": entry_id, "parentId": parent,
                     "timestamp": "2026-01-02T03:04:06.000Z",
                     "message": {"role": "assistant" if number % 4 else "user",
                                 "content": content}}
            store.append(key, [(json.dumps(entry), parent)], leaf_id=entry_id).result()
            parent = entry_id
            time.sleep(float(pause))
"""


@pytest.fixture(autouse=True)
def nothing_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests left, up to a million objects, is not gone through at every look; all of
    this test is, also what the window would let the collector pass by."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    monkeypatch.setattr(gc, "freeze", lambda: None)


class AnotherProgram:
    """Appends to the session that the window shows."""

    def __init__(self, live: RunningWindow) -> None:
        self._live = live
        arguments = (str(database_path()), str(live.document.key))
        self._process = subprocess.Popen(
            [sys.executable, "-c", APPENDS, *arguments],
            env=os.environ | {"PYTHONPATH": str(resource_path().parent)},
            stdin=subprocess.PIPE,
            text=True,
        )

    async def append(self, count: int, pause_s: float) -> None:
        """The window takes in each piece as soon as it is there."""
        document, bench = self._live.document, self._live.session.state.bench
        assert bench is not None and self._process.stdin is not None
        wanted = len(document.tree) + count
        self._process.stdin.write(f"{count} {pause_s}\n")
        self._process.stdin.flush()
        while len(document.tree) < wanted:
            assert self._process.poll() is None, "the other program failed"
            bench.pull()
            await asyncio.sleep(0.02)
        await at_rest(self._live)

    def __enter__(self) -> AnotherProgram:
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


async def at_rest(live: RunningWindow) -> None:
    """Nothing is under way, in no thread, and what is dead is freed."""
    await live.idle()
    await asyncio.to_thread(QThreadPool.globalInstance().waitForDone, 5_000)
    await live.idle()
    gc.collect()


def is_open(connection: sqlite3.Connection) -> bool:
    """Whether a connection is not closed; one of another thread says only whose it is."""
    try:
        _ = connection.total_changes
    except sqlite3.ProgrammingError as error:
        return "closed" not in str(error)
    return True


def in_use() -> tuple[int, int]:
    """Open connections to databases, and descriptors."""
    everything = gc.get_objects()
    connections = sum(isinstance(each, sqlite3.Connection) and is_open(each) for each in everything)
    return connections, open_descriptors() if CAN_COUNT else 0


def assert_no_more(before: tuple[int, int]) -> None:
    now = in_use()
    assert now[0] <= MOST_CONNECTIONS, f"{now[0]} connections are open"
    assert now[1] <= before[1] + 2 * MOST_CONNECTIONS, f"{before[1]} descriptors became {now[1]}"


async def test_entries_of_another_program_take_no_descriptors_and_little_memory(
    house: House,
) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+2")
    with AnotherProgram(live) as other:
        await other.append(4, 0.02)
        before = in_use()
        await other.append(20, 0.03)
        assert_no_more(before)
        grown = []
        for _ in range(6):
            blocks = sys.getallocatedblocks()
            await other.append(APPENDED, 0.0)
            grown.append((sys.getallocatedblocks() - blocks) / APPENDED)
    # Little more than its columns stays of an entry; what else is kept has a limit and fills once.
    assert min(grown) < BLOCKS_PER_ENTRY, grown


async def test_sessions_opened_in_turn_leave_nothing_behind(house: House, tmp_path: Path) -> None:
    live = await house.start(sample_path())
    live.drop(*(write_session(tmp_path / f"{seed}.jsonl", 150, seed=seed) for seed in (1, 2)))
    await live.until(lambda: len(live.session.state.bench.sessions()) == 3, "the sessions")
    await at_rest(live)
    keys = [row.key for row in live.session.state.bench.sessions()]
    before, seen = in_use(), []
    for number in range(9):
        await live.session.sessions.open_now(keys[number % 3])
        await live.idle()
        seen.append(weakref.ref(live.document))
    await at_rest(live)
    left = [each() for each in seen[:-1] if each() not in (None, live.document)]
    assert not left
    assert_no_more(before)


async def test_searches_and_tabs_take_no_descriptors(house: House) -> None:
    live = await house.start(sample_path())
    await at_rest(live)
    before = in_use()
    for number in range(18):
        live.window.inspector.setCurrentIndex(number % len(TABS))
        live.window.map.select(number * 5)
        live.session.search.search(("retry", "queue", "kangaroo")[number % 3], number % 2 == 0)
        await live.idle()
    await at_rest(live)
    assert_no_more(before)


async def test_discarded_drafts_are_forgotten(house: House) -> None:
    live = await house.start(sample_path())
    panel = live.window.compaction
    await at_rest(live)
    before, drafts = in_use(), drafts_there_are()
    for _ in range(6):
        await draft(live)
        live.click(panel.draft.discard)
        await live.idle()
    await at_rest(live)
    # The panel may know what was drafted last.
    assert drafts_there_are() <= drafts + 1
    assert_no_more(before)


def drafts_there_are() -> int:
    return sum(isinstance(each, Draft) for each in gc.get_objects())

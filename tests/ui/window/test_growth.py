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

APPENDS = """
import json, sys, time
from explorer.store import Store
path, key, count, pause = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with Store.open(path) as store:
    parent = store.load(key).tree.columns.ids[-1]
    for number in range(count):
        entry_id = f"more-{time.time_ns():x}"
        content = [{"type": "text", "text": f"{number} " + "and so it goes on " * 30}]
        entry = {"type": "message", "id": entry_id, "parentId": parent,
                 "timestamp": "2026-01-02T03:04:06.000Z",
                 "message": {"role": "assistant" if number % 4 else "user", "content": content}}
        store.append(key, [(json.dumps(entry), parent)], leaf_id=entry_id).result()
        parent = entry_id
        time.sleep(pause)
"""


async def take_from_another_process(live: RunningWindow, count: int, pause_s: float) -> None:
    """Another program appends, and the window takes in each piece as soon as it is there."""
    document, bench = live.document, live.session.state.bench
    assert bench is not None
    wanted = len(document.tree) + count
    arguments = (str(database_path()), str(document.key), str(count), str(pause_s))
    other = subprocess.Popen(
        [sys.executable, "-c", APPENDS, *arguments],
        env=os.environ | {"PYTHONPATH": str(resource_path().parent)},
    )
    try:
        while len(document.tree) < wanted:
            assert other.poll() in (None, 0), "the other program failed"
            bench.pull()
            await asyncio.sleep(0.02)
        await asyncio.to_thread(other.wait, 20)
    finally:
        other.kill()
        other.wait()
    await at_rest(live)


async def at_rest(live: RunningWindow) -> None:
    """Nothing is under way, in no thread, and what is dead is freed."""
    await live.idle()
    await asyncio.to_thread(QThreadPool.globalInstance().waitForDone, 5_000)
    await live.idle()
    # What was there when the window started is counted too.
    gc.unfreeze()
    gc.collect()


def in_use() -> tuple[int, int]:
    """Connections to databases, and descriptors."""
    connections = sum(isinstance(each, sqlite3.Connection) for each in gc.get_objects())
    return connections, open_descriptors() if CAN_COUNT else 0


def assert_no_more(before: tuple[int, int]) -> None:
    now = in_use()
    assert now[0] <= MOST_CONNECTIONS, f"{now[0]} connections are open"
    assert now[1] <= before[1] + 2 * MOST_CONNECTIONS, f"{before[1]} descriptors became {now[1]}"


async def test_entries_of_another_program_take_no_descriptors(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+2")
    await take_from_another_process(live, 4, 0.02)
    before = in_use()
    await take_from_another_process(live, 30, 0.03)
    assert_no_more(before)


async def test_an_appended_entry_takes_little_more_than_its_columns(house: House) -> None:
    live = await house.start(sample_path())
    await take_from_another_process(live, 200, 0.0)
    before = sys.getallocatedblocks()
    await take_from_another_process(live, 1_000, 0.0)
    more = (sys.getallocatedblocks() - before) / 1_000
    assert more < BLOCKS_PER_ENTRY


async def test_sessions_opened_in_turn_leave_nothing_behind(house: House, tmp_path: Path) -> None:
    live = await house.start(sample_path())
    live.drop(*(write_session(tmp_path / f"{seed}.jsonl", 150, seed=seed) for seed in (1, 2)))
    await live.until(lambda: len(live.session.state.bench.sessions()) == 3, "the sessions")
    await at_rest(live)
    keys = [row.key for row in live.session.state.bench.sessions()]
    before, seen = in_use(), []
    for number in range(15):
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
    for number in range(24):
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

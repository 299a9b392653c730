"""The window for minutes: another program appends to the session shown, then sessions change."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.children.process import memory_mb
from tests.benchmarks.children.window import run_window, until
from tests.descriptors import CAN_COUNT, open_descriptors
from ui.main_window import TABS
from ui.session import WindowSession

PER_SECOND = 20
ENTRY_BYTES = 1_000
QUERIES = ("queue", "session parser", "kangaroo", "retry", "")
WORDS = "the queue waits until the session was read and then goes on with the next one "
_THREADS = Path("/proc/self/task")


def soak(home: str, seconds: float, openings: int) -> Any:
    """Samples (seconds, descriptors, threads, MB, entries) while entries arrive, once a second;
    then the MB after each opening of a session, and the descriptors and threads at the end."""
    return run_window(lambda running: _soak(running, home, seconds, openings))


async def _soak(running: WindowSession, home: str, seconds: float, openings: int) -> dict[str, Any]:
    bench = running.state.bench
    assert bench is not None
    keys = [row.key for row in bench.sessions()]
    await running.sessions.open_now(keys[0])
    await _idle(running)
    await asyncio.sleep(1)
    document = running.state.document
    assert document is not None
    before = len(document.tree)
    other = _append_from_another_process(home, keys[0], seconds)
    try:
        await until(lambda: len(document.tree) > before)
        samples = await _watch(running, seconds)
    finally:
        other.terminate()
        other.wait()
    memory: list[float] = []
    for number in range(1, openings + 1):
        await running.sessions.open_now(keys[number % len(keys)])
        await _idle(running)
        memory.append(memory_mb())
    return {"samples": samples, "openings_mb": memory, "end": _sample(running, 0.0)}


def _append_from_another_process(home: str, key: int, seconds: float) -> subprocess.Popen[bytes]:
    arguments = {"home": home, "key": key, "seconds": seconds + 60, "per_second": PER_SECOND}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.child", os.devnull,
         "window_soak", "append", json.dumps(arguments)],
    )  # fmt: skip


def append(home: str, key: int, seconds: float, per_second: float) -> None:
    """Append replies to a session at a steady rate, as an agent at work in another program."""
    from explorer.formats.registry import write_record
    from explorer.session.entries import AssistantMessage, Entry, UserMessage, text_content
    from explorer.store import Store
    from tests.benchmarks.children.storing import database_of

    text = (WORDS * (ENTRY_BYTES // len(WORDS) + 1))[: ENTRY_BYTES - 250]
    with Store.open(database_of(home)) as store:
        parent = store.load(key).tree.columns.ids[-1]
        start = time.monotonic()
        for number in range(int(seconds * per_second)):
            content = text_content(f"{number} {text}")
            entry_id = f"soak-{time.time_ns():x}"
            body = AssistantMessage(content) if number % 4 else UserMessage(content)
            entry = Entry.of(body, entry_id, parent, 1.8e12 + number)
            store.append(key, [(write_record("pi", entry), parent)], leaf_id=entry_id).result()
            parent = entry_id
            time.sleep(max(0.0, start + (number + 1) / per_second - time.monotonic()))


async def _watch(running: WindowSession, seconds: float) -> list[list[float]]:
    """Do a little of what a person does, second by second, and note what is in use."""
    window, start, samples = running.window, time.monotonic(), []
    number = 0
    while (gone := time.monotonic() - start) < seconds:
        samples.append(_sample(running, gone))
        document = running.state.document
        assert document is not None
        window.map.select(len(document.tree) - 1 if number % 3 else number)
        window.inspector.setCurrentIndex(number // 5 % len(TABS))
        if number % 4 == 0:
            running.search.search(QUERIES[number // 4 % len(QUERIES)], number % 8 == 0)
        number += 1
        await asyncio.sleep(max(0.0, start + number - time.monotonic()))
    samples.append(_sample(running, seconds))
    return samples


async def _idle(running: WindowSession) -> None:
    await until(lambda: not running.window.map.model.is_laying_out)
    await until(lambda: not running.state.tasks.running)
    await asyncio.sleep(0.05)


def _sample(running: WindowSession, gone: float) -> list[float]:
    document = running.state.document
    threads = len(os.listdir(_THREADS)) if _THREADS.exists() else 0
    descriptors = open_descriptors() if CAN_COUNT else 0
    entries = len(document.tree) if document is not None else 0
    return [gone, descriptors, threads, memory_mb(), entries]

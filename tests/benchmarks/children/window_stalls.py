"""How long the window stands still while something else goes on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from explorer.models.client import TextDelta
from explorer.services.counting_process import ProcessCounter
from tests.benchmarks.children.window import Heartbeat, run_window, until
from ui.main_window import TABS
from ui.session import WindowSession

RATE, TICK_S = 200, 0.005
PIECE = "token "


def importing(home: str, session: str) -> dict[str, list[float]]:
    """Lateness in ms of each beat: nothing going on, importing and opening, indexing."""

    async def scenario(running: WindowSession) -> dict[str, list[float]]:
        beat, bench = Heartbeat(), running.state.bench
        assert bench is not None
        found: dict[str, list[float]] = {}
        await asyncio.sleep(2)
        with beat.beating():
            await asyncio.sleep(2)
        found["nothing"] = list(beat.late)
        with beat.beating():
            await running.sessions.import_now([Path(session)])
        found["import"] = list(beat.late)
        if running.state.document is None:
            told = running.window.notices.notice
            raise RuntimeError(f"nothing was imported: {told.what if told else 'no notice'}")
        with beat.beating():
            await asyncio.sleep(10)
        found["index"] = list(beat.late)
        return found

    return run_window(scenario)


def opening(home: str) -> dict[str, list[float]]:
    """Lateness while opening a stored session, its tab by tab, and closing it."""

    async def scenario(running: WindowSession) -> dict[str, list[float]]:
        beat, bench = Heartbeat(), running.state.bench
        assert bench is not None
        key = bench.sessions()[0].key
        with beat.beating():
            await running.sessions.open_now(key)
            await until(lambda: not running.window.map.model.is_laying_out)
            await asyncio.sleep(1)
        found = {"open": list(beat.late)}
        with beat.beating():
            for tab in (*TABS, *TABS):
                running.window.inspector.setCurrentIndex(TABS.index(tab))
                await asyncio.sleep(0.6)
        found["tabs"] = list(beat.late)
        return found

    return run_window(scenario)


def counting(home: str, seconds: float) -> dict[str, list[float]]:
    """Lateness while the tokenizer counts the first session."""

    async def scenario(running: WindowSession) -> dict[str, list[float]]:
        beat, bench = Heartbeat(), running.state.bench
        assert bench is not None
        document = await bench.open(bench.sessions()[0].key)
        end = time.monotonic() + seconds
        task = running.window.progress.begin("Counting tokens")
        loop = asyncio.get_running_loop()

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.update, done, total)

        with beat.beating():
            counter = await asyncio.to_thread(ProcessCounter)
            # Its counts are not taken from the database: the name is another.
            counter.name = f"{counter.name}-again"
            await document.tokens.count(counter, progress, lambda: time.monotonic() > end)
            await asyncio.to_thread(counter.close)
        task.end()
        return {"count": list(beat.late)}

    return run_window(scenario)


def streaming(home: str, seconds: float) -> dict[str, list[float]]:
    """Lateness while 200 tokens a second come into the draft, and into the conversation."""

    async def scenario(running: WindowSession) -> dict[str, list[float]]:
        beat, bench, window = Heartbeat(), running.state.bench, running.window
        assert bench is not None
        await running.sessions.open_now(bench.sessions()[0].key)
        await asyncio.sleep(2)
        window.inspector.setCurrentIndex(TABS.index("compaction"))
        panel = window.compaction
        panel.draft_started()
        with beat.beating():
            await _pour(lambda text: panel.draft_text(text), seconds)
        found = {"draft": list(beat.late)}
        panel.draft_cancelled()
        with beat.beating():
            await _pour(lambda text: window.agent.turn_event(TextDelta(text)), seconds)
        found["talk"] = list(beat.late)
        return found

    return run_window(scenario)


async def _pour(sink: Any, seconds: float) -> None:
    start = time.perf_counter()
    given = 0
    while (gone := time.perf_counter() - start) < seconds:
        while given < gone * RATE:
            given += 1
            sink(PIECE if given % 14 else PIECE + "\n")
        await asyncio.sleep(TICK_S)


def summarizing(home: str) -> dict[str, Any]:
    """Lateness while the offline model summarizes everything before the cut."""

    async def scenario(running: WindowSession) -> dict[str, Any]:
        beat, window = Heartbeat(), running.window
        bench = running.state.bench
        assert bench is not None
        await running.sessions.open_now(bench.sessions()[0].key)
        window.inspector.setCurrentIndex(TABS.index("compaction"))
        await asyncio.sleep(2)
        start = time.perf_counter()
        with beat.beating():
            window.compaction.summarize()
            await until(lambda: running.compaction.running, 10)
            await until(lambda: not running.compaction.running, 600)
        return {"draft": list(beat.late), "ms": (time.perf_counter() - start) * 1000}

    return run_window(scenario)

"""The conversation in the window: opened, scrolled, and written into."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from explorer.models.client import TextDelta
from tests.benchmarks.children.window import Heartbeat, paint, run_window, until
from ui.conversation.conversation import Conversation
from ui.session import WindowSession

RATE, TICK_S = 200, 0.005
BEFORE = 100_000
"""Characters of the reply that are there when the measured ones begin to arrive."""
_PROSE = "The queue **waits** until `get` was called, and then it goes on with the next one. "
_CODE = "```python\n" + "    for key, value in sorted(found.items()):\n" * 30 + "```\n\n"


def reading(home: str, count: int) -> dict[str, Any]:
    """Times in ms: opening at the end, frames of scrolling and of jumping, finding a word."""
    return run_window(lambda running: _reading(running, count))


async def _open(running: WindowSession) -> Conversation:
    bench = running.state.bench
    assert bench is not None
    await running.sessions.open_now(bench.sessions()[0].key)
    await until(lambda: not running.window.map.model.is_laying_out)
    # The conversation has the larger part of the window, as who reads it gives it.
    running.window.left.setSizes([200, 640])
    await asyncio.sleep(1.5)
    return running.window.agent.conversation


def _timed(change: Callable[[], object]) -> float:
    start = time.perf_counter()
    change()
    paint()
    return (time.perf_counter() - start) * 1000


async def _reading(running: WindowSession, count: int) -> dict[str, Any]:
    talk = await _open(running)
    view, document = talk.view, running.state.document
    paint()
    found: dict[str, Any] = {"items": view.flow.count}
    found["open"] = [_timed(lambda: talk.show_document(document)) for _ in range(5)]
    view.to_end()
    paint()
    found["wheel"] = await _frames(count, lambda _at: view.scroll_by(-54))
    found["page"] = await _frames(count // 4, lambda _at: view.scroll_page(-1))
    bar = view.verticalScrollBar()
    step = bar.maximum() / (count // 4)
    found["jump"] = await _frames(count // 4, lambda at: bar.setValue(int(at * step)))
    start = time.perf_counter()
    beat = Heartbeat()
    with beat.beating():
        talk.bar.open_bar()
        talk.bar.field.setText("worker")
        talk.bar.asked.emit("worker")
        await until(lambda: talk.finding.is_over, 600)
    found["find"] = (time.perf_counter() - start) * 1000
    found["find late"] = list(beat.late)
    found["hits"] = len(talk.finding.hits)
    return found


async def _frames(count: int, change: Callable[[int], object]) -> list[float]:
    """Frames as they come to a person: between two of them there is time for what waits."""
    found = []
    for at in range(count):
        found.append(_timed(lambda at=at: change(at)))
        end = time.perf_counter() + 0.016
        while time.perf_counter() < end:
            await asyncio.sleep(0.001)
    return found


def streaming(home: str, seconds: float) -> dict[str, list[float]]:
    """Lateness in ms while 200 tokens a second come to the end of a reply of 100 KB."""

    async def scenario(running: WindowSession) -> dict[str, list[float]]:
        talk = await _open(running)
        found = {}
        for name, text in (("prose", _PROSE), ("code", _CODE)):
            talk.set_running(True)
            whole = (text + ("\n\n" if name == "prose" else "")) * (BEFORE // len(text))
            talk.turn_event(TextDelta(whole))
            await asyncio.sleep(1)
            beat = Heartbeat()
            with beat.beating():
                await _pour(talk, text, seconds)
            found[name] = list(beat.late)
            talk.set_running(False)
            await asyncio.sleep(0.3)
        return found

    return run_window(scenario)


async def _pour(talk: Conversation, text: str, seconds: float) -> None:
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    start, given = time.perf_counter(), 0
    while (gone := time.perf_counter() - start) < seconds:
        while given < gone * RATE:
            talk.turn_event(TextDelta(pieces[given % len(pieces)]))
            given += 1
        await asyncio.sleep(TICK_S)

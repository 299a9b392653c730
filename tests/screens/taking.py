"""Runs one window after the other and takes its picture."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from contextlib import aclosing
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from tests.models.server import ChatServer
from tests.screens.stage import Homes, Job, Scene, picture
from tests.screens.states import JOBS
from tests.ui.window.running import RunningWindow

MOST_S = 60.0
"""Seconds for one picture."""


def list_jobs(only: str = "") -> list[Job]:
    return [job for job in JOBS if only in job.name]


def take_all(folder: Path, root: Path, only: str = "") -> list[tuple[str, str]]:
    """Take the pictures; the states that were not reached, each with the reason."""
    app = QApplication.instance() or QApplication(["session-explorer-screens"])
    assert isinstance(app, QApplication)
    missing: list[tuple[str, str]] = []
    thrown: list[str] = []

    def throw(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        thrown.append(f"{kind.__name__}: {error}")
        traceback.print_exception(kind, error, at)

    # A picture of a window in which something broke is no picture of its state.
    sys.excepthook = throw
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    with loop, ChatServer() as server:
        os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.url}
        homes = Homes(root)
        for job in list_jobs(only):
            started = time.monotonic()
            try:
                loop.run_until_complete(
                    asyncio.wait_for(_take(app, job, homes, server, folder), MOST_S)
                )
            except Exception as error:  # noqa: BLE001 - whatever it was, the next one is tried
                missing.append((job.name, f"{type(error).__name__}: {error}"))
            missing += [(job.name, problem) for problem in thrown]
            thrown.clear()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            print(f"{job.name}  {time.monotonic() - started:.1f} s", flush=True)
    return missing


async def _take(
    app: QApplication, job: Job, homes: Homes, server: ChatServer, folder: Path
) -> None:
    home = homes.of(job)
    live = await RunningWindow.start(app, size=job.size)
    try:
        live.window.resize(*job.size)
        if job.base not in ("empty", "damaged"):
            await live.until(lambda: live.has_document, "the session")
        await live.idle()
        async with aclosing(job.story(Scene(live, home, server))) as story:
            await anext(story)
            await live.settle(12)
            shot = picture(live)
            if shot.size().toTuple() != job.size:
                raise AssertionError(f"the window is {shot.size().toTuple()}, not {job.size}")
            if not shot.save(str(folder / f"{job.name}.png")):
                raise OSError(f"{folder / job.name}.png could not be written")
            async for _ in story:
                raise AssertionError("a story has one picture")
    finally:
        await live.close()

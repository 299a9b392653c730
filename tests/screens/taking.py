"""Runs one window after the other and takes its picture."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QMessageLogContext,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from tests.models.server import ChatServer
from tests.screens.stage import Homes, Job, Scene, picture
from tests.screens.states import JOBS
from tests.ui.window.house import HARMLESS
from tests.ui.window.running import RunningWindow
from ui.event_loop import open_loop
from ui.session import WindowSession

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
    qInstallMessageHandler(partial(_message, thrown.append))
    loop = open_loop(app)
    with loop, ChatServer() as server:
        os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.url}
        homes = Homes(root)
        for job in list_jobs(only):
            started = time.monotonic()
            try:
                taking = _take(app, job, homes, server, folder, thrown.append)
                loop.run_until_complete(asyncio.wait_for(taking, MOST_S))
            except Exception as error:  # noqa: BLE001 - whatever it was, the next one is tried
                missing.append((job.name, f"{type(error).__name__}: {error}"))
            missing += [(job.name, problem) for problem in thrown]
            thrown.clear()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            print(f"{job.name}  {time.monotonic() - started:.1f} s", flush=True)
    return missing


def _message(
    broken: Callable[[str], None], kind: QtMsgType, _context: QMessageLogContext, text: str
) -> None:
    is_grave = kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
    if is_grave and not text.startswith(HARMLESS):
        print(text, file=sys.stderr)
        broken(f"Qt: {text}")


def _watch(broken: Callable[[str], None], session: WindowSession) -> None:
    """What the window itself calls unexpected is told with the picture's name."""
    report = session.state.tasks._report

    def collect(what: str, error: BaseException, details: str) -> None:
        broken(f"{what}: {error}")
        report(what, error, details)

    session.state.tasks._report = collect


async def _take(
    app: QApplication,
    job: Job,
    homes: Homes,
    server: ChatServer,
    folder: Path,
    broken: Callable[[str], None],
) -> None:
    home = homes.of(job)
    live = await RunningWindow.start(app, size=job.size, watch=partial(_watch, broken))
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

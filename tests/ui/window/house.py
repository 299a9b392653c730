"""The loop, the windows that run in it, and what may not be left or printed when they end."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QMessageLogContext,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from tests.ui.window.running import RunningWindow
from ui.event_loop import open_loop
from ui.session import WindowSession

HARMLESS = (
    # The offscreen platform says this when a window is shown, raised or takes the keyboard.
    "This plugin does not support ",
)
# Threads that outlive a window by design: pools of libraries, and Qt's seen from Python.
_LASTING = ("asyncio_", "Dummy-", "tokio", "AnyIO", "pytest_timeout", "litellm-logging")


class House:
    """One event loop for one test, with a watch on everything that goes wrong in it."""

    def __init__(self, app: QApplication) -> None:
        self.app = app
        self.windows: list[RunningWindow] = []
        self.problems: list[str] = []
        self._threads = set(threading.enumerate())
        self._widgets = {id(widget) for widget in app.topLevelWidgets()}
        self._hooks: Callable[[], None] = self._watch()
        self.loop = open_loop(app)
        self.loop.set_exception_handler(self._loop_problem)

    async def start(
        self,
        session: str | Path | None = None,
        size: tuple[int, int] | None = (1440, 900),
    ) -> RunningWindow:
        """Open another window over the database of this test."""
        running = await RunningWindow.start(self.app, session, size, self._follow)
        self.windows.append(running)
        return running

    def _follow(self, session: WindowSession) -> None:
        """Failures that the window would show as unexpected are failures of the test."""
        report = session.state.tasks._report

        def collect(what: str, error: BaseException, details: str) -> None:
            self.problems.append(f"{what}: {details}")
            report(what, error, details)

        session.state.tasks._report = collect

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        """Run a test in the loop; its windows are closed at the end, whatever happened."""

        async def whole() -> None:
            try:
                await story
            finally:
                for running in self.windows:
                    await running.close()
                self._tasks_left()

        self.loop.run_until_complete(whole())

    # the watch ---------------------------------------------------------------------------------

    def _watch(self) -> Callable[[], None]:
        hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
        # A thread of Qt's pool keeps the hooks of its first task for good: they hold the list
        # alone, or every window of a run would live on with them.
        problems = self.problems

        def hook(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
            problems.append("".join(traceback.format_exception(kind, error, at)))

        sys.excepthook = hook
        sys.unraisablehook = lambda it: problems.append(f"{it.err_msg}: {it.exc_value!r}")
        threading.excepthook = lambda it: problems.append(
            "".join(traceback.format_exception(it.exc_type, it.exc_value, it.exc_traceback))
        )
        earlier = qInstallMessageHandler(self._message)

        def undo() -> None:
            sys.excepthook, sys.unraisablehook, threading.excepthook = hooks
            qInstallMessageHandler(earlier)

        return undo

    def _message(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        is_grave = kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
        if is_grave and not text.startswith(HARMLESS):
            self.problems.append(f"Qt: {text}")

    def _loop_problem(self, _loop: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        told = "".join(traceback.format_exception(error)) if error else ""
        self.problems.append(f"{context.get('message')} {told}")

    # the end -----------------------------------------------------------------------------------

    def _tasks_left(self) -> None:
        left = asyncio.all_tasks(self.loop) - {asyncio.current_task(self.loop)}
        self.problems += [f"left running: {task!r}" for task in left]

    def shut(self) -> None:
        """End the loop, and fail when anything went wrong or was left behind."""
        try:
            self.loop.close()
            asyncio.set_event_loop(None)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            self._widgets_left()
            self._threads_left()
        finally:
            self._hooks()
        assert not self.problems, "\n".join(self.problems)

    def _widgets_left(self) -> None:
        left = [w for w in self.app.topLevelWidgets() if id(w) not in self._widgets]
        self.problems += [f"left open: {widget!r}" for widget in left]

    def _threads_left(self) -> None:
        end = time.monotonic() + 5
        while left := [
            thread
            for thread in set(threading.enumerate()) - self._threads
            if not thread.name.startswith(_LASTING)
        ]:
            if time.monotonic() > end:
                self.problems += [f"left running: {thread!r}" for thread in left]
                return
            time.sleep(0.02)

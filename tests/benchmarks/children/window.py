"""The real window, run as the program runs it, with a scenario in place of a person."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from ui import event_loop, theme
from ui.app import prepare
from ui.main_window import MainWindow
from ui.session import WindowSession

Scenario = Callable[[WindowSession], Awaitable[Any]]
ARGUMENTS = argparse.Namespace(session=None, sample=False, smoke=False)
START_S = 60


def run_window(scenario: Scenario) -> Any:
    """Open the window, await the scenario, close the window; what the scenario returned."""
    app = QApplication([])
    loaded = prepare(app)
    theme.set_motion(False)
    # What a run before this one opened is not opened again.
    loaded.values.last_session = 0
    loop = event_loop.open_loop(app)
    window = MainWindow(loaded.values)
    found: list[Any] = []
    failures: list[BaseException] = []
    tasks: list[asyncio.Task[None]] = []

    async def act(running: WindowSession) -> None:
        try:
            await until(lambda: running.state.bench is not None, START_S)
            await asyncio.sleep(0.3)
            found.append(await scenario(running))
        except Exception as error:  # noqa: BLE001 - told below, once the window is closed
            failures.append(error)
        finally:
            window.close()

    with loop:
        loop.run_until_complete(
            event_loop.live(
                window,
                loaded,
                ARGUMENTS,
                lambda running: tasks.append(loop.create_task(act(running))),
            )
        )
    if failures:
        raise failures[0]
    return found[0]


async def until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"not so after {seconds} s")
        await asyncio.sleep(0.005)


def paint() -> None:
    """Let everything be painted that waits for it."""
    QCoreApplication.sendPostedEvents()
    QCoreApplication.processEvents()


class Paints(QObject):
    """Notes when a widget has been painted: the time at which the events after it are reached."""

    def __init__(self, widget: QObject) -> None:
        """``widget``: or the application, for the paints of all."""
        super().__init__()
        self.times: list[float] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self._note)
        return False

    def _note(self) -> None:
        self.times.append(time.perf_counter())


class Heartbeat:
    """Ticks on the window's loop; what a tick is late, the window stood still."""

    INTERVAL_MS = 4

    def __init__(self) -> None:
        self.late: list[float] = []
        self._last = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(self.INTERVAL_MS)
        self._timer.timeout.connect(self._beat)

    def _beat(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._last) * 1000 - self.INTERVAL_MS))
        self._last = now

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat for a while. The stalls are in ``late``, ms."""
        self.late.clear()
        self._last = time.perf_counter()
        self._timer.start()
        try:
            yield
        finally:
            self._timer.stop()
            self._beat()

"""The window's event loop from the first paint to the end, with Python's collector and the system's
memory arenas set up for it."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from explorer.settings import paths
from explorer.settings.preferences import LoadedPreferences, save_preferences
from ui.imports import import_window_module, make_types, run_in_slices
from ui.main_window import MainWindow
from ui.widgets.painted_items import install_accessibility

if TYPE_CHECKING:
    from ui.session import WindowSession


_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt``."""
_ARENAS = 2


def share_arenas() -> bool:
    """Let all threads take their memory from few places; whether this system can.

    glibc gives each thread an arena, which keeps what was freed there: every session
    that a worker thread loads would leave a hole behind.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_ARENA_MAX, _ARENAS))


LOOK_EVERY_MS = 250


class Collector(QObject):
    """Collects now and then on the thread that made it; no other thread collects."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation whose turn it is by Python's own thresholds."""
        due = [
            generation
            for generation, (count, limit) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if limit and count > limit
        ]
        if due:
            gc.collect(max(due))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Collect nothing meanwhile: while modules are imported it would stall the window."""
        self._timer.stop()
        try:
            yield
        finally:
            self._timer.start()

    def stop(self) -> None:
        """Leave collecting to Python again."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()


SWITCH_INTERVAL_S = 0.0001
_THREADS = 10


def open_loop(app: QApplication) -> QEventLoop:
    """The event loop of Qt and asyncio. Its threads are Python's: those that it would make itself
    are Qt's, and one whose work ends in anything but an Exception never answers."""
    loop = QEventLoop(app)
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="window"))
    asyncio.set_event_loop(loop)
    return loop


def run(
    app: QApplication, window: MainWindow, loaded: LoadedPreferences, arguments: argparse.Namespace
) -> int:
    """Run one event loop for Qt and asyncio until the window is closed; the exit status."""
    with open_loop(app) as loop:
        return int(loop.run_until_complete(live(window, loaded, arguments)))


async def live(
    window: MainWindow,
    loaded: LoadedPreferences,
    arguments: argparse.Namespace,
    started: Callable[[WindowSession], object] | None = None,
) -> int:
    """Show the window, furnish it and run it until it is closed; returns the exit status.

    ``started`` is called once, when the controllers are there and the database is not yet open.
    """
    collector = Collector()
    share_arenas()
    interval = sys.getswitchinterval()
    # A thread that computes gives way to the window after a tenth of a millisecond instead of five.
    sys.setswitchinterval(min(interval, SWITCH_INTERVAL_S))
    try:
        return await _live(window, loaded, arguments, started, collector)
    finally:
        collector.stop()
        sys.setswitchinterval(interval)


async def _live(
    window: MainWindow,
    loaded: LoadedPreferences,
    arguments: argparse.Namespace,
    started: Callable[[WindowSession], object] | None,
    collector: Collector,
) -> int:
    if not window.was_painted:
        painted = asyncio.Event()
        window.painted.connect(painted.set)
        window.closed.connect(painted.set)
        window.show()
        await painted.wait()
    install_accessibility()
    with collector.paused():
        await run_in_slices(make_types())
        panes = await import_window_module("ui.panes")
    await panes.furnish(window)
    with collector.paused():
        session = await import_window_module("ui.session")
        actions = await import_window_module("ui.shell.actions")
    if window.was_closed:
        window.map.shutdown()
        return 0
    running: WindowSession = session.WindowSession(
        window, loaded.values, loaded.problem, asyncio.Event()
    )
    actions.WindowActions(running)
    if started is not None:
        started(running)
    status = await running.run(arguments)
    try:
        save_preferences(paths.preferences_path(), loaded.values)
    except OSError as error:
        print(f"session-explorer: the settings could not be kept: {error}", file=sys.stderr)
    return status

"""The window's life on its event loop: from the first paint to the end."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from explorer import paths
from explorer.preferences import LoadedPreferences, save_preferences
from ui.collector import Collector
from ui.main_window import MainWindow
from ui.memory import share_arenas

if TYPE_CHECKING:  # imported in a thread, see ``_imported``
    from ui.session import WindowSession

SWITCH_INTERVAL_S = 0.0005


def run(
    app: QApplication, window: MainWindow, loaded: LoadedPreferences, arguments: argparse.Namespace
) -> int:
    """Run one event loop for Qt and asyncio until the window is closed; the exit status."""
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    with loop:
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
    try:
        return await _live(window, loaded, arguments, started, collector)
    finally:
        collector.stop()


async def _live(
    window: MainWindow,
    loaded: LoadedPreferences,
    arguments: argparse.Namespace,
    started: Callable[[WindowSession], object] | None,
    collector: Collector,
) -> int:
    # A thread that computes gives way to the window after half a millisecond instead of five.
    sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
    if not window.was_painted:
        painted = asyncio.Event()
        window.painted.connect(painted.set)
        window.closed.connect(painted.set)
        window.show()
        await painted.wait()
    panes = await _imported("ui.panes", collector)
    await panes.furnish(window)
    session = await _imported("ui.session", collector)
    actions = await _imported("ui.shell.actions", collector)
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


async def _imported(name: str, collector: Collector) -> Any:
    """Import a module in a thread, with the collector off, which would otherwise stall the
    window (measured): both panes and controllers take longer than a first paint may."""
    with collector.paused():
        return await asyncio.to_thread(import_module, name)

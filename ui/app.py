"""Starting the window, and ending it without losing anything."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import socket
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from explorer import paths
from explorer.settings import LoadedPreferences, load_preferences, save_preferences
from ui import theme
from ui.main_window import MainWindow

if TYPE_CHECKING:  # imported after the first paint
    from ui.session import WindowSession

NO_SCREEN = (
    "session-explorer: there is no screen here to open a window on (DISPLAY and WAYLAND_DISPLAY "
    "are not set, or nothing answers there); use a headless command instead: import, list, tree, "
    "context, preview, compact, branch, export, search."
)


def has_screen() -> bool:
    """Whether Qt can be expected to find a screen."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("WAYLAND_DISPLAY")) or _answers(os.environ.get("DISPLAY", ""))


def _answers(display: str) -> bool:
    """Whether an X server on this machine answers; Qt would abort the process where none does."""
    number = display.removeprefix(":").partition(".")[0]
    if not display.startswith(":") or not number.isdigit():
        return bool(display)
    path = f"/tmp/.X11-unix/X{number}"
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(address)
            except OSError:
                continue
            return True
    return False


def main(arguments: argparse.Namespace) -> int:
    """Open the window and run until it is closed; returns the exit status."""
    if not has_screen():
        print(NO_SCREEN, file=sys.stderr)
        return 1
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    loaded = prepare(app)
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    window = MainWindow(loaded.values)
    with loop:
        return int(loop.run_until_complete(live(window, loaded, arguments)))


def prepare(app: QApplication) -> LoadedPreferences:
    """Give the application its name and its looks, as the preferences have them."""
    app.setApplicationName("Session Explorer")
    app.setDesktopFileName("session-explorer")
    # Closing the window starts the end; what still runs is stopped and stored before the loop is.
    app.setQuitOnLastWindowClosed(False)
    loaded = load_preferences(paths.settings_path())
    theme.set_text_scale(loaded.values.scale / 100)
    theme.set_theme(loaded.values.theme, app)  # type: ignore[arg-type]
    return loaded


async def live(
    window: MainWindow,
    loaded: LoadedPreferences,
    arguments: argparse.Namespace,
    started: Callable[[WindowSession], object] | None = None,
) -> int:
    """Show the window and run it until it is closed; returns the exit status.

    ``started`` is called once, when the controllers are there and the database is not yet open.
    """
    painted = asyncio.Event()
    window.painted.connect(painted.set)
    window.show()
    await painted.wait()
    # The store and the controllers take longer to import than a first paint may; they come
    # in a thread, with the collector off, which would otherwise stall the window (measured).
    gc.disable()
    try:
        session = await asyncio.to_thread(import_module, "ui.session")
    finally:
        gc.enable()
    running: WindowSession = session.WindowSession(
        window, loaded.values, loaded.problem, asyncio.Event()
    )
    if started is not None:
        started(running)
    status = await running.run(arguments)
    try:
        save_preferences(paths.settings_path(), loaded.values)
    except OSError as error:
        print(f"session-explorer: the settings could not be kept: {error}", file=sys.stderr)
    return status

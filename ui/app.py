"""Starting the window, and ending it without losing anything."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
from importlib import import_module
from pathlib import Path

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from explorer import paths
from explorer.settings import load_preferences, save_preferences
from ui import theme
from ui.main_window import MainWindow

NO_SCREEN = (
    "session-explorer: there is no screen here to open a window on (neither DISPLAY nor "
    "WAYLAND_DISPLAY is set); use a headless command instead: import, list, tree, context, "
    "preview, compact, branch, export, search."
)


def has_screen() -> bool:
    """Whether Qt can be expected to find a screen."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def main(arguments: argparse.Namespace) -> int:
    """Open the window and run until it is closed; returns the exit status."""
    if not has_screen():
        print(NO_SCREEN, file=sys.stderr)
        return 1
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Session Explorer")
    app.setDesktopFileName("session-explorer")
    # Closing the window starts the end; what still runs is stopped and stored before the loop is.
    app.setQuitOnLastWindowClosed(False)
    loaded = load_preferences(paths.settings_path())
    preferences = loaded.values
    theme.set_text_scale(preferences.scale / 100)
    theme.set_theme(preferences.theme, app)  # type: ignore[arg-type]
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    window = MainWindow(preferences)
    done = asyncio.Event()
    painted = asyncio.Event()
    window.painted.connect(painted.set)
    status = 0

    async def run() -> None:
        nonlocal status
        window.show()
        await painted.wait()
        # The store and the controllers take longer to import than a first paint may; they come
        # in a thread, with the collector off, which would otherwise stall the window (measured).
        gc.disable()
        try:
            session = await asyncio.to_thread(import_module, "ui.session")
        finally:
            gc.enable()
        running = session.WindowSession(window, preferences, loaded.problem, done)
        status = await running.run(arguments)
        save_preferences(paths.settings_path(), preferences)

    with loop:
        loop.run_until_complete(run())
    return status


def sample_path() -> Path:
    """The bundled session."""
    return Path(str(paths.resource("samples", "retry-that-flakes.jsonl")))

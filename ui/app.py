"""Starting the window: as little as its first paint needs, and then everything else."""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import socket
import sys
from importlib import import_module
from typing import Any

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from explorer.settings import paths
from explorer.settings.preferences import LoadedPreferences, load_preferences
from ui import theme
from ui.main_window import MainWindow

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
    if sys.stderr is not None and not faulthandler.is_enabled():
        faulthandler.enable()  # a crash in Qt says where, instead of nothing
    # Qt ends an object with a lock held, and asks Python on the way: a collection begun there may
    # end another one and wait for the same lock for ever. The loop collects between its events.
    gc.disable()
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    loaded = prepare(app)
    asked = getattr(arguments, "session", None) or getattr(arguments, "sample", False)
    window = MainWindow(loaded.values, bool(asked or loaded.values.last_session))
    first_paint = QEventLoop()
    window.painted.connect(first_paint.quit)
    window.closed.connect(first_paint.quit)
    window.show()
    first_paint.exec()
    if window.was_closed:
        return 0
    # asyncio and its loop take a third of what the first paint may.
    status: int = import_module("ui.event_loop").run(app, window, loaded, arguments)
    return status


def prepare(app: QApplication) -> LoadedPreferences:
    """Give the application its name and its looks, as the preferences have them."""
    leave_sources_unread()
    app.setApplicationName("Session Explorer")
    app.setDesktopFileName("session-explorer")
    # Closing the window starts the end; what still runs is stopped and stored before the loop is.
    app.setQuitOnLastWindowClosed(False)
    loaded = load_preferences(paths.preferences_path(), older=paths.settings_path())
    theme.set_text_scale(loaded.values.scale / 100)
    theme.set_theme(loaded.values.theme, app)  # type: ignore[arg-type]
    return loaded


def leave_sources_unread() -> None:
    """Keep Qt's binding from reading the source of every module that is imported from now on.

    It looks there for its own name, for the sake of modules that chose another way of writing Qt's
    functions, and Python keeps what was read: 60 MB and a fifth of the time of importing litellm.
    Whoever chooses that way tells the binding so by the import of its own.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda _module: False

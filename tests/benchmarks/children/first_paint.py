"""The program from its start to its first paint, and to a window that can be used.

Run as a program with a monotonic start time in ns; prints the ms to the end of the first paint,
the ms until the database is open, and which slow packages had been imported before the paint.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from types import ModuleType
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

import ui.app
from explorer.cli import main
from ui.main_window import MainWindow

SLOW = ("sqlalchemy", "sqlmodel", "litellm", "tiktoken", "networkx", "pygments", "qasync")
_found: dict[str, Any] = {}


def _since_start() -> float:
    return (time.monotonic_ns() - int(sys.argv[1])) / 1e6


def _import(name: str) -> ModuleType:
    """The first import after the first paint."""
    if not _found:
        _found["painted_ms"] = _since_start()
        _found["slow"] = [one for one in SLOW if one in sys.modules]
        _found["modules"] = len(sys.modules)
        QTimer.singleShot(5, _wait)
    return import_module(name)


def _wait() -> None:
    """Look again and again whether the library has been read."""
    windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
    if windows and windows[0].is_ready:
        _found["ready_ms"] = _since_start()
        print(json.dumps(_found), flush=True)
        os._exit(0)
    QTimer.singleShot(5, _wait)


if __name__ == "__main__":
    ui.app.import_module = _import
    main(["open"])

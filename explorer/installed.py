"""What the installation says of itself: the version, and where the window is.

``importlib.metadata`` takes 20 ms to import and as long again to look through all that is
installed, a tenth of what the window's first paint may take. So the window's entry point is read
from this program's file first.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

DISTRIBUTION = "session-explorer"
WINDOW_GROUP = "session_explorer.window"


def version() -> str:
    """The version that is installed, for people."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version(DISTRIBUTION))
    except metadata.PackageNotFoundError:
        return "not installed"


def window_target() -> str:
    """``module:function`` that opens the window, as it registered itself; empty without one."""
    for folder in sys.path:
        pattern = f"{DISTRIBUTION.replace('-', '_')}-*.dist-info/entry_points.txt"
        for file in Path(folder or ".").glob(pattern):
            if target := _target(file.read_text(encoding="utf-8")):
                return target
    metadata = import_module("importlib.metadata")
    return next((str(point.value) for point in metadata.entry_points(group=WINDOW_GROUP)), "")


def _target(text: str) -> str:
    """The first entry point of the window's group in an ``entry_points.txt``."""
    is_ours = False
    for line in text.splitlines():
        if line.startswith("["):
            is_ours = line.strip() == f"[{WINDOW_GROUP}]"
        elif is_ours and "=" in line:
            return line.partition("=")[2].strip()
    return ""

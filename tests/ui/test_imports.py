"""Whose thread imports what, while the window starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ui.imports import find_needed_modules

_START = """
import json, sys, threading
from PySide6 import QtCore, QtGui, QtWidgets

imported = {"window": [], "another": []}

class Look:
    @staticmethod
    def find_spec(name, path=None, target=None):
        is_window = threading.current_thread() is threading.main_thread()
        imported["window" if is_window else "another"].append(name)

sys.meta_path.insert(0, Look)
from explorer.cli import main
status = main(["open", "--smoke"])
parts = (QtCore, QtGui, QtWidgets)
unmade = [name for part in parts for name in dir(part) if name not in vars(part)]
print(json.dumps([status, imported, unmade]))
"""


def test_the_window_alone_makes_types_of_qt(explorer_home: Path) -> None:
    """One that another thread makes while the window works ends the program now and then."""
    done = subprocess.run(
        [sys.executable, "-c", _START],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    status, imported, unmade = json.loads(done.stdout)
    assert status == 0
    assert "ui.session" in imported["window"]
    assert not [name for name in imported["another"] if name.startswith(("ui.", "PySide6"))]
    assert [name for name in imported["another"] if name.startswith("explorer.")], "in a thread"
    assert not unmade


def test_what_a_module_needs_comes_before_it() -> None:
    before = dict(sys.modules)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ui", "explorer")]:
        del sys.modules[name]
    try:
        ours, others = find_needed_modules("ui.panes")
    finally:
        sys.modules.update(before)
    assert ours[-1] == "ui.panes"
    places = {name: at for at, name in enumerate(ours)}
    assert places["ui"] < places["ui.widgets"] < places["ui.widgets.labels"]
    assert places["ui.widgets.labels"] < places["ui.library.pane"]
    assert "explorer.compaction.profile" in others
    assert all(name.startswith("explorer.") for name in others)


def test_nothing_is_named_that_is_there() -> None:
    assert find_needed_modules("ui.imports") == ([], [])

"""PySide6 6.12.0 drops a reference to None in every void call on Python 3.11.

Ten thousand `widget.update()` calls then abort the process. The upper bound in pyproject.toml
keeps that release out; this test tells whether the installed one has the fault.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
from PySide6.QtWidgets import QApplication, QWidget

application = QApplication([])
widget = QWidget()
for _ in range(100_000):
    widget.update()
print("survived")
"""


@pytest.mark.skipif(
    bool(os.environ.get("EXPLORER_TESTS_WITHOUT_QT")), reason="this run is meant to have no Qt"
)
def test_a_hundred_thousand_void_calls_leave_the_process_alive() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, f"ended with {run.returncode}: {run.stderr[-2000:]}"
    assert run.stdout == "survived\n"

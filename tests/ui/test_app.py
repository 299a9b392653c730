"""Starting the window where there is none to be had."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only X11 and Wayland name displays")


@LINUX
@pytest.mark.parametrize("display", ["", ":4711"])
def test_without_a_screen_the_program_says_so_in_one_sentence(display: str) -> None:
    """Also where DISPLAY is set but nothing answers; Qt would abort the process there."""
    environment = {k: v for k, v in os.environ.items() if k not in ("QT_QPA_PLATFORM", "DISPLAY")}
    environment.pop("WAYLAND_DISPLAY", None)
    if display:
        environment["DISPLAY"] = display
    done = subprocess.run(
        [sys.executable, "-c", "import argparse; from ui.app import main; raise SystemExit("
         "main(argparse.Namespace()))"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "no screen" in done.stderr
    assert "preview" in done.stderr

"""Runs pieces of Python in processes of their own, to be killed or raced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(
    code: str, *arguments: str | Path | int, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A process that runs the code, its arguments in ``sys.argv``; its output can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
    )


def kill(process: subprocess.Popen[str]) -> str:
    """kill -9, and what it had written that was not read yet."""
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read() if process.stdout else ""
    process.wait()
    return rest

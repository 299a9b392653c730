"""The program as a process of its own: started, interrupted, killed."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from explorer.cli import main

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-secret-of-the-person-123"


def start(*words: str, url: str = "", terminal: int | None = None) -> subprocess.Popen[str]:
    """Run a command. ``terminal``: a file descriptor that it reads from; by default nothing."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if url:
        environment |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    return subprocess.Popen(
        [sys.executable, "-m", "explorer", *words],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE if terminal is None else terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs the tests in the background may have it ignored, which children inherit.
        preexec_fn=_interruptible if os.name == "posix" else None,
    )


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ran(*words: str, url: str = "", given: str = "") -> tuple[int, str, str]:
    """The status, the output and the errors of a command in a process of its own."""
    process = start(*words, url=url)
    out, err = process.communicate(given, timeout=120)
    return process.returncode, out, err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def called(
    *words: str, url: str = "", given: str = "", at_terminal: bool = False
) -> tuple[int, str, str]:
    """The same in this process, which has litellm imported after the first time.

    ``at_terminal``: a person seems to type what is given.
    """
    out, err = io.StringIO(), io.StringIO()
    before, before_in = dict(os.environ), sys.stdin
    if url:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    sys.stdin = _Terminal(given) if at_terminal else io.StringIO(given)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main(words)
    except SystemExit as refused:  # argparse's own way
        status = int(str(refused.code))
    finally:
        sys.stdin = before_in
        os.environ.clear()
        os.environ |= before
    return status, out.getvalue(), err.getvalue()


def document(*words: str, url: str = "", status: int = 0) -> Any:
    """The JSON document of a command that ends with a status; called in this process."""
    code, out, err = called(*words, "--json", url=url)
    assert code == status, err
    return json.loads(out)


def until(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)

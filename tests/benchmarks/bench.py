"""What every benchmark uses: a folder, made-up sessions, and processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.generated import write_large_result, write_session

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 1800


class ChildFailed(Exception):
    """A process ended with an error; the message is the end of what it printed."""


class Bench:
    """One run of benchmarks over a folder of its own."""

    def __init__(self, folder: Path, *, quick: bool = False, gigabytes: float = 1.0) -> None:
        self.folder = folder
        self.quick = quick
        self.gigabytes = gigabytes
        """Of the library that is searched."""
        self._number = 0

    @property
    def rounds(self) -> int:
        """How often something is measured anew, for its median."""
        return 3 if self.quick else 5

    def session(self, entries: int, *, chain: bool = False) -> Path:
        """A session file of that size: a tree with compactions, or one long chain."""
        path = self.folder / f"{'chain' if chain else 'tree'}-{entries}.jsonl"
        if not path.exists():
            write_session(path, entries, branches=not chain, compactions=not chain)
        return path

    def large_result(self, size: int) -> Path:
        """A short session with one huge tool result."""
        path = self.folder / f"result-{size}.jsonl"
        if not path.exists():
            write_large_result(path, size)
        return path

    def home(self, *sessions: Path) -> Path:
        """A home of the program whose database holds these sessions, counted and indexed."""
        home = self.folder / "-".join(["home", *(path.stem for path in sessions)])
        if not home.exists():
            self.child("storing", "fill", home=str(home), sessions=[str(s) for s in sessions])
        return home

    def empty_home(self) -> Path:
        """A home of the program that was never used."""
        self._number += 1
        place = self.folder / f"empty-{self._number}"
        shutil.rmtree(place, ignore_errors=True)
        return place

    def child(self, module: str, function: str, home: Path | str = "", **arguments: Any) -> Any:
        """Call ``tests.benchmarks.children.<module>.<function>`` in a new process.

        Raises ChildFailed.
        """
        self._number += 1
        output = self.folder / f"result-{self._number}.json"
        if home:
            arguments["home"] = str(home)
        command = [
            sys.executable, "-m", "tests.benchmarks.child",
            str(output), module, function, json.dumps(arguments),
        ]  # fmt: skip
        self.run(command, home)
        return json.loads(output.read_text(encoding="utf-8"))

    def run(self, command: list[str], home: Path | str = "") -> str:
        """Run a command with a home of its own, offscreen; what it printed."""
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "offscreen",
            "SESSION_EXPLORER_HOME": str(home or self.folder / "nobody"),
        }
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            raise ChildFailed(f"{' '.join(command[2:])}\n{done.stderr[-4000:]}")
        return done.stdout

"""A real Dask scheduler and real workers on loopback, each a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

from tests.commands.processes import until
from tests.conftest import ROOT


class DaskCluster:
    """A scheduler, and workers of one thread each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        told = folder / "scheduler.json"
        self._run(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(told),
        )  # fmt: skip
        until(lambda: told.exists() and told.read_bytes().endswith(b"}"), "the scheduler")
        text = told.read_text()
        self.address = text.partition('"address": "')[2].partition('"')[0]

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a worker; back when the scheduler knows it."""
        name = f"w{len(self._started)}"
        process = self._run(
            "worker", self.address, "--nthreads", "1", "--no-dashboard", "--name", name,
            "--local-directory", str(self._folder / name), *options,
        )  # fmt: skip
        log = self._folder / f"{len(self._started)}.log"
        until(lambda: b"Registered to" in log.read_bytes(), "the worker")
        return process

    def _run(self, *words: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{len(self._started) + 1}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words], cwd=ROOT, stdout=log, stderr=log,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )  # fmt: skip
        self._started.append(process)
        return process

    def end(self) -> None:
        """End everything."""
        self.end_workers()
        self._started[0].kill()
        self._started[0].wait()

    def end_workers(self) -> None:
        """End the workers, and their processes too."""
        workers = self._started[1:]
        family = [
            one
            for process in workers
            if psutil.pid_exists(process.pid)
            for one in psutil.Process(process.pid).children(recursive=True)
        ]
        for process in workers:
            process.kill()
            process.wait()
        _, left = psutil.wait_procs(family, 10)
        for one in left:
            one.kill()
        assert not [one for one in left if "spawn_main" in " ".join(one.cmdline())]

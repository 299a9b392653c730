"""A private PostgreSQL in a temporary folder, reached by a socket; nothing of the machine's own
server is touched."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil

psycopg: Any
try:
    import psycopg
except ImportError:
    psycopg = None

PASSWORD = "Zk4v-9dWq-31xT"
PEOPLE = {"ada": "publisher", "ben": "publisher", "rea": "reader", "stu": "steward", "out": ""}
"""Who is known to the server, and in which role."""
_numbers = count(1)


def binaries() -> Path | None:
    """Where apt puts the newest server; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=_version)
    return found[-1].parent if found else None


def _version(program: Path) -> float:
    return float(program.parts[-3])


def why_not() -> str:
    """Why no server can be started; empty where one can."""
    if psycopg is None:
        return "psycopg is not installed: the extra [team]"
    if binaries() is None:
        return "there is no PostgreSQL: apt-get install postgresql"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL does not run as root, and there is no setpriv"
    return ""


class Cluster:
    """A server that is started and stopped. ``owner`` owns the databases."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        # A socket's path has room for about a hundred characters.
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        bin_ = binaries()
        assert bin_ is not None
        self._bin = bin_
        self._process: subprocess.Popen[bytes] | None = None
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "owner", "-A", "trust", "-E", "UTF8",
            "--no-locale", "--no-sync",
        )  # fmt: skip

    def _command(self, program: str, *words: str) -> list[str]:
        as_nobody = ["setpriv", "--reuid=nobody", "--clear-groups"] if os.geteuid() == 0 else []
        return [*as_nobody, str(self._bin / program), *words]

    def _run(self, program: str, *words: str) -> None:
        run = subprocess.run(
            self._command(program, *words), cwd=self.folder, capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr.decode()

    def start(self, *options: str) -> None:
        """Start the server; back when it answers."""
        words = (
            "-D", str(self.folder / "data"), "-k", str(self.folder), "-p", str(self.port), "-F",
            "-c", "max_connections=30", *(options or ("-c", "listen_addresses=")),
        )  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command("postgres", *words), cwd=self.folder, stdout=log, stderr=log
            )
        end = time.monotonic() + 30
        while True:
            try:
                self.sql("SELECT 1")
                return
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self.folder / "log").read_text()
                time.sleep(0.05)

    def kill(self) -> None:
        """End it at once, as a cut of its power does."""
        if self._process is not None:
            # The children see that their server is gone; SIGQUIT has them end at once.
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def is_up(self) -> bool:
        """Whether it was started and not ended."""
        return self._process is not None

    def signal(self, number: signal.Signals) -> None:
        """Give a signal to all of its processes; some end by themselves meanwhile."""
        assert self._process is not None
        server = psutil.Process(self._process.pid)
        for one in (server, *server.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                one.send_signal(number)

    def remove(self) -> None:
        """End it and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self) -> str:
        """A new, empty database; its name."""
        name = f"d{os.getpid()}_{next(_numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    def address(self, database: str, person: str = "owner") -> str:
        """Where a database is, for a person."""
        return f"postgresql://{person}@/{database}?host={self.folder}&port={self.port}"

    def sql(
        self, statement: str, database: str = "postgres", person: str = "owner",
        values: Sequence[Any] = (),
    ) -> list[Any]:  # fmt: skip
        """What a statement gives, asked by a person. Raises psycopg.Error."""
        with psycopg.connect(self.address(database, person), autocommit=True) as db:
            done = db.execute(statement, values or None)
            return list(done.fetchall()) if done.description else []

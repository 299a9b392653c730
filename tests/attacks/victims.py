"""Processes to be killed, forked from one that has imported everything already.

`python -m tests.attacks.victims` reads a line of JSON for each from its standard input: what the
process does, its arguments, its environment, where its output goes, and after how many seconds it
is killed. It answers each with the status that ``waitpid`` gave.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from explorer.cli import main
from explorer.commands import compaction, run
from explorer.formats.pi.export import dumps
from explorer.models import offline
from explorer.session.records import SessionHeader
from explorer.store import Store, StoreError
from explorer.workbench import Workbench
from tests.store.sources import FileSource, message

WARM = (compaction, run, offline, Workbench)
"""Imported here, so that no victim takes the time."""


def tell(*words: object) -> None:
    """A line that is out of the process when this returns."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def append(database: str, key: int, seed: str) -> None:
    """Append bursts of entries to a session, and move its leaf between them."""
    chance = random.Random(seed)
    store = Store.open(database)
    parent = store.load(key).tree.columns.ids[-1]

    def done(future: Future[list[int]], name: str) -> None:
        if future.exception() is None:
            tell("stored", key, name)

    for burst in range(60):
        waiting = []
        for at in range(chance.choice((1, 1, 1, 5, 20))):
            name = f"{seed}-{burst}-{at}"
            entry = message(0, parent, "x" * chance.choice((10, 400, 40_000))) | {"id": name}
            future = store.append(
                key, [(dumps(entry), parent)], name if chance.random() < 0.9 else None
            )
            future.add_done_callback(lambda one, name=name: done(one, name))  # type: ignore[misc]
            waiting.append(future)
            parent = name
        setting = store.set_session_setting(key, "burst", burst)
        if any(future.exception() for future in waiting):
            # The disk was full; what was refused is no parent.
            parent = store.load(key).tree.columns.ids[-1]
        if chance.random() < 0.2:
            leaf = store.set_leaf(key, chance.randrange(2))
            leaf.exception()
        if setting.exception() is None:
            tell("setting", key, burst)
    store.close()


def import_file(database: str, file: str, batch: int) -> None:
    """Import a session file, or what is new in it."""
    with Store.open(database) as store:
        try:
            report = store.import_session(FileSource(file, batch=batch))
        except StoreError as error:
            tell("refused", error.reason)
        else:
            tell("imported", report.key)


def open_database(database: str) -> None:
    """Open a database, which makes it or brings it up to date, and begin a session."""
    with Store.open(database) as store:
        tell("opened")
        header = SessionHeader("s-new", "pi", 3, "/w", 0.0, "", "")
        tell("imported", store.create_session(header).result())


def command(*words: str) -> None:
    """A command of the command line."""
    status = main(words)
    tell("ended", status)


DEEDS: dict[str, Callable[..., None]] = {
    "append": append,
    "import": import_file,
    "open": open_database,
    "command": command,
}


def _be(deed: str, arguments: list[object], environment: dict[str, str], output: str) -> None:
    os.environ.update(environment)
    for descriptor, name in ((1, output), (2, f"{output}.errors")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), descriptor)
    os.chdir(Path(output).parent)
    DEEDS[deed](*arguments)
    sys.stdout.flush()


def _fate(victim: int, after_s: float) -> int:
    """Wait for a victim, and kill it when its time is over; its status."""
    end = time.monotonic() + after_s
    while time.monotonic() < end:
        ended, status = os.waitpid(victim, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.0005)
    os.kill(victim, signal.SIGKILL)
    return os.waitpid(victim, 0)[1]


def serve() -> None:
    """Make one victim for each line, one after the other, until the input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        after_s = order.pop("after_s")
        victim = os.fork()
        if victim == 0:
            failed = True
            try:
                _be(**order)
                failed = False
            except BaseException as error:  # noqa: BLE001 - whatever it is, this process ends here
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(failed)
        print(_fate(victim, after_s), flush=True)


if __name__ == "__main__":
    serve()

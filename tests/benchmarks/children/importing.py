"""A bare pass over the lines of a file, and the import of the file."""

from __future__ import annotations

import json
import time
from pathlib import Path

from explorer.formats.registry import open_source
from explorer.store import Store
from tests.benchmarks.children.process import memory_mb


def parse(session: str) -> dict[str, float]:
    """Read the file and call ``json.loads`` for every line."""
    start = time.perf_counter()
    with open(session, "rb") as file:
        for line in file:
            json.loads(line)
    return {"ms": (time.perf_counter() - start) * 1000}


def store(session: str, home: str) -> dict[str, float]:
    """Import the file into a new database."""
    database = Path(home) / "data" / "sessions.db"
    database.parent.mkdir(parents=True)
    with Store.open(database) as library:
        before = memory_mb()
        start = time.perf_counter()
        library.import_session(open_source(session))
        took = (time.perf_counter() - start) * 1000
        peak = memory_mb("VmHWM")
    return {"ms": took, "before_mb": before, "peak_mb": peak}

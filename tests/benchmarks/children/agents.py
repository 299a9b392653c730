"""Reading another agent's session file, and importing what is added to it."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from explorer.formats.registry import open_source
from explorer.services.followed_file import FollowedFile
from explorer.store import Store
from tests.benchmarks.children.process import memory_mb


def read(session: str, rounds: int) -> dict[str, Any]:
    """Read the file, beside ``json.loads`` for every line, in the time of the process."""
    found: dict[str, Any] = {"ms": [], "bare_ms": [], "ratios": [], "entries": 0}
    for _ in range(rounds):
        start = time.process_time()
        with open(session, "rb") as file:
            for line in file:
                json.loads(line)
        between = time.process_time()
        found["entries"], source = 0, open_source(session)
        for batch in source.batches():
            found["entries"] += len(batch)
            source.report.asides.clear()  # An import hands them on at once.
        bare, took = between - start, time.process_time() - between
        found["bare_ms"].append(bare * 1000)
        found["ms"].append(took * 1000)
        found["ratios"].append(took / bare)
    return found | {"peak_mb": memory_mb("VmHWM")}


def follow(session: str, home: str, rounds: int) -> dict[str, Any]:
    """Import all but the last lines of the file, then these one by one."""
    database = Path(home) / "data" / "sessions.db"
    database.parent.mkdir(parents=True)
    path = Path(home) / Path(session).name
    shutil.copyfile(session, path)
    data = path.read_bytes()
    stops = [len(data)]
    for _ in range(rounds):
        stops.append(data.rindex(b"\n", 0, stops[-1] - 1) + 1)
    path.write_bytes(data[: stops[-1]])
    with Store.open(database) as store:
        file = FollowedFile()
        start = time.perf_counter()
        file.read(store, path)
        whole, took = time.perf_counter() - start, []
        for begin, stop in zip(stops[::-1], stops[-2::-1], strict=False):
            with path.open("ab") as out:
                out.write(data[begin:stop])
            start = time.perf_counter()
            file.read(store, path)
            took.append((time.perf_counter() - start) * 1000)
    return {"whole_ms": whole * 1000, "ms": took}

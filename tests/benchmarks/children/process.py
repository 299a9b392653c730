"""Memory of this process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

_STATUS = Path("/proc/self/status")


def memory_mb(name: str = "VmRSS") -> float:
    """Resident memory in MB; ``VmHWM`` is the most it ever was. 0 where it is not known."""
    if not _STATUS.exists():
        return 0.0
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0.0


def times_ms(work: Callable[[], object], *, least: int = 5, budget_s: float = 0.6) -> list[float]:
    """Times of calls, at least so many and for about so long, without the collector's pauses."""
    found: list[float] = []
    gc.collect()
    gc.disable()
    end = time.perf_counter() + budget_s
    try:
        while len(found) < least or time.perf_counter() < end:
            start = time.perf_counter()
            work()
            found.append((time.perf_counter() - start) * 1000)
            if len(found) >= 2000:
                break
    finally:
        gc.enable()
    return found

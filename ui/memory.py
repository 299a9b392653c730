"""How the process asks the system for memory."""

from __future__ import annotations

import ctypes
import sys

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt``."""
_ARENAS = 2


def share_arenas() -> bool:
    """Let all threads take their memory from few places; whether this system can.

    glibc gives each thread a place of its own, which keeps what was freed there: every session
    that a worker thread loads would leave a hole behind.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_ARENA_MAX, _ARENAS))

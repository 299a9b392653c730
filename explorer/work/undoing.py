"""What an undo took back, and that there was nothing to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back."""

    kind: Literal["compaction", "prune", "pin", "omit", "keep-user-messages"]
    entry: int
    """The entry that holds no longer."""
    leaf: int
    """The leaf afterwards."""


class NothingToUndo(Exception):
    """There is nothing on the active path to take back."""

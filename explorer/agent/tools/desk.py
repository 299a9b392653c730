"""What the tools of one session share: the folder, what was read of it, and whole outputs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from explorer.agent.tools.outputs import Outputs
from explorer.agent.workspace import Workspace
from explorer.models.events import CancelToken


class Seen:
    """Which contents of which files the model knows, as marks; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[Path, str] = {}

    def keep(self, path: Path, mark: str) -> None:
        """The model was shown this content, or wrote it."""
        with self._lock:
            self._marks[path] = mark

    def changed(self, path: Path, mark: str | None) -> bool:
        """Whether the model knows another content than this; not, where it knows none."""
        with self._lock:
            known = self._marks.get(path)
        return known is not None and known != mark


@dataclass(frozen=True, slots=True)
class Desk:
    """What a tool works with."""

    workspace: Workspace
    outputs: Outputs | None = None
    """None: nobody keeps what a result leaves out."""
    seen: Seen = field(default_factory=Seen)


@dataclass(frozen=True, slots=True)
class Job:
    """One call at work."""

    tool: str
    call_id: str = ""
    cancel: CancelToken = field(default_factory=CancelToken)

"""The session and the clock of most tests here."""

from __future__ import annotations

from explorer.settings import paths

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


class Clock:
    """A clock that moves on by a second at every look."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        self.now += 1000
        return self.now

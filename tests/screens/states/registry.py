"""The list of states, and how a story gets onto it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.screens.stage import MODEL, Job, Story

SMALL = (1024, 700)
JOBS: list[Job] = []
SUMMARY = (
    "## Goal\nMake the pushes of todo-api survive a sync hub that answers 503 and 429, without "
    "a test that fails once in twenty runs.\n\n## Constraints & Preferences\n- The hub may slow "
    "us down, never speed us up.\n- A 409 is never retried, whatever the header says.\n- No new "
    "dependency.\n\n## Progress\n### Done\n- The backoff waits on an event instead of the clock."
    "\n- `tests/test_wake.py` fails on the code as it was.\n\n### In Progress\n- The wording of "
)


def state(
    name: str,
    base: str = "sample",
    *,
    main: bool = False,
    dark: bool = False,
    small: bool = False,
    scale: int = 100,
    doubled: bool = False,
    provider: bool = False,
) -> Callable[[Story], Story]:
    """Register a state.

    ``main`` ones are taken light and dark, large and small; ``doubled`` ones also with text at
    200 % in the smallest window, where everything must still be whole.
    """

    def register(story: Story) -> Story:
        preferences = {"summary_model": MODEL, "agent_model": MODEL} if provider else {}
        job = Job(name, story, base, "dark" if dark else "light", preferences=preferences)
        looks = [(job.theme, SMALL if small else job.size, scale)]
        if main:
            sizes = ((1440, 900), SMALL)
            looks = [(look, size, scale) for look in ("light", "dark") for size in sizes]
        if doubled:
            looks += [("light", SMALL, 200), ("dark", SMALL, 200)]
        for look, size, percent in looks:
            words = f"{name}-{look}-{size[0]}x{size[1]}" + (f"-{percent}" if percent != 100 else "")
            JOBS.append(replace(job, name=words, theme=look, size=size, scale=percent))
        return story

    return register

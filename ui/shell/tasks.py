"""Who owns a running coroutine: every one started by the window ends with it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine
from typing import Any


class TaskOwner:
    """Starts coroutines, reports what they raise, and cancels what still runs on close."""

    def __init__(self, report: Callable[[str, BaseException, str], None]) -> None:
        self._report = report
        self._tasks: dict[asyncio.Task[Any], str] = {}

    def start(self, what: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run ``work``; ``what`` names it for the person should it fail ("Opening x")."""
        task = asyncio.ensure_future(work)
        self._tasks[task] = what
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        what = self._tasks.pop(task, "")
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._report(what, error, "".join(traceback.format_exception(error)))

    @property
    def running(self) -> list[str]:
        return list(self._tasks.values())

    async def close(self) -> None:
        """Cancel what runs and wait until it has ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

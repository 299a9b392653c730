"""A token that cancels a piece of work from any thread, and the wait for a result or the cancel."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any


class CancelToken:
    """Cancelled once, for good. Callbacks run on the thread that cancels."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Give up. Calling it again does nothing."""
        with self._lock:
            if self._cancelled:
                return
            self._cancelled = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def add_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Run `callback` at the cancel, or now if that has happened; returns its removal."""
        with self._lock:
            if not self._cancelled:
                key = self._next
                self._next += 1
                self._callbacks[key] = callback
                return lambda: self._remove(key)
        callback()
        return lambda: None

    def _remove(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


async def done_or_cancelled(waited: asyncio.Future[Any], cancel: CancelToken) -> bool:
    """Wait until ``waited``, a future of the running loop, is done or ``cancel`` is cancelled, from
    any thread; returns whether it is done and not cancelled. ``waited`` itself goes on."""
    loop = asyncio.get_running_loop()
    given_up = asyncio.Event()

    def give_up() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(given_up.set)

    forget = cancel.add_callback(give_up)
    waiting = asyncio.ensure_future(given_up.wait())
    try:
        await asyncio.wait((waited, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        forget()
        waiting.cancel()
    return waited.done() and not cancel.cancelled

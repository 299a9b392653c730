"""Events and results carried from the providers' thread to the asyncio loop that asked for them.

A burst of events costs the asking loop one wake-up, not one per event: it is the window's loop, and
thousands of small wake-ups are what make it stutter.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from explorer.models.events import Cancelled, CancelToken, Event
from explorer.models.provider import ProviderThread

T = TypeVar("T")


class EventPipe:
    """Filled from any thread, drained by the coroutine that made it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._waking = False
        self._ended = False
        self._error: BaseException | None = None
        self._closed = asyncio.Event()

    def put(self, event: Event) -> None:
        """Add an event; dropped when the pipe has ended."""
        with self._lock:
            if self._ended:
                return
            self._events.append(event)
        self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """End the stream. Events put before still arrive, then ``error`` if there is one."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self._error = error
        self._wake()

    def abandon(self, error: BaseException) -> None:
        """End at once: what was put and not yet read is dropped."""
        with self._lock:
            self._events.clear()
            self._ended = True
            self._error = error
        self._wake()

    def close(self) -> None:
        """Report that the filling side has released everything."""
        if not self._loop.is_closed():
            with contextlib.suppress(RuntimeError):  # the loop closed meanwhile: nothing waits
                self._loop.call_soon_threadsafe(self._closed.set)

    async def closed(self, at_most_s: float) -> None:
        """Wait for `close`, at most so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await self._closed.wait()

    def _wake(self) -> None:
        with self._lock:
            if self._waking or self._loop.is_closed():
                return
            self._waking = True
        try:
            self._loop.call_soon_threadsafe(self._ready.set)
        except RuntimeError:
            # The asking loop closed between the check and the call: nothing is left to wake.
            return

    async def events(self) -> AsyncIterator[Event]:
        """The events in order. Raises the error given to `end` or `abandon`."""
        while True:
            await self._ready.wait()
            with self._lock:
                batch = list(self._events)
                self._events.clear()
                ended, error = self._ended, self._error
                self._ready.clear()
                self._waking = False
            for event in batch:
                yield event
            if ended:
                # A late `abandon` while the batch was handed out wins over a clean end.
                final = self._error or error
                if final is not None:
                    raise final
                return


async def on_provider_loop(
    thread: ProviderThread, work: Coroutine[Any, Any, T], cancel: CancelToken
) -> T:
    """What ``work`` returns. Raises what it raises, and Cancelled as soon as it is cancelled;
    cancelling the waiting task ends the work too."""
    if cancel.cancelled:
        work.close()
        raise Cancelled
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    result: list[T] = []

    async def run() -> None:
        result.append(await work)

    def settle(error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(None)
        else:
            ended.set_exception(Cancelled() if isinstance(error, asyncio.CancelledError) else error)

    def on_end(error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop closed meanwhile: nothing waits
            loop.call_soon_threadsafe(settle, error)

    call = thread.work(run(), on_end)
    forget = cancel.add_callback(call.cancel)
    try:
        await ended
    finally:
        forget()
        call.cancel()
    return result[0]

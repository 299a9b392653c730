"""The call of one handler: on a separate thread, for a limited time (A38, B15).

A handler never runs on the thread that waits for it, so one that hangs or blocks delays nothing
else. An asynchronous one gets an event loop on its thread. At the time limit an asynchronous
handler is cancelled; a synchronous one cannot be, and what it returns later is ignored.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from explorer.extensions.events import Signal
from explorer.models.events import CancelToken

TIME_LIMIT_S = 30.0


class CallOutcome(Struct, frozen=True):
    """What became of a call."""

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    cancelled: bool = False
    elapsed_ms: float = 0.0


class HandlerCall:
    """One handler at work on its thread."""

    def __init__(
        self,
        work: Callable[[], Any],
        signal: Signal,
        name: str,
        read: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        """``read`` makes of what the handler returns what is answered; on the same thread, since
        even looking at a hostile value may take for ever."""
        self._work, self._signal, self._read = work, signal, read
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._given_up = False
        # A daemon: what hangs must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"extension-{name}", daemon=True)
        self._report: Callable[[CallOutcome], None] = lambda _outcome: None

    @property
    def running(self) -> bool:
        """Whether the thread still runs, waited for or not."""
        return self._thread.is_alive()

    async def wait(self, limit_s: float, cancel: CancelToken) -> CallOutcome:
        """Start the call, and wait for its answer, the time limit or the cancel."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[CallOutcome] = loop.create_future()

        def settle(outcome: CallOutcome) -> None:
            if not answered.done():
                answered.set_result(outcome)

        def report(outcome: CallOutcome) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, outcome)

        self._report = report
        started = time.perf_counter()
        forget = cancel.add_callback(lambda: report(CallOutcome(cancelled=True)))
        try:
            self._thread.start()
            outcome = await asyncio.wait_for(answered, limit_s)
        except TimeoutError:
            outcome = CallOutcome(timed_out=True)
        finally:
            forget()
            self._give_up()
        taken = (time.perf_counter() - started) * 1000
        return CallOutcome(
            outcome.value, outcome.error, outcome.timed_out, outcome.cancelled, taken
        )

    def _give_up(self) -> None:
        """Signal the handler that its answer is no longer needed, and cancel it where possible."""
        self._signal._cancel()
        with self._lock:
            self._given_up = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    # on the handler's thread ---------------------------------------------------------------------

    def _run(self) -> None:
        try:
            value = self._work()
            if inspect.isawaitable(value):
                self._run_async(value)
                return
            outcome = CallOutcome(self._read(value))
        except BaseException as error:  # noqa: BLE001 -- SystemExit too must not end the program
            self._answer(CallOutcome(error=error))
        else:
            self._answer(outcome)

    def _answer(self, outcome: CallOutcome) -> None:
        with self._lock:
            if self._given_up:
                return
        try:
            self._report(outcome)
        except RuntimeError:
            # The loop that asked was closed between the look and the call: nothing waits for the
            # answer.
            return

    def _run_async(self, awaitable: Any) -> None:
        async def guarded() -> CallOutcome:
            try:
                return CallOutcome(self._read(await awaitable))
            except BaseException as error:  # noqa: BLE001 -- a handler may raise anything
                # Within the task, since a loop lets SystemExit of a task through.
                return CallOutcome(error=error)

        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            task = loop.create_task(guarded())
            with self._lock:
                self._loop, self._task = loop, task
                if self._given_up:
                    task.cancel()
            try:
                outcome = loop.run_until_complete(task)
            except BaseException as error:  # noqa: BLE001 -- so may what it left running
                outcome = CallOutcome(error=error)
            # Before the loop is tidied up, which may take as long as what the handler left in it.
            self._answer(outcome)
            with self._lock:
                self._loop = self._task = None

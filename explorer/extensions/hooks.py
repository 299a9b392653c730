"""The handlers of an extension: where it registers them, the context that they get besides the
event, and the call of one on a separate thread, for a limited time (A38, B15).

A handler never runs on the thread that waits for it, so one that hangs or blocks delays nothing
else. An asynchronous one gets an event loop on its thread. At the time limit an asynchronous
handler is cancelled; a synchronous one cannot be, and what it returns later is ignored.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from explorer.extensions.answers import EVENTS
from explorer.extensions.events import Signal
from explorer.models.events import CancelToken

Handler = Callable[..., Any]
MOST_LINES = 200
"""Lines of an extension's log that are kept."""

_OTHER_NAMES = {"session_compacting": "session.compacting"}


class Registered(Struct, frozen=True):
    """One handler of one event."""

    event: str
    handler: Handler
    required: bool
    """Whether a request is blocked when this handler fails."""
    takes_context: bool


class Context(Struct):
    """The second argument of a handler that takes two."""

    extension: str
    settings: Mapping[str, Any]
    """What ``NAME.json`` beside the extension holds; empty without it."""
    cwd: str
    """The working folder that the session names; it need not exist here."""
    lines: deque[str]
    request_compaction: Callable[[str], None]

    def compact(self, instructions: str = "") -> None:
        """Ask for a compaction of the session, whatever its threshold says. It is made when the
        running turn is over, or after the next one (A8)."""
        self.request_compaction(instructions)

    def log(self, *words: object) -> None:
        """Write a line to the extension's log, which the page of extensions shows."""
        self.lines.append(" ".join(map(str, words)))


class Hooks(Struct):
    """Given to ``activate(hooks)``."""

    name: str
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    registered: list[Registered] = field(default_factory=list)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    closed: bool = False

    def on(self, event: str, handler: Handler | None = None, *, required: bool = False) -> Any:
        """Register a handler: ``@hooks.on("session_before_compact")``, or with it as second
        argument. Handlers take the event, or the event and a ``Context``.

        ``required``: for ``session_request`` and ``session_summary``. What this handler must see
        is not sent, or not kept, when the handler fails; without it a failure is reported and
        ignored. Raises ValueError for an event that there is not, TypeError for no function.
        """
        name = _OTHER_NAMES.get(event, event)
        if name not in EVENTS:
            raise ValueError(f"there is no event {event!r}; there are: {', '.join(EVENTS)}")
        if required and name not in ("session_request", "session_summary"):
            raise ValueError(f"handlers of {name} cannot be required")
        if self.closed:
            raise ValueError("handlers are registered while activate() runs")

        def register(found: Handler) -> Handler:
            if not callable(found):
                raise TypeError(f"a handler must be a function, not {type(found).__name__}")
            self.registered.append(Registered(name, found, required, _takes_context(found)))
            return found

        return register if handler is None else register(handler)


def _takes_context(handler: Handler) -> bool:
    """Whether a handler wants the context too. Raises TypeError when it takes no event."""
    try:
        signature = inspect.signature(handler)
    except ValueError:
        return False  # some built-in functions tell nothing of themselves
    try:
        signature.bind(None)
    except TypeError:
        try:
            signature.bind(None, None)
        except TypeError as error:
            raise TypeError("a handler takes the event, or the event and a context") from error
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in signature.parameters.values()) > 1


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

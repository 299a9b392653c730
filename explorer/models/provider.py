"""litellm in a separate thread and event loop, imported only when it is asked for; and its events
and results carried to the asyncio loop that asked for them.

The import takes seconds and a burst of chunks holds the interpreter: neither may happen on the loop
of the window (reference: measured stalls of 135 to 680 ms there). A burst of events costs the
asking loop one wake-up, not one per event: thousands of small wake-ups are what make a window
stutter.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import logging
import os
import threading
import warnings
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from importlib import import_module
from typing import Any, TypeVar

from explorer.models.events import Cancelled, CancelToken, Event, ModelError
from explorer.models.provider_error import classify, missing_key_error
from explorer.models.reply_guard import CallTimeout, ReplyGuard
from explorer.models.request import ModelRequest
from explorer.models.route import FindRoute, Route
from explorer.models.wire import ChunkReader, call_arguments

_CLOSE_WAIT_S = 5.0
_NOT_AWAITED = r"coroutine '\w+ChatCompletion\..*' was never awaited"
_CHUNKS = 1_000
"""Chunks of a stream that are left in memory."""


def import_litellm() -> Any:
    """litellm, with its network price table, telemetry and ``.env`` files off. Takes seconds the
    first time.

    Raises ModelError (unavailable) where it is not installed.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_TELEMETRY", "False")
    # Otherwise it puts a project's .env into this process, whose commands would obey that.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    collecting = gc.isenabled()
    gc.disable()
    try:
        import litellm
        from litellm.llms.custom_httpx import aiohttp_transport as transport

        # httpx takes a fifth of a second; its transports are guarded with the import.
        transports = import_module("explorer.models.guarded_transports")
    except ImportError as error:
        raise ModelError("unavailable", f"litellm cannot be imported: {error}") from error
    finally:
        if collecting:
            gc.enable()
    transports.guard_transport(transport.LiteLLMAiohttpTransport)
    # Of a call that is given up it leaves coroutines that it has not begun to await.
    warnings.filterwarnings("ignore", _NOT_AWAITED, RuntimeWarning)
    litellm.telemetry = False
    # Counting a long text takes minutes where it repeats itself, and may load a tokenizer.
    litellm.disable_token_counter = True
    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


class ProviderCall:
    """One piece of work on the providers' loop. `on_end` runs there, once, at its real end."""

    def __init__(
        self, work: Coroutine[Any, Any, None], on_end: Callable[[BaseException | None], None]
    ) -> None:
        self._work = work
        self._on_end = on_end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(
        self, loop: asyncio.AbstractEventLoop, forget: Callable[[ProviderCall], None]
    ) -> None:
        """Schedule the work on `loop` from any thread; `forget` runs when it has ended."""
        self._loop = loop
        loop.call_soon_threadsafe(self._begin, loop, forget)

    def _begin(
        self, loop: asyncio.AbstractEventLoop, forget: Callable[[ProviderCall], None]
    ) -> None:
        def ended(done: asyncio.Task[None]) -> None:
            forget(self)
            self._on_end(asyncio.CancelledError() if done.cancelled() else done.exception())

        self._task = loop.create_task(self._work)
        self._task.add_done_callback(ended)

    def cancel(self) -> None:
        """End the work from any thread; its connections are closed before `on_end` runs."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class ProviderThread:
    """The loop on which every call to a provider runs. Started at the first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._calls: set[ProviderCall] = set()
        self._closed = False
        self._litellm: Any = None

    @property
    def ready(self) -> bool:
        """Whether litellm is imported: before that a call cannot end at once."""
        return self._litellm is not None

    @property
    def running(self) -> int:
        """How many calls are under way."""
        with self._lock:
            return len(self._calls)

    def warm(self, on_end: Callable[[BaseException | None], None]) -> ProviderCall:
        """Import litellm and walk its first call, so that the first real one does not stall."""
        return self._start(self._warm(), on_end)

    def start(
        self,
        request: ModelRequest,
        find_route: FindRoute,
        emit: Callable[[Event], None],
        on_end: Callable[[BaseException | None], None],
    ) -> ProviderCall:
        """Make the call; `emit` and `on_end` run on this thread. Errors are ModelErrors."""
        return self._start(self._call(request, find_route, emit), on_end)

    def work(
        self, coroutine: Coroutine[Any, Any, None], on_end: Callable[[BaseException | None], None]
    ) -> ProviderCall:
        """Run other work that talks to a server on this thread; see ``start``."""
        return self._start(coroutine, on_end)

    def close(self) -> None:
        """Cancel what runs, then end the loop and the thread. Waits at most five seconds."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None or loop.is_closed():
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_WAIT_S)

    def _start(
        self, work: Coroutine[Any, Any, None], on_end: Callable[[BaseException | None], None]
    ) -> ProviderCall:
        call = ProviderCall(work, on_end)
        with self._lock:
            if self._closed:
                work.close()
                raise ModelError("unavailable", "The model client is closed.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="models", daemon=True
                )
                self._thread.start()
            self._calls.add(call)
            call.begin(self._loop, self._forget)
        return call

    def _forget(self, call: ProviderCall) -> None:
        with self._lock:
            self._calls.discard(call)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            if self._litellm is not None:
                loop.run_until_complete(self._close_clients())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def _close_clients(self) -> None:
        """Pooled connections belong to this loop, by whose id litellm caches them."""
        cache = self._litellm.in_memory_llm_clients_cache.cache_dict
        mine = f"-{id(asyncio.get_running_loop())}"
        for key in [key for key in cache if str(key).endswith(mine)]:
            close = getattr(cache.pop(key), "close", None)
            closing = close() if close is not None else None
            if inspect.isawaitable(closing):
                await closing

    def _load(self) -> Any:
        if self._litellm is None:
            self._litellm = import_litellm()
        return self._litellm

    async def _warm(self) -> None:
        litellm = self._load()
        stream = await litellm.acompletion(
            model="openai/warm",
            messages=[{"role": "user", "content": "warm"}],
            mock_response="warm",
            stream=True,
        )
        async for _ in stream:
            await asyncio.sleep(0)

    async def _call(
        self,
        request: ModelRequest,
        find_route: FindRoute,
        emit: Callable[[Event], None],
    ) -> None:
        litellm = self._load()
        await asyncio.sleep(0)  # a cancel during the import ends here, before anything is sent
        # The keyring may ask the person for a password before it answers.
        route = await asyncio.to_thread(find_route)
        timeout = CallTimeout(route.idle_timeout_s, route.timeout_s, emit)
        guard = ReplyGuard(route.limits, route.api_base, timeout.on_activity)
        try:
            async with timeout:
                with guard.active():
                    await _stream_into(litellm, request, route, guard, emit)
        except Exception as error:
            if guard.problem is not None:
                raise guard.problem from error
            raise missing_key_error(classify(error), route.info.provider, route.api_key) from error


async def _stream_into(
    litellm: Any,
    request: ModelRequest,
    route: Route,
    guard: ReplyGuard,
    emit: Callable[[Event], None],
) -> None:
    arguments = call_arguments(request, route.info, route.model)
    # The CallTimeout around this ends a silence first, with a message.
    arguments["timeout"] = route.idle_timeout_s + _CLOSE_WAIT_S
    if route.api_base is not None:
        arguments["api_base"] = route.api_base
    if route.api_key is not None:
        # Given to this one call: in the environment every command of the agent could read it.
        arguments["api_key"] = route.api_key
    if route.headers:
        arguments["extra_headers"] = dict(route.headers)
    stream = await litellm.acompletion(**arguments)
    reader = ChunkReader()
    async with contextlib.aclosing(stream):
        async for chunk in stream:
            guard.on_activity()
            for event in reader.read(chunk, lambda: _counted_by_provider(stream)):
                emit(event)
            _forget_chunks(stream)
        last_reason = _real_finish_reason(stream)
    if guard.problem is not None:
        raise guard.problem
    if not last_reason:
        raise ModelError("network", "The connection ended before the answer was complete.")
    for event in reader.finish(last_reason, (message.text for message in request.messages)):
        emit(event)


def _forget_chunks(stream: Any) -> None:
    """litellm stores every chunk, some kilobytes each, and copies the text so far at each one; only
    the usage is needed in the end."""
    chunks = getattr(stream, "chunks", None)
    if isinstance(chunks, list) and len(chunks) > _CHUNKS:
        counted = [chunk for chunk in chunks if getattr(chunk, "usage", None) is not None]
        chunks[:] = [*counted[-2:], *chunks[-2:]]
        stream.response_uptil_now = ""


def _real_finish_reason(stream: Any) -> str:
    """Why the provider stopped; empty where it gave no reason.

    litellm closes every stream with an invented "stop", so that a connection cut
    in the middle looks like a finished answer. Only what was received counts.
    """
    for name in ("received_finish_reason", "intermittent_finish_reason"):
        reason = getattr(stream, name, None)
        if reason:
            return str(reason)
    return ""


def _counted_by_provider(stream: Any) -> bool:
    """Whether any chunk from the wire carried usage; without one litellm estimates."""
    return any(getattr(chunk, "usage", None) is not None for chunk in getattr(stream, "chunks", ()))


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

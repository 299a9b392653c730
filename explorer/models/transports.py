"""The transports of httpx and of litellm, with an eye to the watch over the call under way.

litellm and the clients beneath it make their connections in a dozen places; all of them end in one
of three transports. Where no call is watched, these do what they always did.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any

import httpx

from explorer.models.events import ModelError
from explorer.models.incoming import Intake, current_watch

AsyncHandler = Callable[[Any, httpx.Request], Awaitable[httpx.Response]]
Handler = Callable[[Any, httpx.Request], httpx.Response]


class _AsyncBody(httpx.AsyncByteStream):
    """A body that is read through an intake."""

    def __init__(self, stream: httpx.AsyncByteStream, intake: Intake) -> None:
        self._stream = stream
        self._intake = intake

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for raw in self._stream:
            for piece in self._intake.feed(raw):
                yield piece
            if self._intake.full:
                return
        for piece in self._intake.end():
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Body(httpx.SyncByteStream):
    """The same without asyncio."""

    def __init__(self, stream: httpx.SyncByteStream, intake: Intake) -> None:
        self._stream = stream
        self._intake = intake

    def __iter__(self) -> Iterator[bytes]:
        for raw in self._stream:
            yield from self._intake.feed(raw)
            if self._intake.full:
                return
        yield from self._intake.end()

    def close(self) -> None:
        self._stream.close()


def watched_async(original: AsyncHandler) -> AsyncHandler:
    """A transport's ``handle_async_request`` under watch."""

    @wraps(original)
    async def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        watch = current_watch()
        if watch is None:
            return await original(transport, request)
        watch.before(request)
        response = await original(transport, request)
        try:
            intake = watch.intake(request, response)
        except ModelError:
            await response.aclose()
            raise
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _AsyncBody(response.stream, intake)
        return response

    return handle


def watched(original: Handler) -> Handler:
    """A transport's ``handle_request`` under watch."""

    @wraps(original)
    def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        watch = current_watch()
        if watch is None:
            return original(transport, request)
        watch.before(request)
        response = original(transport, request)
        try:
            intake = watch.intake(request, response)
        except ModelError:
            response.close()
            raise
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Body(response.stream, intake)
        return response

    return handle


def watch_transport(transport: Any) -> None:
    """Put a class of transports under watch; a second time changes nothing."""
    for name, guard in (("handle_async_request", watched_async), ("handle_request", watched)):
        original = vars(transport).get(name)
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(transport, name, guard(original))


watch_transport(httpx.AsyncHTTPTransport)
watch_transport(httpx.HTTPTransport)

"""The transports of httpx and of litellm under the guard of the call that runs.

litellm and the clients beneath it make their connections in a dozen places; all of them end in one
of three transports. Calls without a guard are not changed. Importing this module imports httpx,
which takes a fifth of a second: it is imported with the first call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import wraps
from typing import Any, cast

import httpx

from explorer.models.events import ModelError
from explorer.models.reply_guard import BodyReader, current_guard


class _CheckedBody(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body whose bytes go through a reader, for either kind of client."""

    def __init__(self, stream: Any, reader: BodyReader) -> None:
        self._stream = stream
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for raw in self._stream:
            for piece in self._reader.feed(raw):
                yield piece
            if self._reader.full:
                return
        for piece in self._reader.end():
            yield piece

    def __iter__(self) -> Iterator[bytes]:
        for raw in self._stream:
            yield from self._reader.feed(raw)
            if self._reader.full:
                return
        yield from self._reader.end()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        self._stream.close()


def _guarded_async(original: Any) -> Any:
    @wraps(original)
    async def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        guard = current_guard()
        if guard is not None:
            guard.check_request(request)
        response = cast(httpx.Response, await original(transport, request))
        if guard is not None:
            try:
                reader = guard.body_reader(request, response)
            except ModelError:
                await response.aclose()
                raise
            response.stream = _CheckedBody(response.stream, reader)
        return response

    return handle


def _guarded(original: Any) -> Any:
    @wraps(original)
    def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        guard = current_guard()
        if guard is not None:
            guard.check_request(request)
        response = cast(httpx.Response, original(transport, request))
        if guard is not None:
            try:
                reader = guard.body_reader(request, response)
            except ModelError:
                response.close()
                raise
            response.stream = _CheckedBody(response.stream, reader)
        return response

    return handle


def guard_transport(transport: Any) -> None:
    """Put a class of transports under the guard; a second time changes nothing."""
    for name, guarded in (("handle_async_request", _guarded_async), ("handle_request", _guarded)):
        original = vars(transport).get(name)
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(transport, name, guarded(original))


guard_transport(httpx.AsyncHTTPTransport)
guard_transport(httpx.HTTPTransport)

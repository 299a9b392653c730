"""Work on the providers' loop, waited for on another."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from explorer.models.cancel import CancelToken
from explorer.models.events import Cancelled
from explorer.models.provider import ProviderThread

T = TypeVar("T")


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
        with contextlib.suppress(RuntimeError):  # the loop closed meanwhile: nobody waits
            loop.call_soon_threadsafe(settle, error)

    call = thread.work(run(), on_end)
    forget = cancel.add_callback(call.cancel)
    try:
        await ended
    finally:
        forget()
        call.cancel()
    return result[0]

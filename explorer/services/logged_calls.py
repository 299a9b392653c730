"""A call to a model with its record: what was sent, what came, how often it was tried."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from explorer.models.client import (
    Cancelled,
    CancelToken,
    Completion,
    ModelError,
    Streams,
    complete,
)
from explorer.models.retry import Patience, Retry, with_retry
from explorer.services.summary_request import Attempt


async def send_patiently(
    models: Streams,
    attempt: Attempt,
    log: list[Attempt],
    cancel: CancelToken,
    patience: Patience,
    on_retry: Callable[[Retry], None],
    on_text: Callable[[str], None] | None = None,
    *,
    on_silence: Callable[[str], None] | None = None,
) -> Completion:
    """Make a call, again after a transient failure, and add to ``log`` what came of every try.

    ``on_retry`` is called before the wait for the next try. Raises ModelError and Cancelled.
    """
    waited = 0.0

    def retried(retry: Retry) -> None:
        nonlocal waited
        waited = retry.wait_s
        on_retry(retry)

    async def send(number: int) -> Completion:
        tried = attempt if number == 1 else replace(attempt, why="retry", waited_s=waited)
        return await _send(models, tried, log, cancel, on_text, patience.clock, on_silence)

    return await with_retry(send, patience.policy, patience.sleep, patience.random, retried, cancel)


async def _send(
    models: Streams,
    attempt: Attempt,
    log: list[Attempt],
    cancel: CancelToken,
    on_text: Callable[[str], None] | None,
    clock: Callable[[], float],
    on_silence: Callable[[str], None] | None,
) -> Completion:
    """Make one call, and add to ``log`` what came of it, what had arrived before a failure too.

    ``clock`` gives seconds. Raises ModelError and Cancelled.
    """
    pieces: list[str] = []
    started = clock()

    def take(piece: str) -> None:
        pieces.append(piece)
        if on_text is not None:
            on_text(piece)

    def log_failure(problem: str, kind: str) -> None:
        took = (clock() - started) * 1000
        text = "".join(pieces)
        log.append(replace(attempt, text=text, elapsed_ms=took, problem=problem, kind=kind))

    try:
        answer = await complete(
            models, attempt.request, cancel, take, clock=clock, on_silence=on_silence
        )
    except ModelError as error:
        log_failure(error.sentence, error.kind)
        raise
    except (Cancelled, asyncio.CancelledError):
        log_failure("Cancelled.", "cancelled")
        raise
    done = replace(
        attempt, text=answer.text, stop_reason=answer.stop_reason, usage=answer.usage,
        elapsed_ms=answer.elapsed_ms,
    )  # fmt: skip
    log.append(done)
    return answer

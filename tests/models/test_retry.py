"""Trying again: which failures, how often, how long apart, and given up at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    ErrorKind,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.models.retry import Retry, RetryPolicy, is_transient, wait_before_next, with_retry
from tests.models.server import OVERFLOW, Answer, ChatServer, HttpFailure

POLICY = RetryPolicy(tries=4, first_wait_s=1.0, factor=2.0, longest_wait_s=60.0, jitter=0.25)


class Waits:
    """A sleep that writes down how long it was asked for, and takes no time."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


def failing(*errors: ModelError) -> tuple[Callable[[int], object], list[int]]:
    """An attempt that fails with these in turn, then answers; and the numbers it was given."""
    left = list(errors)
    seen: list[int] = []

    async def attempt(number: int) -> str:
        seen.append(number)
        if left:
            raise left.pop(0)
        return "answered"

    return attempt, seen  # type: ignore[return-value]


async def run(attempt, waits, told=None, policy=POLICY, random=lambda: 0.0, cancel=None):
    note = told.append if told is not None else (lambda retry: None)
    return await with_retry(attempt, policy, waits, random, note, cancel or CancelToken())


def test_A43_waits_grow_and_the_answer_comes_through() -> None:
    attempt, seen = failing(ModelError("server", "busy"), ModelError("timeout", "slow"))
    waits, told = Waits(), []
    assert asyncio.run(run(attempt, waits, told)) == "answered"
    assert seen == [1, 2, 3]
    assert waits.asked == [1.0, 2.0]
    assert [(retry.failed, retry.of) for retry in told] == [(1, 4), (2, 4)]
    assert told[0].sentence == "busy. Trying again in 1.0 s (2 of 4)."


def test_A43_chance_only_lengthens_a_wait_and_never_beyond_the_longest() -> None:
    error = ModelError("server", "busy")
    assert wait_before_next(POLICY, 1, error, lambda: 0.999) == pytest.approx(1.24975)
    assert wait_before_next(RetryPolicy(tries=99), 30, error, lambda: 0.999) == 60.0


def test_A43_the_provider_is_not_asked_before_it_wants_to_be() -> None:
    attempt, _ = failing(ModelError("rate_limit", "later", retry_after_s=7.5))
    waits = Waits()
    asyncio.run(run(attempt, waits))
    assert waits.asked == [7.5]


def test_A43_a_wait_longer_than_anyone_waits_is_told_instead() -> None:
    attempt, seen = failing(ModelError("rate_limit", "tomorrow", retry_after_s=86_400))
    waits = Waits()
    with pytest.raises(ModelError, match="tomorrow"):
        asyncio.run(run(attempt, waits))
    assert (seen, waits.asked) == ([1], [])


def test_A43_it_ends_after_so_many_tries_with_the_last_reason() -> None:
    attempt, seen = failing(*(ModelError("network", f"down {n}") for n in range(1, 9)))
    with pytest.raises(ModelError, match="down 4"):
        asyncio.run(run(attempt, Waits()))
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["overflow", "auth", "bad_request", "unavailable"])
def test_E12_what_does_not_pass_is_not_tried_again(kind: ErrorKind) -> None:
    attempt, seen = failing(ModelError(kind, "no"))
    waits = Waits()
    with pytest.raises(ModelError):
        asyncio.run(run(attempt, waits))
    assert (seen, waits.asked) == ([1], [])
    assert not is_transient(ModelError(kind, "no"))


def test_E12_throttling_that_talks_of_tokens_is_tried_again_and_overflow_is_not() -> None:
    """Over real HTTP: the same words, once with 429 and once as an overflow."""
    words = "Request too large: maximum context length 8192 tokens per minute exceeded"
    request = ModelRequest("openai/test-model", (ChatMessage("user", "hello"),))

    async def ask(server: ChatServer, waits: Waits) -> str:
        client = ModelClient(ModelClientConfig(api_base=server.url))
        try:
            return await run(
                lambda _n: complete(client, request, CancelToken()), waits, random=lambda: 0.0
            )
        finally:
            client.close()

    with ChatServer() as server:
        waits = Waits()
        server.plan(HttpFailure(429, words, retry_after="3"), Answer(text="here"))
        assert asyncio.run(ask(server, waits)).text == "here"
        assert waits.asked == [3.0]
    with ChatServer() as server:
        waits = Waits()
        server.plan(OVERFLOW, Answer(text="never"))
        with pytest.raises(ModelError) as caught:
            asyncio.run(ask(server, waits))
        assert (caught.value.kind, waits.asked, len(server.requests)) == ("overflow", [], 1)


def test_E21_a_cancel_ends_the_wait_from_any_thread() -> None:
    attempt, seen = failing(ModelError("server", "busy"), ModelError("server", "busy"))
    cancel = CancelToken()

    async def for_ever(_seconds: float) -> None:
        await asyncio.Event().wait()

    def on_retry(_retry: Retry) -> None:
        threading.Timer(0.01, cancel.cancel).start()

    async def go() -> None:
        await with_retry(attempt, POLICY, for_ever, lambda: 0.0, on_retry, cancel)
        assert len(asyncio.all_tasks()) == 1

    with pytest.raises(Cancelled):
        asyncio.run(go())
    assert seen == [1]


def test_E21_a_cancel_beforehand_asks_nobody() -> None:
    attempt, seen = failing()
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(run(attempt, Waits(), cancel=cancel))
    assert seen == []

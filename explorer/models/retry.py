"""Trying a model call again when the failure may pass: what is tried, how often, how long apart.

Overflow is never tried again as it is: the same request would overflow again, and a provider that
throttles is not one that overflows (E12); see ``explorer.models.provider_error``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

from msgspec import Struct, field

from explorer.models.events import Cancelled, CancelToken, ErrorKind, ModelError, done_or_cancelled

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
"""Waits so many seconds: ``asyncio.sleep``, or a test's clock."""
Jitter = Callable[[], float]
"""A number from 0 up to 1: ``random.random``."""

TRANSIENT: frozenset[ErrorKind] = frozenset({"rate_limit", "timeout", "network", "server"})
"""Failures that may pass by themselves."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how far apart. Times in seconds."""

    tries: int = 4
    """Calls in all, the first among them; 1 never tries again."""
    first_wait_s: float = 1.0
    factor: float = 2.0
    """Each wait is so many times the one before."""
    longest_wait_s: float = 60.0
    """The longest wait, in seconds. A provider that asks for more is not waited for."""
    jitter: float = 0.25
    """The part of a wait that chance may add, so that many callers do not come back as one."""


class Patience(Struct, frozen=True):
    """A policy with its clock and its random source, which tests replace."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Sleep = asyncio.sleep
    random: Jitter = field(default_factory=lambda: Random().random)
    clock: Callable[[], float] = time.monotonic
    """Seconds, from any start."""


class Retry(NamedTuple):
    """One failure that is followed by another try."""

    failed: int
    """Which try it was, counted from 1."""
    of: int
    """Tries in all at most."""
    wait_s: float
    error: ModelError

    @property
    def sentence(self) -> str:
        """A sentence for the person while it waits."""
        reason = self.error.message.rstrip(".")
        return f"{reason}. Trying again in {self.wait_s:.1f} s ({self.failed + 1} of {self.of})."


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later. Overflow, keys and bad requests do not pass."""
    return isinstance(error, ModelError) and error.kind in TRANSIENT


def wait_before_next(
    policy: RetryPolicy, failed: int, error: ModelError, random: Jitter
) -> float | None:
    """Seconds to wait after try ``failed`` (from 1); None when there is no other try.

    Never shorter than the provider asks (Retry-After). When that is longer than the policy waits
    there is no other try: the person decides.
    """
    if failed >= policy.tries or not is_transient(error):
        return None
    grown: float = policy.first_wait_s * policy.factor ** (failed - 1)
    computed = min(policy.longest_wait_s, grown) * (1 + policy.jitter * random())
    asked = error.retry_after_s or 0.0
    if asked > policy.longest_wait_s:
        return None
    return max(asked, min(computed, policy.longest_wait_s))


async def with_retry(
    attempt: Callable[[int], Awaitable[T]],
    policy: RetryPolicy,
    sleep: Sleep,
    random: Jitter,
    on_retry: Callable[[Retry], None],
    cancel: CancelToken,
) -> T:
    """Call ``attempt`` with 1, 2, ... until it returns, as often as the policy allows.

    ``on_retry`` is called with each failure that another try follows, before the wait. Raises what
    the last try raised (ModelError), or Cancelled as soon as ``cancel`` is cancelled, in the
    middle of a wait too. Anything but a transient ModelError is raised at once.
    """
    number = 1
    while True:
        if cancel.cancelled:
            raise Cancelled
        try:
            return await attempt(number)
        except ModelError as error:
            wait = wait_before_next(policy, number, error, random)
            if wait is None:
                raise
            on_retry(Retry(number, policy.tries, wait, error))
        await pause(wait, sleep, cancel)
        number += 1


async def pause(seconds: float, sleep: Sleep, cancel: CancelToken) -> None:
    """Wait so long, or raise Cancelled as soon as ``cancel`` is cancelled, from any thread."""
    waiting = asyncio.ensure_future(sleep(seconds))
    try:
        if not await done_or_cancelled(waiting, cancel):
            raise Cancelled
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

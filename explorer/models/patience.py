"""How long a call may be silent and how long it may take, and word of it while it is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType

from explorer.models.events import Event, ModelError, Silence

FIRST_WORD_S = 20.0
"""A silence is reported after so long, and then every so often."""
_EVERY_S = 10.0


class Patience:
    """Ends what runs inside, with a ModelError (timeout). Times in seconds."""

    def __init__(self, silence_s: float, total_s: float, emit: Callable[[Event], None]) -> None:
        self._silence = silence_s
        self._total = total_s
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._begun = self._last = self._loop.time()
        self._timeout = asyncio.timeout_at(self._end)
        self._word: asyncio.Task[None] | None = None

    @property
    def _end(self) -> float:
        return min(self._begun + self._total, self._last + self._silence)

    def heard(self) -> None:
        """A sign of life came; from any thread."""
        self._last = self._loop.time()

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._word = asyncio.create_task(self._report())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._word is not None:
            self._word.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise ModelError("timeout", self._told) from late
        if error is not None and self._timeout.expired():
            # What ran inside made another error of its end.
            raise ModelError("timeout", self._told) from error

    async def _report(self) -> None:
        """Move the end as bytes come, and tell of silence."""
        word = FIRST_WORD_S
        while not self._timeout.expired():
            self._timeout.reschedule(self._end)
            silent = self._loop.time() - self._last
            if silent < FIRST_WORD_S:
                word = FIRST_WORD_S
            elif silent >= word:
                word = silent + _EVERY_S
                self._emit(Silence(silent, self._silence))
            await asyncio.sleep(min(1.0, max(0.02, self._silence / 10)))

    @property
    def _told(self) -> str:
        if self._loop.time() - self._begun >= self._total:
            return f"The answer was not complete after {self._total:g} seconds; it was ended."
        return f"The server sent no byte for {self._silence:g} seconds; the call was ended."

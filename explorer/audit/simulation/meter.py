"""What is sent, and what of it a provider's cache holds."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from explorer.audit.simulation.result import Requests
from explorer.audit.simulation.stretches import Stretches

_MINUTE_MS = 60_000
_NOT = bytes([1]) + bytes(255)


class Meter:
    """Takes down the requests of a walk, one after the other."""

    def __init__(self, cache_minutes: float) -> None:
        self.requests = Requests()
        self._lasts_ms = cache_minutes * _MINUTE_MS
        self._held = 0
        """Tokens at the beginning of the next prompt that the cache holds."""
        self._at_ms = 0.0

    def changed(self, prefix: int) -> None:
        """The prompt changes behind so many tokens: what was there is not in the cache."""
        self._held = min(self._held, prefix)

    def held(self, prompt: int, now_ms: float) -> int:
        """What the cache holds of a prompt."""
        if 0 < self._lasts_ms < now_ms - self._at_ms and self._at_ms:
            return 0
        return min(self._held, prompt)

    def take(
        self, entry: int, turn: int, tokens: int, prompt: int, reply: int, mark: int, now_ms: float
    ) -> None:
        """A request went out and was answered. ``mark``: what ``Mark`` says of it."""
        requests = self.requests
        requests.entries.append(entry)
        requests.turns.append(turn)
        requests.tokens.append(tokens)
        requests.sent.append(prompt)
        requests.cached.append(self.held(prompt, now_ms))
        requests.written.append(reply)
        requests.marks.append(mark)
        self._held, self._at_ms = prompt, now_ms

    def take_all(
        self,
        found: Stretches,
        first: int,
        stop: int,
        tokens: Sequence[int],
        sent: Sequence[int],
        marks: bytes | bytearray,
    ) -> None:
        """The requests from one to before another went out, at least one."""
        requests = self.requests
        requests.entries.extend(found.entries[first:stop])
        requests.turns.extend(found.turns[first:stop])
        requests.written.extend(found.written[first:stop])
        requests.tokens.extend(tokens)
        requests.sent.extend(sent)
        requests.marks.extend(marks)
        cached = map(min, [self._held, *sent], sent)
        pauses = found.pauses[first:stop]
        if 1 in pauses:
            cached = map(mul, cached, pauses.translate(_NOT))
        requests.cached.extend(cached)
        self._held, self._at_ms = sent[-1], found.times[stop - 1]

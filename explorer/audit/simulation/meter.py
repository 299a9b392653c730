"""What is sent, and what of it a provider's cache holds."""

from __future__ import annotations

from explorer.audit.simulation.result import Requests

_MINUTE_MS = 60_000


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

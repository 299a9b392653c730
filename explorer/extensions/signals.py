"""The signal that a handler looks at to see whether anybody still waits for it."""

from __future__ import annotations

import threading


class Signal:
    """Cancelled with the work that it belongs to, or when the handler's time is over.

    A synchronous handler that works for long asks ``cancelled`` now and then; an asynchronous one
    is cancelled by itself. May be used on any thread.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for an answer any more."""
        return self._event.is_set()

    @property
    def aborted(self) -> bool:
        """The same, by the name that other systems give it."""
        return self.cancelled

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for the cancel; returns whether it has come."""
        return self._event.wait(seconds)

    def _cancel(self) -> None:
        self._event.set()

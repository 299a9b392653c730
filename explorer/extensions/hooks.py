"""Where an extension registers its handlers, and the context that they get besides the event."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from explorer.extensions.answers import EVENTS

Handler = Callable[..., Any]
MOST_LINES = 200
"""Lines of an extension's log that are kept."""

_OTHER_NAMES = {"session_compacting": "session.compacting"}


class Registered(Struct, frozen=True):
    """One handler of one event."""

    event: str
    handler: Handler
    required: bool
    """Whether a request is blocked when this handler fails."""
    takes_context: bool


class Context(Struct):
    """The second argument of a handler that takes two."""

    extension: str
    settings: Mapping[str, Any]
    """What ``NAME.json`` beside the extension holds; empty without it."""
    cwd: str
    """The working folder that the session names; it need not exist here."""
    lines: deque[str]
    request_compaction: Callable[[str], None]

    def compact(self, instructions: str = "") -> None:
        """Ask for a compaction of the session, whatever its threshold says. It is made when the
        running turn is over, or after the next one (A8)."""
        self.request_compaction(instructions)

    def log(self, *words: object) -> None:
        """Write a line to the extension's log, which the page of extensions shows."""
        self.lines.append(" ".join(map(str, words)))


class Hooks(Struct):
    """Given to ``activate(hooks)``."""

    name: str
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    registered: list[Registered] = field(default_factory=list)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    closed: bool = False

    def on(self, event: str, handler: Handler | None = None, *, required: bool = False) -> Any:
        """Register a handler: ``@hooks.on("session_before_compact")``, or with it as second
        argument. Handlers take the event, or the event and a ``Context``.

        ``required``: for ``session_request`` and ``session_summary``. What this handler must see
        is not sent, or not kept, when the handler fails; without it a failure is reported and
        ignored. Raises ValueError for an event that there is not, TypeError for no function.
        """
        name = _OTHER_NAMES.get(event, event)
        if name not in EVENTS:
            raise ValueError(f"there is no event {event!r}; there are: {', '.join(EVENTS)}")
        if required and name not in ("session_request", "session_summary"):
            raise ValueError(f"handlers of {name} cannot be required")
        if self.closed:
            raise ValueError("handlers are registered while activate() runs")

        def register(found: Handler) -> Handler:
            if not callable(found):
                raise TypeError(f"a handler must be a function, not {type(found).__name__}")
            self.registered.append(Registered(name, found, required, _takes_context(found)))
            return found

        return register if handler is None else register(handler)


def _takes_context(handler: Handler) -> bool:
    """Whether a handler wants the context too. Raises TypeError when it takes no event."""
    try:
        signature = inspect.signature(handler)
    except ValueError:
        return False  # some built-in functions tell nothing of themselves
    try:
        signature.bind(None)
    except TypeError:
        try:
            signature.bind(None, None)
        except TypeError as error:
            raise TypeError("a handler takes the event, or the event and a context") from error
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in signature.parameters.values()) > 1

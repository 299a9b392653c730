"""The bus: the workbench's typed changes, delivered to whoever asked for their type.

Changes are published and delivered on the window's thread, in the order of subscription. A
subscription may be made before the workbench is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from explorer.services.changes import Change, Listener

C = TypeVar("C")


class Publisher(Protocol):
    """What publishes changes: a workbench, or its hub."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned function removes it again."""


class Bus:
    """Subscriptions by type of change."""

    def __init__(self, shown_key: Callable[[], int]) -> None:
        """``shown_key`` gives the key of the session that is shown, 0 for none."""
        self._shown_key = shown_key
        self._listeners: dict[type[Any], list[Callable[[Any], object]]] = {}

    def connect(self, publisher: Publisher) -> None:
        """Deliver what it publishes."""
        publisher.subscribe(self._deliver)

    def on(self, kind: type[C], listener: Callable[[C], object]) -> Callable[[], None]:
        """Call ``listener`` with every change of a type; the returned function ends that."""
        listeners = self._listeners.setdefault(kind, [])
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    def on_shown(self, kind: type[C], listener: Callable[[C], object]) -> None:
        """Call ``listener`` with the changes of a type that are of the session shown."""

        def of_shown(change: Any) -> None:
            if change.key == self._shown_key():
                listener(change)

        self.on(kind, of_shown)

    def _deliver(self, change: Change) -> None:
        for listener in list(self._listeners.get(type(change), ())):
            listener(change)

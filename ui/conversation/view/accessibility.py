"""The conversation for screen readers: its items are the parts on screen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

from PySide6.QtCore import QRectF

from ui.conversation.view.surface import Surface
from ui.widgets.painted_items import PaintedItems, tell_items

_NAME_UNITS = 600
"""Characters of a part that its name has; the rest is read by characters."""


def part_name(surface: Surface, item: int, part: int) -> str:
    """The accessible name of a part: its role and its text."""
    laid = surface.flow.laid(item)
    shown = laid.parts[part]
    role = next((p.role for p in reversed(laid.parts[: part + 1]) if p.role is not None), None)
    words = shown.words
    if role is not None and not words.startswith(role.name):
        words = f"{role.name}: {words}"
    return words[:_NAME_UNITS]


class _Parts(PaintedItems):
    """The parts of a surface; a key is the entry and the part's own key."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def _place(self, key: Hashable) -> tuple[int, int]:
        entry, name = cast(tuple[int, str], key)
        item = self._surface.flow.item_of(entry)
        laid = self._surface.flow.known(item) if item >= 0 else None
        return (item, laid.places.get(name, -1)) if laid is not None else (-1, -1)

    def shown(self) -> Sequence[Hashable]:
        found = []
        for placed in self._surface.placed:
            laid = self._surface.flow.laid(placed.item)
            found.append((laid.entry, laid.parts[placed.part].key))
        return found

    def name(self, key: Hashable) -> str | None:
        item, part = self._place(key)
        return part_name(self._surface, item, part) if part >= 0 else None

    def rect(self, key: Hashable) -> QRectF:
        place = self._place(key)
        for placed in self._surface.placed:
            if (placed.item, placed.part) == place:
                return QRectF(0, placed.top, self._surface.viewport().width(), placed.height)
        return QRectF()

    def current(self) -> Hashable | None:
        return self._surface.focused


def install_accessibility() -> None:
    """Let screen readers see conversations; called before the first one is made."""
    tell_items(Surface, _Parts)

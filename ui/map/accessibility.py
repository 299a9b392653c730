"""The map for screen readers: its items are the entries whose rows are on screen.

Where a row is too low to be read, only the selected entry is told: the outline beside the map
lists all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

from PySide6.QtCore import QRectF

from ui.map.canvas import Level
from ui.map.zoom_area import ZoomedArea
from ui.widgets.painted_items import PaintedItems, tell_items


class _Rows(PaintedItems):
    """The rows of a map; a key is an entry."""

    def __init__(self, area: ZoomedArea) -> None:
        self._area = area

    def shown(self) -> Sequence[Hashable]:
        if self._area.level is Level.ENTRIES:
            return self._area.visible_rows()
        selected = self._area.model.selected
        return [selected] if selected >= 0 else []

    def name(self, key: Hashable) -> str | None:
        entry = cast(int, key)
        model = self._area.model
        return model.texts.describe(entry) if model.rows.row(entry) >= 0 else None

    def rect(self, key: Hashable) -> QRectF:
        found = self._area.row_rect(cast(int, key))
        return found & QRectF(self._area.viewport().rect())

    def current(self) -> Hashable | None:
        selected = self._area.model.selected
        return selected if selected >= 0 else None


def install_accessibility() -> None:
    """Let screen readers see maps; called before the first one is made."""
    tell_items(ZoomedArea, _Rows)

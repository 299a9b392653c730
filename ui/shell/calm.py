"""Splitters that stay calm when a text inside of them changes.

Every label that gets another text asks all layouts above it whether they must change, up to the
window, and what they lay out again is painted again. Nothing above a splitter changes unless
what the splitter's widgets need at least does.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QSplitter


class CalmSplitter(QSplitter):
    """Lays itself out only when a widget came, went, or needs another room at least."""

    _room: tuple[tuple[bool, QSize, QSize, QSize], ...] = ()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            widgets = [found for at in range(self.count()) if (found := self.widget(at))]
            room = tuple(
                (one.isHidden(), one.minimumSizeHint(), one.minimumSize(), one.maximumSize())
                for one in widgets
            )
            if room == self._room:
                return True
            self._room = room
        return super().event(event)

"""The conversation as the larger half of the window, for a day of work with the agent."""

from __future__ import annotations

from PySide6.QtWidgets import QSplitter

SHARE = 0.7
"""Of the height, for the conversation and the message box when they are tall."""


class TallConversation:
    """Moves the line between the map and the conversation, and puts it back."""

    def __init__(self, splitter: QSplitter) -> None:
        self._splitter = splitter
        self._before: list[int] = []

    @property
    def is_tall(self) -> bool:
        """The conversation has more of the height than the map."""
        map_height, talk_height = self._splitter.sizes()
        return talk_height > map_height

    def toggle(self) -> None:
        """Make it tall, or as low as it was before."""
        sizes = self._splitter.sizes()
        whole = sum(sizes)
        if self.is_tall:
            before = self._before or [1, 0]
            low = whole * before[1] // max(1, sum(before))
            self._splitter.setSizes([whole - low, low])
            return
        self._before = sizes
        tall = round(whole * SHARE)
        self._splitter.setSizes([whole - tall, tall])

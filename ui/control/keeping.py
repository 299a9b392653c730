"""The window's own choices are on disk soon after they were made: a program may be ended at any
moment, and the next one shall begin where it was."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from explorer.preferences import Preferences, save_preferences
from ui.control.desk import Desk

LOOK_EVERY_MS = 1_500


class PreferenceKeeper(QObject):
    """Looks now and then whether something was chosen, and writes it on a worker thread."""

    def __init__(self, desk: Desk, preferences: Preferences, path: Path) -> None:
        super().__init__(desk)
        self._desk = desk
        self._preferences = preferences
        self._path = path
        self._kept = deepcopy(preferences)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def stop(self) -> None:
        """The end of the window writes them for the last time."""
        self._timer.stop()

    def _look(self) -> None:
        if self._preferences != self._kept:
            self._kept = deepcopy(self._preferences)
            self._desk.tasks.start("Keeping what was chosen", self._keep(self._kept))

    async def _keep(self, values: Preferences) -> None:
        try:
            await asyncio.to_thread(save_preferences, self._path, values)
        except OSError as error:
            # The end of the window tries again, and tells what it could not keep.
            self._desk.say(f"What was chosen in the window cannot be kept: {error}")

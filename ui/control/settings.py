"""The settings in the window: followed while it is open, told when wrong, changed in a dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.settings.live import SettingsChanged
from ui.control.desk import Desk


class SettingsControl(QObject):
    """Watches the settings files for as long as the window is open."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._told: list[str] = []
        self._ends: list[Callable[[], None]] = []

    def ready(self) -> None:
        """There is a loop: follow the files."""
        live, loop = self._desk.live, asyncio.get_running_loop()
        self._ends = [
            live.subscribe(self._changed),
            live.watch(loop.call_soon_threadsafe),
        ]
        self._desk.document_changed.connect(self.tell_problems)
        self.tell_problems()

    def stop(self) -> None:
        """Follow them no more."""
        while self._ends:
            self._ends.pop()()

    def _changed(self, change: SettingsChanged) -> None:
        self._desk.settings_file_changed()
        self.tell_problems()

    def tell_problems(self) -> None:
        """Say once what of the files cannot be used; what is only unknown, the dialog says."""
        problems = self._desk.live.problems(self._desk.project)
        told = [str(problem) for problem in problems if not problem.unknown]
        if told and told != self._told:
            self._desk.notice(
                "warning", "Some settings cannot be used.", "What was set before holds on.",
                "Correct the file, or open the settings; a correction holds at once.",
                details="\n".join(told),
            )  # fmt: skip
        self._told = told

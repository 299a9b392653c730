"""Waiting until the agent stands still, after asking whether it is to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject

from ui.app_state import Desk
from ui.branching.under_way import UnderWayDialog


class StandingStill(QObject):
    """Nothing else that moves the leaf is done while the agent works in the session."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self.dialog: UnderWayDialog | None = None
        desk.state_changed.connect(self._state_changed)
        desk.document_changed.connect(self._other_document)

    def then(self, what: str, do: Callable[[], object]) -> None:
        """Call ``do`` when the agent stands still: at once, or when the person has stopped it.

        ``what``: what ``do`` is, as the end of "Stop it and …".
        """
        if not self._desk.agent_running:
            do()
            return
        if self.dialog is not None:
            self.dialog.reject()
        dialog = UnderWayDialog(self._under_way(), what, self._desk.window)
        self.dialog = dialog
        dialog.accepted.connect(lambda: self._desk.tasks.start("Stopping", self._stop(do)))
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def _under_way(self) -> str:
        doing = self._desk.window.agent.activity.strip().rstrip("….")
        if not doing.split(" ", 1)[0].endswith("ing"):
            doing = f"working: {doing}" if doing else "working"
        return f"The agent ({self._desk.agent_model()}) is {doing}."

    def _closed(self, dialog: UnderWayDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    async def _stop(self, do: Callable[[], object]) -> None:
        """Stop it, and wait for its last entry: what was there is stored before anything moves."""
        desk, document = self._desk, self._desk.document
        if desk.agent_running:
            still = asyncio.Event()

            def look() -> None:
                if not desk.agent_running:
                    still.set()

            desk.state_changed.connect(look)
            try:
                desk.window.agent.stop_requested.emit()
                look()
                await still.wait()
            finally:
                desk.state_changed.disconnect(look)
            # Whoever ran the turn has a last word after it.
            await asyncio.sleep(0)
        if desk.document is document:
            do()

    def _state_changed(self) -> None:
        if self.dialog is not None and not self._desk.agent_running:
            self.dialog.show_done()

    def _other_document(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

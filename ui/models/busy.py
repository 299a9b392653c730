"""Something that takes its time: what it is, a bar that moves, and a button that ends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from explorer.models.client import Cancelled, CancelToken
from ui.theme import S8, scaled
from ui.widgets.labels import ElidedLabel
from ui.widgets.panels import push_button, row_in
from ui.widgets.progress import ProgressBar

Result = TypeVar("Result")


class Busy(QWidget):
    """Hidden while nothing runs. One thing at a time."""

    changed = Signal()
    """It began or ended."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._cancel: CancelToken | None = None
        self.label = ElidedLabel(parent=self)
        self.bar = ProgressBar(self)
        self.bar.setRange(0, 0)
        self.bar.setFixedWidth(scaled(90))
        self.cancel = push_button("Ca&ncel", self)
        self.cancel.clicked.connect(self.stop)
        line = row_in(self, S8)
        line.addWidget(self.bar)
        line.addWidget(self.label, 1)
        line.addWidget(self.cancel)
        self.hide()

    @property
    def running(self) -> bool:
        return self._cancel is not None

    def stop(self) -> None:
        """End what runs, if something does."""
        if self._cancel is not None:
            self._cancel.cancel()

    async def run(
        self, what: str, work: Callable[[CancelToken], Awaitable[Result]]
    ) -> Result | None:
        """Show that ``work`` runs; None when it was cancelled. Raises what it raises."""
        self.stop()
        cancel = self._cancel = CancelToken()
        self.label.setText(what)
        self.bar.setAccessibleName(what)
        self.show()
        self.changed.emit()
        try:
            return await work(cancel)
        except Cancelled:
            return None
        finally:
            if self._cancel is cancel:
                self._cancel = None
                self.hide()
                self.changed.emit()

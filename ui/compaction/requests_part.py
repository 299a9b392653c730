"""The exact requests of what is previewed: their size beside the button, and their window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from ui.compaction.ports import CompactionDocument
from ui.compaction.request_window import RequestWindow, request_sizes
from ui.inspector.gather import Loader

MEASURED_ENTRIES = 20_000
"""Requests of more entries are not built only to tell their size."""

MEASURE_AFTER_MS = 400


class RequestsPart(QObject):
    """Builds requests on a worker thread, since they read all that they tell of."""

    measured = Signal(tuple)
    """(tokens of the request, tokens of its longest answer)"""
    entry_requested = Signal(int)

    def __init__(
        self,
        parent: QWidget,
        asked: Callable[[], tuple[CompactionDocument | None, Partition | None, str, str]],
    ) -> None:
        """``asked`` gives the document, what is previewed, the instructions and the model."""
        super().__init__(parent)
        self._parent = parent
        self._asked = asked
        self._window: RequestWindow | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(MEASURE_AFTER_MS)
        self._timer.timeout.connect(self._measure)
        self._measurer = Loader(self)
        self._measurer.loaded.connect(self.measured)
        self._builder = Loader(self)
        self._builder.loaded.connect(lambda found: self.window.show_requests(found))
        self._builder.failed.connect(lambda message: self.window.show_failure(message))

    @property
    def window(self) -> RequestWindow:
        """The window of the exact requests; made when it is first wanted."""
        if self._window is None:
            self._window = RequestWindow(self._parent)
            self._window.entry_requested.connect(self.entry_requested)
        return self._window

    @property
    def is_shown(self) -> bool:
        return self._window is not None and self._window.isVisible()

    def close(self) -> None:
        if self._window is not None:
            self._window.close()

    def measure_soon(self) -> None:
        """Tell the size once nothing has changed for a moment."""
        self._timer.start()

    def _measure(self) -> None:
        document, shown, instructions, model = self._asked()
        if document is None or shown is None or not isinstance(shown.preparation, Preparation):
            return
        prepared = shown.preparation
        if len(prepared.history) + len(prepared.turn_prefix) <= MEASURED_ENTRIES:
            self._measurer.load(
                lambda: request_sizes(document.requests(shown, instructions, model))
            )

    def show(self) -> None:
        """Open the window, and fill it when the requests are there."""
        document, shown, instructions, model = self._asked()
        if document is not None and shown is not None:
            self.window.show()
            self.window.raise_()
            self._builder.load(lambda: document.requests(shown, instructions, model))

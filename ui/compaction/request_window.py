"""The exact requests of what is previewed: their size beside the button, and their window."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.requests import SummaryRequest
from explorer.services.document import Document
from explorer.tokens.estimate import estimate_text
from ui.theme import S8, S12, S16, set_tone
from ui.widgets.dialogs import fit
from ui.widgets.figures import full
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.loader import Loader
from ui.widgets.panels import CollapsibleSection, column_in, row
from ui.widgets.plain_text import PlainTextView, split_lines
from ui.widgets.tabs import Tabs

PURPOSES = {
    "history": "History",
    "turn_prefix": "First part of the split turn",
    "short": "For display",
    "branch": "Branch",
    "verify": "Check and mend",
}


def request_tokens(requests: Sequence[SummaryRequest]) -> int:
    """Tokens of all requests, by the estimate that compaction itself uses."""
    return sum(estimate_text(r.system) + estimate_text(r.prompt) for r in requests)


def request_sizes(requests: Sequence[SummaryRequest]) -> tuple[int, int]:
    """Tokens of all requests, and of the longest answers that they allow."""
    return request_tokens(requests), sum(r.max_output_tokens for r in requests)


class RequestPage(QWidget):
    """One request: system text, prompt, and the source of the line at the caret."""

    entry_requested = Signal(int)

    def __init__(self, request: SummaryRequest, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = request
        self._starts = [span.start for span in request.sources]
        self._breaks = _break_positions(request.prompt)
        self._is_plain = max(request.prompt, default="") <= "\uffff"
        self._source = -1
        tokens = estimate_text(request.system) + estimate_text(request.prompt)
        self.facts = Caption(
            f"{full(tokens)} tokens (estimate) · answer at most "
            f"{full(request.max_output_tokens)} tokens · from {len(self._starts):,} pieces",
            self,
        )
        self.system = PlainTextView(self, fit=160)
        self.system.setAccessibleName("System text")
        self.system.set_text(request.system)
        self.prompt = PlainTextView(self)
        self.prompt.setAccessibleName("Prompt; the source of the line at the caret is named below")
        self.prompt.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.prompt.setCursorWidth(2)
        self.source = QLabel(self)
        self.source.setTextFormat(Qt.TextFormat.PlainText)
        self.go = LinkButton("&Go to it on the map", self)
        self.go.clicked.connect(lambda: self.entry_requested.emit(self._source))
        copy = QPushButton("C&opy the prompt", self)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(request.prompt))
        copy_system = QPushButton("Cop&y the system text", self)
        copy_system.clicked.connect(lambda: QGuiApplication.clipboard().setText(request.system))
        for button in (copy, copy_system):
            button.setAutoDefault(False)
        fold = CollapsibleSection("System text", self.system, expanded=False, parent=self)
        column = column_in(self, S8, (0, S12, 0, 0))
        column.addWidget(self.facts)
        column.addWidget(fold)
        column.addWidget(self.prompt, 1)
        column.addLayout(row(self.source, self.go, 1))
        column.addLayout(row(copy, copy_system, 1))
        self.prompt.set_text(request.prompt)
        self.prompt.cursorPositionChanged.connect(self._caret_moved)
        self._caret_moved()

    def caret_offset(self) -> int:
        """Where the caret is, in characters of the prompt.

        The display breaks long lines, and counts characters beyond the basic plane twice.
        """
        characters = self.prompt.textCursor().position()
        if not self._is_plain:
            shown = self.prompt.toPlainText().encode("utf-16-le", "surrogatepass")
            characters = len(shown[: 2 * characters].decode("utf-16-le", "surrogatepass"))
        return characters - bisect_right(self._breaks, characters - 1)

    def source_at(self, offset: int) -> int:
        """The entry that a place of the prompt came from, or -1 for words of the template."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset >= self.request.sources[at].end:
            return -1
        return self.request.sources[at].entry

    def _caret_moved(self) -> None:
        self._source = self.source_at(self.caret_offset())
        if self._source >= 0:
            self.source.setText(f"This comes from #{self._source}.")
        else:
            self.source.setText("These are the prompt's own words.")
        set_tone(self.source, "dim" if self._source < 0 else "")
        self.go.setVisible(self._source >= 0)


def _break_positions(text: str) -> list[int]:
    """Positions in the displayed text of the line breaks that were put in for display."""
    found: list[int] = []
    at = 0
    for line in text.split("\n"):
        shown, _ = split_lines(line)
        start = 0
        while (here := shown.find("\n", start)) >= 0:
            found.append(at + here)
            start = here + 1
        at += len(shown) + 1
    return found


class RequestWindow(QDialog):
    """The requests of one compaction, side by side in tabs. Does not block the window."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What is sent to the summarizer")
        self.setModal(False)
        fit(self, 820, 640)
        self.tabs = Tabs(self)
        self.tabs.setDocumentMode(True)
        self.state = Caption("Building the requests…", self)
        close = QPushButton("&Close", self)
        close.clicked.connect(self.close)
        close.setAutoDefault(False)
        column = column_in(self, margins=(S16, S12, S16, S12))
        column.addWidget(self.state)
        column.addWidget(self.tabs, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        column.addLayout(foot)

    def show_requests(self, requests: Sequence[SummaryRequest]) -> None:
        """Show these requests in place of the last ones."""
        while self.tabs.count():
            old = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if old is not None:
                old.deleteLater()
        for request in requests:
            page = RequestPage(request, self)
            page.entry_requested.connect(self.entry_requested)
            self.tabs.addTab(page, PURPOSES.get(request.purpose, request.purpose))
        self.state.setText(
            "These texts are sent exactly as they stand here, each in a call of its own."
            if requests
            else "Nothing is sent: there is nothing to summarize."
        )

    def show_failure(self, message: str) -> None:
        """Say that the requests could not be built."""
        self.state.setText(f"The requests could not be built: {message}")

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)


MEASURED_ENTRIES = 20_000
"""Requests of more entries are not built only to tell their size."""

MEASURE_AFTER_MS = 400


class RequestsPart(QObject):
    """Builds requests on a worker thread, since they read all their entries."""

    measured = Signal(tuple)
    """(tokens of the request, tokens of its longest answer)"""
    entry_requested = Signal(int)

    def __init__(
        self,
        parent: QWidget,
        asked: Callable[[], tuple[Document | None, Partition | None, str, str]],
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
                lambda: request_sizes(document.compaction.requests(shown, instructions, model))
            )

    def show(self) -> None:
        """Open the window, and fill it when the requests are there."""
        document, shown, instructions, model = self._asked()
        if document is not None and shown is not None:
            self.window.show()
            self.window.raise_()
            self._builder.load(lambda: document.compaction.requests(shown, instructions, model))

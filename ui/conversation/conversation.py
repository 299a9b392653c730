"""The conversation of the active path: its messages, and the reply that is arriving.

All of it is there from the first message to the last; only what is looked at is read and laid out.
What arrives while the agent answers is gathered and shown 30 times a second.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from explorer.agent.turn_interface import (
    RoundStarted,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEvent,
)
from explorer.models.client import Silence, TextDelta, ThinkingDelta, ToolCallReady
from explorer.models.retry import Retry
from explorer.services.document import Document
from ui import theme
from ui.conversation.view.find_bar import FindBar, FindController
from ui.conversation.view.selection import conversation_words
from ui.conversation.view.view import ConversationView
from ui.widgets.notice import AddressStrip
from ui.widgets.panels import column_in

FLUSH_MS = 33
_WEB = ("http", "https")


class Conversation(QWidget):
    """The view, the bar for finding, and the way back to the end."""

    entry_requested = Signal(int)
    """Show an entry on the map."""
    left = Signal()
    """Escape was pressed where there was nothing to let go of."""
    file_requested = Signal(str)
    """A link to this file was pressed; answered by ``offer_file``."""
    reported = Signal(str)
    """A passing word for the status bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = ConversationView(self)
        self.bar = FindBar(self)
        self.finding = FindController(self.view, self.bar)
        self.address = AddressStrip(_open_address, self)
        self._hint = QLabel(self.view)
        self._hint.setWordWrap(True)
        theme.set_tone(self._hint, "dim")
        self.end_button = QToolButton(self.view)
        self.end_button.setText("To the end")
        self.end_button.setToolTip("Go to the last words and follow them (End)")
        self.end_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.end_button.setProperty("floating", True)
        theme.bind_icon(self.end_button, "chevron-down", "accent")
        self.end_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.end_button.hide()
        column = column_in(self, 0)
        for part in (self.bar, self.address):
            column.addWidget(part)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.view.viewport().installEventFilter(self)
        self._timer = QTimer(self)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)
        self._dirty = self._calls_changed = False
        self._words: list[str] = []
        self._connect()

    def _connect(self) -> None:
        view = self.view
        view.entry_requested.connect(self.entry_requested)
        view.link_asked.connect(self._link_asked)
        view.file_asked.connect(self.file_requested)
        view.left.connect(self.left)
        view.reported.connect(self.reported)
        view.at_end_changed.connect(self._end_changed)
        self.end_button.clicked.connect(view.to_end)

    # what is shown -------------------------------------------------------------------------------

    def show_document(self, document: Document | None) -> None:
        """Show the active path of another session from its end, or nothing."""
        self._stop_gathering()
        view = self.view
        view.selection.clear()
        view.focused, view.current, view.marked = None, None, -1
        view.flow.show(document)
        view.to_end()
        self._show_hint()
        self.finding.forget()

    def refresh(self) -> None:
        """The leaf has moved, or entries were added: show the active path as it is now."""
        view = self.view
        before = len(view.flow.items)
        unchanged = view.flow.refresh()
        if unchanged < before:
            # Another branch: the reader is shown what is at its end.
            view.selection.clear()
            view.to_end()
        else:
            view.place()
        self._show_hint()
        self.finding.refresh()

    def reread(self, entries: Sequence[int]) -> None:
        """Read these entries again: they have changed."""
        flow = self.view.flow
        for item in sorted({flow.items.item_of(entry) for entry in entries}):
            if item >= 0:
                flow.reread(item)
        self.view.place()
        self.finding.refresh()

    def recount(self) -> None:
        """Show sizes by the current counts."""
        self.view.flow.recount()
        self.view.place()

    def set_placeholder(self, words: str) -> None:
        """Set what an empty conversation says."""
        self._hint.setText(words)
        self._show_hint()

    def _show_hint(self) -> None:
        self._hint.setVisible(self.view.flow.count == 0)
        self._place_extras()

    def reveal(self, entry: int) -> bool:
        """Scroll to an entry and mark it; False when it is not on the active path."""
        return self.view.reveal(entry)

    def toPlainText(self) -> str:
        """All of it as plain words, read and put together now; for short conversations."""
        self.flush()
        return conversation_words(self.view.flow)

    # what arrives --------------------------------------------------------------------------------

    def set_running(self, running: bool) -> None:
        """A turn runs: calls without a result may still get one. Its end makes void what was not
        stored."""
        flow = self.view.flow
        if flow.states.running == running:
            return
        self._stop_gathering()
        flow.states.running = running
        if not running:
            flow.end_live()
            flow.states.calls.clear()
        if len(flow.items):
            flow.reread(len(flow.items) - 1)
        self.view.place()
        self._show_hint()

    def turn_event(self, event: TurnEvent) -> None:
        """Take in an event of a running turn; shown with the next tick."""
        flow = self.view.flow
        self._calls_changed |= isinstance(event, ToolOutput | ToolStarted | ToolEnded)
        if isinstance(event, TextDelta):
            self._words.append(event.text)
        elif isinstance(event, ToolOutput):
            flow.states.add_output(event.call_id, event.text)
        else:
            self._take_words()
            if isinstance(event, ThinkingDelta):
                flow.begin_live().add_thinking(event.text)
            elif isinstance(event, ToolCallReady):
                flow.begin_live().add_call(event.call)
            elif isinstance(event, ToolStarted):
                flow.states.started(event.call.id)
            elif isinstance(event, ToolEnded):
                outcome = event.outcome
                flow.states.ended(event.call.id, outcome.text, outcome.is_error)
            elif isinstance(event, Retry):
                flow.end_live()
                flow.begin_live().waiting = event.sentence
            elif isinstance(event, Silence):
                flow.begin_live().waiting = event.sentence
            elif isinstance(event, RoundStarted):
                flow.end_live()
            else:
                return
        self._gather()

    def set_waiting(self, call_id: str, waiting: bool) -> None:
        """The person is asked whether a call may run, or has answered."""
        self.view.flow.states.waits(call_id, waiting)
        self._calls_changed = True
        self._gather()

    def _gather(self) -> None:
        self._dirty = True
        if not self._timer.isActive():
            self._timer.start()

    def _take_words(self) -> None:
        if self._words:
            words, self._words = "".join(self._words), []
            self.view.flow.begin_live().add_text(words)

    def _stop_gathering(self) -> None:
        self._words.clear()
        self._timer.stop()
        self._dirty = False

    def flush(self) -> None:
        """Show what has come since the last tick."""
        if not self._dirty:
            self._timer.stop()
            return
        self._take_words()
        self._dirty = False
        flow = self.view.flow
        if len(flow.items) and self._calls_changed:
            flow.reread(len(flow.items) - 1)
        self._calls_changed = False
        flow.live_changed()
        self.view.place()
        self._show_hint()

    # what lies over it ---------------------------------------------------------------------------

    def _link_asked(self, address: str) -> None:
        self.address.ask(address, QUrl(address).scheme().lower() in _WEB)

    def offer_file(self, path: str, may_open: bool) -> None:
        """Show a path that comes from the session's text, with a button that opens it where the
        file is one that this program wrote."""
        address = QUrl.fromLocalFile(path).toString() if may_open else path
        self.address.ask(address, may_open, "The whole output is in this file:", "&Open the file")

    def _end_changed(self, at_end: bool) -> None:
        self.end_button.setVisible(not at_end)
        self._place_extras()

    def _place_extras(self) -> None:
        port = self.view.viewport().geometry()
        button = self.end_button
        button.adjustSize()
        corner = port.bottomRight()
        button.move(corner.x() - button.width() - theme.S8, corner.y() - button.height() - theme.S8)
        room = port.adjusted(theme.S16, theme.S12, -theme.S16, -theme.S12)
        self._hint.setGeometry(
            room.x(), room.y(), room.width(), self._hint.heightForWidth(room.width())
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What lies over the view follows its size, which it gets after this widget."""
        if event.type() is QEvent.Type.Resize:
            self._place_extras()
        return super().eventFilter(watched, event)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 6)


def _open_address(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))

"""The lower part of the window: conversation, questions, message box, and who answers how."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from explorer.agent.turn_interface import ToolEnded, ToolStarted, TurnEvent, UserPrompt
from explorer.services.document import Document
from ui import theme
from ui.conversation.agent_bar import AgentBar
from ui.conversation.approval_card import NARROW, ApprovalCard
from ui.conversation.attachments import ChipRow
from ui.conversation.completion import MessageCompletion
from ui.conversation.composer import Composer
from ui.conversation.conversation import Conversation
from ui.conversation.strips import AutomaticStrip, QueueStrip
from ui.widgets.panels import column_in

TALL = 800
"""Pixels of the drawing from which on a window has room for some lines of the conversation,
whatever else there is."""
LOW = 640
"""Pixels of the drawing of which a lower window has one line of choices."""
LEAST = 96
"""Pixels of the drawing for those lines."""
WAITING = "waiting for you…"


class AgentPane(QWidget):
    """Tells the window by signals only; the window runs the turn and reports back."""

    send_requested = Signal(object, bool)
    """(``UserPrompt``, whether it is for after the turn that runs)"""
    stop_requested = Signal()
    model_chosen = Signal(str)
    workspace_requested = Signal()
    models_requested = Signal()
    """All models, with their keys and servers, are to be shown."""
    entry_requested = Signal(int)
    menu_opening = Signal(object, int)
    """(``QMenu``, entry): the menu of a message opens; more may be added to it."""
    file_requested = Signal(str)
    """A link to this file was pressed; answered by ``offer_file``."""
    reported = Signal(str)
    """A passing word for the status bar."""
    wanted = Signal()
    """It is to be visible: the keyboard goes there, or a question waits in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._running = False
        self._activity, self._waits = "", False
        self._is_read_only = False
        self.conversation = Conversation(self)
        self.automatic = AutomaticStrip(self)
        self.queue = QueueStrip(self)
        self.card = ApprovalCard(self)
        self.chips = ChipRow(self)
        self.composer = Composer(self)
        self.completion = MessageCompletion(self.composer)
        self.bar = AgentBar(self)
        self.models, self.workspace = self.bar.models, self.bar.workspace
        self.send, self.stop, self.state = self.bar.send, self.bar.stop, self.bar.state
        self.automatic_switch = self.bar.automatic_switch
        self._lay_out()
        self._connect()
        self.show_document(None)

    def _lay_out(self) -> None:
        self._below = below = QVBoxLayout()
        below.setContentsMargins(theme.S16, 0, theme.S16, theme.S8)
        below.setSpacing(theme.S8)
        for part in (self.card, self.chips, self.composer, self.bar):
            below.addWidget(part)
        layout = column_in(self, theme.S4)
        layout.addWidget(self.conversation, 1)
        layout.addWidget(self.automatic)
        layout.addWidget(self.queue)
        layout.addLayout(below)

    def _connect(self) -> None:
        composer = self.composer
        composer.sent.connect(partial(self._send, False))
        composer.sent_after.connect(partial(self._send, True))
        composer.stopped.connect(self.stop_requested)
        composer.textChanged.connect(self._show_buttons)
        self.chips.changed.connect(self._show_buttons)
        self.chips.emptied.connect(composer.setFocus)
        self.send.clicked.connect(lambda: self._send(False, ""))
        self.bar.send_after.triggered.connect(lambda: self._send(True, ""))
        self.stop.clicked.connect(self.stop_requested)
        self.card.stopped.connect(self.stop_requested)
        self.card.typed_outside.connect(self._type_on)
        self.workspace.clicked.connect(self.workspace_requested)
        self.models.activated.connect(self._model_activated)
        self.models.more_asked.connect(self.models_requested)
        self.conversation.entry_requested.connect(self.entry_requested)
        self.conversation.file_requested.connect(self.file_requested)
        self.conversation.view.menu_opening.connect(self.menu_opening)
        self.conversation.left.connect(composer.setFocus)
        self.conversation.reported.connect(self.reported)
        theme.theme_signals.changed.connect(self.show_room)
        self.show_room()

    def add_strip(self, strip: QWidget) -> None:
        """Put a line between the conversation and what else stands above the message box."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(1, strip)

    def add_foot(self, foot: QWidget) -> None:
        """Put a line below everything else."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addWidget(foot)

    def minimumSizeHint(self) -> QSize:
        """Room for every line that its parts take at this width."""
        room = max(1, self.width() - 2 * theme.S16)
        more = sum(_lines_beyond(part, room) for part in (self.card, self.chips))
        return super().minimumSizeHint() + QSize(0, more)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_room()
        self.updateGeometry()

    def show_room(self, asks: bool | None = None) -> None:
        """In a low window the last message gives way to what is being done, and in every window
        to a question, which in a small one takes the place of the choices too. ``asks``: whether a
        question is to be shown; None: as it is."""
        tall = self.window().height() >= theme.scaled(TALL)
        asks = self.card.request is not None if asks is None else asks
        self.conversation.setMinimumHeight(theme.scaled(LEAST if tall and not asks else 6))
        self.bar.set_low(self.window().height() < theme.scaled(LOW))
        self.card.set_room(narrow=self.width() < theme.scaled(NARROW), low=not tall)
        self.bar.setVisible(not (asks and self.card.is_small) and not self._is_read_only)

    @property
    def model(self) -> str:
        return str(self.models.currentData() or "")

    def _model_activated(self, row: int) -> None:
        if model := self.models.itemData(row):
            self.model_chosen.emit(model)

    def set_models(self, models: list[tuple[str, str]], chosen: str) -> None:
        """(id, label) of every model that can answer."""
        self.models.set_models(models, chosen)

    def show_document(self, document: Document | None) -> None:
        self._document = document
        self._is_read_only = document is not None and bool(document.read_only)
        for part in (self.composer, self.bar):
            part.setEnabled(document is not None)
        self.composer.setVisible(not self._is_read_only)
        self.show_room()
        self.conversation.set_placeholder(
            "Nothing was said on this path yet."
            + ("" if self._is_read_only else " Write below to begin.")
            if document
            else "Open a session to talk to the agent about it."
        )
        self.conversation.show_document(document)
        self._show_buttons()

    def refresh(self) -> None:
        """Show the end of the active path anew."""
        if self._document is not None:
            self.conversation.refresh()

    def reread(self, entries: Sequence[int]) -> None:
        """Read these entries again: they have changed."""
        if self._document is not None:
            self.conversation.reread(entries)

    def recount(self) -> None:
        """Token counts of entries changed."""
        self.conversation.recount()

    def reveal(self, entry: int) -> bool:
        """Scroll the conversation to an entry, with the keyboard; False when it is not on the
        active path."""
        found = self.conversation.reveal(entry)
        if found:
            self.focus_conversation()
        return found

    def focus_conversation(self) -> None:
        """Put the keyboard on the conversation."""
        self.wanted.emit()
        self.conversation.view.setFocus()

    def open_find_bar(self) -> None:
        """Open the bar that finds words in the conversation."""
        self.conversation.bar.open_bar()

    def copy_conversation(self) -> None:
        """Put the whole conversation on the clipboard, as Markdown."""
        self.conversation.view.copy_all()

    @property
    def focused_entry(self) -> int:
        """The entry of the message that has the keyboard, or -1."""
        view = self.conversation.view
        return view.focused[0] if view.hasFocus() and view.focused is not None else -1

    def offer_file(self, path: str, may_open: bool) -> None:
        """Show the path of a file whose link was pressed, with a button that opens it where it
        may be opened."""
        self.conversation.offer_file(path, may_open)

    # what is sent --------------------------------------------------------------------------------

    def focus_composer(self) -> None:
        """Put the keyboard in the message box."""
        self.wanted.emit()
        self.composer.setFocus()

    @property
    def prompt(self) -> UserPrompt:
        """What would be sent now."""
        images = tuple(one.part for one in self.chips.attachments)
        return UserPrompt(self.composer.toPlainText().strip(), images)

    def _send(self, after: bool, _text: str) -> None:
        prompt = self.prompt
        if (prompt.text or prompt.images) and self._document is not None:
            self.send_requested.emit(prompt, after)

    def taken(self, text: str) -> None:
        """Empty the box and add its message to the history: it was accepted."""
        self.chips.clear()
        self.composer.taken(text)

    def _type_on(self, event: QKeyEvent) -> None:
        """A keystroke that was meant for the message box goes there."""
        self.composer.setFocus()
        QApplication.sendEvent(self.composer, event)

    def _show_buttons(self) -> None:
        has_pictures = bool(self.chips.attachments)
        self.composer.set_attached(has_pictures)
        has_message = bool(self.composer.toPlainText().strip()) or has_pictures
        self.bar.set_running(self._running, has_message, self._document is not None)
        self.composer.set_hint(self._document is not None, self._running)

    def set_running(self, running: bool, state: str = "") -> None:
        """While a turn runs it can be stopped, and what is sent goes into it."""
        self._running = running
        self.set_activity(state)
        self.conversation.set_running(running)
        self._show_buttons()

    def turn_event(self, event: TurnEvent) -> None:
        """Show an event of the running turn."""
        self.conversation.turn_event(event)
        if isinstance(event, ToolStarted):
            self.set_activity(f"running {event.call.name}…")
        elif isinstance(event, ToolEnded):
            self.set_activity("")

    @property
    def activity(self) -> str:
        """What the agent is doing, in a few words; empty for nothing that is worth telling."""
        return WAITING if self._waits else self._activity

    def set_activity(self, words: str) -> None:
        """Say what the agent is doing."""
        self._activity = words
        self.bar.set_activity(self.activity)

    def set_waiting(self, waits: bool) -> None:
        """Say that a question waits for the person, whatever the agent does besides."""
        if waits:
            self.wanted.emit()
        self._waits = waits
        self.bar.set_activity(self.activity)


def _lines_beyond(part: QWidget, width: int) -> int:
    """Pixels that a part takes at a width beyond the least that its layout asks for."""
    layout = part.layout()
    if part.isHidden() or layout is None:
        return 0
    return max(0, layout.totalHeightForWidth(width) - layout.totalMinimumSize().height())

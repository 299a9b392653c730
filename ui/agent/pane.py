"""The lower part of the window: conversation, composer, model, send and stop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.agent.loop import ToolEnded, ToolStarted, TurnEvent
from explorer.models.door import TextDelta
from explorer.models.retry import Retry
from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind, selector
from explorer.work.document import Document
from ui import theme
from ui.agent.automatic_strip import AutomaticStrip
from ui.agent.composer import Composer
from ui.agent.conversation import SHOWN_AT_ONCE, Conversation, Said, lines_of
from ui.theme import role_name
from ui.widgets.flow import FlowLayout
from ui.widgets.model_box import ModelBox

NO_FOLDER = "Choose folder…"

_SHOWN = selector(CONTEXT_KINDS | {Kind.COMPACTION})


class AgentPane(QWidget):
    """Talks to the window by signals only; the window runs the turn and reports back."""

    send_requested = Signal(str, str)
    """(text, model)"""
    stop_requested = Signal()
    model_chosen = Signal(str)
    workspace_requested = Signal()
    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._shown = SHOWN_AT_ONCE
        self.conversation = Conversation(self)
        self.composer = Composer(self)
        self.models = ModelBox(self)
        self.models.setAccessibleName("Model of the agent")
        self.models.setToolTip("The model that answers")
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.models.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.workspace = QPushButton(self)
        self.set_workspace("")
        self.send = QPushButton("Send", self)
        self.send.setToolTip("Send the message at the leaf (Enter)")
        self.stop = QPushButton("Stop", self)
        self.stop.setToolTip("Stop the answer (Esc)")
        self.stop.hide()
        self.state = QLabel(self)
        theme.set_tone(self.state, "dim")
        self.automatic = AutomaticStrip(self)
        self.automatic_switch = QCheckBox("Automatic compaction", self)
        self.automatic_switch.setToolTip(
            "Compact this session by itself when its context is too full (by hand works always)"
        )
        self._lay_out()
        self._connect()
        self.show_document(None)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.S8)
        # What a narrow window has no room for beside each other goes into a second line.
        self._choices = choices = FlowLayout(across=theme.S8, down=theme.S4)
        for part in (self.models, self.workspace, self.automatic_switch, self.state):
            choices.addWidget(part)
        row.addLayout(choices, 1)
        row.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.send, 0, Qt.AlignmentFlag.AlignTop)
        below = QVBoxLayout()
        below.setContentsMargins(theme.S16, 0, theme.S16, theme.S8)
        below.setSpacing(theme.S8)
        below.addWidget(self.composer)
        below.addLayout(row)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.S4)
        layout.addWidget(self.conversation, 1)
        layout.addWidget(self.automatic)
        layout.addLayout(below)

    def _connect(self) -> None:
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(self.stop_requested)
        self.send.clicked.connect(lambda: self._send(self.composer.toPlainText().strip()))
        self.stop.clicked.connect(self.stop_requested)
        self.workspace.clicked.connect(self.workspace_requested)
        self.models.activated.connect(lambda _row: self.model_chosen.emit(self.model))
        self.conversation.entry_requested.connect(self.entry_requested)
        self.conversation.earlier_requested.connect(self._show_more)
        theme.theme_signals.changed.connect(self.refresh)
        theme.theme_signals.changed.connect(self._restyle)
        self._restyle()

    def minimumSizeHint(self) -> QSize:
        """Room for every line that the choices take at this width."""
        least = super().minimumSizeHint()
        send = self.send.sizeHint().width() + theme.S8
        room = self.width() - 2 * theme.S16 - send
        lines = self._choices.heightForWidth(max(room, 1)) - self._choices.minimumSize().height()
        return least + QSize(0, max(0, lines))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _restyle(self) -> None:
        self.models.setMinimumWidth(theme.scaled(90))
        self.models.setMaximumWidth(theme.scaled(280))
        # In a low window what was said last gives way to what is being done.
        self.conversation.setMinimumHeight(theme.scaled(6))
        line = self.workspace.sizeHint().height()
        for part in (self.automatic_switch, self.state):
            part.setMinimumHeight(line)

    @property
    def model(self) -> str:
        return str(self.models.currentData() or "")

    def set_models(self, models: list[tuple[str, str]], chosen: str) -> None:
        """(id, label) of every model that can answer."""
        self.models.set_models(models, chosen)

    def set_workspace(self, folder: str) -> None:
        """The folder that the agent may look into; empty for none."""
        self.workspace.setText(f"Folder: {Path(folder).name or folder}" if folder else NO_FOLDER)
        where = f"The agent may read what is in {folder}; it cannot write." if folder else ""
        self.workspace.setToolTip(where or "The folder that the agent may look into (read only)")

    def show_document(self, document: Document | None) -> None:
        self._document = document
        self._shown = SHOWN_AT_ONCE
        for part in (self.composer, self.models, self.workspace, self.send):
            part.setEnabled(document is not None)
        self.conversation.setPlaceholderText(
            "Nothing was said on this path yet. Write below to begin."
            if document
            else "Open a session to talk to the agent about it."
        )
        self.composer.set_hint(document is not None)
        self.refresh()

    def refresh(self) -> None:
        """Show the end of the active path anew."""
        if self._document is None:
            self.conversation.clear()
            return
        document = self._document
        columns = document.tree.columns
        spoken = document.tree.path(document.leaf).select(columns.kind, _SHOWN)
        newest = spoken[-self._shown :]
        small = [index for index in newest if not columns.flags[index] & Flag.LARGE]
        loaded = dict(zip(small, document.payloads.entries(small), strict=True))
        said: list[Said] = []
        for index in newest:
            kind, flags = Kind(columns.kind[index]), columns.flags[index]
            if index in loaded:
                said += lines_of(index, kind, flags, loaded[index])
            else:
                said.append(
                    Said(role_name(kind, flags), document.previews([index])[0], index, kind)
                )
        self.conversation.show_lines(said, len(spoken) - len(newest))

    def append(self, first: int, count: int) -> None:
        """Entries came in while the conversation is shown at the leaf."""
        self.refresh()

    def _show_more(self) -> None:
        self._shown += SHOWN_AT_ONCE * 2
        self.refresh()
        self.conversation.verticalScrollBar().setValue(0)

    def _send(self, text: str) -> None:
        if text and self.send.isEnabled():
            self.send_requested.emit(text, self.model)

    def set_running(self, running: bool, state: str = "") -> None:
        """While a turn runs there is a Stop button instead of Send."""
        self.send.setVisible(not running)
        self.send.setEnabled(not running and self._document is not None)
        self.stop.setVisible(running)
        self.state.setText(state)

    def turn_event(self, event: TurnEvent) -> None:
        """What arrives while the agent works."""
        if isinstance(event, TextDelta):
            self.conversation.feed(event.text)
        elif isinstance(event, ToolStarted):
            self.state.setText(f"running {event.call.name}…")
        elif isinstance(event, ToolEnded):
            self.state.setText("")
        elif isinstance(event, Retry):
            self.conversation.add(Said("Waiting", event.told, -1, Kind.ASSISTANT, int(Flag.ERROR)))

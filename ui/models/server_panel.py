"""One server: its name, its address, its models, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget

from explorer.models.client import Server
from explorer.models.servers import title_of
from ui.models.words import tokens
from ui.theme import S8, S12, S16, set_tone
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.panels import EmptyState
from ui.widgets.panels import row as line_of

MOST_NAMED = 40
"""Models that are named one by one."""


class ServerPanel(QScrollArea):
    """Asks by signals only."""

    add_asked = Signal()
    test_asked = Signal()
    again_asked = Signal()
    remove_asked = Signal()
    key_asked = Signal()
    rename_asked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._server: Server | None = None
        self._added = False
        body = QWidget(self)
        self.nothing = EmptyState(
            "search", "No server yet",
            "Let this machine be searched for one, or type the address of one below.",
            parent=body,
        )  # fmt: skip
        self.name = QLineEdit(body)
        self.name.setAccessibleName("Name of the server")
        self.name.setToolTip("Its models are called by it: name/model")
        self.name.returnPressed.connect(self._rename)
        self.name.textChanged.connect(lambda _text: self._enable())
        self.where = QLabel(body)
        self.models = Caption(parent=body)
        for label in (self.where, self.models):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_tone(self.models, "dim")
        self._make_buttons(body)
        self._lay_out(body)
        self.setWidget(body)
        self._free = True
        self.show_server(None, False)

    def _make_buttons(self, body: QWidget) -> None:
        self.rename = self._button("&Rename", "Its models are called by the new name then", body)
        self.rename.clicked.connect(self._rename)
        self.add = self._button("&Add it", "Its models can be chosen then", body)
        self.add.setProperty("kind", "primary")
        self.add.clicked.connect(self.add_asked)
        self.test = self._button("&Test", "Make the smallest real request", body)
        self.test.clicked.connect(self.test_asked)
        self.again = self._button("Ask again &what it has", "Its models, as they are now", body)
        self.again.clicked.connect(self.again_asked)
        self.key = self._button("&Key…", "Set or test the key that it wants", body)
        self.key.clicked.connect(self.key_asked)
        self.remove = self._button("Re&move", "Forget the server, and its key with it", body)
        self.remove.clicked.connect(self.remove_asked)

    def _lay_out(self, body: QWidget) -> None:
        column = QVBoxLayout(body)
        column.setContentsMargins(S16, 0, S16, S12)
        column.setSpacing(S8)
        column.addWidget(self.nothing, 1)
        named = line_of(self.name, self.rename)
        named.setStretchFactor(self.name, 1)
        column.addLayout(named)
        column.addWidget(self.where)
        buttons = FlowLayout(across=S8, down=S8)
        for button in (self.add, self.test, self.again, self.key, self.remove):
            buttons.addWidget(button)
        column.addLayout(buttons)
        column.addWidget(self.models)
        column.addStretch(0)

    @staticmethod
    def _button(text: str, tip: str, parent: QWidget) -> QPushButton:
        made = QPushButton(text, parent)
        made.setToolTip(tip)
        made.setAutoDefault(False)
        return made

    def show_server(self, server: Server | None, added: bool) -> None:
        """Show a server; ``added``: it is one of the person's own already."""
        self._server, self._added = server, added
        self.nothing.setVisible(server is None)
        for part in (self.name, self.where, self.models):
            part.setVisible(server is not None)
        for button in (self.rename, self.test, self.again, self.key, self.remove):
            button.setVisible(server is not None and added)
        self.add.setVisible(server is not None and not added)
        self.name.setReadOnly(not added)
        if server is not None:
            self.name.setText(server.name)
            self.where.setText(f"{title_of(server.kind)} at {server.address}")
            self.models.setText(models_words(server))
        self._enable()

    def set_free(self, free: bool) -> None:
        """While something is asked, nothing else can be."""
        self._free = free
        self._enable()

    def _enable(self) -> None:
        for button in (self.add, self.test, self.again, self.key, self.remove):
            button.setEnabled(self._free)
        if self._server is not None:
            self.test.setEnabled(self._free and bool(self._server.models))
            new = self.name.text().strip()
            self.rename.setEnabled(self._free and bool(new) and new != self._server.name)

    def _rename(self) -> None:
        if self.rename.isEnabled():
            self.rename_asked.emit(self.name.text().strip())


def models_words(server: Server) -> str:
    """The models of a server with their windows, one per line."""
    if not server.models:
        return "It has no model. Load one there, and ask again what it has."
    lines = []
    for model in server.models[:MOST_NAMED]:
        can = [name for name in ("reasoning", "images", "tools") if getattr(model, name)]
        size = f"window {tokens(model.window)}" if model.window else "window not told"
        lines.append(" · ".join((model.id, size, *can)))
    more = len(server.models) - MOST_NAMED
    if more > 0:
        lines.append(f"and {more} more")
    return "\n".join(lines)

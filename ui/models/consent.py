"""Asking before the first text of an imported session goes to a provider."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QWidget

from explorer.models.reply_reader import shortened
from explorer.services.privacy import Sending
from ui import theme
from ui.app_state import AppState
from ui.widgets.dialogs import fit
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in, push_button, row

_REMEMBERED = (
    "“Send” holds for this session and this host from now on. Models on this computer, such as "
    "Ollama's and the offline ones, are asked without a question."
)
_MOST_TITLE = 100
"""Characters of a session's title."""


class ConsentDialog(QDialog):
    """Says what would leave this computer, how much, and to whom. Escape cancels."""

    def __init__(self, sending: Sending, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Text leaves this computer")
        self.question = self._label(f"Send text of an imported session to {sending.host}?")
        theme.bind_font(self.question, lambda: theme.ui_font(1, bold=True))
        self.send = push_button("&Send", self)
        self.send.clicked.connect(self.accept)
        self.cancel = push_button("&Cancel", self, primary=True)
        self.cancel.setDefault(True)
        self.cancel.clicked.connect(self.reject)
        facts = QGridLayout()
        facts.setHorizontalSpacing(theme.S16)
        facts.setColumnStretch(1, 1)
        for at, (name, value) in enumerate(_facts(sending)):
            facts.addWidget(Caption(name, self), at, 0, Qt.AlignmentFlag.AlignTop)
            facts.addWidget(self._label(value), at, 1)
        column = column_in(self, theme.S12, (theme.S24, theme.S24, theme.S24, theme.S16))
        column.addWidget(self.question)
        column.addLayout(facts)
        column.addWidget(Caption(_REMEMBERED, self, wraps=True))
        column.addStretch(1)
        column.addLayout(row(1, self.send, self.cancel))
        self.setAccessibleDescription(sending.sentence)
        fit(self, 520, 200)
        self.resize(self.width(), column.totalHeightForWidth(self.width()))
        self.cancel.setFocus()

    def _label(self, text: str) -> QLabel:
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label


def _facts(sending: Sending) -> list[tuple[str, str]]:
    pictures = f", {sending.pictures:,} pictures" if sending.pictures else ""
    masked = "masked where they are recognised" if sending.is_masked else "not masked"
    return [
        ("Session", shortened(sending.session, _MOST_TITLE)),
        ("What", sending.what or "Text of it"),
        (
            "How much",
            f"about {sending.tokens:,} tokens ({sending.characters:,} characters{pictures}) now",
        ),
        ("To whom", f"{sending.model} at {sending.host}"),
        ("Secrets", masked),
    ]


class ConsentController(QObject):
    """Shows the question of whatever is about to send text."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        state.opened.connect(self._ready)

    def _ready(self) -> None:
        assert self._state.bench is not None
        self._state.bench.privacy.ask = self.ask

    async def ask(self, sending: Sending) -> bool:
        """Whether the person lets text of a session go to a host. What asked waits meanwhile;
        cancelled with it."""
        answered = asyncio.get_running_loop().create_future()
        dialog = ConsentDialog(sending, self._state.window)

        def answer(result: int) -> None:
            if not answered.done():
                answered.set_result(result == QDialog.DialogCode.Accepted)

        dialog.finished.connect(answer)
        dialog.open()
        status = self._state.window.statusBar()
        status.showMessage(f"Waits for your answer: may text go to {sending.host}?")
        try:
            return bool(await answered)
        finally:
            status.clearMessage()
            dialog.close()
            dialog.deleteLater()

"""The exact request in which the text would be sent, with its tokens."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.work.template_preview import PromptPreview
from ui.theme import S4, S8, S12, S16, set_tone
from ui.widgets.figures import full
from ui.widgets.labels import Caption
from ui.widgets.plain_text import PlainTextView

SYSTEM, PROMPT = "── System prompt ──", "── Prompt ──"


class PreviewPage(QWidget):
    """Read-only; made anew as the text changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sizes = Caption(parent=self)
        self.sizes.setWordWrap(True)
        self.note = Caption(parent=self)
        self.note.setWordWrap(True)
        self.text = PlainTextView(self)
        self.text.setAccessibleName("The request as it would be sent")
        self._shown: PromptPreview | None = None
        self.text.loaded.connect(self._reveal)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S12)
        column.setSpacing(S4)
        column.addWidget(self.sizes)
        column.addWidget(self.note)
        column.addSpacing(S8 - S4)
        column.addWidget(self.text, 1)

    def show_preview(self, found: PromptPreview) -> None:
        """Show a request, at the place where the text stands."""
        more = f"{abs(found.more):,} {'more' if found.more > 0 else 'fewer'} than"
        against = f"{more} with the text" if found.more else "as many as with the text"
        self.sizes.setText(
            f"{full(found.tokens)} tokens (estimate), {against} that came with the program"
        )
        set_tone(self.sizes, "")
        self.note.setText(found.note)
        self.note.setVisible(bool(found.note))
        head = f"{SYSTEM}\n{found.system}\n\n{PROMPT}\n" if found.system and found.prompt else ""
        body = found.prompt or found.system
        self._shown, self._head = found, len(head)
        self.text.set_text(head + body)

    def show_problem(self, words: str) -> None:
        """Say why there is no request."""
        self._shown = None
        self.sizes.setText(words)
        set_tone(self.sizes, "lost")
        self.note.setVisible(False)
        self.text.set_text("")

    def _reveal(self) -> None:
        if self._shown is not None and self._shown.at:
            self.text.reveal(self._head + self._shown.at, 0)
            self.text.centerCursor()

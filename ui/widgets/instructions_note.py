"""What becomes of instructions for a summary that is made without a language model."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from explorer.models.catalogue import EXTRACTIVE
from ui.widgets.labels import Caption


class InstructionsNote(Caption):
    """A line below the box that they are written in; hidden while it is empty, and with a language
    model. ``model_of``: gives the id of the model chosen; ``refresh`` is for when that changes."""

    def __init__(
        self, box: QPlainTextEdit, model_of: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "Offline: picks lines with these words, rewords nothing", parent, wraps=True
        )
        self.setToolTip(
            "The offline summarizer picks lines with these words, or of a kind that they name "
            "(errors, files). It follows “keep the port numbers”, “focus on the parser”, “skip the "
            "tests”; no language, form or length that is asked for"
        )
        self._box = box
        self._model_of = model_of
        box.textChanged.connect(self.refresh)
        self.hide()

    def refresh(self) -> None:
        """Show it where it says something."""
        has_words = not self._box.isHidden() and bool(self._box.toPlainText().strip())
        self.setVisible(has_words and self._model_of() == EXTRACTIVE)

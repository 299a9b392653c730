"""The glossary as a page of Help: type to narrow it down, arrows scroll."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSlider, QLineEdit, QTextBrowser, QWidget

from explorer.settings.glossary import glossary, search
from ui import theme
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.panels import column_of, row

NONE = "No term of the glossary has these words."
_SCROLLS = {
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
}


class GlossaryPage(Dialog):
    """Stands beside the window, so that a word can be read where it is used."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Glossary", parent, is_modal=False)
        self.terms: list[str] = []
        """The terms that are shown, in their order."""
        self.box = QLineEdit(self)
        self.box.setPlaceholderText("Type a word")
        self.box.setAccessibleName("Search the glossary")
        self.box.setClearButtonEnabled(True)
        self.text = QTextBrowser(self)
        self.text.setAccessibleName("Terms and what they mean")
        self.box.textChanged.connect(self._fill)
        self.box.installEventFilter(self)
        close = self.button("Close")
        close.clicked.connect(self.close)
        margins = (theme.S16, theme.S16, theme.S16, theme.S12)
        self.lay_out(None, column_of(self.box, self.text, margins=margins), row(1, close))
        fit(self, 560, 640)
        theme.on_theme_changed(self._restyle)
        self._fill("")

    def _restyle(self) -> None:
        self._fill(self.box.text())

    def _fill(self, words: str) -> None:
        self.terms = search(words)
        parts = [
            f"<p style='margin-bottom:{theme.S12}px'><b>{escape(term)}</b><br>"
            f"{escape(glossary()[term])}</p>"
            for term in self.terms
        ]
        self.text.setHtml("".join(parts) or f"<p>{NONE}</p>")

    def eventFilter(self, watched: QObject, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = _SCROLLS.get(Qt.Key(event.key()))
            if step is not None:
                self.text.verticalScrollBar().triggerAction(step)
                return True
        return super().eventFilter(watched, event)

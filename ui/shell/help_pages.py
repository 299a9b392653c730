"""The windows of Help that stand beside the window: the documents, and the glossary."""

from __future__ import annotations

from html import escape
from posixpath import join, normpath

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSlider, QLineEdit, QTextBrowser, QWidget

from explorer.settings import paths
from explorer.settings.glossary import glossary, search
from ui import theme
from ui.inspector.markdown_view import MarkdownView
from ui.theme import S8, S16
from ui.widgets.dialogs import Dialog, TwoPaneDialog, fit
from ui.widgets.name_list import NameRow
from ui.widgets.panels import column_in, column_of, row, scroll_area

DOCUMENTS = {
    "docs/guide.md": "Guide",
    "docs/audit.md": "What the audit says",
    "docs/audit-measured.md": "How the audit was measured",
    "docs/command-line.md": "Command line",
    "docs/settings.md": "Settings",
    "docs/teams.md": "A team's library",
    "docs/audit-tables.md": "Tables of many audits",
    "docs/limits.md": "What opens, and limits",
    "docs/performance.md": "Size and speed",
    "extensions/README.md": "Extensions",
    "lessons/README.md": "Writing lessons",
    "scenarios/README.md": "Writing scripted runs",
}
"""By path below ``resources``: the name in the list."""


def linked(document: str, address: str) -> str:
    """The document that a link points to; empty for a link to anything else."""
    found = normpath(join(document, "..", address.partition("#")[0]))
    return found if found in DOCUMENTS else ""


class GuideWindow(TwoPaneDialog):
    """Stands beside the window, so that it can be read while doing what it says."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Guide", "Documents", 220, parent)
        self.area = scroll_area(self, "The document, to be scrolled", has_frame=False)
        body = QWidget(self.area)
        self.area.setWidget(body)
        self.text = MarkdownView(body)
        self.text.setAccessibleName("The document")
        self.text.link_asked.connect(self._follow)
        column = column_in(body, S8, (S16, S16, S16, S16))
        column.addWidget(self.text)
        column.addStretch(1)
        self.list.chosen.connect(self._show)
        close = self.button("Close")
        close.clicked.connect(self.close)
        foot = row(1, close)
        foot.setContentsMargins(S16, S8, S16, S8)
        self.lay_out_panes(None, None, self.area, foot)
        self.list.show_names([NameRow(path, name) for path, name in DOCUMENTS.items()])
        self.list.select(next(iter(DOCUMENTS)))
        fit(self, 860, 680)

    def _show(self, document: str) -> None:
        self.text.set_markdown(paths.resource(*document.split("/")).read_text(encoding="utf-8"))
        self.area.verticalScrollBar().setValue(0)

    def _follow(self, address: str) -> None:
        self.list.select(linked(self.list.name, address))


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

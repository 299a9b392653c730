"""The documents of the program as a window of Help: a list, and the one that is read."""

from __future__ import annotations

from posixpath import join, normpath

from PySide6.QtWidgets import QWidget

from explorer.settings import paths
from ui.inspector.markdown_view import MarkdownView
from ui.theme import S8, S16
from ui.widgets.dialogs import TwoPaneDialog, fit
from ui.widgets.name_list import NameRow
from ui.widgets.panels import column_in, row, scroll_area

DOCUMENTS = {
    "docs/guide.md": "Guide",
    "docs/audit.md": "What the audit says",
    "docs/command-line.md": "Command line",
    "docs/settings.md": "Settings",
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
        self.area = scroll_area(self, takes_focus=True, has_frame=False)
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

"""The entries that a draft was made from, beside it: a list, and the text of the selected one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.preparation import Preparation
from explorer.services.document import Document
from explorer.session.entries import Entry
from ui.inspector.entry_content import is_large
from ui.theme import S4, S12, role_name, scaled
from ui.widgets.entry_table import ENTRY, EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import count, full
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.loader import READ_ERRORS, Loader
from ui.widgets.message_blocks import blocks, words_of
from ui.widgets.panels import column_in, row, stacked
from ui.widgets.plain_text import PlainTextView
from ui.widgets.table import RIGHT, Column

LONGEST = 200_000
"""Characters of an entry's text that are shown beside a draft."""
READABLE = 200
"""Pixels at a text scale of 100 % from which the selected source's text has room below the list."""


def entry_words(entry: Entry) -> str:
    """All words of an entry, for reading beside a draft, without the blank lines before them: it
    is read in a few lines."""
    words = "\n\n".join(filter(None, map(words_of, blocks(entry))))
    start = len(words) - len(words.lstrip())
    return words[words.rfind("\n", 0, start) + 1 :]


class SourcesModel(EntryModel[tuple[int, int]]):
    """Source entries, each with the verdict that it had."""

    def __init__(self, parent: QWidget) -> None:
        self._weigh: Callable[[int], int] = lambda _entry: 0
        super().__init__(
            "Made from",
            (Column(
                "Tokens", lambda source: full(self._weigh(source[0])), RIGHT,
                lambda source: self._weigh(source[0]),
            ),),
            EntryCells(
                lambda source: source[0], self._description, verdict=lambda source: source[1]
            ),
            parent,
        )  # fmt: skip

    def show_sources(
        self,
        document: Document,
        entries: Sequence[tuple[int, int]],
        weigh: Callable[[int], int],
    ) -> None:
        """Show (entry, verdict) pairs; ``weigh`` gives an entry's tokens."""
        self._weigh = weigh
        self.use_session(document.tree, document.payloads.shown)
        self.show(entries)

    def forget(self) -> None:
        """Show nothing, and hold on to no session."""
        self.show(())
        self._weigh = lambda _entry: 0
        self.use_session(None)

    def _description(self, source: tuple[int, int], line: str) -> str:
        assert self.tree is not None
        entry, columns = source[0], self.tree.columns
        return f"#{entry}, {role_name(columns.kind[entry], columns.flags[entry])}: {line}"


class SourcesView(QWidget):
    """List and text of the sources."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self.model = SourcesModel(self)
        name = "Entries that the draft was made from"
        self.table = EntryTableView(self.model, name, self)
        self.table.selectionModel().currentChanged.connect(lambda now, _old: self._read(now))
        self.table.entry_chosen.connect(self._chosen)
        self.caption = Caption(parent=self)
        self.go = LinkButton("Go to it", self)
        self.go.clicked.connect(self._go)
        self.text = PlainTextView(self, mono=False)
        self.text.setAccessibleName("Text of the selected source")
        self._reader = Loader(self)
        self._reader.loaded.connect(self._show)
        self._reader.failed.connect(self._failed)
        below = self._below = QWidget(self)
        column = column_in(below, S4, (S12, S4, S4, 0))
        column.addLayout(row(self.caption, 1, self.go))
        column.addWidget(self.text, 1)
        self.split = stacked(self.table, below, (0, 0), self)
        self.split.setHandleWidth(1)
        outer = column_in(self)
        outer.addWidget(self.split)
        self.table.setMinimumHeight(70)
        self.text.setMinimumHeight(40)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._below.setVisible(self.height() >= scaled(READABLE))

    def show_sources(self, document: Document, shown: Partition) -> None:
        """Show the entries of the history and of the split turn's first part."""
        self._document = document
        entries: list[tuple[int, int]] = []
        if isinstance(shown.preparation, Preparation):
            entries += [(entry, Verdict.TO_SUMMARIZE) for entry in shown.preparation.history]
            entries += [(entry, Verdict.TURN_PREFIX) for entry in shown.preparation.turn_prefix]
        path = shown.path
        self.model.show_sources(document, entries, lambda at: shown.weight(path.position(at)))
        self._say("", "")
        self.table.setAccessibleDescription(count(len(entries), "entry", "entries"))
        if entries:
            self.table.setCurrentIndex(self.model.index(0, 0))

    def forget(self) -> None:
        """Hold on to nothing of a session."""
        self._document = None
        self._reader.forget()
        self.model.forget()
        self._say("", "")

    def _read(self, index: QModelIndex) -> None:
        """Show the text of a row's entry; a large one is read in a thread."""
        document = self._document
        self._reader.forget()
        if document is None or not index.isValid():
            return
        entry, payloads = index.data(ENTRY), document.payloads.shown
        if is_large(document.tree, entry):
            self._say(f"#{entry}", "Reading…")
            self._reader.load(lambda: (entry, entry_words(payloads.entry(entry))))
            return
        try:
            self._show((entry, entry_words(payloads.entry(entry))))
        except READ_ERRORS as error:
            self._failed(str(error))

    def _show(self, found: tuple[int, str]) -> None:
        entry, words = found
        self._say(f"#{entry}" + (", its beginning" if len(words) > LONGEST else ""), words)

    def _failed(self, message: str) -> None:
        self._say("", f"This entry cannot be read: {message}")

    def _say(self, caption: str, words: str) -> None:
        self.caption.setText(caption)
        self.text.set_text(words[:LONGEST])
        self.go.setVisible(bool(caption))

    def _chosen(self, entry: int) -> None:
        """Where its text has no room here, the entry is shown in the other views."""
        if self._below.isHidden():
            self.entry_requested.emit(entry)

    def _go(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            self.entry_requested.emit(index.data(ENTRY))

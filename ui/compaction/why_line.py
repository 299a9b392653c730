"""Under the panel's ledger: the rule behind the selected entry's verdict, in words."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.partition import Partition
from explorer.session.tree import SessionTree
from ui.compaction.words import entry_links
from ui.theme import S4, S16, bind_font, small_font, verdict_title
from ui.widgets.labels import ClickLabel

NOTHING = "Select an entry to read why it is kept, summarized or left out."


class WhyLine(QWidget):
    """Follows the entry that is selected on the map, whichever rows the ledger shows."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ClickLabel(self)
        bind_font(self.words, small_font)
        self.words.link.connect(self._follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S4, S16, S4)
        column.addWidget(self.words)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName("Why the selected entry is kept, summarized or left out")
        self._entry = -1
        self._shown: Partition | None = None
        self._tree: SessionTree | None = None
        self._tell()

    def show_partition(self, shown: Partition | None, tree: SessionTree | None) -> None:
        """Another division of the path; the same entry."""
        self._shown, self._tree = shown, tree
        self._tell()

    def show_entry(self, entry: int) -> None:
        """Another entry was selected; -1 for none."""
        self._entry = entry
        self._tell()

    def _tell(self) -> None:
        shown, entry = self._shown, self._entry
        position = shown.path.position(entry) if shown is not None and entry >= 0 else -1
        if shown is None or position < 0:
            words = NOTHING
            if shown is not None and entry >= 0:
                words = f"#{entry} is not on the path that is compacted here."
            self.words.set_words(entry_links(words), words)
            return
        head = f"#{entry}: {verdict_title(shown.verdicts[position])}."
        reason = shown.reason(position)
        self.words.set_words(f"<b>{head}</b> {entry_links(reason, entry)}", f"{head} {reason}")

    def _follow(self, link: str) -> None:
        self.entry_requested.emit(int(link.removeprefix("entry:")))

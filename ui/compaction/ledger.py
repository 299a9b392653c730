"""The ledger of the panel: every entry of the path with its verdict, and the rule behind it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, compress

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.compaction.partition import Partition
from explorer.session.records import Previews
from explorer.session.tree import SessionTree
from ui.audit.known import entry_figure, entry_tokens_words
from ui.compaction.words import entry_links
from ui.theme import S4, S16, bind_font, role_name, small_font, verdict_title
from ui.widgets.entry_table import EntryCells, EntryModel
from ui.widgets.figures import full
from ui.widgets.labels import ClickLabel
from ui.widgets.panels import column_in
from ui.widgets.table import RIGHT, Column

TWO_FIGURES = 300
"""Width of the table in pixels at a text scale of 100 % from which there is room for both."""


class PartitionModel(EntryModel[int]):
    """Rows are positions of the path, or those of one verdict.

    The running total counts from the end: what would be kept if the cut fell at that row.
    """

    def __init__(self, parent: QWidget) -> None:
        self.partition: Partition | None = None
        self._running: list[int] = []
        self._filter = -1
        super().__init__(
            "Entry",
            (
                Column("Why", lambda at: self._shown.reason(at), shown_from=700),
                Column("Tokens", self._figure, RIGHT),
                Column(
                    "To end", lambda at: full(self._running[at]), RIGHT, shown_from=TWO_FIGURES,
                    tip="Tokens from this entry to the end: what is kept if the cut falls here",
                ),
            ),
            EntryCells(
                lambda at: self._shown.path[at],
                self._description,
                verdict=lambda at: self._shown.verdicts[at],
                strong=lambda at: at == self._shown.cut,
            ),
            parent,
        )  # fmt: skip

    def _figure(self, at: int) -> str:
        assert self.tree is not None
        return entry_figure(self.tree.columns, self._shown.path[at], self._shown.weight(at))

    @property
    def _shown(self) -> Partition:
        """The partition; there is one wherever there are rows."""
        assert self.partition is not None
        return self.partition

    def show_partition(
        self, shown: Partition | None, tree: SessionTree | None, read: Previews | None
    ) -> None:
        """Show another partition; rows that stay keep their place and selection."""
        self.use_session(tree, read)
        self.partition = shown
        sizes = shown.preparation.cuts.view.sizes if shown is not None else array("i")
        self._running = list(accumulate(reversed(sizes)))
        self._running.reverse()
        self._fill()

    def set_filter(self, verdict: int) -> None:
        """Show the rows of one verdict; -1 shows all."""
        if verdict != self._filter:
            self._filter = verdict
            self._fill()

    def _fill(self) -> None:
        rows = self._wanted()
        self.show(rows, same=self._filter < 0 or rows == self.rows)

    def _wanted(self) -> Sequence[int]:
        if self.partition is None:
            return range(0)
        verdicts = self.partition.verdicts
        if self._filter < 0:
            return range(len(verdicts))
        only = bytes(1 if value == self._filter else 0 for value in range(256))
        return list(compress(range(len(verdicts)), verdicts.translate(only)))

    def row_at_or_after(self, position: int) -> int:
        """The row of a position of the path, or else of the next one shown; -1 for none."""
        if isinstance(self.rows, range):
            return position if 0 <= position < len(self.rows) else -1
        return next((row for row, at in enumerate(self.rows) if at >= position), -1)

    def _description(self, at: int, line: str) -> str:
        shown = self._shown
        assert self.tree is not None
        entry, columns = shown.path[at], self.tree.columns
        first = ", first kept entry" if at == shown.cut else ""
        return (
            f"#{entry}, {role_name(columns.kind[entry], columns.flags[entry])}{first}: {line}\n"
            f"{verdict_title(shown.verdicts[at]).capitalize()}, "
            f"{entry_tokens_words(columns, entry, shown.weight(at))}. "
            f"{shown.reason(at)}"
        )


NOTHING = "Select an entry to read why it is kept, summarized or left out."


class VerdictReason(QWidget):
    """Follows the entry that is selected on the map, whichever rows the ledger shows."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ClickLabel(self)
        bind_font(self.words, small_font)
        self.words.link.connect(self._follow)
        column = column_in(self, margins=(S16, S4, S16, S4))
        column.addWidget(self.words)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName("Why the selected entry is kept, summarized or left out")
        self._entry = -1
        self._shown: Partition | None = None
        self._tree: SessionTree | None = None
        self._tell()

    def show_partition(self, shown: Partition | None, tree: SessionTree | None) -> None:
        """Show another partition; the selected entry stays."""
        self._shown, self._tree = shown, tree
        self._tell()

    def show_entry(self, entry: int) -> None:
        """Show which entry is selected; -1 for none."""
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

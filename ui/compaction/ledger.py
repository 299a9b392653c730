"""The ledger of the panel: every entry of the path with its verdict."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, compress

from PySide6.QtWidgets import QWidget

from explorer.compaction.partition import Partition
from explorer.session.tree import SessionTree
from ui.theme import role_name, verdict_title
from ui.widgets.entry_table import EntryCells, EntryModel, ReadLines
from ui.widgets.figures import full
from ui.widgets.table import RIGHT, Column


class LedgerModel(EntryModel[int]):
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
                Column("Tokens", lambda at: full(self._shown.weight(at)), RIGHT),
                Column(
                    "To end", lambda at: full(self._running[at]), RIGHT, shown_from=340,
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

    @property
    def _shown(self) -> Partition:
        """The partition; there is one wherever there are rows."""
        assert self.partition is not None
        return self.partition

    def show_partition(
        self, shown: Partition | None, tree: SessionTree | None, read: ReadLines | None
    ) -> None:
        """Show another partition; rows that stay keep their place and selection."""
        self.use_session(tree, read)
        self.partition = shown
        weights = shown.preparation.cuts.view.weights if shown is not None else array("i")
        self._running = list(accumulate(reversed(weights)))
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
            f"{verdict_title(shown.verdicts[at]).capitalize()}, {full(shown.weight(at))} tokens. "
            f"{shown.reason(at)}"
        )

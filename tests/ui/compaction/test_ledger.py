"""The ledger: a row per entry, its figures, its filter."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.compaction.partition import Verdict
from tests.ui.compaction.conftest import set_keep
from tests.ui.waiting import Heard, settle, wait_for
from ui.compaction.panel import CompactionPanel
from ui.widgets.entry_table import ENTRY, STRONG, VERDICT
from ui.widgets.figures import full

Key = Qt.Key


def test_ledger_has_a_row_per_entry_with_texture_figures_and_reason(
    panel: CompactionPanel,
) -> None:
    shown, ledger = panel.partition, panel.setup.ledger
    assert shown is not None
    assert ledger.rowCount() == len(shown.verdicts)
    for row in (0, shown.cut - 1, shown.cut, ledger.rowCount() - 1):
        index = ledger.index(row, 0)
        assert index.data(ENTRY) == shown.path[row]
        assert index.data(VERDICT) == shown.verdicts[row]
        assert index.data(STRONG) == (row == shown.cut)
        tip = index.data(Qt.ItemDataRole.ToolTipRole)
        assert shown.reason(row) in tip
        assert ledger.index(row, ledger.column("Tokens")).data() == full(shown.weight(row))
    running = [
        int(ledger.index(row, ledger.column("To end")).data().replace(",", ""))
        for row in range(ledger.rowCount())
    ]
    assert running == sorted(running, reverse=True)


def test_ledger_shows_the_cut_and_follows_it(panel: CompactionPanel) -> None:
    def is_in_view(row: int) -> bool:
        rect = panel.setup.table.visualRect(panel.setup.ledger.index(row, 0))
        return bool(panel.setup.table.viewport().rect().contains(rect.center()))

    settle(10)
    assert panel.partition is not None and is_in_view(panel.partition.cut)
    set_keep(panel, 9_000)
    assert panel.partition is not None and is_in_view(panel.partition.cut)


def test_ledger_is_filtered_by_the_legend(panel: CompactionPanel) -> None:
    shown, ledger = panel.partition, panel.setup.ledger
    assert shown is not None
    kept = panel.setup.legend.item(str(int(Verdict.KEPT)))
    QTest.mouseClick(kept, Qt.MouseButton.LeftButton)
    assert ledger.rowCount() == shown.verdicts.count(Verdict.KEPT)
    assert ledger.index(0, 0).data(ENTRY) == shown.path[shown.cut]
    set_keep(panel, 6_000)
    assert panel.partition is not None
    assert ledger.rowCount() == panel.partition.verdicts.count(Verdict.KEPT)
    QTest.mouseClick(kept, Qt.MouseButton.LeftButton)
    assert ledger.rowCount() == len(shown.verdicts)


def test_choosing_a_row_asks_for_its_entry(panel: CompactionPanel) -> None:
    spy = Heard(panel.entry_requested)
    table, ledger, shown = panel.setup.table, panel.setup.ledger, panel.partition
    assert shown is not None
    where = table.visualRect(ledger.index(shown.cut, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert spy.at(0)[0] == shown.path[shown.cut]
    QTest.keyClick(table, Key.Key_Down)
    QTest.keyClick(table, Key.Key_Return)
    assert spy.at(1)[0] == shown.path[shown.cut + 1]


def test_reasons_have_a_column_where_there_is_room(panel: CompactionPanel) -> None:
    assert panel.setup.table.isColumnHidden(panel.setup.ledger.column("Why"))
    panel.resize(900, 860)
    settle()
    assert not panel.setup.table.isColumnHidden(panel.setup.ledger.column("Why"))


def test_why_is_read_below_the_ledger_without_pointing_at_anything(panel: CompactionPanel) -> None:
    table, line, shown = panel.setup.table, panel.setup.entry_why, panel.partition
    assert shown is not None and line.words.isVisible()
    assert "Select an entry" in line.words.accessibleName()
    older = shown.path[shown.cut - 1]
    where = table.visualRect(panel.setup.ledger.index(shown.cut - 1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    settle()
    told = line.words.accessibleName()
    assert told == f"#{older}: to summarize. {shown.reason(shown.cut - 1)}"
    assert "Keep recent is 3,000 tokens" in told and f"#{older} is older" in told
    QTest.keyClick(table, Key.Key_Down)
    assert line.words.accessibleName().startswith(f"#{older + 1}: kept.")
    set_keep(panel, 1_000)
    assert line.words.accessibleName().startswith(f"#{older + 1}: to summarize.")
    panel.setup.show_entry(shown.path[-1])
    assert line.words.accessibleName().startswith(f"#{shown.path[-1]}: kept.")


def test_the_sentence_of_a_row_that_was_chosen_lies_in_sight(panel: CompactionPanel) -> None:
    panel.resize(460, 620)
    panel.activateWindow()
    settle()
    setup, shown = panel.setup, panel.partition
    assert shown is not None
    setup.area.verticalScrollBar().setValue(0)
    setup.table.setFocus()
    where = setup.table.visualRect(setup.ledger.index(shown.cut - 1, 0)).center()
    QTest.mouseClick(setup.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    line = setup.entry_why
    wait_for(
        lambda: line.isVisible() and line.visibleRegion().boundingRect() == line.rect(),
        "the sentence",
        3_000,
    )

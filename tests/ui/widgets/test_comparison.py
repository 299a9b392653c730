"""Figures of subjects beside each other, and their bars."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from ui.widgets.comparison import ComparisonRow, FiguresGrid, ShareBar


def test_a_bar_is_drawn_where_there_are_two_to_compare(app: QApplication) -> None:
    grid = FiguresGrid("Figures")
    alone = ComparisonRow("Messages", ["0", "1"], [0, 1])
    both = ComparisonRow("Time", ["2 s", "1 s"], [2, 1])
    grid.show_figures(["left", "right"], [alone])
    assert not grid.findChildren(ShareBar)
    grid.show_figures(["left", "right"], [alone, both])
    assert len(grid.findChildren(ShareBar)) == 2
    grid.deleteLater()

"""The one table: columns as data, sorting, copying, and its speed on many rows."""

from __future__ import annotations

import time
from itertools import product

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests.ui.waiting import Heard, settle
from ui.widgets.table import RIGHT, ROW, Column, Table, TableModel

Key = Qt.Key
WORDS = ("pear", "fig", "apple", "quince")


def table_of(rows: list[str], place: QWidget) -> Table:
    columns = [
        Column[str]("Word", lambda word: word, sort_key=lambda word: word, stretch=True),
        Column[str]("Letters", lambda word: f"{len(word)}", RIGHT, len, "How long it is"),
        Column[str]("First", lambda word: word[0], shown_from=500),
    ]
    model = TableModel(columns, place, lambda word: word != "fig")
    model.show(rows)
    made = Table(model, "Words", place)
    made.restyle()
    made.resize(400, 300)
    place.resize(700, 300)
    place.show()
    settle()
    return made


def shown(table: Table) -> list[str]:
    model = table.rows
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def click_heading(table: Table, number: int) -> None:
    header = table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(number) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_heading_sorts_turns_round_and_gives_back(app: QApplication) -> None:
    place = QWidget()
    table = table_of(list(WORDS), place)
    table.selectRow(table.rows.row_of("pear"))
    click_heading(table, 1)
    assert shown(table) == ["quince", "apple", "pear", "fig"], "the largest figure first"
    assert table.current == "pear", "the chosen row stays the chosen one"
    click_heading(table, 1)
    assert shown(table) == ["fig", "pear", "apple", "quince"]
    click_heading(table, 1)
    assert shown(table) == list(WORDS)
    assert table.current == "pear"
    click_heading(table, 0)
    assert shown(table) == sorted(WORDS)
    table.rows.show(["b", "a"])
    assert shown(table) == ["a", "b"], "other rows are sorted as those before"


def test_a_column_without_a_key_does_not_sort(app: QApplication) -> None:
    place = QWidget()
    table = table_of(list(WORDS), place)
    table.resize(600, 300)
    settle()
    click_heading(table, 2)
    assert shown(table) == list(WORDS)
    assert not table.horizontalHeader().isSortIndicatorShown()


def test_copies_the_shown_cells_of_a_row(app: QApplication) -> None:
    place = QWidget()
    table = table_of(list(WORDS), place)
    assert table.isColumnHidden(2), "there is no room for it"
    table.selectRow(2)
    table.setFocus()
    QTest.keyClick(table, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "apple\t5"
    table.resize(600, 300)
    settle()
    QTest.keyClick(table, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "apple\t5\ta"


def test_return_and_double_click_activate_a_row_that_can_be_chosen(app: QApplication) -> None:
    place = QWidget()
    table = table_of(list(WORDS), place)
    heard = Heard(table.row_activated)
    table.selectRow(0)
    QTest.keyClick(table, Key.Key_Return)
    assert heard.at(0)[0] == "pear"
    for row, count in ((1, 1), (3, 2)):
        where = table.visualRect(table.rows.index(row, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
        QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
        assert heard.count() == count, "a row that cannot be chosen is not activated"
    assert heard.at(1)[0] == "quince"


def test_the_menu_offers_copying_and_sorting_to_the_keyboard(app: QApplication) -> None:
    place = QWidget()
    table = table_of(list(WORDS), place)
    table.selectRow(0)
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(table.viewport(), QContextMenuEvent(reason, QPoint(5, 5), QPoint(5, 5)))
    menu = table.findChild(QMenu)
    assert menu is not None
    titles = [each.text() for each in menu.actions()]
    assert titles == ["&Copy row", "Sort by “Word”", "Sort by “Letters”"]
    menu.actions()[2].trigger()
    menu.close()
    settle()
    assert shown(table)[0] == "quince"


def test_headings_and_cells_answer_to_screen_readers(app: QApplication) -> None:
    place = QWidget()
    model = table_of(list(WORDS), place).rows
    across, role = Qt.Orientation.Horizontal, Qt.ItemDataRole
    assert model.headerData(1, across) == "Letters"
    assert model.headerData(1, across, role.ToolTipRole) == "How long it is"
    assert model.headerData(1, across, role.TextAlignmentRole) == int(RIGHT)
    assert model.index(0, 1).data(ROW) == "pear"
    assert model.flags(model.index(1, 0)) == Qt.ItemFlag.NoItemFlags


def test_a_hundred_thousand_rows_are_shown_and_sorted_at_once(app: QApplication) -> None:
    place = QWidget()
    columns = [Column[int]("Number", str, RIGHT, lambda number: -number % 1_000, stretch=True)]
    model = TableModel(columns, place)
    table = Table(model, "Numbers", place)
    table.restyle()
    place.resize(400, 300)
    place.show()
    started = time.perf_counter()
    model.show(range(100_000))
    settle()
    table.sort_by(0)
    settle()
    assert time.perf_counter() - started < 2
    assert model.row_of(model.at(54_321)) == 54_321


def test_no_row_is_cut_through_at_an_edge(app: QApplication) -> None:
    """At the lower one where the first row is whole, and at the upper one at the end of what
    scrolls by rows; else all of the table is filled."""
    place = QWidget()
    table = table_of([f"{number} {WORDS[number % 4]}" for number in range(40)], place)
    row = table.rowHeight(0)

    def colours(top: int, bottom: int) -> int:
        port = table.viewport()
        image = port.grab(QRect(0, top, port.width() - 20, bottom - top)).toImage()
        points = product(range(image.width()), range(image.height()))
        return len({image.pixel(x, y) for x, y in points})

    for spare in (row // 3, row // 2, row - 5):
        table.resize(400, table.height() - table.viewport().height() + 6 * row + spare)
        settle()
        for value in (0, 3 * row, 3 * row + row // 2):
            table.verticalScrollBar().setValue(value)
            settle()
            below = colours(6 * row, table.viewport().height())
            assert (below == 1) is not bool(value % row), (spare, value)
    table.setVerticalScrollMode(Table.ScrollMode.ScrollPerItem)
    table.scrollToBottom()
    settle()
    cut = table.rowViewportPosition(table.rowAt(0)) + row
    assert 0 < cut < row and colours(0, cut) == 1 and colours(cut, cut + row) > 1


def test_rows_are_ticked_by_the_space_bar_and_the_pointer(app: QApplication) -> None:
    model = TableModel([Column[str]("Word", str), Column("Letters", lambda word: f"{len(word)}")],
                       is_choosable=lambda word: word != "fig", has_ticks=True)  # fmt: skip
    table = Table(model, "Words")
    table.restyle()
    table.show_rows(WORDS)
    table.resize(400, 300)
    table.show()
    settle()
    heard = Heard(model.row_ticked)
    QTest.keyClick(table, Key.Key_End)
    table.setCurrentIndex(table.currentIndex().siblingAtColumn(1))
    QTest.keyClick(table, Key.Key_Space)
    assert model.ticked == {"quince"} and heard.at(0)[0] == "quince"
    box = table.visualRect(model.index(0, 0))
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton,
                     pos=QPoint(box.left() + 12, box.center().y()))  # fmt: skip
    assert model.ticked == {"quince", "pear"} and heard.count() == 2
    model.show(("apple", "quince"))
    assert model.index(1, 0).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    model.tick(WORDS, on=False)
    assert not model.ticked and heard.count() == 2, "what the program does is not reported"

"""The search box: it waits for the end of the typing, steps, and lists hits of all sessions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QVBoxLayout, QWidget

from tests.ui.waiting import settle, wait_for
from ui.shell.header import WIDE, Header
from ui.shell.search import SearchBar, SearchResult


@pytest.fixture
def bar(app: QApplication) -> SearchBar:
    place = QWidget()
    place.resize(900, 500)
    made = SearchBar(place)
    column = QVBoxLayout(place)
    column.addWidget(made)
    column.addStretch(1)
    place.show()
    place.activateWindow()
    made.place = place  # type: ignore[attr-defined]
    return made


def test_typing_asks_once_and_enter_asks_at_once(bar: SearchBar) -> None:
    asked: list[tuple[str, bool]] = []
    bar.query_changed.connect(lambda query, everywhere: asked.append((query, everywhere)))
    QTest.keyClicks(bar.box, " retry ")
    assert asked == []
    wait_for(lambda: bool(asked), "the question")
    assert asked == [("retry", False)]
    QTest.keyClicks(bar.box, "x")
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    assert asked[-1] == ("retry x", False)


def test_enter_steps_forwards_and_with_shift_backwards(bar: SearchBar) -> None:
    steps: list[int] = []
    bar.step_requested.connect(steps.append)
    bar.entered.connect(lambda: steps.append(0))
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    QTest.keyClick(bar.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert steps == [0, -1]


def test_the_count_speaks_only_of_a_search(bar: SearchBar) -> None:
    bar.show_position(0, 0)
    assert bar.count.text() == ""
    bar.box.setText("kangaroo")
    bar.show_position(0, 0)
    assert bar.count.text() == "no hit"
    assert not bar.following.isEnabled()
    bar.show_position(3, 1200)
    assert bar.count.text() == "3 / 1,200"
    assert bar.previous.isEnabled()


def test_hits_of_all_sessions_are_chosen_by_keys_and_by_click(bar: SearchBar) -> None:
    chosen: list[tuple[int, int]] = []
    bar.hit_chosen.connect(lambda key, entry: chosen.append((key, entry)))
    rows = [SearchResult(7, at, "A session", f"line {at}\nof text") for at in range(20)]
    QTest.mouseClick(bar.everywhere, Qt.MouseButton.LeftButton)
    bar.show_results(rows)
    settle()
    window = bar.window().rect()
    assert window.contains(bar.results.geometry().topLeft())
    assert bar.results.geometry().right() <= window.right()
    table = bar.results.table
    assert table.cells()[0] == ["line 0 of text"]
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    assert chosen == [(7, 0)]
    assert not bar.results.isVisible()
    bar.show_results(rows)
    settle()
    place = table.visualRect(table.rows.index(2, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen[-1] == (7, 2)
    bar.show_results([])
    assert bar.results.caption.isVisible()
    QTest.keyClick(bar.box, Qt.Key.Key_Escape)
    assert not bar.results.isVisible()


def test_a_narrow_header_gives_the_name_and_the_search_the_room(app: QApplication) -> None:
    header = Header([("explorer", "Session Explorer"), ("pi", "pi")])
    header.show_session("A session with a name", "folder · 12 entries")
    header.resize(WIDE + 100, 44)
    header.show()
    settle()
    assert header.facts.isVisible()
    header.resize(800, 44)
    settle()
    assert not header.facts.isVisible()
    assert header.search.box.width() >= 130
    assert header.title.shown_text().startswith("A session")


def test_a_profile_is_chosen_by_keys(app: QApplication) -> None:
    header = Header([("explorer", "Session Explorer"), ("pi", "pi")])
    chosen: list[str] = []
    header.profile_chosen.connect(chosen.append)
    header.show()
    header.profile.setFocus()
    QTest.keyClick(header.profile, Qt.Key.Key_Down)
    assert chosen == ["pi"]
    header.set_profile("explorer")
    assert header.profile_name == "explorer"
    assert chosen == ["pi"], "what is set from outside is not told back"


def test_the_end_of_a_search_takes_its_button_away(bar: SearchBar) -> None:
    QTest.keyClicks(bar.box, "cut")
    (clear,) = bar.box.findChildren(QToolButton)
    wait_for(lambda: clear.property("opacity") == 1, "the button")
    bar.end()
    assert bar.box.text() == ""
    wait_for(lambda: clear.property("opacity") == 0, "its end")

"""The sessions at the left, and those found on this computer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from explorer.formats.adapter import FoundSession
from explorer.services.discovery import ListedSession, Scan, SearchFailure, State
from explorer.store.rows import SessionRow
from tests.ui.waiting import settle
from ui.library.found import FoundDialog
from ui.library.pane import LibraryPane, detail, fitting_detail, project, title_lines, when

NOW = datetime(2026, 11, 21, 15, 0, tzinfo=UTC)


def ms(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp() * 1000  # type: ignore[misc]


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (ms(2026, 11, 21, 9, 5), "today 09:05"),
        (ms(2026, 11, 20, 23, 59), "yesterday"),
        (ms(2026, 11, 17, 12), "Tue"),
        (ms(2026, 3, 2, 12), "2 Mar"),
        (ms(2024, 3, 2, 12), "2 Mar 2024"),
        (ms(2026, 11, 23, 12), "23 Nov"),
        (0, ""),
    ],
)
def test_moments_are_said_as_people_say_them(moment: float, words: str) -> None:
    assert when(moment, NOW) == words


def test_a_year_that_no_calendar_has_is_not_said() -> None:
    """A file may hold any number for a time."""
    assert when(8.6e15, NOW) == ""


def row(key: int, title: str, cwd: str, last_ms: float, **more: object) -> SessionRow:
    values: dict[str, object] = {"key": key, "title": title, "cwd": cwd, "last_ms": last_ms}
    values |= {"entries": 12, "compactions": 0} | more
    for name, kind in SessionRow.__annotations__.items():
        values.setdefault(name, "" if kind == "str" else 0)
    return SessionRow(**values)  # type: ignore[arg-type]


ROWS = [
    row(1, "Old", "/home/sam/src/queue", ms(2026, 3, 2)),
    row(2, "New", "C:\\work\\todo-api\\", ms(2026, 11, 20), compactions=2),
    row(3, "", "/home/sam/src/queue/", ms(2026, 3, 5)),
]


def test_folders_of_any_system_give_their_last_part() -> None:
    assert [project(one) for one in ROWS] == ["queue", "todo-api", "queue"]
    assert project(row(9, "", "", 0)) == "no folder"


def test_details_leave_out_what_is_nothing() -> None:
    assert detail(ROWS[1], NOW) == "yesterday · 12 · 2 compactions"
    assert detail(ROWS[0], NOW) == "2 Mar · 12"


def test_a_narrow_list_drops_parts_of_a_detail_and_cuts_no_word(app: QApplication) -> None:
    metrics = QFontMetrics(app.font())
    whole = "18 Nov · 282 · 2 compactions"
    for shown in (whole, "18 Nov · 2 compactions", "2 compactions"):
        assert fitting_detail(metrics, whole, metrics.horizontalAdvance(shown)) == shown


@pytest.fixture
def pane(app: QApplication) -> LibraryPane:
    made = LibraryPane()
    made.resize(220, 400)
    made.show()
    return made


def test_sessions_are_grouped_newest_first(pane: LibraryPane) -> None:
    pane.show_sessions(ROWS, 2)
    model = pane.model
    titles = [model.index(at).data() for at in range(model.rowCount())]
    assert titles == ["todo-api", "New", "queue", "Untitled session", "Old"]
    assert pane.list.currentIndex().row() == 1
    assert not model.flags(model.index(0)) & Qt.ItemFlag.ItemIsSelectable


def test_no_row_is_cut_and_the_open_session_stays_in_sight(pane: LibraryPane) -> None:
    long = "Make the nightly import survive a restart"
    names = {at: f"S{at}" if at % 3 else f"S{at} {long}" for at in range(1, 20)}
    pane.show_sessions([row(at, name, "/w", ms(2026, 3, at)) for at, name in names.items()], 12)
    at = pane.model.index(pane.model.row_of(12))
    for height in range(260, 420, 9):
        pane.resize(220, height)
        settle()
        room = pane.list.viewport().height()
        shown = [
            rect
            for one in range(pane.model.rowCount())
            if (rect := pane.list.visualRect(pane.model.index(one))).bottom() >= 0
            and rect.top() < room
        ]
        assert pane.list.visualRect(at) in shown, height
        assert all(rect.top() >= 0 and rect.bottom() < room for rect in shown), height


def test_no_heading_stands_at_the_lower_edge_without_a_session(pane: LibraryPane) -> None:
    pane.show_sessions([row(at, f"S{at}", f"/p{at}", ms(2026, 3, at)) for at in range(1, 9)], 8)
    model, heights = pane.model, set()
    for height in range(200, 320, 3):
        pane.resize(220, height)
        settle()
        room = pane.list.viewport().height()
        heights.add(room)
        rects = [pane.list.visualRect(model.index(at)) for at in range(model.rowCount())]
        last = max(at for at, rect in enumerate(rects) if rect.top() < room)
        assert model.title(last) is not None and rects[last].bottom() < room, height
    assert len(heights) == 2, "one session with its heading, or two"


def test_a_long_title_has_two_lines_and_as_many_words_as_they_hold(pane: LibraryPane) -> None:
    long = "Make the nightly import survive a restart of the database"
    pane.show_sessions([row(1, "Old", "/w", 2), row(2, long, "/w", 1)], 1)
    settle()
    heights = [pane.list.visualRect(pane.model.index(at)).height() for at in (1, 2)]
    metrics = pane.list.fontMetrics()
    assert heights[1] - heights[0] == metrics.lineSpacing()
    width = metrics.horizontalAdvance("Make the nightly imp")
    assert title_lines(metrics, "Old", width) == ["Old"]
    first, second = title_lines(metrics, long, width)
    assert first == "Make the nightly" and second.startswith("import") and second.endswith("…")
    assert title_lines(metrics, long.replace(" ", "_"), width)[0].endswith("…")
    pane.resize(600, 400)
    settle()
    assert pane.list.visualRect(pane.model.index(2)).height() == heights[0]


def test_a_click_and_the_keys_open_but_not_what_is_open(pane: LibraryPane) -> None:
    opened: list[int] = []
    pane.open_requested.connect(opened.append)
    pane.show_sessions(ROWS, 2)
    settle()

    def click(at: int) -> None:
        place = pane.list.visualRect(pane.model.index(at)).center()
        QTest.mouseClick(pane.list.viewport(), Qt.MouseButton.LeftButton, pos=place)

    click(1)
    click(0)
    assert opened == []
    click(4)
    assert opened == [1]
    pane.list.setFocus()
    QTest.keyClick(pane.list, Qt.Key.Key_Up)
    QTest.keyClick(pane.list, Qt.Key.Key_Return)
    assert opened == [1, 3]


def found(name: str, cwd: str) -> FoundSession:
    path = Path("/home/sam/.pi") / name
    return FoundSession(path, "pi", cwd, 2048, ms(2026, 3, 2), None)


def listed(*found: FoundSession, state: State = "new") -> Scan:
    return Scan(tuple(ListedSession(one, state, one.size) for one in found))


def test_found_sessions_are_ticked_and_filtered(app: QApplication) -> None:
    parent = QWidget()
    both = listed(found("a.jsonl", "/w/queue"), found("b.jsonl", "/w/todo"))
    dialog = FoundDialog(both, False, parent)
    dialog.show()
    chosen: list[tuple[list[ListedSession], bool]] = []
    dialog.import_chosen.connect(lambda *those: chosen.append(those))
    assert not dialog.take.isEnabled(), "nothing is imported unasked"
    dialog.list.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Space, Qt.Key.Key_Down, Qt.Key.Key_Space):
        QTest.keyClick(dialog.list, key)
    assert dialog.take.text() == "Import 2"
    QTest.keyClicks(dialog.filter, "todo")
    assert dialog.take.text() == "Import 1", "what is not seen is not imported"
    QTest.mouseClick(dialog.take, Qt.MouseButton.LeftButton)
    assert chosen == [([both.sessions[1]], False)]


def test_no_found_session_is_without_a_title(app: QApplication) -> None:
    parent = QWidget()
    one = listed(found("a.jsonl", "/w/queue")).sessions[0]
    named = one._replace(title="Fix the\nqueue")
    dialog = FoundDialog(Scan((named, one, one._replace(state="stored"))), False, parent)
    column = dialog.list.rows.column("Title")
    assert [cells[column] for cells in dialog.list.cells()] == [
        "Fix the queue", "Named when it is imported", "Untitled session",
    ]  # fmt: skip


def test_a_project_ticks_its_sessions_and_follows_them(app: QApplication) -> None:
    parent = QWidget()
    three = [found("a.jsonl", "/w/queue"), found("b.jsonl", "/w/todo"), found("c", "/x/todo")]
    dialog = FoundDialog(listed(*three), True, parent)
    dialog.show()
    assert dialog.keep_up.isChecked()
    assert [cells[1] for cells in dialog.projects.cells()] == ["queue", "todo"]
    dialog.projects.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Space):
        QTest.keyClick(dialog.projects, key)
    assert dialog.list.rows.ticked == {1, 2} and dialog.take.text() == "Import 2"
    dialog.list.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_Space):
        QTest.keyClick(dialog.list, key)
    assert dialog.list.rows.ticked == {2} and not dialog.projects.rows.ticked


def test_all_is_what_is_not_stored_yet(app: QApplication) -> None:
    parent = QWidget()
    stored = listed(found("a.jsonl", "/w/queue"), state="stored").sessions
    changed = listed(found("b.jsonl", "/w/queue"), state="changed").sessions
    dialog = FoundDialog(Scan(stored + changed), False, parent)
    chosen: list[tuple[list[ListedSession], bool]] = []
    dialog.import_chosen.connect(lambda *those: chosen.append(those))
    dialog.show()
    assert "1 of them are here already" in dialog.summary.text()
    QTest.mouseClick(dialog.take_all, Qt.MouseButton.LeftButton)
    assert chosen == [(list(changed), True)]
    nothing = FoundDialog(Scan(stored), False, parent)
    assert nothing.take_all.text() == "All are imported" and not nothing.take_all.isEnabled()


def test_nothing_found_says_where_was_looked(app: QApplication) -> None:
    parent = QWidget()
    failed = SearchFailure("/mnt/old", "there is no such folder")
    dialog = FoundDialog(Scan((), (failed,)), False, parent)
    dialog.show()
    assert "Claude Code" in dialog.summary.text() and "/mnt/old" in dialog.summary.text()
    assert not dialog.list.isVisible()
    assert not dialog.take.isEnabled()


def test_names_of_several_lines_stay_in_their_rows(pane: LibraryPane) -> None:
    pane.show_sessions([row(1, "first\n\nsecond", "/w/a\nb", 1.0)], 0)
    model = pane.model
    assert [model.index(at).data() for at in range(model.rowCount())] == ["a b", "first second"]

"""All sessions: filters by keys, several put away at once and taken back, hits, sums, saving."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QMessageBox

from tests.formats.claude_lines import SESSION as CLAUDE
from tests.formats.claude_lines import Lines
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.library_steps import (
    SAMPLE,
    at_title,
    choose,
    opened,
    popup,
    shows,
    started,
    titles,
)
from tests.ui.window.running import RunningWindow, on_screen, sample_path
from ui.library.filter_bar import ValueList
from ui.library.page import LibraryPage


async def test_words_and_chips_filter_by_keys_and_the_sums_follow(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    await shows(live, page, 3)
    assert page.filters.line.hasFocus()
    whole = page.totals.spent.text()
    live.type("FLAKY retry")
    await shows(live, page, 1)
    assert titles(page) == [SAMPLE]
    assert page.totals.spent.text() != whole and "282 entries" in page.totals.entries.text()
    assert "Tokens over time" in page.totals.bars.accessibleDescription()
    live.keys("Alt+R")
    await shows(live, page, 3)
    assert page.totals.spent.text() == whole and page.filters.line.text() == ""
    live.keys("Alt+P")
    values = await popup(live, ValueList)
    table = values.table
    assert table.hasFocus() and table.accessibleName() == "Project"
    while table.current != "todo-api":
        live.keys("Down", to=table)
    live.keys("Space", to=table)
    await shows(live, page, 1)
    assert titles(page) == [SAMPLE]
    live.keys("Esc", to=values)
    assert page.filters.project.text().replace("&", "") == "Project: todo-api"
    live.keys("Alt+R")
    await shows(live, page, 3)
    compacted = sum(row.session.compactions > 0 for row in page.table.rows.rows)
    assert 0 < compacted < 3
    live.keys("Alt+C")
    await shows(live, page, compacted)
    live.keys("Alt+R", "Alt+S")
    await choose(live, "The last 24 hours")
    await live.until(lambda: "last 24" in page.filters.since.text(), "the span")
    assert page.filters.filters.days == 1


async def test_a_filter_without_a_session_says_what_to_do_next(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    live.type("kangaroo")
    await live.until(page.no_match.isVisible, "the empty place")
    live.press_button("Clear filters", page.no_match)
    await shows(live, page, 3)
    live.keys("Alt+T")
    await live.until(page.put_away.isVisible, "the empty trash")
    assert "The trash is empty" in live.words(page.put_away)


async def test_several_go_to_the_trash_at_once_and_come_back(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    shown = live.document.key
    files = [tmp_path / "other.jsonl", tmp_path / "queue.jsonl"]
    bytes_before = [one.read_bytes() for one in files]
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    assert page.chosen.text() == "3 of 3 sessions selected"
    live.keys("Delete", to=page.table)
    await live.until(page.put_away.isVisible, "the empty library")
    assert not live.has_document, "a session in the trash is not shown"
    assert page.notice.isVisible() and "3 sessions moved" in live.words(page.notice)
    assert live.window.library.model.rowCount() == 0
    live.keys("Ctrl+Z", to=page)
    await shows(live, page, 3)
    await live.until(lambda: live.has_document, "the session that was shown")
    await live.until(lambda: not page.notice.isVisible(), "the notice goes")
    assert live.document.key == shown
    assert [one.read_bytes() for one in files] == bytes_before


async def test_only_what_is_in_the_trash_is_deleted_for_good_and_only_after_a_question(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    assert not page.delete_action.isVisible()
    await at_title(live, page, SAMPLE)
    parts = (page.filters, page.table.viewport(), page.more, page.totals)
    before = [on_screen(part).topLeft() for part in parts]
    live.keys("Delete", to=page.table)
    await shows(live, page, 2)
    await live.until(page.notice.isVisible, "the offer to take it back")
    await live.settle()
    assert [on_screen(part).topLeft() for part in parts] == before, "nothing moves for it"
    live.press_button("Undo", page.notice)
    await shows(live, page, 3)
    await at_title(live, page, SAMPLE)
    live.keys("Delete", to=page.table)
    await shows(live, page, 2)
    live.keys("Alt+T", to=page)
    await shows(live, page, 1)
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    for answer, left in (("Cancel", 1), ("Delete", 0)):
        live.press_button("Delete for good", page)
        question = await live.dialog(QMessageBox)
        assert SAMPLE in question.text()
        live.press_button(answer, question)
        await live.until(lambda: QApplication.activeModalWidget() is None, "the answer")
        await live.until(lambda left=left: page.table.rows.rowCount() == left, "the rows")
    assert sample_path().is_file()
    bench = live.session.state.bench
    assert bench is not None and len(bench.store.sessions(all_places=True)) == 2


async def test_a_session_rests_in_the_archive_with_a_note(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    await at_title(live, page, SAMPLE)
    live.keys("F2", to=page.table)
    dialog = await live.dialog(QInputDialog)
    live.type("ask Sam\n")
    await live.until(lambda: not dialog.isVisible(), "the note")
    page.activateWindow()
    await live.until(lambda: f"{SAMPLE} — ask Sam" in titles(page), "the note in the table")
    live.keys("Ctrl+E", to=page.table)
    await shows(live, page, 2)
    live.keys("Alt+H", to=page)
    await shows(live, page, 1)
    page.table.setFocus()
    live.keys("Ctrl+A", "Ctrl+E", to=page.table)
    await live.until(page.put_away.isVisible, "the empty archive")
    live.keys("Ctrl+Z", to=page)
    await shows(live, page, 1)
    live.keys("Ctrl+Z", to=page)
    live.keys("Ctrl+Z", to=page)
    live.keys("Alt+L", to=page)
    await shows(live, page, 3)
    assert SAMPLE in titles(page), "the note is taken back, too"


async def test_labels_are_put_on_several_shown_filtered_by_and_taken_back(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    assert not page.filters.label.isVisible(), "there is none to filter by"
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    await label(live, page, "New label")
    dialog = await live.dialog(QInputDialog)
    live.type(" to  do\n")
    await live.until(lambda: not dialog.isVisible(), "the label")
    page.activateWindow()
    await live.until(page.filters.label.isVisible, "the filter")
    await live.until(
        lambda: all(row.session.labels == ("to do",) for row in page.table.rows.rows), "on all"
    )
    before = page.table.grab().toImage()
    row = next(one for one in page.table.rows.rows if one.session.title == SAMPLE)
    page.table.choose({row.session.key}, row.session.key)
    await label(live, page, "to do")
    await live.until(lambda: page.table.current.session.labels == (), "it is taken away")
    assert page.table.grab().toImage() != before
    live.press_button("Label", page.filters)
    values = await popup(live, ValueList)
    live.keys("Down", "Space", to=values.table)
    await shows(live, page, 2)
    live.keys("Esc", to=values)
    assert SAMPLE not in titles(page) and page.filters.filters.labels == {"to do"}
    live.keys("Ctrl+Z", to=page)
    await shows(live, page, 3)
    live.keys("Ctrl+Z", to=page)
    await live.until(lambda: page.table.rows.rowCount() == 0, "none has it any more")


async def label(live: RunningWindow, page: LibraryPage, words: str) -> None:
    """Choose from the labels of the selected sessions."""
    live.press_button("More", page)
    await choose(live, "Labels")
    await live.until(
        lambda: (
            isinstance(QApplication.activePopupWidget(), QMenu)
            and any(
                one.text() == "&New label…" for one in QApplication.activePopupWidget().actions()
            )
        ),
        "the labels",
    )
    await choose(live, words)


async def test_sub_agents_go_to_the_trash_with_their_session_and_come_back(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    main = Lines().user("u1", "Fix the quay").reply("a1", "msg_1", ("c1", "Agent"))
    place = main.result("r1", "c1").write(tmp_path / f"{CLAUDE}.jsonl")
    for name in ("a1", "b2"):
        agent = Lines(isSidechain=True, agentId=name).user(f"{name}-u", "Look.", on=None)
        agent.write(tmp_path / CLAUDE / "subagents" / f"agent-{name}.jsonl")
    live.drop(place)
    await shows(live, page, 4)
    page.filters.started.click()
    await shows(live, page, 6)
    await at_title(live, page, "Fix the quay")
    live.keys("Delete", to=page.table)
    await shows(live, page, 3)
    assert "1 session and its 2 sub-agents moved to the trash." in live.words(page.notice)
    live.keys("Ctrl+Z", to=page)
    await shows(live, page, 6)
    await at_title(live, page, "Fix the quay")
    live.keys("Delete", to=page.table)
    await shows(live, page, 3)
    live.keys("Alt+T", to=page)
    await live.until(lambda: "Fix the quay" in titles(page), "the trash")
    await at_title(live, page, "Fix the quay")
    live.keys("Ctrl+E", to=page.table)
    await live.until(lambda: page.table.rows.rowCount() == 0, "all three are put back")


async def test_what_empties_a_filtered_list_is_taken_back_by_the_next_key(
    house: House, tmp_path: Path
) -> None:
    """The keyboard is not in the filter then, where the key would take its letters back."""
    live, page = await started(house, tmp_path)
    live.type("flaky")
    await shows(live, page, 1)
    await at_title(live, page, titles(page)[0])
    live.keys("Delete", to=page.table)
    await shows(live, page, 0)
    live.keys("Ctrl+Z")
    await shows(live, page, 1)
    assert page.filters.filters.words == "flaky"


async def test_return_opens_a_session_and_the_window_is_found_as_it_was_left(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    live.type("queue")
    await shows(live, page, 2)
    page.table.setFocus()
    live.keys("End", to=page.table)
    wanted = page.table.current.session.key
    assert wanted != live.document.key
    live.keys("Return", to=page.table)
    await live.until(lambda: live.document.key == wanted, "the session")
    await live.idle()
    assert not page.isVisible()
    live.window.activateWindow()
    await live.settle()
    assert await opened(live) is page
    assert page.filters.filters.words == "queue" and page.table.current.session.key == wanted


async def test_ids_and_commands_of_several_are_copied(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    sessions = [row.session for row in page.table.chosen]
    for words, expected in (
        ("Copy id", [one.session_id for one in sessions]),
        ("Copy the command", [f"pi --session {one.session_id}" for one in sessions]),
    ):
        live.press_button("More", page)
        await choose(live, words)
        lines = QGuiApplication.clipboard().text().splitlines()
        assert len(lines) == 3
        assert all(line.endswith(one) for line, one in zip(lines, expected, strict=True))
    live.keys("Ctrl+C", to=page.table)
    assert SAMPLE in QGuiApplication.clipboard().text()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 3


class Opened(QObject):
    """Stands for the system's file manager."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[QUrl] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.urls.append(url)


async def test_the_file_is_shown_and_imported_again(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    row = next(row for row in page.table.rows.rows if row.session.path.endswith("other.jsonl"))
    page.table.choose({row.session.key}, row.session.key)
    page.table.setFocus()
    manager = Opened()
    QDesktopServices.setUrlHandler("file", manager, "take")
    try:
        live.press_button("More", page)
        await choose(live, "Show in folder")
        assert [url.toLocalFile() for url in manager.urls] == [str(tmp_path)]
    finally:
        QDesktopServices.unsetUrlHandler("file")
    lines = (tmp_path / "other.jsonl").read_text().splitlines()
    more = write_session(tmp_path / "longer.jsonl", 90, branches=False).read_text().splitlines()
    assert more[: len(lines)] == lines, "the same session, longer"
    (tmp_path / "other.jsonl").write_text("\n".join(more) + "\n")
    shown = live.document.key
    live.press_button("More", page)
    await choose(live, "Import again")
    await live.until(lambda: "imported again" in live.words(page.notice), "the report")
    assert "new entr" in live.words(page.notice)
    await live.until(
        lambda: any(one.session.entries > row.session.entries for one in page.table.chosen),
        "the new figures in the row, which stays selected",
    )
    assert live.document.key == shown, "another session is not opened by it"


async def test_filters_are_saved_under_a_name_for_the_next_start(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    live.type("flaky")
    await shows(live, page, 1)
    live.keys("Alt+V")
    await choose(live, "Save these filters")
    await live.dialog(QInputDialog)
    live.type("Mine\n")
    await live.until(lambda: QApplication.activeModalWidget() is None, "the name")
    assert live.session.preferences.library_filters == {"Mine": {"words": "flaky"}}
    live.keys("Esc", to=page)
    live.window.activateWindow()
    await live.settle()
    assert await live.close() == 0

    again = await house.start()
    page = await opened(again)
    await shows(again, page, 3)
    again.keys("Alt+V", to=page)
    await choose(again, "Mine")
    await shows(again, page, 1)
    assert page.filters.line.text() == "flaky"


async def test_a_new_session_comes_into_the_table_and_the_selection_stays(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    await at_title(live, page, SAMPLE)
    bench = live.session.state.bench
    assert bench is not None
    await bench.import_file(write_session(tmp_path / "late.jsonl", 30, seed=9, branches=False))
    await shows(live, page, 4)
    assert [row.session.title for row in page.table.chosen] == [SAMPLE]


async def test_sorting_by_a_column_keeps_what_is_selected(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    await at_title(live, page, SAMPLE)
    header = page.table.horizontalHeader()
    for number, column in enumerate(page.table.rows.columns):
        assert column.sort_key is not None, f"{column.title} cannot be sorted by"
        if header.isSectionHidden(number):
            continue
        at = header.sectionPosition(number) + header.sectionSize(number) // 2
        live.click(header.viewport(), QPoint(at, header.height() // 2))
        assert page.table.rows.sorted_by[0] == number
        assert [row.session.title for row in page.table.chosen] == [SAMPLE]


async def test_the_narrow_list_moves_to_the_trash_and_takes_it_back(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    pane, key = live.window.library, live.document.key
    at = pane.list.visualRect(pane.list.currentIndex()).center()
    pane.list.customContextMenuRequested.emit(at)
    await choose(live, "Move to trash")
    await live.until(lambda: not live.has_document, "the empty window")
    assert pane.model.row_of(key) < 0 and "moved to the trash" in live.notice
    live.press_button("Undo", live.window.notices)
    await live.until(lambda: live.has_document, "the session")
    assert live.document.key == key and pane.model.row_of(key) >= 0
    await live.until(lambda: not live.notice, "the end of the offer")
    live.press_button("All sessions", pane)
    page = await live.dialog(LibraryPage)
    await shows(live, page, 1)


async def test_an_import_brings_a_session_out_of_the_trash(house: House) -> None:
    live = await house.start(sample_path())
    live.window.library.trash_requested.emit(live.document.key)
    await live.until(lambda: not live.has_document, "the empty window")
    live.drop(sample_path())
    await live.until(lambda: live.has_document, "the session")
    await live.idle()
    assert live.window.library.model.row_of(live.document.key) >= 0


async def test_without_a_session_it_says_how_to_get_one(house: House) -> None:
    live = await house.start()
    page = await opened(live)
    await live.until(page.nothing.isVisible, "the empty place")
    assert "No session yet" in live.words(page.nothing)
    assert page.nothing.button.isVisible() and page.nothing.other.isVisible()

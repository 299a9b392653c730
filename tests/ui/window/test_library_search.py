"""A search over the entries of all sessions, in their window: what is listed while it goes on, and
what a press meanwhile does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.services.changes import SessionsChanged
from explorer.store import SearchHit, SearchStep
from tests.store.sources import tool_entries, write_file
from tests.ui.window.house import House
from tests.ui.window.library_steps import SAMPLE, at_title, shows, started, titles
from tests.ui.window.running import sample_path


async def test_a_search_of_texts_lists_entries_and_a_hit_opens_its_session_there(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    live.type("backoff waits")
    live.keys("Ctrl+Return")
    await live.until(page.hits.isVisible, "the hits")
    assert page.hits.table.hasFocus()
    hit = page.hits.table.current.hit
    assert hit.marks and "backoff" in hit.snippet
    marked = [hit.snippet[start:end].casefold() for start, end in hit.marks]
    assert "backoff" in marked
    found = {row[0] for row in page.hits.table.cells()}
    await live.until(lambda: set(titles(page)) == found, "the sessions in which it was found")
    page.filters.focus_line()
    live.keys("Ctrl+A")
    live.keys("Delete")
    await live.until(lambda: len(titles(page)) > len(found), "all sessions")
    assert page.hits.isHidden()
    live.type("backoff waits")
    live.keys("Ctrl+Return")
    await live.until(page.hits.isVisible, "the hits")
    live.keys("Return", to=page.hits.table)
    await live.until(lambda: live.window.map.selected == hit.index, "the entry")
    assert live.document.key == hit.key and not page.isVisible()
    await live.idle()


async def test_the_line_filters_by_name_and_leads_into_the_table(
    house: House, tmp_path: Path
) -> None:
    """As in the lists of mail and files: Down goes on there, Return opens the first."""
    live, page = await started(house, tmp_path)
    shown = live.document
    assert not page.filters.search.isEnabled(), "no words yet"
    live.keys("Down")
    assert page.table.hasFocus() and page.table.currentIndex().row() == 0
    assert len(page.table.chosen) == 1
    live.keys("Down", to=page.table)
    live.keys("Ctrl+F", "Down")
    assert page.table.hasFocus() and page.table.currentIndex().row() == 0, "the first again"
    page.filters.focus_line()
    others = [title for title in titles(page) if title != SAMPLE]
    live.type(f"{others[-1]}\n")
    await live.until(lambda: live.document is not shown, "the session of that name")
    await live.idle()
    assert live.document.title == others[-1] and not page.isVisible() and not page.shows_hits


async def test_where_no_name_fits_return_leads_to_the_way_on(house: House, tmp_path: Path) -> None:
    live, page = await started(house, tmp_path)
    live.type("backoff waits\n")
    await live.until(lambda: page.no_match.button.hasFocus(), "what can be done now")
    assert page.isVisible() and not page.shows_hits
    live.press_button("Search texts", page.no_match)
    await live.until(page.hits.isVisible, "the hits")


class Searches:
    """Searches that give what the test lets them give, a step at a time."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.keys: list[set[int]] = []
        self.ended = 0
        self.wanted: list[Callable[[], bool]] = []
        self.steps: asyncio.Queue[SearchStep | None] = asyncio.Queue()

    async def search(
        self,
        query: str,
        keys: Collection[int] | None,
        _limit: int,
        is_wanted: Callable[[], bool],
        _only_failures: bool = False,
    ) -> AsyncGenerator[SearchStep, None]:
        self.begun.append(query)
        self.keys.append(set(keys or ()))
        self.wanted.append(is_wanted)
        try:
            while (step := await self.steps.get()) is not None:
                yield step
        finally:
            self.ended += 1


async def test_hits_are_shown_while_the_search_goes_on_and_newer_words_end_it(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    scripted = Searches()
    live.session.state.bench.search = scripted.search
    key = live.document.key
    title = page.hits.title.text
    live.type("retry")
    live.keys("Ctrl+Return")
    await live.until(lambda: scripted.begun == ["retry"], "the search")
    scripted.steps.put_nowait(SearchStep([], 1, 9))
    await live.until(lambda: "No entry yet" in title(), "how far it is")
    assert "Searched 1 of 9 sessions" in title()
    hits = [SearchHit(key, at, f"retry {at}", ((0, 5),)) for at in (9, 7, 3)]
    scripted.steps.put_nowait(SearchStep(hits[:2], 4, 9))
    await live.until(lambda: page.hits.table.rows.rowCount() == 2, "the first hits")
    assert "Searched 4 of 9 sessions" in title() and page.hits.table.hasFocus()
    live.keys("Down", to=page.hits.table)
    scripted.steps.put_nowait(SearchStep(hits[2:], 9, 9))
    await live.until(lambda: page.hits.table.rows.rowCount() == 3, "the third hit")
    assert page.hits.table.current.hit.index == 7, "the marked hit stays marked"
    assert scripted.wanted[0]()
    page.filters.focus_line()
    live.keys("Ctrl+A")
    live.type("queue")
    live.keys("Ctrl+Return")
    await live.until(lambda: scripted.begun[-1] == "queue", "the newer search")
    assert not scripted.wanted[0]() and scripted.wanted[-1]()
    scripted.steps.put_nowait(None)
    scripted.steps.put_nowait(None)
    await live.until(lambda: "No entry of these sessions" in title(), "the end")
    assert "Searched" not in title()
    await live.idle()


async def test_a_place_pressed_while_a_search_begins_is_the_one_searched(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    scripted = Searches()
    live.session.state.bench.search = scripted.search
    await at_title(live, page, SAMPLE)
    live.keys("Ctrl+E", to=page.table)
    await shows(live, page, 2)
    page.filters.focus_line()
    live.type("retry")
    live.keys("Ctrl+Return")
    await asyncio.sleep(0)
    assert not scripted.begun, "the sessions to be searched are being chosen in a thread"
    live.click(page.filters.places.button(1))
    await live.until(lambda: scripted.begun, "the search")
    scripted.steps.put_nowait(None)
    await live.until(lambda: "No entry of these" in page.hits.title.text(), "its end")
    await live.idle()
    assert scripted.keys == [{live.document.key}], "only what is in the archive"
    assert page.filters.filters.place == "archive"


async def test_a_place_pressed_during_a_search_is_listed_at_once(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    scripted = Searches()
    live.session.state.bench.search = scripted.search
    await at_title(live, page, SAMPLE)
    live.keys("Ctrl+E", to=page.table)
    await shows(live, page, 2)
    shown = titles(page)
    page.filters.focus_line()
    live.type("retry")
    live.keys("Ctrl+Return")
    await live.until(lambda: scripted.begun, "the search")
    scripted.steps.put_nowait(SearchStep([], 1, 9))
    await live.until(lambda: "No entry yet" in page.hits.title.text(), "how far it is")
    archive = page.filters.places.button(1)
    live.click(archive)
    await live.until(lambda: len(scripted.begun) == 2, "the search in the archive")
    scripted.steps.put_nowait(SearchStep([], 1, 9))
    scripted.steps.put_nowait(SearchStep([], 1, 9))
    await live.until(lambda: titles(page) == [SAMPLE], "what is in the archive")
    assert archive.isChecked() and shown != titles(page)
    QTest.mousePress(page.filters.places.button(2), Qt.MouseButton.LeftButton)
    hits = [SearchHit(live.document.key, 9, "retry 9", ((0, 5),))]
    scripted.steps.put_nowait(SearchStep(hits, 4, 9))
    await live.until(lambda: page.hits.table.rows.rowCount() == 1, "the hit")
    QTest.mouseRelease(page.filters.places.button(2), Qt.MouseButton.LeftButton)
    assert page.filters.filters.place == "trash"
    for _ in range(3):
        scripted.steps.put_nowait(None)
    await live.until(lambda: "No entry of these" in page.hits.title.text(), "the end")
    await live.idle()


async def test_a_place_that_is_being_pressed_when_hits_come_is_chosen(
    house: House, tmp_path: Path
) -> None:
    """The hits do not take the keyboard from a button that is down: it would not be released."""
    live, page = await started(house, tmp_path)
    scripted = Searches()
    live.session.state.bench.search = scripted.search
    live.type("retry")
    live.keys("Ctrl+Return")
    await live.until(lambda: scripted.begun, "the search")
    archive = page.filters.places.button(1)
    QTest.mousePress(archive, Qt.MouseButton.LeftButton)
    hits = [SearchHit(live.document.key, 9, "retry 9", ((0, 5),))]
    scripted.steps.put_nowait(SearchStep(hits, 4, 9))
    await live.until(lambda: page.hits.table.rows.rowCount() == 1, "the hit")
    assert archive.isDown() and archive.hasFocus()
    QTest.mouseRelease(archive, Qt.MouseButton.LeftButton)
    assert archive.isChecked() and page.filters.filters.place == "archive"
    for _ in range(2):
        scripted.steps.put_nowait(None)
    await live.until(lambda: "No entry of these" in page.hits.title.text(), "its end")
    await live.idle()


async def test_a_place_that_is_pressed_while_the_list_is_read_again_is_chosen(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    await at_title(live, page, SAMPLE)
    live.keys("Ctrl+E", to=page.table)
    await shows(live, page, 2)
    controller = live.session.library_page
    for at, count in ((1, 1), (2, 0), (0, 2)):
        button = page.filters.places.button(at)
        before = controller.library
        QTest.mousePress(button, Qt.MouseButton.LeftButton)
        live.session.state.bench.hub.publish(SessionsChanged())
        await live.until(lambda before=before: controller.library is not before, "a new list")
        assert button.isDown()
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
        assert button.isChecked()
        live.session.state.bench.hub.publish(SessionsChanged())
        await live.until(lambda n=count: page.table.rows.rowCount() == n, f"{count} rows")
        await live.idle()
        assert button.isChecked() and page.table.rows.rowCount() == count


async def test_who_closes_the_list_of_hits_in_all_sessions_ends_the_search(house: House) -> None:
    live = await house.start(sample_path())
    scripted, bar = Searches(), live.window.header.search
    live.session.state.bench.search = scripted.search
    live.keys("/")
    live.click(bar.everywhere)
    live.type("retry")
    await live.until(lambda: scripted.begun == ["retry"], "the search")
    hits = [SearchHit(live.document.key, at, f"retry {at}", ((0, 5),)) for at in (9, 7)]
    scripted.steps.put_nowait(SearchStep(hits[:1], 4, 9))
    await live.until(bar.results.isVisible, "the first hit")
    assert bar.results.caption.text() == "Searched 4 of 9 sessions …"
    scripted.steps.put_nowait(SearchStep(hits[1:], 6, 9))
    await live.until(lambda: bar.results.table.rows.rowCount() == 2, "the second hit")
    live.keys("Escape")
    await live.until(bar.results.isHidden, "the end of the list")
    scripted.steps.put_nowait(SearchStep([], 7, 9))
    await live.until(lambda: scripted.ended == 1, "the end of the search")
    await live.idle()
    assert bar.results.isHidden()


async def test_hits_in_calls_and_results_are_rows_with_the_matched_line(
    house: House, tmp_path: Path
) -> None:
    live, page = await started(house, tmp_path)
    printed = "Reading bathe.log\n" + "started worker\n" * 300 + "  the quay at KWÄI sank\nend"
    entries = tool_entries("cd harbour\nmake bathe\n./deploy --to kwäi-quay", printed)
    live.drop(write_file(tmp_path / "tools.jsonl", entries))
    await shows(live, page, 4)
    live.type("kwai")
    live.keys("Ctrl+Return")
    await live.until(page.hits.isVisible, "the hits")
    await live.until(lambda: "Searched" not in page.hits.title.text(), "the end of the search")
    assert [row[1:] for row in page.hits.table.cells()] == [
        ["#1", "the quay at KWÄI sank"],
        ["#0", "./deploy --to kwäi-quay"],
    ]
    bar = live.window.header.search
    live.keys("Escape", "Escape", to=page)
    live.window.activateWindow()
    await live.settle()
    live.keys("/")
    live.click(bar.everywhere)
    live.type("kwai")
    await live.until(lambda: bar.results.table.rows.rowCount() == 2, "the hits in the header")
    lines = [row[0] for row in bar.results.table.cells()]
    assert lines == ["the quay at KWÄI sank", "./deploy --to kwäi-quay"]
    await live.idle()


async def test_what_a_search_for_signs_leaves_out_is_said(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, page = await started(house, tmp_path)
    monkeypatch.setattr("explorer.store.search._SIGNS_IN", 1)
    live.type("()")
    live.keys("Ctrl+Return")
    await live.until(page.hits.isVisible, "the hits")
    await live.until(lambda: "Searched" not in page.hits.title.text(), "the end of the search")
    note = "Signs without a word are looked for in the newest session of 3 only: add a word to"
    assert note in page.hits.title.text()
    page.filters.focus_line()
    live.keys("Ctrl+A")
    live.type("retry")
    live.keys("Ctrl+Return")
    await live.until(lambda: "“retry”" in page.hits.title.text(), "the hits of a word")
    await live.until(lambda: "Searched" not in page.hits.title.text(), "the end of the search")
    assert "Signs" not in page.hits.title.text()
    bar = live.window.header.search
    live.keys("Escape", "Escape", to=page)
    live.window.activateWindow()
    await live.settle()
    live.keys("/")
    live.click(bar.everywhere)
    live.type("§§")
    await live.until(bar.results.isVisible, "that nothing was found")
    await live.until(lambda: "Searched" not in bar.results.caption.text(), "the end of the search")
    assert note in bar.results.caption.text()
    await live.idle()

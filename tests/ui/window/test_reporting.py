"""The report in the window: asked for by keys, written in a thread, told with where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMenu

from tests.audit.reported import FIRST, LIMIT, SECOND, write_losing
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow
from tests.ui.window.steps import choose_file
from ui.audit.compare.subjects import SummaryKey


async def opened(house: House, folder: Path) -> RunningWindow:
    live = await house.start(session=write_losing(folder / "losing.jsonl"))
    await live.idle()
    return live


async def written(live: RunningWindow, path: Path) -> str:
    await live.until(lambda: "was written to" in live.notice, "the notice")
    assert str(path) in live.notice
    return path.read_text("utf-8")


async def test_the_whole_path_is_saved_by_keys_and_its_folder_is_shown(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    live.keys("Ctrl+Alt+S")
    dialog = await live.dialog(QFileDialog)
    assert "the whole path" in dialog.windowTitle()
    assert dialog.selectedFiles()[0].endswith("-audit.html")
    path = tmp_path / "report.html"
    await choose_file(live, path)
    text = await written(live, path)
    assert text.startswith("<!DOCTYPE html>") and LIMIT in text
    assert f'id="c{FIRST}"' in text and f'id="c{SECOND}"' in text
    shown: list[Path] = []
    live.session.report.show_folder = shown.append
    live.press_button("Show in folder")
    assert shown == [path]


async def test_the_tab_saves_the_moment_that_it_shows(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    tab = live.window.audit
    live.keys("Ctrl+4")
    await live.until(lambda: tab.overview is not None, "the audit")
    live.choose(tab.moment, SummaryKey("entry", FIRST).code)
    await live.idle()
    live.press_button("Report…", tab)
    dialog = await live.dialog(QFileDialog)
    assert f"compaction #{FIRST}" in dialog.windowTitle()
    path = tmp_path / "one.json"
    await choose_file(live, path)
    told = json.loads(await written(live, path))
    assert [one["entry"]["index"] for one in told["compactions"]] == [FIRST]
    assert not told["whole_path"]


async def test_the_rules_of_the_tab_decide_what_is_lost(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    tab = live.window.audit
    live.keys("Ctrl+4")
    await live.until(lambda: tab.overview is not None, "the audit")
    for rules, number in (("pi-0.58", 1), ("", 0)):
        live.choose(tab.rules, rules)
        await live.idle()
        path = tmp_path / f"{rules or 'own'}.json"
        live.keys("Ctrl+Alt+S")
        await choose_file(live, path)
        told = json.loads(await written(live, path))
        kinds = [loss["kind"] for loss in told["losses"]]
        assert kinds.count("kept-range-dropped") == number
        live.keys("Esc", to=live.window.notices)


async def test_cancelled_it_writes_nothing_and_leaves_what_was_there(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = await opened(house, tmp_path)
    path = tmp_path / "report.md"
    path.write_text("as it was", encoding="utf-8")
    begin = live.window.progress.begin

    def begun(what: str) -> object:
        work = begin(what)
        live.click(live.window.progress.cancel)
        return work

    monkeypatch.setattr(live.window.progress, "begin", begun)
    live.session.state.tasks.start("Saving the report", live.session.report.save_now(path, "md"))
    await live.until(lambda: "cancelled" in live.said, "the word that it was cancelled")
    assert path.read_text("utf-8") == "as it was"
    await live.idle()


async def test_a_folder_that_is_not_there_is_told(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    path = tmp_path / "gone" / "report.html"
    live.session.state.tasks.start("Saving the report", live.session.report.save_now(path, "html"))
    await live.until(lambda: "Nothing was written" in live.words(live.window.notices), "the notice")
    assert not path.exists()


async def test_the_menu_of_a_compaction_offers_a_report_on_it(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    menu = QMenu(live.window)
    live.session.report.fill_menu(menu, FIRST)
    live.session.report.fill_menu(menu, 0)
    (action,) = menu.actions()
    action.trigger()
    dialog = await live.dialog(QFileDialog)
    assert f"compaction #{FIRST}" in dialog.windowTitle()
    live.keys("Esc")
    await live.back()
    menu.deleteLater()

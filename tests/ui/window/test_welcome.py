"""The page without a session, the callouts of the example, and the glossary in Help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtGui import QAction, QHelpEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip

from explorer.settings.glossary import glossary
from tests import homes
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path
from tests.ui.window.steps import open_sample
from ui.library import discovery
from ui.library.found import FoundDialog
from ui.shell.help_pages import NONE, GlossaryPage
from ui.welcome.page import CONSENT
from ui.welcome.tour import CUT, LOST, TEXTS, TREE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with six sessions of four agents."""
    made = homes.usual_home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(discovery, "START_S", 0.0)
    yield made


def menus(live: RunningWindow) -> list[str]:
    """The menus that can be opened."""
    bar = live.window.menuBar()
    return [one.text().replace("&", "") for one in bar.actions() if one.isVisible()]


def offered(live: RunningWindow, title: str) -> list[str]:
    """What a menu lists."""
    bar = live.window.menuBar()
    menu = next(one.menu() for one in bar.actions() if one.text().replace("&", "") == title)
    assert isinstance(menu, QMenu)
    found = (one for one in menu.actions() if isinstance(one, QAction) and not one.isSeparator())
    return [one.text().replace("&", "") for one in found if one.isVisible()]


async def back_to_the_page(live: RunningWindow) -> None:
    live.keys("Ctrl+W")
    await live.until(live.window.welcome.isVisible, "the welcome page")
    await live.idle()


async def test_without_a_session_nothing_is_shown_that_needs_one(house: House) -> None:
    live = await house.start()
    window = live.window
    assert window.welcome.isVisible() and not window.has_panes
    for part in (window.header, window.library, window.map, window.inspector, window.agent):
        assert not part.isVisible()
    assert "Go" not in menus(live) and "Map" not in menus(live)
    assert not {"Close", "Export…", "Rename…"} & set(offered(live, "Session"))
    assert window.welcome.example.hasFocus()
    assert CONSENT in live.words() and window.welcome.learn.isVisible()
    assert not window.welcome.recent.isVisible(), "no session was opened yet"
    live.keys("F8", "/", "Ctrl+3")
    assert window.welcome.example.hasFocus()


async def test_the_page_is_walked_by_tab_and_opens_the_example(house: House) -> None:
    live = await house.start()
    page = live.window.welcome
    for wanted in (page.mine, page.learn, page.agent, page.import_file):
        live.keys("Tab")
        assert wanted.hasFocus()
    await live.tab_to(page.example, key="Shift+Tab")
    live.keys("Return")
    await live.until(lambda: live.has_document, "the example")
    await live.until(live.session.tour.callout.isVisible, "the first callout")
    assert live.window.has_panes and not page.isVisible()
    assert live.window.map.isVisible() and live.window.header.isVisible()
    assert {"Go", "Map"} <= set(menus(live))
    assert "Close" in offered(live, "Session")


async def test_closing_the_session_brings_the_page_back_with_it_in_the_list(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    await back_to_the_page(live)
    page = live.window.welcome
    assert not live.window.header.isVisible()
    assert page.example.hasFocus()
    assert [cells[0] for cells in page.recent.cells()] == ["Fix the flaky retry test"]
    await live.tab_to(page.recent)
    live.keys("Return")
    await live.until(lambda: live.has_document, "the session")
    await live.idle()
    assert live.window.map.view.hasFocus()
    (before,) = page.recent.cells()
    await live.document.edits.set_label(3, "here")
    live.keys("Ctrl+W")
    await live.until(page.isVisible, "the page again")
    (after,) = page.recent.cells()
    assert after != before, "one entry more"
    await live.close()
    again = await house.start()
    assert again.window.welcome.isVisible(), "what was closed is not opened at the next start"


async def test_a_file_that_is_dropped_on_the_page_opens(house: House) -> None:
    live = await house.start()
    live.drop(sample_path())
    await live.until(lambda: live.has_document, "the session of the file")
    await live.idle()
    assert live.window.has_panes
    assert not live.session.tour.callout.isVisible(), "it was not opened as the example"


async def test_what_was_found_is_told_by_agent_after_the_consent(house: House, home: Path) -> None:
    live = await house.start()
    live.press_button("Open my sessions")
    await live.dialog(FoundDialog)
    live.keys("Esc")
    await live.back()
    words = "On this computer: 2 opencode, 2 pi, 1 Claude Code, 1 Codex CLI. 6 not imported yet"
    assert words in live.words()
    live.press_button("Open my sessions")
    live.click((await live.dialog(FoundDialog)).take_all)
    await live.until(lambda: live.has_document, "the newest session")
    await live.back()
    await back_to_the_page(live)
    assert "All are imported." in live.words()
    live.press_button("Open my sessions")
    await live.until(lambda: live.session.library_page.page is not None, "the library")
    page = live.session.library_page.page
    assert page is not None
    page.close()


async def test_nothing_that_can_be_pressed_moves_when_something_was_found_or_failed(
    house: House, home: Path, tmp_path: Path
) -> None:
    live = await house.start()
    page = live.window.welcome
    pressed = (page.example, page.mine, page.learn, page.agent, page.import_file)

    def places() -> list[QRect]:
        return [on_screen(one) for one in pressed]

    before = places()
    live.press_button("Open my sessions")
    await live.dialog(FoundDialog)
    live.keys("Esc")
    await live.back()
    assert "On this computer" in live.words() and places() == before
    bad = tmp_path / "bad.jsonl"
    bad.write_text("no session")
    live.drop(bad)
    await live.until(lambda: live.notice, "the notice")
    await live.idle()
    assert places() == before and not live.has_document
    live.keys("Esc", to=live.window.notices)
    live.drop(sample_path())
    await live.until(lambda: live.has_document, "the session of the file")
    await live.idle()
    tabs = on_screen(live.window.inspector.tabBar())
    live.drop(bad)
    await live.until(lambda: live.notice, "the notice")
    await live.settle()
    assert on_screen(live.window.inspector.tabBar()) == tabs
    live.keys("Esc", to=live.window.notices)
    await back_to_the_page(live)
    assert page.recent.isVisible() and places() == before


async def test_an_agent_is_started_from_the_page(house: House, tmp_path: Path) -> None:
    live = await house.start()
    live.session.state.preferences.workspace = str(tmp_path)
    live.press_button("Start an agent")
    await live.until(lambda: live.has_document, "the new session")
    await live.idle()
    assert live.window.agent.composer.hasFocus()


# the callouts ------------------------------------------------------------------------------------


async def test_the_callouts_point_at_tree_cut_and_losses_once(house: House) -> None:
    live = await house.start()
    live.keys("Return")
    callout, window = live.session.tour.callout, live.window
    await live.until(callout.isVisible, "the first callout")
    assert callout.at == TREE and callout.title.text() == TEXTS[TREE][0]
    assert on_screen(window.map.view.viewport()).contains(callout.tip)
    assert callout.next.hasFocus()
    live.keys("Return")
    await live.settle()
    assert callout.at == CUT and live.tab == "compaction"
    handle = window.map.view.pill_rect().toRect()
    handle.translate(on_screen(window.map.view.viewport()).topLeft())
    assert handle.adjusted(-1, -1, 1, 1).contains(callout.tip)
    live.press_button("Next")
    await live.settle()
    assert callout.at == LOST and live.tab == "audit"
    await live.until(
        lambda: on_screen(window.audit.bar).adjusted(-1, -1, 1, 1).contains(callout.tip),
        "the callout at the pages of the audit",
    )
    live.press_button("Done")
    assert not callout.isVisible() and window.map.view.hasFocus()
    await back_to_the_page(live)
    live.press_button("Look at an example")
    await live.until(lambda: live.has_document, "the example")
    await live.idle()
    assert not callout.isVisible(), "once"
    await live.close()
    again = await house.start()
    again.session.actions["tour"].trigger()
    await again.until(again.session.tour.callout.isVisible, "again, from Help")
    again.keys("Esc")
    assert not again.session.tour.callout.isVisible()


async def test_a_callout_follows_its_thing_and_ends_by_escape(house: House) -> None:
    live = await house.start()
    live.keys("Return")
    callout, view = live.session.tour.callout, live.window.map.view
    await live.until(callout.isVisible, "the first callout")
    live.keys("Return")
    await live.settle()
    before = callout.tip
    live.window.resize(1024, 700)
    inside = live.window.rect()

    def follows() -> bool:
        handle = view.pill_rect().toRect().translated(on_screen(view.viewport()).topLeft())
        return callout.tip != before and handle.adjusted(-2, -2, 2, 2).contains(callout.tip)

    await live.until(follows, "the callout at the new place")
    assert inside.contains(callout.geometry())
    view.setFocus()
    live.keys("Esc")
    assert not callout.isVisible(), "from wherever the keyboard is"
    assert not live.session.tour.is_due


async def test_the_callouts_end_with_the_session(house: House) -> None:
    live = await house.start()
    live.keys("Return")
    await live.until(live.session.tour.callout.isVisible, "the first callout")
    await back_to_the_page(live)
    assert not live.session.tour.callout.isVisible()


# the glossary ------------------------------------------------------------------------------------


async def test_the_glossary_is_searched_and_scrolled_by_keys(house: House) -> None:
    live = await house.start()
    live.session.actions["glossary"].trigger()
    page = await live.dialog(GlossaryPage)
    assert page.box.hasFocus() and page.terms == list(glossary())
    live.keys("PgDown")
    assert page.text.verticalScrollBar().value() > 0, "the box keeps the keyboard"
    assert page.box.hasFocus()
    live.type("split turn")
    assert page.terms[0] == "split turn" and "turn prefix" in page.terms
    assert glossary()["split turn"] in page.text.toPlainText()
    live.keys("Ctrl+A")
    live.type("zebra")
    assert page.terms == [] and page.text.toPlainText() == NONE
    live.keys("Esc")
    await live.until(lambda: not page.isVisible(), "the end of the page")


async def test_words_of_the_window_say_what_they_mean(house: House) -> None:
    live = await house.start(sample_path())
    window, setup = live.window, live.window.compaction.setup
    bar = window.audit.bar
    for widget, term in (
        (setup.keep, "kept tail"), (setup.reserve, "reserve"),
        (setup.window_size, "context window"), (setup.heading, "threshold"),
        (window.context.reserve, "reserve"), (window.header.profile, "profile"),
        (bar.button(0), "needed again"), (bar.button(1), "finding"), (bar.button(2), "ledger"),
        (window.leaf, "leaf"),
    ):  # fmt: skip
        event = QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), widget.mapToGlobal(QPoint(2, 2)))
        QApplication.sendEvent(widget, event)
        tip = " ".join(widget.toolTip().split())
        assert f"{term.capitalize()}: {glossary()[term]}" in tip
    window.map.show_cut()
    await live.idle()
    map_view, place = window.map.view, live.cut_point()
    event = QHelpEvent(QEvent.Type.ToolTip, place, map_view.viewport().mapToGlobal(place))
    QApplication.sendEvent(map_view.viewport(), event)
    assert f"Cut: {glossary()['cut']}" in " ".join(QToolTip.text().split())

"""Large text in a small window: nothing is cut off, and the sessions are a key away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QScrollArea,
    QWidget,
)

from explorer.settings.paths import ensure, preferences_path
from tests.ui.window.house import House
from tests.ui.window.library_steps import opened
from tests.ui.window.running import NotReached, RunningWindow, sample_path, visible
from tests.ui.window.steps import draft
from tests.ui.window.test_beginning import at_once
from tests.ui.window.test_lessons import Pupil
from ui import theme
from ui.inspector.diff_view import DiffView
from ui.map.pane import Shown
from ui.shell.status_bar import StatusBar
from ui.widgets.labels import ElidedLabel

SMALL = (1024, 700)


@pytest.fixture(autouse=True)
def large_text(
    explorer_home: object, app: QApplication, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Text at 200 % from the first paint on, or at the share that a test asks for."""
    ensure(preferences_path().parent)
    scale = getattr(request, "param", 200)
    preferences_path().write_text(json.dumps({"scale": scale}), encoding="utf-8")
    yield
    theme.set_text_scale(1)
    theme.set_theme(theme.theme_choice(), app)


def cut_off(inside: QWidget) -> list[str]:
    """What is shown with less room than its words need."""
    found = []
    for label in visible(inside, QLabel):
        if isinstance(label, ElidedLabel) or not label.text():
            continue
        need = label.minimumSizeHint()
        high = label.heightForWidth(label.width()) if label.wordWrap() else need.height()
        if label.height() < high or (not label.wordWrap() and label.width() < need.width()):
            found.append(f"{label.text()!r}: {label.size().toTuple()} for {need.toTuple()}")
    for button in visible(inside, QAbstractButton):
        if button.text() and button.width() < button.minimumSizeHint().width():
            found.append(f"{button.text()!r}: {button.width()}")
    for area in visible(inside, QScrollArea):
        body, off = area.widget(), Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if area.horizontalScrollBarPolicy() is off and body is not None:
            over = body.width() - area.viewport().width()
            if over > 0:
                found.append(f"{body.parentWidget()}: {over} pixels are beyond the right edge")
    for kind in (QAbstractButton, QComboBox, QLabel):
        for part in visible(inside, kind):
            place = part.parentWidget()
            while place is not None and not isinstance(place.parentWidget(), QScrollArea):
                place = place.parentWidget()
            if place is None and not whole(inside.window()).contains(within(part)):
                found.append(f"{part}: {within(part)} is outside the window")
    return found


def _wheel(area: QWidget, turn: int) -> QWheelEvent:
    """The wheel turned over the middle of a widget, in eighths of a degree."""
    at, none = QPointF(area.rect().center()), Qt.MouseButton.NoButton
    there = QPointF(area.mapToGlobal(at.toPoint()))
    keys, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    return QWheelEvent(at, there, QPoint(), QPoint(0, turn), none, keys, phase, False)


def whole(window: QWidget) -> QRect:
    return QRect(0, 0, window.width(), window.height())


def within(part: QWidget) -> QRect:
    return QRect(part.mapTo(part.window(), part.rect().topLeft()), part.size())


async def becomes_whole(live: RunningWindow, page: str) -> None:
    """Wait until nothing is cut off: words that come from a thread are laid out when they came."""
    try:
        await live.until(lambda: not live.busy() and not cut_off(live.window), page, seconds=20)
    except NotReached:
        assert not cut_off(live.window), page


async def test_every_page_is_whole(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3", "Ctrl+4"):
        live.keys(tab)
        await becomes_whole(live, tab)
        assert live.window.size().toTuple() == SMALL, tab
    live.keys("Ctrl+3")
    assert live.window.entry.header.title.text() == "Assistant"
    live.click(live.window.compaction.setup.rules)
    live.window.compaction.rules.rules.show_all()
    await becomes_whole(live, "rules")
    live.mnemonic("‹ Back", live.window.compaction)
    await draft(live)
    await becomes_whole(live, "draft")
    assert live.window.size().toTuple() == SMALL


async def test_the_steps_of_a_lesson_are_whole(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    pupil = Pupil(live)
    await pupil.open()
    assert not cut_off(pupil.pane), "the list"
    for name in ("tokens", "requests"):
        await pupil.begin(name)
        while pupil.lessons.step is not None:
            await live.settle(8)
            assert not cut_off(pupil.pane), pupil.step.title
            live.click(pupil.pane.step.skip)
            await live.until(lambda: not pupil.lessons.is_asking, "the answer")
            await live.settle(8)
            assert not cut_off(pupil.pane), f"answer to {pupil.step.title}"
            await pupil.next()


async def test_sessions_stand_back_and_come_when_asked_for(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    window = live.window
    assert not window.library.isVisible() and window.inspector.isVisible()
    live.keys("F8")
    await live.settle()
    assert window.library.isVisible() and not window.inspector.isVisible()
    assert window.library.list.hasFocus()
    live.keys("Esc")
    await live.settle()
    assert not window.library.isVisible() and window.inspector.isVisible()
    live.click(window.header.sessions)
    await live.settle()
    assert window.library.isVisible()
    live.click_entry(window.map.selected)
    await live.settle()
    assert not window.library.isVisible(), "who goes on elsewhere is done with them"
    window.resize(1440, 900)
    await live.settle()
    assert window.library.isVisible() and window.inspector.isVisible()
    assert not window.header.sessions.isVisible()


async def test_map_and_list_share_the_room_that_there_is(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    pane = live.window.map
    live.click(pane.bar.shown.button(Shown.BOTH))
    await live.settle()
    assert pane.outline.isVisible() and not pane.view.isVisible(), "there is room for one"
    assert "list alone" in pane.bar.shown.button(Shown.BOTH).toolTip()
    live.window.resize(1024, 1200)
    await live.settle()
    assert pane.outline.isVisible() and pane.view.isVisible()
    assert pane.outline.geometry().top() > pane.view.geometry().top(), "one below the other"
    live.window.resize(2600, 1200)
    await live.settle()
    left = pane.view.mapTo(pane, pane.view.rect().topRight()).x()
    assert pane.outline.mapTo(pane, pane.outline.rect().topLeft()).x() > left, "side by side"


@pytest.mark.parametrize("large_text", [150], indirect=True)
async def test_the_compaction_opens_with_what_its_button_is_pressed_for(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    setup, tabs = live.window.compaction.setup, live.window.inspector.tabBar()

    def is_whole(part: QWidget) -> bool:
        return part.visibleRegion().boundingRect().size() == part.size()

    live.click(tabs, tabs.tabRect(2).center())
    await live.settle(60)
    first = (setup.instructions, setup.outcome, setup.profile, setup.keep, setup.summarize)
    assert all(map(is_whole, first))
    bar = setup.area.verticalScrollBar()
    surface = setup.area.viewport()
    for _ in range(9):
        QApplication.sendEvent(surface, _wheel(surface, -1_200))
        await live.settle(1)
    assert bar.value() == bar.maximum() > 0
    assert is_whole(setup.summarize) and is_whole(setup.outcome), "what it comes to, beside it"
    assert not is_whole(setup.instructions)
    live.keys("Ctrl+1", "Ctrl+3")
    await live.settle(60)
    assert bar.value() == 0 and is_whole(setup.instructions)
    live.window.compaction.undone(9, 8, 9, made_here=True)
    await live.settle(60)
    assert setup.notice.isVisible() and is_whole(setup.keep) and is_whole(setup.outcome)
    setup.notice.dismiss()
    await live.tab_to(setup.compare)
    live.keys("Ctrl+1", "Ctrl+3")
    await live.settle(60)
    assert setup.compare.hasFocus() and is_whole(setup.compare), "where one was"


@pytest.mark.parametrize("large_text", [150], indirect=True)
async def test_a_row_of_a_narrow_map_has_its_number_and_its_tokens(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    geometry = live.window.map.view.geometry_now()
    assert geometry.has_names and geometry.has_numbers
    room = geometry.text_right - geometry.text_left
    assert room > geometry.px(95), "and some words before them"


@pytest.mark.parametrize("large_text", [200], indirect=True)
async def test_a_long_message_ends_before_the_sums_in_the_status_bar(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    bar, spent = live.window.statusBar(), live.window.spent
    assert isinstance(bar, StatusBar)
    await live.until(spent.isVisible, "what was spent")
    live.session.state.say("The leaf was #281: Enter on that entry goes back to it.")
    await live.settle()
    shown = bar.shown_message
    assert shown.startswith("The leaf was #281") and shown.endswith("…")
    assert bar.fontMetrics().horizontalAdvance(shown) < spent.x()
    assert bar.toolTip() == bar.currentMessage()
    live.session.state.say("Short.")
    await live.settle()
    assert bar.shown_message == "Short." and not bar.toolTip()


@pytest.mark.parametrize("large_text", [100, 150, 200], indirect=True)
async def test_what_failed_can_be_searched_for_in_a_small_window(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    search = live.window.header.search
    assert search.errors.isVisible() and "Errors" in search.errors.text()
    live.click(search.errors)
    await live.until(search.results.isVisible, "what failed")
    assert search.box.hasFocus() and not cut_off(live.window.header)
    assert live.window.size().toTuple() == SMALL


@pytest.mark.parametrize("large_text", [150], indirect=True)
async def test_an_entry_has_more_room_than_what_is_said_of_it(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    live.window.map.select(9)
    await live.idle()
    entry = live.window.entry
    words = entry.verdict.words
    await live.until(lambda: "kept the newest" in words.toolTip(), "its rule, as a tip")
    assert entry.area.viewport().height() > 5 * entry.fontMetrics().lineSpacing()


@pytest.mark.parametrize("large_text", [100, 150], indirect=True)
async def test_a_question_leaves_a_small_window_its_size_and_shows_what_is_changed(
    house: House,
) -> None:
    at_once()
    live = await house.start(size=SMALL)
    live.session.actions["watch_run"].trigger()
    card, composer = live.window.agent.card, live.window.agent.composer
    await live.until(lambda: composer.toPlainText(), "the first message")
    await live.idle()
    live.keys("Return", to=composer)
    await live.until(lambda: card.is_armed, "the question for a command")
    assert live.window.size().toTuple() == SMALL
    assert "not held to the folder" in live.words(card), "what a command may do"
    live.click(card.buttons["once"])
    await live.until(lambda: visible(card, DiffView), "the question for a change")
    await live.settle(8)
    assert live.window.size().toTuple() == SMALL and not cut_off(card)
    (change,) = visible(card, DiffView)
    line = change.document().find("-     return").block()
    place = change.cursorRect(QTextCursor(line))
    assert change.viewport().rect().contains(place), "the line that goes is in sight"
    assert change.verticalScrollBar().maximum(), "though not all of it is"
    live.press_button("More", card)
    await live.settle(8)
    assert card.pattern.isVisible() and live.window.size().toTuple() == SMALL


@pytest.mark.parametrize("large_text", [150, 175, 200], indirect=True)
async def test_what_is_looked_for_stands_clear_of_the_count(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    search = live.window.header.search
    live.keys("Ctrl+F")
    live.type("the")
    await live.until(lambda: " / " in search.count.text(), "the hits")
    live.type(" " * 30)
    await live.settle(8)
    assert search.box.cursorRect().right() < search.count.geometry().left()
    assert live.window.size().toTuple() == SMALL


@pytest.mark.parametrize("large_text", [150], indirect=True)
async def test_several_hits_are_in_sight_in_a_small_window(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    page = await opened(live)
    live.type("retry")
    live.keys("Ctrl+Return")
    await live.until(page.hits.isVisible, "the hits")
    await live.settle(8)
    table = page.hits.table
    last = table.visualRect(table.rows.index(2, 0))
    assert table.viewport().rect().contains(last), "three at least"
    assert page.height() <= live.window.height()


@pytest.mark.parametrize("large_text", [150], indirect=True)
async def test_a_draft_can_be_read_in_a_small_window(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    await draft(live)
    page = live.window.compaction.draft
    await live.settle(8)
    editor = page.editor
    buttons = (page.commit, page.again, page.discard)
    assert len({within(button).top() for button in buttons}) == 1, "on one line"
    assert within(page.fidelity).left() == within(page.check).left()
    assert within(page.recall).left() == within(page.compare).left(), "below one another"
    assert editor.viewport().height() > 5 * editor.fontMetrics().lineSpacing()
    assert within(page).contains(within(editor)) and within(page).contains(within(page.commit))


@pytest.mark.parametrize("large_text", [125, 150], indirect=True)
async def test_a_draft_of_an_earlier_entry_can_be_read_in_a_small_window(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    panel = live.window.compaction
    leaf = panel.partition.preparation.leaf if panel.partition is not None else -1
    panel.set_at(leaf - 4)
    await draft(live)
    page = panel.draft
    await live.settle(8)
    line = page.editor.fontMetrics().lineSpacing()
    assert page.editor.viewport().visibleRegion().boundingRect().height() >= 6 * line
    assert within(page.editor).bottom() < within(page.facts).top()
    assert within(page.again).top() == within(page.discard).top(), "side by side"
    note = page.place_note
    assert note.isVisible() and "the commit goes there" in note.text()
    assert "comes back to" in note.toolTip(), "the rest of it"
    assert not cut_off(page)
    assert all(one.shown_text() == one.text() for one in visible(page, ElidedLabel))


@pytest.mark.parametrize("large_text", [100], indirect=True)
async def test_the_window_has_its_size_again_when_text_gets_smaller(house: House) -> None:
    live = await house.start(sample_path(), size=(800, 600))
    await live.settle()
    small = live.window.size().toTuple()
    for _ in range(5):
        live.keys("Ctrl+Shift+=")
    await live.until(lambda: live.window.width() > small[0], "a window that large text fits in")
    await asyncio.sleep(0.3)
    for _ in range(5):
        live.keys("Ctrl+Shift+-")
    await live.until(lambda: live.window.size().toTuple() == small, "the size that it had")

"""Themes, text sizes, narrow windows, underlined letters: in the running window."""

from __future__ import annotations

from collections import defaultdict

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QTableView, QWidget

from explorer.services.auto_compaction.guards import CompactionQuestion
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path, visible
from tests.ui.window.steps import ask_to_leave, draft
from tests.ui.window.test_audit import audited
from ui import theme
from ui.compaction.setup_page import FEW_ROWS
from ui.main_window import TABS
from ui.widgets.notice import Notice


def mnemonics(live: RunningWindow, inside: QWidget) -> dict[str, list[str]]:
    """The underlined letters that can be pressed now, and what each stands for."""
    found: dict[str, list[str]] = defaultdict(list)
    texts = [button.text() for button in visible(inside, QAbstractButton)]
    texts += [label.text() for label in visible(inside, QLabel) if label.buddy() is not None]
    if inside is live.window:
        texts += [action.text() for action in live.window.menuBar().actions()]
    for text in texts:
        stroke = QKeySequence.mnemonic(text)
        if not stroke.isEmpty():
            found[stroke.toString()].append(text)
    return found


def clashes(live: RunningWindow, inside: QWidget | None = None) -> dict[str, list[str]]:
    shown = mnemonics(live, inside or live.window)
    return {key: texts for key, texts in shown.items() if len(texts) > 1}


async def test_no_two_things_share_an_underlined_letter(house: House) -> None:
    """Two that share one would need it pressed twice, and then Return."""
    live = await house.start(sample_path())
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        live.keys(tab)
        await live.settle()
        assert not clashes(live), tab
    live.click(live.window.compaction.setup.rules)
    await live.settle()
    assert not clashes(live), "rules"
    live.mnemonic("‹ Back", live.window.compaction)
    await live.settle()
    await draft(live)
    assert not clashes(live), "draft"
    dialog = await ask_to_leave(live, 252)
    assert not clashes(live, dialog), "leaving"
    live.keys("Esc")
    await live.back()


async def test_the_theme_changes_while_the_window_is_open(house: House) -> None:
    live = await house.start(sample_path())
    registry = live.session.actions
    colours = []
    for name in ("dark", "light"):
        registry[f"theme_{name}"].trigger()
        await live.settle(8)
        assert theme.theme().name == name
        assert [n for n in ("system", "light", "dark") if registry[f"theme_{n}"].isChecked()] == [
            name
        ]
        picture = live.window.grab().toImage()
        colours.append(picture.pixelColor(picture.width() // 2, 300).lightness())
    assert colours[0] < 90 < colours[1]
    registry["theme_dark"].trigger()
    await live.close()
    again = await house.start()
    assert theme.theme().name == "dark"
    again.session.actions["theme_light"].trigger()


async def test_the_text_grows_to_twice_its_size_and_back(house: House) -> None:
    """By keys; everything stays inside the window, and the steps end where they should."""
    live = await house.start(sample_path(), size=(1024, 700))
    live.keys("Ctrl+3")
    registry = live.session.actions
    height = live.window.header.height()
    assert not registry["smaller"].isEnabled()
    steps = 0
    while registry["larger"].isEnabled():
        now = live.session.state.preferences.scale
        assert f"(now {now} %)" in registry["larger"].text()
        live.keys("Ctrl+Shift+=")
        await live.settle(8)
        # The tabs draw together when they are laid out, which may come after the rest has grown.
        await live.until(lambda: live.window.width() == 1024, f"its width, step {steps}")
        tabs = live.window.inspector.tabBar()
        if live.session.state.preferences.scale <= 150:
            assert tabs.tabRect(TABS.index("audit")).right() <= tabs.width(), "all are in sight"
            assert live.window.compaction.setup.outcome_part.model.shown_text() == "Extractive"
        steps += 1
        assert steps < 10
    assert live.session.state.preferences.scale == 200
    assert "200 %" in live.said
    assert live.window.header.height() > height
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        live.keys(tab)
        await live.settle()
        inside_the_window(live)
        for box in visible(live.window, QComboBox):
            assert box.minimumHeight() > box.fontMetrics().height(), "squeezed, it cuts its words"
    while registry["smaller"].isEnabled():
        live.keys("Ctrl+Shift+-")
        await live.settle()
    assert live.session.state.preferences.scale == 100
    assert live.window.header.height() == height


def inside_the_window(live: RunningWindow) -> None:
    """No control of the frame reaches beyond the window's edge."""
    frame = live.window.rect()
    header = live.window.header
    for widget in (
        *header.findChildren(QAbstractButton),
        header.profile,
        header.gauge,
        header.search.box,
        live.window.agent.composer,
        live.window.library.find_button,
        *live.window.agent.findChildren(QAbstractButton),
    ):
        if widget.isVisible():
            assert frame.contains(on_screen(widget)), widget.accessibleName() or widget


async def test_the_window_fits_a_small_screen(house: House) -> None:
    """1024 by 700 holds the whole window, with a session, hits and a notice."""
    live = await house.start(sample_path(), size=(1024, 700))
    live.keys("/")
    live.type("error")
    await live.until(lambda: " / " in live.window.header.search.count.text(), "the hits")
    live.session.state.notice("warning", "Something long " * 12, "kept", "todo", details="x")
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        live.keys(tab)
        await live.settle(8)
        assert (live.window.width(), live.window.height()) == (1024, 700)
        inside_the_window(live)
    assert live.window.header.title.shown_text().startswith("Fix the fla")
    assert live.window.header.search.box.width() >= 120
    assert live.window.map.view.width() >= 220


def whole_rows(table: QTableView) -> int:
    """Rows that are seen whole."""
    seen = table.viewport().visibleRegion().boundingRect()
    rects = [table.visualRect(table.model().index(at, 0)) for at in range(table.model().rowCount())]
    return sum(seen.contains(rect.adjusted(8, 0, -8, 0)) for rect in rects)


@pytest.mark.parametrize(("size", "rows"), [((1440, 900), 5), ((1024, 700), 2)])
async def test_the_ledger_shows_whole_rows(house: House, size: tuple[int, int], rows: int) -> None:
    """Also below a notice or a question, and after a walk through it."""
    live = await house.start(sample_path(), size=size)
    live.keys("Ctrl+3")
    await live.settle(8)
    table = live.window.compaction.setup.table
    assert whole_rows(table) >= rows
    assert table.rowAt(0) == table.rowAt(table.row_height() - 2), "the first row is cut off"
    table.setFocus()
    live.keys("Up", "Up", "Up", "Up", "Up", "Up", "Down")
    await live.settle(8)
    assert whole_rows(table) >= rows
    live.window.compaction.automatic.ask(CompactionQuestion("threshold", 190_000, 200_000, 184_000))
    await live.settle(8)
    assert whole_rows(table) >= min(rows, FEW_ROWS), "they give a question its room"
    live.window.compaction.automatic.clear()
    live.window.compaction.show_notice(Notice("done", "It was taken back.", "Kept"))
    await live.settle(8)
    assert whole_rows(table) >= min(rows, FEW_ROWS), "they give a notice its room"
    live.window.compaction.notice.dismiss()
    await live.settle(8)
    assert whole_rows(table) >= rows


async def test_a_draft_fits_a_small_screen(house: House) -> None:
    live = await house.start(sample_path(), size=(1024, 700))
    await draft(live)
    assert (live.window.width(), live.window.height()) == (1024, 700)
    page = live.window.compaction.draft
    for button in (page.commit, page.again, page.discard):
        assert live.window.rect().contains(on_screen(button))
    assert page.editor.height() >= 90


async def test_tab_leads_around_and_every_stop_has_a_name(house: House) -> None:
    """No pane keeps the keyboard, and a screen reader has words for each place (D)."""
    live = await house.start(sample_path())
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        live.keys(tab, "F6")
        start = QApplication.focusWidget()
        assert start is live.window.map.view
        nameless, stops = [], 0
        while True:
            live.keys("Tab")
            await live.settle(1)
            stops += 1
            here = QApplication.focusWidget()
            assert here is not None
            if here is start:
                break
            words = here.accessibleName() or getattr(here, "text", lambda: "")()
            if not words:
                nameless.append(f"{type(here).__name__} in {type(here.parentWidget()).__name__}")
            assert stops < 80, f"Tab does not come back; it is at {here}"
        assert not nameless, tab
        assert stops > 10


async def test_panes_are_hidden_and_shown_and_the_map_has_its_room(house: House) -> None:
    """By keys, by dragging their line to the edge, and by what needs them."""
    live = await house.start(sample_path(), size=(1024, 700))
    window = live.window
    await live.settle(8)
    room = window.map.size()
    assert (room.width(), room.height()) >= (420, 320) and room.height() >= 320
    for keys, pane in (
        ("Ctrl+F8", window.library), ("Ctrl+F7", window.agent), ("Ctrl+F6", window.inspector),
    ):  # fmt: skip
        before = pane.size()
        live.keys(keys)
        await live.settle(4)
        assert pane.visibleRegion().isEmpty() and not pane.isEnabled(), keys
        live.keys(keys)
        await live.settle(4)
        assert pane.size() == before and pane.isEnabled(), keys
    handle = window.whole.handle(1)
    start = handle.rect().center()
    edge = start + QPoint(window.inspector.width() - 4, 0)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(handle, edge)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=edge)
    await live.settle(4)
    assert not window.panes.is_shown("inspector")
    live.keys("Ctrl+2")
    await live.settle(4)
    assert window.panes.is_shown("inspector") and window.inspector.width() > 200
    live.keys("Ctrl+F7", "F7")
    await live.settle(4)
    assert window.agent.composer.hasFocus() and not window.agent.visibleRegion().isEmpty()


async def test_a_wide_window_gives_the_inspector_its_share(house: House) -> None:
    live = await house.start(sample_path(), size=(1920, 1080))
    await live.settle(8)
    assert 560 <= live.window.inspector.width() <= 720


async def test_the_moment_of_the_audit_can_be_read_in_a_small_window(house: House) -> None:
    live = await house.start(sample_path(), size=(1024, 700))
    await audited(live)
    await live.settle(8)
    head = live.window.audit.head
    moment, needed = head.moment, head.moment.fontMetrics().horizontalAdvance("After #105, comp")
    assert not head.report.isVisible() and head.fold.isVisible()
    assert moment.width() > needed
    live.click(head.fold)
    await live.settle(4)
    assert on_screen(head.report) and on_screen(head.rules)
    assert moment.width() > needed, "both buttons stand below it"
    live.click(head.fold)
    await live.settle(4)
    assert not head.report.isVisible() and moment.width() > needed


async def test_the_pages_of_the_audit_stand_in_one_line(house: House) -> None:
    live = await house.start(sample_path(), size=(1440, 900))
    await audited(live)
    await live.settle(8)
    buttons = visible(live.window.audit.head.bar, QAbstractButton)
    assert len(buttons) == 6 and len({button.y() for button in buttons}) == 1


async def test_words_keep_their_place_beside_the_edge_in_other_colours(house: House) -> None:
    live = await house.start(sample_path())
    page, theme_now = live.window.audit.needed, theme.theme()
    live.session.actions["theme_dark"].trigger()
    await live.until(lambda: theme.theme() is not theme_now, "other colours")
    live.keys("Ctrl+4")
    words = page.summary
    await live.until(lambda: words.isVisible() and words.text(), "what was needed again")
    await live.settle()
    assert words.mapTo(page, words.contentsRect().topLeft()).x() >= 12

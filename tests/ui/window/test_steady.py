"""What nobody asked to move stays: pages under the wheel, rows, buttons."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)

from tests.ui.window.house import House
from tests.ui.window.running import on_screen, sample_path, visible
from tests.ui.window.steps import commit, draft
from ui.map.pane import Shown
from ui.widgets.tabs import TabBar


def turn_wheel(over: QWidget, by: int = -120) -> None:
    """Turn the wheel over the middle of a widget, in eighths of a degree."""
    at, none = QPointF(over.rect().center()), Qt.MouseButton.NoButton
    there = QPointF(over.mapToGlobal(at.toPoint()))
    keys, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, there, QPoint(), QPoint(0, by), none, keys, phase, False)
    QApplication.sendEvent(over, event)


async def test_the_wheel_over_tabs_changes_the_page_only_where_they_have_the_keyboard(
    house: House,
) -> None:
    live = await house.start(sample_path())
    inspector = live.window.inspector
    turn_wheel(inspector.tabBar())
    assert live.tab == "entry"
    inspector.tabBar().setFocus()
    turn_wheel(inspector.tabBar())
    assert live.tab == "context"
    await live.idle()


async def test_every_bar_of_tabs_is_one_that_the_wheel_leaves_alone(house: House) -> None:
    live = await house.start(sample_path())
    bars = live.window.findChildren(QTabBar)
    assert bars and all(isinstance(bar, TabBar) for bar in bars)
    await live.idle()


async def test_what_is_looked_at_stays_in_sight_with_larger_text(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.idle()
    view = live.window.map.view
    live.window.map.show_cut()
    await live.settle(20)
    height = view.viewport().height()
    assert 0 < view.cut_line() < height
    share = view.cut_line() / height
    for _ in range(3):
        live.keys("Ctrl+Shift+=")
        await live.settle(40)
    high = view.viewport().height()
    assert abs(view.cut_line() / high - share) < 0.1
    for _ in range(3):
        live.keys("Ctrl+-")
        await live.settle(40)
    assert abs(view.cut_line() / view.viewport().height() - share) < 0.1


@pytest.mark.parametrize("size", [(1440, 900), (1024, 700)])
async def test_a_notice_of_the_window_moves_and_covers_no_control(
    house: House, size: tuple[int, int]
) -> None:
    """It lies over the oldest lines of the conversation, in a low window of the map."""
    live = await house.start(sample_path(), size=size)
    live.keys("Ctrl+3")
    await live.idle()
    window, notices = live.window, live.window.notices
    controls = [
        one for kind in (QAbstractButton, QLineEdit, QComboBox, QTextEdit)
        for one in visible(window, kind) if not notices.isAncestorOf(one)
    ]  # fmt: skip
    parts = [*controls, window.map.view.viewport(), window.agent.conversation.view.viewport()]

    def places() -> list[tuple[int, int]]:
        """Tops and bottoms: what a link says, and so how wide it is, comes from a thread."""
        return [(on_screen(one).top(), on_screen(one).bottom()) for one in parts]

    before = places()
    for _ in range(2):
        live.session.state.notice("error", "It did not work.", "Nothing was stored.", details="x\n")
        assert notices.isVisible()
        await live.settle()
        assert places() == before
        covered = on_screen(notices)
        assert not [one for one in controls if on_screen(one).intersects(covered)]
        low = size[1] < 900
        room = window.map.view if low else window.agent.conversation.view
        assert on_screen(room.viewport()).contains(covered)
        assert covered.top() == on_screen(room.viewport()).top()
        # It goes along where its room goes.
        window.resize(size[0] + 40, size[1] + 60)
        await live.settle()
        assert on_screen(notices).topLeft() == on_screen(room.viewport()).topLeft()
        assert on_screen(notices).width() == room.viewport().width()
        window.resize(*size)
        await live.settle()
        live.keys("Esc", to=notices)
        assert not notices.isVisible()
        assert places() == before


async def test_a_notice_is_below_everything_where_nothing_has_room_for_it(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+F7")
    live.window.map.show_as(Shown.LIST)
    await live.settle()
    live.session.state.notice("error", "It did not work.", "Nothing was stored.")
    await live.settle()
    below = on_screen(live.window.notices)
    assert below.top() > on_screen(live.window.inspector).bottom()
    assert below.bottom() < on_screen(live.window.statusBar()).top() + 1
    live.window.map.show_as(Shown.MAP)
    await live.settle()
    assert on_screen(live.window.map.view.viewport()).contains(on_screen(live.window.notices))


async def test_no_control_moves_for_the_notice_of_a_commit_or_an_undo(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.idle()
    panel = live.window.compaction
    setup = panel.setup
    parts = (setup.keep, setup.reserve, setup.instructions, setup.summarize, setup.model)

    async def is_shown(words: str) -> dict[QWidget, QRect]:
        await live.until(
            lambda: panel.notice.isVisible() and words in live.words(panel.notice), words
        )
        await live.idle()
        await live.settle(60)
        return {part: on_screen(part) for part in parts}

    def moved(before: dict[QWidget, QRect]) -> list[QWidget]:
        return [part for part, place in before.items() if on_screen(part) != place]

    await draft(live)
    await commit(live)
    with_notice = await is_shown("Compacted as")
    live.click(panel.notice.findChild(QToolButton))
    await live.until(panel.notice.isHidden, "the end of the notice")
    await live.settle(20)
    assert not moved(with_notice)
    live.keys("Ctrl+Z")
    with_notice = await is_shown("taken back")
    live.click(panel.notice.findChild(QToolButton))
    await live.settle(20)
    assert panel.notice.isHidden() and not moved(with_notice)

"""What nobody asked to move stays: pages under the wheel, rows, buttons."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton, QWidget

from tests.ui.window.house import House
from tests.ui.window.running import on_screen, sample_path
from tests.ui.window.steps import commit, draft
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

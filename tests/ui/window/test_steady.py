"""What nobody asked to move stays: pages under the wheel, rows, buttons."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from tests.ui.window.house import House
from tests.ui.window.running import sample_path
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

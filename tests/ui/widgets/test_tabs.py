"""The titles of tabs: close together before one has no room."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from tests.ui.waiting import settle
from ui.widgets.tabs import Tabs


def test_titles_move_together_where_they_have_no_room_otherwise(app: QApplication) -> None:
    tabs = Tabs()
    for title in ("Entry", "Context", "Compaction", "Audit"):
        tabs.addTab(QWidget(tabs), title)
    tabs.resize(900, 200)
    tabs.show()
    settle()
    bar = tabs.tabBar()
    apart = bar.sizeHint().width()
    tabs.resize(apart - 12, 200)
    settle()
    assert bar.sizeHint().width() <= tabs.width()
    assert not [one for one in bar.findChildren(QToolButton) if one.isVisible()], "all in sight"
    assert bar.tabRect(3).right() < tabs.width()
    tabs.setTabVisible(3, False)
    settle()
    assert bar.sizeHint().width() < apart and not bar.property("tight"), "three have room"
    tabs.setTabVisible(3, True)
    tabs.resize(apart + 10, 200)
    settle()
    assert bar.sizeHint().width() == apart

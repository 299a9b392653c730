"""What screen readers get of scrolled areas."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea

from tests.ui.waiting import settle
from ui.widgets.painted_items import install_accessibility


def test_a_scroll_bar_that_has_gone_is_no_child_any_more(app: QApplication) -> None:
    install_accessibility()
    area = QScrollArea()
    area.setAccessibleName("Rules")
    area.setWidget(QLabel("long\n" * 100, area))
    area.resize(120, 80)
    area.show()
    settle()
    access = QAccessible.queryAccessibleInterface(area)
    assert access is not None
    assert access.text(QAccessible.Text.Name) == "Rules"
    assert access.childCount() == 2
    last = access.child(1)
    assert last is not None
    assert access.indexOfChild(last) == 1
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    settle()
    assert access.childCount() == 1
    assert access.child(1) is None
    assert access.child(100) is None
    area.deleteLater()
    settle()

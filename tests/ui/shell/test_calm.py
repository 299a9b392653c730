"""Splitters hear of what comes, goes and grows, and of nothing else."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from tests.ui.waiting import settle, wait_for
from ui.shell.splitters import CalmSplitter


def test_a_longer_text_moves_nothing_and_what_needs_more_room_gets_it(app: QApplication) -> None:
    outer = QWidget()
    outer.resize(600, 200)
    splitter = CalmSplitter(Qt.Orientation.Horizontal, outer)
    splitter.setGeometry(0, 0, 600, 200)
    left, right = QLabel("short"), QWidget()
    left.setMinimumWidth(100)
    splitter.addWidget(left)
    splitter.addWidget(right)
    splitter.setChildrenCollapsible(False)
    outer.show()
    splitter.setSizes([300, 300])
    wait_for(lambda: splitter.sizes()[0] > 0)
    before = splitter.sizes()

    left.setText("another text")
    settle()
    assert splitter.sizes() == before

    right.setMinimumWidth(450)
    wait_for(lambda: splitter.sizes()[1] >= 450)
    right.hide()
    wait_for(lambda: splitter.sizes()[0] >= 599)
    right.show()
    wait_for(lambda: splitter.sizes()[1] >= 450)
    outer.close()

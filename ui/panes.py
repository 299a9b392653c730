"""Putting the panes into the window after its first paint, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from explorer.compaction.profile import PROFILES
from ui.audit.tab import AuditTab
from ui.compaction.panel import CompactionPanel
from ui.conversation.pane import AgentPane
from ui.copilot import PromptPage
from ui.inspector.context import ContextPane
from ui.inspector.entry import EntryPane
from ui.library.pane import LibraryPane
from ui.main_window import TABS, MainWindow
from ui.map.pane import MapPane
from ui.shell.header import Header
from ui.shell.skeleton_screen import AGENT, INSPECTOR, LIBRARY
from ui.shell.splitters import CalmSplitter, NarrowLayout
from ui.shell.status_bar import ProgressArea, SpentLabel
from ui.widgets.labels import Hairline
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import EmptyState, column_in


async def furnish(window: MainWindow) -> None:
    """Make every pane and put it in its place; the window answers between two of them."""
    makers: tuple[Callable[[MainWindow], None], ...] = (
        _bars, _library, _map, _inspector, *(partial(_tab, name) for name in TABS), _agent,
        _status, _lay_out,
    )  # fmt: skip
    for make in makers:
        make(window)
        await asyncio.sleep(0)


def _bars(window: MainWindow) -> None:
    window.header = Header([(p.name, p.title) for p in PROFILES.values()], window)
    window.notices = NoticeStrip(window)
    window.notices.hide()


def _library(window: MainWindow) -> None:
    window.library = LibraryPane(window)
    window.welcome = EmptyState(
        "session",
        "Open a session to see its tree",
        "Import a session of one of your agents, drop its file, or look at the bundled one.",
        "Open the bundled session",
        window,
        "Watch a scripted run",
    )


def _map(window: MainWindow) -> None:
    window.map = MapPane(window)
    window.middle = QStackedWidget(window)
    window.middle.addWidget(window.welcome)
    window.middle.addWidget(window.map)
    window.middle.currentChanged.connect(lambda at: _only_current_counts(window.middle, at))
    _only_current_counts(window.middle, window.middle.currentIndex())


def _only_current_counts(pages: QStackedWidget, current: int) -> None:
    """A page that is not shown takes no room from the others in a small window."""
    ignored, preferred = QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred
    for at in range(pages.count()):
        policy = preferred if at == current else ignored
        if (page := pages.widget(at)) is not None:
            page.setSizePolicy(policy, policy)


INSPECTOR_TABS: dict[str, Callable[[MainWindow], QWidget]] = {
    "entry": EntryPane,
    "context": ContextPane,
    "compaction": CompactionPanel,
    "audit": AuditTab,
    "prompt": PromptPage,
}
"""What stands in the tabs of ``ui.main_window.TABS``; each is an attribute of the window."""

HIDDEN_TABS = ("prompt",)
"""Only profiles that keep prompts within a budget have something to show there."""


def _inspector(window: MainWindow) -> None:
    window.inspector = QTabWidget(window)
    window.inspector.setDocumentMode(True)
    window.inspector.setAccessibleName("Inspector")
    window.inspector.tabBar().setAccessibleName("Tabs of the inspector")


def _tab(name: str, window: MainWindow) -> None:
    pane = INSPECTOR_TABS[name](window)
    setattr(window, name, pane)
    at = window.inspector.addTab(pane, name.title())
    window.inspector.setTabVisible(at, name not in HIDDEN_TABS)


def _agent(window: MainWindow) -> None:
    window.agent = AgentPane(window)


def _status(window: MainWindow) -> None:
    window.saved, window.leaf = QLabel(window), QLabel(window)
    window.model, window.entries = QLabel(window), QLabel(window)
    window.spent = SpentLabel(window)
    window.spent.setContentsMargins(0, 0, 12, 0)
    window.progress = ProgressArea(window)
    bar = window.statusBar()
    bar.setSizeGripEnabled(False)
    bar.setContentsMargins(12, 0, 12, 0)
    for label in (window.saved, window.leaf, window.model):
        label.setContentsMargins(0, 0, 12, 0)
        bar.addWidget(label)
    bar.addPermanentWidget(window.progress)
    bar.addPermanentWidget(window.spent)
    bar.addPermanentWidget(window.entries)


def _lay_out(window: MainWindow) -> None:
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    window.upper = _splitter(window, across, window.library, window.middle, grows=1)
    window.left = _splitter(window, down, window.upper, window.agent, grows=0)
    window.whole = _splitter(window, across, window.left, window.inspector, grows=0)
    middle = 1440 - LIBRARY - INSPECTOR
    window.upper.setSizes([LIBRARY, middle])
    window.left.setSizes([840 - AGENT, AGENT])
    window.whole.setSizes([LIBRARY + middle, INSPECTOR])
    centre = QWidget(window)
    layout = column_in(centre, 0)
    for widget in (window.header, Hairline(parent=window), window.notices):
        layout.addWidget(widget)
    layout.addWidget(window.whole, 1)
    window.setCentralWidget(centre)
    window.restore()
    window.room = room = NarrowLayout(
        window,
        window.library,
        window.inspector,
        lambda: window.middle.currentWidget() is not window.welcome,
    )
    window.middle.currentChanged.connect(room.refresh)
    window.library.open_requested.connect(room.hide_library)
    window.header.sessions_requested.connect(lambda: show_sessions(window))
    room.changed.connect(lambda: window.header.show_narrow(room.is_narrow))
    window.header.show_narrow(room.is_narrow)
    window.setAcceptDrops(True)


def show_sessions(window: MainWindow) -> None:
    """Put the keyboard on the list of sessions, and the list into sight."""
    window.room.show_library()
    window.library.list.setFocus()


def _splitter(
    window: MainWindow, way: Qt.Orientation, first: QWidget, second: QWidget, *, grows: int
) -> QSplitter:
    splitter = CalmSplitter(way, window)
    splitter.addWidget(first)
    splitter.addWidget(second)
    splitter.setStretchFactor(grows, 1)
    splitter.setChildrenCollapsible(False)
    splitter.setHandleWidth(1)
    return splitter

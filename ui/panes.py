"""Putting the panes into the window after its first paint, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QLabel,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile import PROFILES
from ui.audit.tab import AuditTab
from ui.compaction.panel import CompactionPanel
from ui.conversation.pane import AgentPane
from ui.copilot import PromptPage
from ui.imports import run_in_slices
from ui.inspector.context import ContextPane
from ui.inspector.entry import EntryPane
from ui.lessons.pane import LessonsPane
from ui.library.pane import LibraryPane
from ui.main_window import LESSONS, PANES, TABS, MainWindow
from ui.map.pane import MapPane
from ui.shell.header import Header
from ui.shell.notice_place import NoticePlace
from ui.shell.skeleton_screen import AGENT, INSPECTOR, LIBRARY
from ui.shell.splitters import CalmSplitter, HidablePanes, NarrowLayout, Pane
from ui.shell.status_bar import ProgressArea, SpentLabel, StatusBar
from ui.welcome.page import WelcomePage
from ui.widgets.labels import Hairline
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import OnePage, column_in
from ui.widgets.tabs import Tabs
from ui.widgets.terms import explain


async def furnish(window: MainWindow) -> None:
    """Make the welcome page and every pane in its place; the window answers between two of them.

    From the outside in, and not shown before all are there: a widget that changes its parent is
    styled anew, with everything in it. The welcome page is there before them.
    """
    makers: tuple[Callable[[MainWindow], None], ...] = (
        _frame, _library, _map, _inspector, *(partial(_tab, name) for name in TABS), _agent,
        _status, _lay_out,
    )  # fmt: skip
    for make in makers:
        make(window)
        await asyncio.sleep(0)
    if not window.has_panes:
        # What is not shown yet is styled little by little: all at once, when a session is opened,
        # would hold the window up.
        panes = window.whole
        await run_in_slices(map(QWidget.ensurePolished, (panes, *panes.findChildren(QWidget))))


def _frame(window: MainWindow) -> None:
    centre = QWidget(window)
    window.header_line = Hairline(parent=centre)
    window.header = Header([(p.name, p.title) for p in PROFILES.values()], centre)
    window.notices = NoticeStrip(centre)
    window.notices.setProperty("foot", True)
    window.notices.hide()
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    window.pages = OnePage(centre)
    window.welcome = WelcomePage(window.pages)
    window.whole = _splitter(window.pages, across)
    window.left = _splitter(window.whole, down)
    window.upper = _splitter(window.left, across)
    for page in (window.welcome, window.whole):
        window.pages.add(page)
    layout = column_in(centre, 0)
    layout.addWidget(window.header)
    layout.addWidget(window.header_line)
    layout.addWidget(window.pages, 1)
    # Until there is a conversation that it can lie over: below what is being pointed at.
    layout.addWidget(window.notices)
    if window.opens_session:
        window.pages.show_page(PANES)
        return
    window.header.hide()
    window.header_line.hide()
    window.setCentralWidget(centre)


def _splitter(parent: QWidget, way: Qt.Orientation) -> QSplitter:
    """A splitter, which takes the panes that are made in it in their order."""
    splitter = CalmSplitter(way, parent)
    splitter.setChildrenCollapsible(False)
    splitter.setHandleWidth(1)
    return splitter


def _library(window: MainWindow) -> None:
    window.side = OnePage(window.upper)
    window.library = LibraryPane(window.side)
    window.lessons = LessonsPane(window.side)
    for pane in (window.library, window.lessons):
        window.side.add(pane)


def _map(window: MainWindow) -> None:
    window.map = MapPane(window.upper)


INSPECTOR_TABS: dict[str, Callable[[QWidget], QWidget]] = {
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
    window.inspector = Tabs(window.whole)
    window.inspector.setDocumentMode(True)
    window.inspector.setAccessibleName("Inspector")
    window.inspector.tabBar().setAccessibleName("Tabs of the inspector")


def _tab(name: str, window: MainWindow) -> None:
    pages = window.inspector.findChild(
        QStackedWidget, options=Qt.FindChildOption.FindDirectChildrenOnly
    )
    assert pages is not None
    pane = INSPECTOR_TABS[name](pages)
    setattr(window, name, pane)
    at = window.inspector.addTab(pane, name.title())
    window.inspector.setTabVisible(at, name not in HIDDEN_TABS)


def _agent(window: MainWindow) -> None:
    window.agent = AgentPane(window.left)
    centre = window.notices.parentWidget()
    below = centre.layout() if centre is not None else None
    assert isinstance(below, QVBoxLayout)
    rooms = (window.agent.conversation.view.viewport(), window.map.view.viewport())
    NoticePlace(window.notices, below, rooms)


def _status(window: MainWindow) -> None:
    window.saved, window.leaf = QLabel(window), QLabel(window)
    explain(window.leaf, "leaf")
    window.model, window.entries = QLabel(window), QLabel(window)
    window.spent = SpentLabel(window)
    window.spent.setContentsMargins(0, 0, 12, 0)
    window.progress = ProgressArea(window)
    bar = StatusBar(window)
    window.setStatusBar(bar)
    bar.setSizeGripEnabled(False)
    bar.setContentsMargins(12, 0, 12, 0)
    for label in (window.saved, window.leaf, window.model):
        label.setContentsMargins(0, 0, 12, 0)
        bar.addWidget(label)
    bar.addPermanentWidget(window.progress)
    bar.addPermanentWidget(window.spent)
    bar.addPermanentWidget(window.entries)


def _lay_out(window: MainWindow) -> None:
    window.upper.setStretchFactor(1, 1)
    window.left.setStretchFactor(0, 1)
    # What a wide window has more goes to the inspector too.
    window.whole.setStretchFactor(0, 2)
    window.whole.setStretchFactor(1, 1)
    middle = 1440 - LIBRARY - INSPECTOR
    window.upper.setSizes([LIBRARY, middle])
    window.left.setSizes([840 - AGENT, AGENT])
    window.whole.setSizes([LIBRARY + middle, INSPECTOR])
    if window.opens_session:
        centre = window.pages.parentWidget()
        assert centre is not None
        window.setCentralWidget(centre)
    window.restore()
    window.room = room = NarrowLayout(
        window,
        window.side,
        window.inspector,
    )
    window.panes = panes = HidablePanes(
        window,
        window.map,
        {
            "sessions": Pane(window.upper, 0, LIBRARY),
            "conversation": Pane(window.left, 1, AGENT),
            "inspector": Pane(window.whole, 1, INSPECTOR),
        },
    )
    window.agent.wanted.connect(lambda: panes.show("conversation"))
    rules = window.compaction.setup.following
    window.header.profile_shown.connect(lambda here: rules.show_profile_box(not here))
    rules.show_profile_box(window.header.profile.isHidden())
    window.library.open_requested.connect(room.hide_library)
    window.header.sessions_requested.connect(lambda: show_sessions(window))
    room.changed.connect(lambda: window.header.show_narrow(room.is_narrow))
    window.header.show_narrow(room.is_narrow)
    window.setAcceptDrops(True)


def show_sessions(window: MainWindow) -> None:
    """Put the keyboard on the list of sessions, and the list into sight, also where the lessons
    have its place."""
    if window.side.current() == LESSONS:
        window.lessons.close_asked.emit()
    window.room.show_library()
    window.panes.show("sessions")
    window.library.list.setFocus()

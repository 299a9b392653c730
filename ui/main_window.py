"""The window: its frame, its layout's memory, and what it holds once it is furnished.

Only what the first paint needs is imported here; ``ui.panes`` brings the rest after it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QSplitter

from explorer.settings.preferences import Preferences
from ui.shell.skeleton_screen import SkeletonScreen

if TYPE_CHECKING:  # these come after the first paint
    from PySide6.QtWidgets import QLabel, QWidget

    from ui.audit.tab import AuditTab
    from ui.compaction.panel import CompactionPanel
    from ui.conversation.pane import AgentPane
    from ui.copilot import PromptPage
    from ui.inspector.context import ContextPane
    from ui.inspector.entry import EntryPane
    from ui.lessons.pane import LessonsPane
    from ui.library.pane import LibraryPane
    from ui.map.pane import MapPane
    from ui.shell.header import Header
    from ui.shell.splitters import HidablePanes, NarrowLayout
    from ui.shell.status_bar import ProgressArea, SpentLabel
    from ui.welcome.page import WelcomePage
    from ui.widgets.notice import NoticeStrip
    from ui.widgets.panels import OnePage
    from ui.widgets.tabs import Tabs

TITLE_BAR = 32
"""Height left for what the system draws around the window, in pixels."""

WELCOME, PANES = range(2)
"""The numbers of ``MainWindow.pages``."""
LIBRARY, LESSONS = range(2)
"""The numbers of ``MainWindow.side``."""

TABS = ("entry", "context", "compaction", "audit", "prompt")


class MainWindow(QMainWindow):
    """The welcome page, or with a session header, library, map, inspector and agent; the status
    bar. Remembers its layout.

    The panes are there when ``ui.panes.furnish`` is done.
    """

    files_dropped = Signal(list)
    painted = Signal()
    """After the first paint, once."""
    close_requested = Signal()
    """It is to be closed, and waits since ``defer_close``."""
    closed = Signal()

    header: Header
    header_line: QWidget
    notices: NoticeStrip
    side: OnePage
    library: LibraryPane
    lessons: LessonsPane
    map: MapPane
    pages: OnePage
    """The welcome page, and the panes of a session."""
    welcome: WelcomePage
    entry: EntryPane
    context: ContextPane
    compaction: CompactionPanel
    audit: AuditTab
    prompt: PromptPage
    inspector: Tabs
    agent: AgentPane
    upper: QSplitter
    left: QSplitter
    whole: QSplitter
    saved: QLabel
    leaf: QLabel
    model: QLabel
    entries: QLabel
    spent: SpentLabel
    progress: ProgressArea
    room: NarrowLayout
    panes: HidablePanes

    def __init__(self, preferences: Preferences, opens_session: bool | None = None) -> None:
        """``opens_session``: whether it begins with a session; None: with that of last time."""
        super().__init__()
        self.setWindowTitle("Session Explorer")
        self.preferences = preferences
        self._defers_close = False
        self.was_painted = False
        self.was_closed = False
        self.is_ready = False
        """Whether the library has been read and everything answers."""
        room = self.screen().availableSize()
        self.resize(min(1440, room.width()), min(900, room.height() - TITLE_BAR))
        if preferences.geometry:
            self.restoreGeometry(_bytes(preferences.geometry))
        self.opens_session = (
            bool(preferences.last_session) if opens_session is None else opens_session
        )
        self.setCentralWidget(SkeletonScreen(self, self.opens_session))

    # the two pages --------------------------------------------------------------------------------

    @property
    def has_panes(self) -> bool:
        """Whether the panes of a session are shown, and not the welcome page."""
        return self.pages.current() == PANES

    def show_panes(self, on: bool) -> None:
        """Show the panes of a session; without one the welcome page, which needs no header."""
        if on == self.has_panes:
            return
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
        for part in (self.header, self.header_line):
            part.setVisible(on)
        self.pages.show_page(PANES if on else WELCOME)
        # The map reveals entries at once, for which it must know its size.
        for widget in (self.centralWidget(), self.pages):
            if widget is not None and (layout := widget.layout()) is not None:
                layout.activate()
        if had_focus and not on:
            self.welcome.focus_first()

    # the inspector's tabs -------------------------------------------------------------------------

    @property
    def tab(self) -> str:
        """The name of the tab that is shown, one of ``TABS``."""
        return TABS[self.inspector.currentIndex()]

    def show_tab(self, name: str) -> None:
        """Show one of ``TABS``, and the inspector if it is hidden."""
        self.panes.show("inspector")
        self.inspector.setCurrentIndex(TABS.index(name))

    # what is remembered ---------------------------------------------------------------------------

    def _splitters(self) -> dict[str, QSplitter]:
        return {"upper": self.upper, "left": self.left, "whole": self.whole}

    def restore(self) -> None:
        """Give the panes the sizes that the preferences have."""
        for name, splitter in self._splitters().items():
            if state := self.preferences.layout.get(name):
                splitter.restoreState(_bytes(state))
        self.map.restore(self.preferences.layout.get("map", ""))
        if self.preferences.inspector_tab in TABS:
            self.inspector.setCurrentIndex(TABS.index(self.preferences.inspector_tab))

    def remember(self) -> None:
        """Put the layout into the preferences."""
        self.preferences.geometry = _text(self.saveGeometry())
        self.preferences.layout = {
            name: _text(splitter.saveState()) for name, splitter in self._splitters().items()
        }
        self.preferences.layout["map"] = self.map.shown.name
        self.preferences.inspector_tab = TABS[self.inspector.currentIndex()]

    # events ---------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.was_painted:
            self.was_painted = True
            self.painted.emit()

    def defer_close(self) -> None:
        """Stay open when closed for the first time, and emit ``close_requested`` instead."""
        self._defers_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._defers_close:
            self._defers_close = False
            event.ignore()
            self.close_requested.emit()
        else:
            self.was_closed = True
            event.accept()
            self.closed.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.files_dropped.emit(files)


def _bytes(text: str) -> QByteArray:
    return QByteArray(base64.b64decode(text.encode("ascii"), validate=False))


def _text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode("ascii")

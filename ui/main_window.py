"""The window: where the panes are, and nothing of what they do."""

from __future__ import annotations

import base64
from collections.abc import Callable

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent
from PySide6.QtWidgets import (
    QLabel,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile import PROFILES
from explorer.settings import Preferences
from ui.agent.pane import AgentPane
from ui.compaction.panel import CompactionPanel
from ui.inspector.context import ContextPane
from ui.inspector.entry import EntryPane
from ui.library.pane import LibraryPane
from ui.map.pane import MapPane
from ui.shell.header import Header
from ui.shell.progress import ProgressArea
from ui.widgets.labels import Hairline
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import EmptyState

TITLE_BAR = 32
"""Height left for what the system draws around the window, in pixels."""

TABS = ("entry", "context", "compaction")


class MainWindow(QMainWindow):
    """Header, library, map, inspector, agent, status bar. Remembers its layout."""

    files_dropped = Signal(list)
    painted = Signal()
    """After the first paint, once."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self.setWindowTitle("Session Explorer")
        self.setAcceptDrops(True)
        self.preferences = preferences
        self.on_close: Callable[[], bool] = lambda: True
        """Asked before closing; False keeps the window open until the work is done."""
        self._was_painted = False
        self.header = Header([(p.name, p.title) for p in PROFILES.values()], self)
        self.notices = NoticeStrip(self)
        self.notices.hide()
        self.library = LibraryPane(self)
        self.map = MapPane(self)
        self.welcome = EmptyState(
            "session",
            "Open a session to see its tree",
            "Import a session file of pi or oh-my-pi, drop one here, or look at the bundled one.",
            "Open the bundled session",
            self,
        )
        self.middle = QStackedWidget(self)
        self.middle.addWidget(self.welcome)
        self.middle.addWidget(self.map)
        self.entry = EntryPane(self)
        self.context = ContextPane(self)
        self.compaction = CompactionPanel(self)
        self.inspector = QTabWidget(self)
        self.inspector.setDocumentMode(True)
        self.inspector.setAccessibleName("Inspector")
        for title, pane in (
            ("Entry", self.entry), ("Context", self.context), ("Compaction", self.compaction),
        ):  # fmt: skip
            self.inspector.addTab(pane, title)
        self.agent = AgentPane(self)
        self._lay_out()
        self._status()
        self._restore()

    def _lay_out(self) -> None:
        self.upper = QSplitter(Qt.Orientation.Horizontal, self)
        self.upper.addWidget(self.library)
        self.upper.addWidget(self.middle)
        self.upper.setStretchFactor(1, 1)
        self.left = QSplitter(Qt.Orientation.Vertical, self)
        self.left.addWidget(self.upper)
        self.left.addWidget(self.agent)
        self.left.setStretchFactor(0, 1)
        self.whole = QSplitter(Qt.Orientation.Horizontal, self)
        self.whole.addWidget(self.left)
        self.whole.addWidget(self.inspector)
        self.whole.setStretchFactor(0, 1)
        for splitter in (self.upper, self.left, self.whole):
            splitter.setChildrenCollapsible(False)
            splitter.setHandleWidth(1)
        centre = QWidget(self)
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.header, Hairline(parent=self), self.notices):
            layout.addWidget(widget)
        layout.addWidget(self.whole, 1)
        self.setCentralWidget(centre)

    def _status(self) -> None:
        self.saved = QLabel(self)
        self.leaf = QLabel(self)
        self.model = QLabel(self)
        self.entries = QLabel(self)
        self.progress = ProgressArea(self)
        bar = self.statusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(12, 0, 12, 0)
        for label in (self.saved, self.leaf, self.model):
            label.setContentsMargins(0, 0, 12, 0)
            bar.addWidget(label)
        bar.addPermanentWidget(self.progress)
        bar.addPermanentWidget(self.entries)

    # what is remembered ---------------------------------------------------------------------------

    def _splitters(self) -> dict[str, QSplitter]:
        return {"upper": self.upper, "left": self.left, "whole": self.whole}

    def _restore(self) -> None:
        room = self.screen().availableSize()
        self.resize(min(1440, room.width()), min(900, room.height() - TITLE_BAR))
        self.upper.setSizes([212, 776])
        self.left.setSizes([640, 200])
        self.whole.setSizes([988, 452])
        if self.preferences.geometry:
            self.restoreGeometry(_bytes(self.preferences.geometry))
        for name, splitter in self._splitters().items():
            if state := self.preferences.layout.get(name):
                splitter.restoreState(_bytes(state))
        if self.preferences.inspector_tab in TABS:
            self.inspector.setCurrentIndex(TABS.index(self.preferences.inspector_tab))

    def remember(self) -> None:
        """Put the layout into the preferences."""
        self.preferences.geometry = _text(self.saveGeometry())
        self.preferences.layout = {
            name: _text(splitter.saveState()) for name, splitter in self._splitters().items()
        }
        self.preferences.inspector_tab = TABS[self.inspector.currentIndex()]

    # events ---------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.on_close():
            event.accept()
        else:
            event.ignore()

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

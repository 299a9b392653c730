"""How the window's parts share its room: splitters, a narrow window, a tall conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from ui.theme import on_theme_changed, scaled


class CalmSplitter(QSplitter):
    """Lays itself out only when a widget came, went, or needs another room at least."""

    _room: tuple[tuple[bool, QSize, QSize, QSize], ...] = ()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            widgets = [found for at in range(self.count()) if (found := self.widget(at))]
            room = tuple(
                (one.isHidden(), one.minimumSizeHint(), one.minimumSize(), one.maximumSize())
                for one in widgets
            )
            if room == self._room:
                return True
            self._room = room
        return super().event(event)


NARROW = 680
"""Width at a text scale of 100 % below which the three do not fit side by side."""


class NarrowLayout(QObject):
    """Watches the window's width and the keyboard; hides and shows the outer panes."""

    changed = Signal()
    """Whether the window is narrow, or what it shows, is another."""

    def __init__(self, window: QWidget, library: QWidget, inspector: QWidget) -> None:
        super().__init__(window)
        self._window, self._library, self._inspector = window, library, inspector
        self._asked = False
        self._kept = self._with_inspector = False
        self.is_narrow = False
        window.installEventFilter(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)
        library.installEventFilter(self)
        on_theme_changed(self.refresh)
        self.refresh()

    def show_library(self) -> None:
        """Bring the sessions into sight, wherever they are."""
        self._asked = True
        self.refresh()

    def keep_side(self, keep: bool, *, with_inspector: bool = False) -> None:
        """Leave what stands in the place of the sessions in sight, however narrow it gets, and
        ``with_inspector`` the inspector too; until ``keep`` is False."""
        self._kept, self._with_inspector = keep, with_inspector
        self.refresh()

    def hide_library(self) -> None:
        """Give the room back, where it is scarce."""
        if self._asked:
            self._asked = False
            self.refresh()

    def refresh(self) -> None:
        """Look at the window's width and the size of the text."""
        self.is_narrow = self._window.width() < scaled(NARROW)
        sessions = not self.is_narrow or self._asked or self._kept
        self._library.setVisible(sessions)
        crowded = self.is_narrow and sessions
        self._inspector.setVisible(self._with_inspector if self._kept else not crowded)
        self.changed.emit()

    def _focus_moved(self, _old: QWidget | None, now: QWidget | None) -> None:
        """Close the sessions when the focus leaves them."""
        if not (self._asked and self.is_narrow) or now is None or now is self._library:
            return
        if now.window() is self._window and not self._library.isAncestorOf(now):
            self.hide_library()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self.refresh()
        if watched is self._library and event.type() == QEvent.Type.KeyPress:
            is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
            if is_escape and self._asked and self.is_narrow:
                self.hide_library()
                return True
        return super().eventFilter(watched, event)


LEAST_MAP = (420, 320)
"""Pixels that the map has at least, at a text scale of 100 %, in a window of ``FROM`` or more."""
FROM = (1000, 690)


class Pane(NamedTuple):
    """A pane that can be hidden: where it stands in its splitter, and its first size in pixels at
    a text scale of 100 %."""

    splitter: QSplitter
    at: int
    size: int

    @property
    def widget(self) -> QWidget:
        found = self.splitter.widget(self.at)
        assert found is not None
        return found

    @property
    def is_shown(self) -> bool:
        """Whether it has any room; what a narrow window hides counts as shown."""
        return self.widget.isHidden() or self.splitter.sizes()[self.at] > 0


class HidablePanes(QObject):
    """Hides and shows panes, by a command or because their line was dragged to the edge, and keeps
    room for the map.

    A hidden pane has no room and cannot take the keyboard; the line at the edge brings it back.
    """

    changed = Signal()

    def __init__(self, window: QWidget, middle: QWidget, panes: Mapping[str, Pane]) -> None:
        super().__init__(window)
        self._window, self._middle, self._panes = window, middle, panes
        self._before: dict[str, int] = {}
        for pane in panes.values():
            pane.splitter.setCollapsible(pane.at, True)
            pane.splitter.splitterMoved.connect(self._moved)
        window.installEventFilter(self)
        on_theme_changed(self._keep_room)
        self._keep_room()
        # Splitters have their sizes only when they are laid out.
        QTimer.singleShot(0, self, self._moved)

    def is_shown(self, name: str) -> bool:
        return self._panes[name].is_shown

    def toggle(self, name: str) -> None:
        """Hide a pane, or show it with the size that it had."""
        self._set(name, not self._panes[name].is_shown)

    def show(self, name: str) -> None:
        """Show a pane if it is hidden."""
        if not self._panes[name].is_shown:
            self._set(name, True)

    def _set(self, name: str, shown: bool) -> None:
        pane = self._panes[name]
        sizes = pane.splitter.sizes()
        whole, at = sum(sizes), pane.at
        if not shown:
            self._before[name] = sizes[at]
        size = (self._before.get(name) or scaled(pane.size)) if shown else 0
        size = min(size, whole * 3 // 4)
        pane.splitter.setSizes([size if one == at else whole - size for one in range(2)])
        self._moved()

    def _moved(self) -> None:
        for pane in self._panes.values():
            pane.widget.setEnabled(pane.is_shown)
        self.changed.emit()

    def _keep_room(self) -> None:
        wide = self._window.width() >= scaled(FROM[0])
        high = self._window.height() >= scaled(FROM[1])
        self._middle.setMinimumSize(
            scaled(LEAST_MAP[0]) if wide else 0, scaled(LEAST_MAP[1]) if high else 0
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self._keep_room()
        return super().eventFilter(watched, event)


SHARE = 0.7
"""Of the height, for the conversation and the message box when they are tall."""


class TallConversation:
    """Moves the line between the map and the conversation, and puts it back."""

    def __init__(self, splitter: QSplitter) -> None:
        self._splitter = splitter
        self._before: list[int] = []

    @property
    def is_tall(self) -> bool:
        """The conversation has more of the height than the map."""
        map_height, conversation_height = self._splitter.sizes()
        return conversation_height > map_height

    def toggle(self) -> None:
        """Make it tall, or as low as it was before."""
        sizes = self._splitter.sizes()
        whole = sum(sizes)
        if not min(sizes):
            return
        if self.is_tall:
            before = self._before or [1, 0]
            low = whole * before[1] // max(1, sum(before))
            self._splitter.setSizes([whole - low, low])
            return
        self._before = sizes
        tall = round(whole * SHARE)
        self._splitter.setSizes([whole - tall, tall])

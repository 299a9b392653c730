"""How the window's parts share its room: splitters, a narrow window, a tall conversation."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
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

    def __init__(
        self, window: QWidget, library: QWidget, inspector: QWidget, has_session: Callable[[], bool]
    ) -> None:
        super().__init__(window)
        self._window, self._library, self._inspector = window, library, inspector
        self._has_session = has_session
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
        """Look at the window's width, the size of the text and what is open."""
        self.is_narrow = self._window.width() < scaled(NARROW)
        sessions = not self.is_narrow or self._asked or self._kept or not self._has_session()
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
        if self.is_tall:
            before = self._before or [1, 0]
            low = whole * before[1] // max(1, sum(before))
            self._splitter.setSizes([whole - low, low])
            return
        self._before = sizes
        tall = round(whole * SHARE)
        self._splitter.setSizes([whole - tall, tall])

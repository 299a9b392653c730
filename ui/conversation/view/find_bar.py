"""The bar for finding words in the conversation, and the way through the places that were found."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from ui import theme
from ui.conversation.view.find import Hits, Search, SearchProgress
from ui.conversation.view.view import ConversationView
from ui.widgets.loader import BackgroundJobs

_PAUSE_MS = 160
"""Between the last letter and the search."""


class FindBar(QFrame):
    """A field, a count, next and previous. Hidden while nobody searches."""

    asked = Signal(str)
    step_asked = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setAccessibleName("Find in the conversation")
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self.field = QLineEdit(self)
        self.field.setAccessibleName("Words to find in the conversation")
        self.field.setPlaceholderText("Find in the conversation")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _text: self._pause.start())
        self.count = QLabel(self)
        theme.set_tone(self.count, "dim")
        self.previous = self._button("chevron-up", "Previous place (Shift+Enter, Shift+F3)", -1)
        self.next = self._button("chevron-down", "Next place (Enter, F3)", 1)
        self._close = QToolButton(self)
        theme.bind_icon(self._close, "close", "dim")
        self._close.setToolTip("Close (Esc)")
        self._close.setAccessibleName("Close the search")
        self._close.clicked.connect(self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.S16, theme.S4, theme.S8, theme.S4)
        row.setSpacing(theme.S4)
        row.addWidget(self.field, 1)
        for part in (self.count, self.previous, self.next, self._close):
            row.addWidget(part)
        self.hide()

    def _ask(self) -> None:
        self.asked.emit(self.field.text())

    def _button(self, icon: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(self)
        theme.bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.clicked.connect(lambda: self.step_asked.emit(step))
        return button

    def open_bar(self) -> None:
        """Show the bar with the keyboard in its field."""
        opened = not self.isVisible()
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if opened and self.field.text():
            self.asked.emit(self.field.text())

    def close_bar(self) -> None:
        self._pause.stop()
        self.hide()
        self.closed.emit()

    def tell(self, words: str) -> None:
        """Say how many places there are, and at which one the reader is."""
        self.count.setText(words)
        self.count.setAccessibleName(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._pause.isActive():
                self._pause.stop()
                self.asked.emit(self.field.text())
            else:
                self.step_asked.emit(-1 if back else 1)
        elif event.key() == Qt.Key.Key_F3:
            self.step_asked.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)


_AGAIN_MS = 400
"""After something was added: the search is made again when it has been quiet so long."""


class FindController(QObject):
    """One search at a time; what it finds is counted while it goes on."""

    def __init__(self, view: ConversationView, bar: FindBar) -> None:
        super().__init__(view)
        self._view, self._bar = view, bar
        self._search: Search | None = None
        self._found = SearchProgress(Hits(), 0, 0)
        self._is_over = True
        self._moved = False
        self._jobs = BackgroundJobs(self)
        self._jobs.done.connect(self._take_found)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_AGAIN_MS)
        self._again.timeout.connect(lambda: self._start(self._view.query, keep=True))
        bar.asked.connect(self._start)
        bar.step_asked.connect(self.step)
        bar.closed.connect(self._closed)
        view.find_asked.connect(bar.open_bar)
        view.step_asked.connect(self.step)

    @property
    def hits(self) -> Hits:
        """The places found so far, in the order of reading."""
        return self._found.hits

    @property
    def is_over(self) -> bool:
        """Whether everything has been looked at."""
        return self._is_over

    def forget(self) -> None:
        """Forget the hits of the last search."""
        self._stop()
        self._found, self._is_over, self._moved = SearchProgress(Hits(), 0, 0), True, False
        self.refresh()

    def refresh(self) -> None:
        """Search what was added to the conversation."""
        if self._view.query:
            self._again.start()

    def _start(self, query: str, keep: bool = False) -> None:
        self._stop()
        view = self._view
        view.query = query
        if not keep:
            view.current, self._moved = None, False
        view.viewport().update()
        document, items = view.flow.document, view.flow.items.snapshot()
        if not query or document is None:
            self._found, self._is_over = SearchProgress(Hits(), 0, 0), True
            self._bar.tell("")
            return
        if not keep:
            self._found = SearchProgress(Hits(), 0, len(items))
        self._is_over = False
        send = self._jobs.sender_of(query)
        self._search = Search(document, items, query, send)
        self._jobs.run(query, self._search.run)
        self._say()

    def _stop(self) -> None:
        self._again.stop()
        self._jobs.forget()
        if self._search is not None:
            self._search.stop()
            self._search = None

    def _closed(self) -> None:
        self._stop()
        self._view.query, self._view.current = "", None
        self._view.viewport().update()
        self._view.setFocus()

    def _take_found(self, _query: str, found: SearchProgress | Exception) -> None:
        # After an exception, which is in the log, what was found so far stays.
        if isinstance(found, SearchProgress):
            self._found = found
        self._is_over = isinstance(found, Exception) or found.looked_at >= found.of
        if self._is_over:
            self._search = None
        if not self._moved and len(self._found.hits) and self._view.current is None:
            self._begin()
        self._say()

    def _begin(self) -> None:
        """Without a step of the user: the last place above the end of what is seen."""
        seen = self._view.placed
        last = self._view.flow.entry(seen[-1].item) if seen else -1
        hit = self._found.hits.last_until(last if last >= 0 else sys.maxsize)
        if hit is not None:
            self._view.go_to(hit)

    def step(self, step: int) -> None:
        """To the next place, or the one before; round at the ends."""
        hit = self._found.hits.beside(self._view.current, step)
        if hit is None:
            return
        self._moved = True
        self._view.go_to(hit)
        self._say()

    def _say(self) -> None:
        hits, current = self._found.hits, self._found.hits.number(self._view.current)
        if not self._view.query:
            self._bar.tell("")
            return
        of = f"{len(hits):,}{'' if self._is_over else '+'}"
        if not len(hits):
            self._bar.tell("no places" if self._is_over else "searching…")
        elif current >= 0:
            self._bar.tell(f"{current + 1:,} of {of}")
        else:
            self._bar.tell(f"{of} places")

"""Plain text of any size: displayed lines are split, and long texts arrive in pieces.

An unbroken line of a megabyte would hold the window for a minute, and a megabyte set at once for
a tenth of a second; so lines are broken at 1,000 characters for display, and the text is put in
piece by piece, at most 64 KB and a few milliseconds at a time, between the window's other events.
"""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import (
    QCoreApplication,
    QElapsedTimer,
    QEvent,
    QObject,
    QSize,
    Qt,
    QThread,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QFrame,
    QPlainTextDocumentLayout,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)
from shiboken6 import isValid

from ui.theme import mono_font, on_theme_changed, set_font, theme, ui_font

PIECE = 64 * 1024
"""Characters put in at most before the window's other events get their turn."""
BITE = 4 * 1024
BUDGET_MS = 8
LINE = 1000


def split_lines(text: str, column: int = 0) -> tuple[str, int]:
    """Break lines longer than ``LINE`` characters.

    ``column``: how long the line already is that the text continues. Returns the text to display
    and the column at its end.
    """
    out: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if number:
            out.append("\n")
            column = 0
        while column + len(line) > LINE:
            room = LINE - column
            out.append(line[:room])
            out.append("\n")
            line, column = line[room:], 0
        out.append(line)
        column += len(line)
    return "".join(out), column


_LONG = re.compile(rf"^.{{{LINE + 1},}}", re.MULTILINE)


def displayed_at(text: str, at: int) -> int:
    """Where a character of a text stands when it is displayed, in Qt's UTF-16 units."""
    before = text[:at]
    breaks = sum((len(line[0]) - 1) // LINE for line in _LONG.finditer(before))
    return len(before.encode("utf-16-le", "surrogatepass")) // 2 + breaks


class _Freer(QObject):
    """Deletes long documents in separate threads: that takes a tenth of a second."""

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        self._threads: set[QThread] = set()
        app.aboutToQuit.connect(self.wait)

    def free(self, document: QTextDocument) -> None:
        """Take a document that nothing shows any more."""
        thread = QThread(self)
        self._threads.add(thread)
        document.setParent(None)
        document.moveToThread(thread)
        document.destroyed.connect(thread.quit, Qt.ConnectionType.DirectConnection)
        # Delivered in the window's thread, where the thread may be let go of.
        thread.finished.connect(self._ended)
        document.deleteLater()
        thread.start()

    def _ended(self) -> None:
        for thread in [thread for thread in self._threads if thread.isFinished()]:
            self._threads.discard(thread)
            thread.deleteLater()

    def wait(self) -> None:
        """Let the deletions under way go first."""
        for thread in self._threads:
            thread.wait(2000)


_freers: list[_Freer] = []


def _free(document: QTextDocument) -> None:
    app = QCoreApplication.instance()
    if app is None:
        return
    if not _freers or not isValid(_freers[0]):
        _freers[:] = [_Freer(app)]
    _freers[0].free(document)


class WholeLines(QObject):
    """Ends a text that scrolls between two of its lines, at whatever height it is given."""

    def __init__(self, text: QPlainTextEdit) -> None:
        super().__init__(text)
        self._text = text
        self._spare = 0
        """Pixels at the lower edge that show nothing."""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._fit)
        text.viewport().installEventFilter(self)
        text.verticalScrollBar().rangeChanged.connect(lambda _least, _most: self._soon.start())

    def _fit(self) -> None:
        text, document = self._text, self._text.document()
        room, margin = text.viewport().height() + self._spare, document.documentMargin()
        # A document of plain text measures its height in lines.
        line, lines = ceil(QFontMetricsF(text.font()).lineSpacing()), document.size().height()
        fits = lines * line + 2 * margin <= room
        spare = 0 if fits or room < line else round(room - margin) % line
        if spare != self._spare:
            self._spare = spare
            text.setViewportMargins(0, 0, 0, spare)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._soon.start()
        return super().eventFilter(watched, event)


def paint_focus(view: QAbstractScrollArea) -> None:
    """Paint a line around a text without a frame while it has the keyboard."""
    if view.hasFocus():
        painter = QPainter(view.viewport())
        painter.setPen(theme().accent)
        painter.drawRect(view.viewport().rect().adjusted(0, 0, -1, -1))


MANY_LINES = 10_000


class PlainTextView(QPlainTextEdit):
    """Read-only text that streams in. ``fit``: grow with the text up to that many pixels."""

    loaded = Signal()
    """All of the text is shown."""

    def __init__(self, parent: QWidget | None = None, *, fit: int = 0, mono: bool = True) -> None:
        super().__init__(parent)
        self._fit, self._mono = fit, mono
        self._text, self._at, self._column = "", 0, 0
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        # Words longer than a line are broken, so there is nothing to scroll to.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        if fit:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._more)
        WholeLines(self)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        set_font(self, mono_font() if self._mono else ui_font())
        self._refit()

    def set_text(self, text: str) -> None:
        """Show a text from its beginning; a loading one is given up."""
        self.release()
        self._text = text
        self._more()
        if self._at < len(self._text):
            self._timer.start()

    def release(self) -> None:
        """Let go of the text. Call before the view is deleted, where it may hold a long one."""
        self._timer.stop()
        self._text, self._at, self._column = "", 0, 0
        old = self.document()
        if old.blockCount() < MANY_LINES:
            self.clear()
            return
        fresh = QTextDocument(self)
        fresh.setDocumentLayout(QPlainTextDocumentLayout(fresh))
        fresh.setDefaultFont(self.font())
        fresh.setDocumentMargin(old.documentMargin())
        fresh.setUndoRedoEnabled(False)
        old.setParent(None)
        self.setDocument(fresh)
        _free(old)

    def text(self) -> str:
        """The whole text as it was given, without the breaks made for display."""
        return self._text

    @property
    def is_loading(self) -> bool:
        """Whether a part of the text is still to come."""
        return self._timer.isActive()

    def _more(self) -> None:
        is_first = self._at == 0
        clock = QElapsedTimer()
        clock.start()
        end = min(self._at + PIECE, len(self._text))
        while self._at < end:
            piece = self._text[self._at : min(self._at + BITE, end)]
            self._at += len(piece)
            shown, self._column = split_lines(piece, self._column)
            self._insert(shown)
            if clock.elapsed() >= BUDGET_MS:
                break
        if is_first:
            self._refit()
        if self._at >= len(self._text):
            self._timer.stop()
            self.loaded.emit()

    def _insert(self, shown: str) -> None:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(shown)

    def reveal(self, start: int, length: int) -> None:
        """Select a stretch given in the text's own characters, as far as it is loaded."""
        self.setTextCursor(self.stretch(start, length))
        self.centerCursor()

    def stretch(self, start: int, length: int) -> QTextCursor:
        """What is displayed of a stretch given in the text's own characters, as far as it is
        loaded."""
        end = self.document().characterCount() - 1
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(displayed_at(self._text, start), end))
        stop = min(displayed_at(self._text, start + length), end)
        cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    # height that follows the text ------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._refit()

    def set_fit(self, fit: int) -> None:
        """Grow with the text up to so many pixels from now on."""
        self._fit = fit
        self._refit()

    def _refit(self) -> None:
        if self._fit:
            self.setFixedHeight(self._wanted_height())

    def _wanted_height(self) -> int:
        """The text's height, counted only as far as the limit."""
        layout, height = self.document().documentLayout(), 0.0
        block = self.document().begin()
        while block.isValid() and height < self._fit:
            height += layout.blockBoundingRect(block).height()
            block = block.next()
        margins = self.contentsMargins()
        chrome = margins.top() + margins.bottom() + 2 * self.document().documentMargin() + 4
        return int(min(height + chrome, self._fit))

    def sizeHint(self) -> QSize:
        return QSize(200, self._wanted_height() if self._fit else 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 24)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        super().paintEvent(event)
        paint_focus(self)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        bar = self.verticalScrollBar()
        if self._fit and bar.maximum() == 0:
            event.ignore()
            return
        super().wheelEvent(event)


class StreamView(PlainTextView):
    """Text that a model is writing: shown 30 times a second, following its end.

    The end is followed only while it is in view, so that a person can read back meanwhile.
    """

    FLUSH_MS = 33

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, mono=False)
        self._pending: list[str] = []
        self._flush = QTimer(self)
        self._flush.setInterval(self.FLUSH_MS)
        self._flush.timeout.connect(self.flush)

    def begin(self) -> None:
        """Empty the view for a new text."""
        self._pending = []
        self.set_text("")

    def add(self, delta: str) -> None:
        """Take a piece of text; it is shown with the next flush."""
        if delta:
            self._pending.append(delta)
            if not self._flush.isActive():
                self._flush.start()

    def finish(self) -> None:
        """Show what is left."""
        self.flush()
        self._flush.stop()

    def characters(self) -> int:
        """Characters received, shown or not yet."""
        return len(self._text) + sum(len(part) for part in self._pending)

    def flush(self) -> None:
        """Show what came since the last flush."""
        if not self._pending:
            self._flush.stop()
            return
        delta, self._pending = "".join(self._pending), []
        bar = self.verticalScrollBar()
        following = bar.value() >= bar.maximum() - 2
        self._text += delta
        self._at = len(self._text)
        shown, self._column = split_lines(delta, self._column)
        self._insert(shown)
        if following:
            bar.setValue(bar.maximum())

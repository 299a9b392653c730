"""What quiets the window around the part that a step is about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QApplication, QWidget

from ui import theme
from ui.lessons.parts import bring_into_sight, shown_rect

_VEIL = 150
"""Opacity over what is quiet, of 255; it can still be read."""
_FOLLOWED = (
    QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide,
)  # fmt: skip
COVERED = "Covered: it would give an answer away"
REST_COVERED = "The rest of it is covered: it would give an answer away"


class Overlay(QWidget):
    """Lies over the whole window but the lit widgets and the panel, which take their events as
    ever; the mouse does nothing elsewhere."""

    strayed = Signal()
    """The keyboard came to something that is covered."""

    def __init__(self, over: QWidget, panel: QWidget) -> None:
        super().__init__(over)
        self._over, self._panel = over, panel
        self._lit: tuple[Sequence[QWidget], ...] = ()
        self._covered: tuple[QWidget, ...] = ()
        self._watched: list[QWidget] = []
        self.setAccessibleName("Lesson: the rest of the window is quiet")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._place)
        theme.on_theme_changed(self.update)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)
        self.hide()

    def light(self, lit: Sequence[Sequence[QWidget]], covered: Sequence[QWidget]) -> None:
        """Light groups of widgets, and cover other widgets, which would give the answer away."""
        self._unwatch()
        self._lit, self._covered = tuple(lit), tuple(covered)
        shown = [widget for group in lit for widget in group]
        self._watched = list(dict.fromkeys((self._over, self._panel, *shown, *covered)))
        for widget in self._watched:
            widget.installEventFilter(self)
        for widget in reversed(shown):
            bring_into_sight(widget)
        self.raise_()
        self._place()
        self._soon.start()

    def put_out(self) -> None:
        """Quiet nothing any more."""
        self._unwatch()
        self._soon.stop()
        self.hide()

    def _unwatch(self) -> None:
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._watched = []

    @property
    def covered(self) -> tuple[QWidget, ...]:
        """The widgets of which nothing is seen but what is lit."""
        return self._covered

    def lit_rects(self) -> list[QRect]:
        """Where the groups of lit widgets are in the window's centre, as far as they are seen."""
        found, panel = [], shown_rect(self._panel, self._over)
        for group in self._lit:
            rect = QRect()
            for widget in group:
                rect = rect.united(shown_rect(widget, self._over))
            around = group[0].parentWidget() if group else None
            if around is not None and not rect.isEmpty():
                # A frame on the edge of words would cut them.
                room = rect.adjusted(-theme.S8, -theme.S4, theme.S8, theme.S4)
                rect = rect.united(room & shown_rect(around, self._over))
            if rect.intersects(panel):
                # The panel at its left has an edge of its own.
                rect.setLeft(panel.right() + 2)
            if not rect.isEmpty():
                found.append(rect)
        return found

    def _place(self) -> None:
        self.setGeometry(self._over.rect())
        quiet = QRegion(self.rect())
        # The frame around a lit part is painted on its edge, outside of it where there is room.
        for rect in self.lit_rects():
            quiet -= QRegion(rect)
        quiet -= QRegion(shown_rect(self._panel, self._over))
        # Hidden meanwhile, so that what the mask uncovers is repainted.
        self.hide()
        self.setMask(quiet)
        self.show()

    def _clear_of_lit(self, rect: QRect) -> QRect:
        """The larger part of a rectangle above or below what is lit."""
        for lit in self.lit_rects():
            if lit.intersects(rect):
                above, below = QRect(rect), QRect(rect)
                above.setBottom(lit.top() - 1)
                below.setTop(lit.bottom() + 1)
                rect = max(above, below, key=QRect.height)
        return rect

    def _focus_moved(self, _old: QWidget | None, now: QWidget | None) -> None:
        if now is None or not self.isVisible():
            return
        is_covered = any(one.isAncestorOf(now) or one is now for one in self._covered)
        lit = (one for group in self._lit for one in group)
        if is_covered and not any(one.isAncestorOf(now) or one is now for one in lit):
            self.strayed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _FOLLOWED:
            self._soon.start()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.theme()
        painter = QPainter(self)
        veil = QColor(now.paper)
        veil.setAlpha(_VEIL)
        painter.fillRect(self.rect(), veil)
        for widget in self._covered:
            whole = shown_rect(widget, self._over)
            painter.fillRect(whole, now.paper)
            rect = self._clear_of_lit(whole)
            if rect.width() > theme.scaled(160) and rect.height() > theme.scaled(60):
                painter.setPen(QPen(now.dim))
                painter.setFont(theme.small_font())
                words = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                sentence = COVERED if rect == whole else REST_COVERED
                painter.drawText(rect.adjusted(12, 12, -12, -12), int(words), sentence)
        painter.setPen(QPen(now.accent, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for lit in self.lit_rects():
            painter.drawRect(lit.adjusted(-1, -1, 1, 1))
        painter.end()

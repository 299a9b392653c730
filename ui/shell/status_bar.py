"""The status bar, and what stands in it: long work with its progress and a button to cancel it, and
the sum of tokens and money."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QStatusBar, QStyle, QStyleOption, QToolButton, QWidget

from ui import theme
from ui.widgets.labels import elided
from ui.widgets.panels import row_in
from ui.widgets.progress import ProgressBar

STEPS = 1000


class StatusBar(QStatusBar):
    """Ends a message where what stands at the right begins; its tip has all of it then."""

    @property
    def shown_message(self) -> str:
        """What is painted of the message at this width."""
        room = self._room()
        return elided(self.fontMetrics(), self.currentMessage(), room.width())

    def _room(self) -> QRect:
        rect = self.contentsRect().adjusted(2, 0, 0, 0)
        shown = (one for one in self.findChildren(QWidget) if one.parent() is self)
        lefts = [one.x() for one in shown if one.isVisible()]
        rect.setRight(min([rect.right(), *(left - theme.S12 for left in lefts)]))
        return rect

    def paintEvent(self, event: QPaintEvent, /) -> None:
        if not self.currentMessage():
            self.setToolTip("")
            super().paintEvent(event)
            return
        shown = self.shown_message
        self.setToolTip(self.currentMessage() if shown != self.currentMessage() else "")
        painter, option = QPainter(self), QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelStatusBar, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self._room(), Qt.AlignmentFlag.AlignVCenter, shown)


class Work:
    """One piece of long work."""

    def __init__(
        self,
        bar: ProgressArea,
        what: str,
        on_cancel: Callable[[], object] | None = None,
        on_pause: Callable[[bool], object] | None = None,
    ) -> None:
        self._bar = bar
        self.what = what
        self.done = 0
        self.total = 0
        self.cancelled = False
        self.paused = False
        self._on_cancel = on_cancel
        self._on_pause = on_pause

    @property
    def can_pause(self) -> bool:
        """Whether it can wait."""
        return self._on_pause is not None

    def update(self, done: int, total: int, what: str = "") -> None:
        """``total`` 0 when it is not known; ``what``: says anew what is done."""
        self.done, self.total = done, total
        self.what = what or self.what
        self._bar.refresh()

    def cancel(self) -> None:
        """Cancel the work."""
        self.cancelled = True
        if self._on_cancel is not None:
            self._on_cancel()

    def pause(self, on: bool) -> None:
        """Pause or resume the work."""
        self.paused = on
        if self._on_pause is not None:
            self._on_pause(on)

    def end(self) -> None:
        self._bar.remove(self)


class ProgressArea(QWidget):
    """Shows the newest running work; hidden when there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._works: list[Work] = []
        self.label = QLabel(self)
        self.bar = ProgressBar(self)
        self.bar.setFixedWidth(140)
        self.cancel = QToolButton(self)
        theme.bind_icon(self.cancel, "close", "dim")
        self.cancel.setToolTip("Cancel")
        self.cancel.setAccessibleName("Cancel the running work")
        self.cancel.clicked.connect(self._cancel)
        self.pause = QToolButton(self)
        self.pause.clicked.connect(self._pause)
        layout = row_in(self, theme.S8)
        for widget in (self.label, self.bar, self.pause, self.cancel):
            layout.addWidget(widget)
        self.hide()

    def begin(
        self,
        what: str,
        on_cancel: Callable[[], object] | None = None,
        on_pause: Callable[[bool], object] | None = None,
    ) -> Work:
        """Show new work. ``on_cancel``: called when the person cancels it, which ``cancelled`` says
        too; ``on_pause``: with whether it shall wait; without one it cannot be paused."""
        work = Work(self, what, on_cancel, on_pause)
        self._works.append(work)
        self.refresh()
        return work

    def remove(self, work: Work) -> None:
        if work in self._works:
            self._works.remove(work)
        self.refresh()

    def refresh(self) -> None:
        self.setVisible(bool(self._works))
        if not self._works:
            return
        work = self._works[-1]
        more = f" (+{len(self._works) - 1})" if len(self._works) > 1 else ""
        state = " · cancelling…" if work.cancelled else " · paused" if work.paused else ""
        self.label.setText(f"{work.what}{more}{state}")
        self.pause.setVisible(work.can_pause and not work.cancelled)
        theme.bind_icon(self.pause, "play" if work.paused else "pause", "dim")
        words = "Go on" if work.paused else "Pause"
        self.pause.setToolTip(words)
        self.pause.setAccessibleName(
            f"{words} with the running work" if work.paused else "Pause the running work"
        )
        self.bar.setMaximum(STEPS if work.total else 0)
        if work.total:
            self.bar.setValue(int(STEPS * work.done / work.total))
        self.bar.setAccessibleName(work.what)

    def _cancel(self) -> None:
        if self._works:
            self._works[-1].cancel()
            self.refresh()

    def _pause(self) -> None:
        if self._works:
            self._works[-1].pause(not self._works[-1].paused)
            self.refresh()


class SpentLabel(QLabel):
    """Says as much as there is room for; the tip says all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._short = ""
        theme.set_tone(self, "dim")
        self.hide()

    def say(self, words: str, short: str, tip: str) -> None:
        """``short`` is for where ``words`` do not fit; nothing is shown where both are empty."""
        self._short = short
        self.setText(words)
        self.setToolTip(tip)
        self.setAccessibleName("Spent so far")
        self.setAccessibleDescription(tip)
        self.setVisible(bool(words))
        self.updateGeometry()

    @property
    def shown(self) -> str:
        """What is painted at this width."""
        fits = self.fontMetrics().horizontalAdvance(self.text()) <= self.contentsRect().width()
        return self.text() if fits else self._short

    def minimumSizeHint(self) -> QSize:
        margins = self.contentsMargins()
        width = self.fontMetrics().horizontalAdvance(self._short) + margins.left() + margins.right()
        return QSize(width + 2, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), self.shown)

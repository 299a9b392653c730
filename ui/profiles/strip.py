"""The active path as a strip of verdicts; strips below each other share one scale."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.compaction.partition import Partition
from ui.theme import (
    on_theme_changed,
    paint_verdict,
    scaled,
    theme,
    verdict_brush,
    verdict_title,
)
from ui.theme.verdicts import LOST, NOT_SENT, SUMMARIZED_EARLIER
from ui.widgets.figures import count

_RUNS = re.compile(rb"(.)\1*", re.DOTALL)
_HEIGHT = 22
_EARLIER_SHARE = 0.06
"""Share of the width for what every profile leaves to an earlier summary."""


class StripScale(NamedTuple):
    """Where each position of a path begins, as a share of the width; one more for the end."""

    starts: array[float]

    def position(self, share: float) -> int:
        """The position at a share of the width."""
        return max(0, min(len(self.starts) - 2, bisect_right(self.starts, share) - 1))


def scale_of(weights: Sequence[int], partitions: Sequence[Partition]) -> StripScale:
    """A scale by tokens (``weights``, by position) for partitions of one path.

    Entries of hardly a token are still seen a little, unless no profile sends them. What every
    partition leaves to an earlier summary is the same in all of them, so it is pressed together
    at the left.
    """
    total = len(weights)
    if not total:
        return StripScale(array("d", [0.0, 1.0]))
    least = max(1.0, sum(weights) / total / 8)
    widths = [max(float(weight), least) for weight in weights]
    for at in range(total):
        # What no profile sends is no part of the path that a model sees.
        if all(shown.verdicts[at] == NOT_SENT for shown in partitions):
            widths[at] = 0.0
    first = min((_first_open(shown) for shown in partitions), default=0)
    earlier, later = sum(widths[:first]), sum(widths[first:])
    if earlier and later:
        press = _EARLIER_SHARE / (1 - _EARLIER_SHARE) * later / earlier
        if press < 1:
            widths[:first] = [width * press for width in widths[:first]]
    starts = array("d", accumulate(widths, initial=0.0))
    whole = starts[-1]
    if not whole:
        # Nothing that a model sees: every entry is as wide as the others.
        return StripScale(array("d", (at / total for at in range(total + 1))))
    return StripScale(array("d", (start / whole for start in starts)))


def _first_open(shown: Partition) -> int:
    """The first position that is neither covered by an earlier summary nor left out."""
    rest = bytes(shown.verdicts).lstrip(bytes([SUMMARIZED_EARLIER, NOT_SENT]))
    return len(shown.verdicts) - len(rest)


class VerdictStrip(QWidget):
    """One profile's verdicts. A click, or Return, asks for the entry; arrows go from one verdict
    to the next."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Partition | None = None
        self._scale = StripScale(array("d", [0.0, 1.0]))
        self._at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def show_verdicts(self, title: str, shown: Partition, scale: StripScale) -> None:
        """Show a partition on a scale that other strips have too."""
        self._shown, self._scale = shown, scale
        self._at = max(shown.cut, 0)
        parts = [
            f"{verdict_title(verdict)} {count(number, 'entry', 'entries')}"
            for verdict in range(7)
            if (number := shown.verdicts.count(verdict))
        ]
        self.setAccessibleName(f"The path under {title}")
        self.setAccessibleDescription(", ".join(parts))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, scaled(_HEIGHT) + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, scaled(_HEIGHT) + 8)

    def runs(self) -> list[tuple[int, QRectF]]:
        """Each stretch of one verdict with its rectangle."""
        shown, starts = self._shown, self._scale.starts
        if shown is None:
            return []
        width, height = self.width() - 2.0, float(scaled(_HEIGHT))
        found = []
        for run in _RUNS.finditer(bytes(shown.verdicts)):
            left, right = starts[run.start()] * width, starts[run.end()] * width
            found.append((shown.verdicts[run.start()], QRectF(1 + left, 4, right - left, height)))
        return found

    def cut_x(self) -> float:
        """Where the cut lies; -1 for none."""
        if self._shown is None or self._shown.cut < 0:
            return -1.0
        return 1 + self._scale.starts[self._shown.cut] * (self.width() - 2.0)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        ratio = self.devicePixelRatioF()
        frame = QRectF(1, 4, self.width() - 2, scaled(_HEIGHT))
        painter.fillRect(frame, now.card)
        painter.setBrushOrigin(frame.topLeft())
        lost = []
        for verdict, rect in self.runs():
            if verdict == LOST:
                lost.append(rect)
            elif verdict != NOT_SENT:
                painter.fillRect(rect, verdict_brush(verdict, ratio))
        for rect in lost:
            paint_verdict(painter, rect.adjusted(0, 0, 0, 0), LOST, radius=0)
        painter.setPen(QPen(now.line, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(frame.adjusted(0.5, 0.5, -0.5, -0.5))
        if (x := self.cut_x()) >= 0:
            painter.setPen(QPen(now.accent, 2 * scaled(1)))
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        if self.hasFocus() and self._shown is not None and self._shown.verdicts:
            self._paint_focus(painter)

    def _paint_focus(self, painter: QPainter) -> None:
        left = self._scale.starts[self._at] * (self.width() - 2)
        right = self._scale.starts[self._at + 1] * (self.width() - 2)
        painter.setPen(QPen(theme().ink, 1.5))
        painter.drawRect(QRectF(1 + left, 2, max(3.0, right - left), self.height() - 4))

    # what is at a place --------------------------------------------------------------------------

    def position_at(self, x: float) -> int:
        """The position of the path at a horizontal place."""
        return self._scale.position((x - 1) / max(1.0, self.width() - 2))

    def words_at(self, position: int) -> str:
        """What becomes of an entry, and why."""
        shown = self._shown
        if shown is None or not 0 <= position < len(shown.verdicts):
            return ""
        verdict = verdict_title(shown.verdicts[position])
        return f"#{shown.path[position]}: {verdict}. {shown.reason(position)}"

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.words_at(self.position_at(event.pos().x()))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._shown is not None:
            self._at = self.position_at(event.position().x())
            self._ask()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        key, shown = event.key(), self._shown
        if shown is None or not shown.verdicts:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._ask()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(shown, 1 if key == Qt.Key.Key_Right else -1)
        else:
            super().keyPressEvent(event)

    def _step(self, shown: Partition, way: int) -> None:
        """To the first entry of the next, or of this or the last, stretch of one verdict."""
        starts = [run.start() for run in _RUNS.finditer(bytes(shown.verdicts))]
        if way > 0:
            self._at = next((at for at in starts if at > self._at), self._at)
        else:
            self._at = next((at for at in reversed(starts) if at < self._at), self._at)
        words = self.words_at(self._at)
        self.setToolTip(words)
        self.setAccessibleDescription(words)
        self.update()

    def _ask(self) -> None:
        if self._shown is not None and self._shown.verdicts:
            self.entry_requested.emit(self._shown.path[self._at])
            self.update()

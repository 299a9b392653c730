"""Which lines are drawn, and what the signs on them mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from ui.audit.what_if.lines import Line, SignKind
from ui.audit.what_if.painting import SIGN, paint_sign
from ui.theme import RADIUS, S4, S8, bind_font, on_theme_changed, scaled, small_font, theme
from ui.widgets.flow import FlowLayout

SAMPLE = 34
"""Pixels of a line's sample at a text scale of 100 %."""
SIGNS: tuple[tuple[SignKind, str], ...] = (
    ("compacted", "compacted"),
    ("split", "compacted inside a turn"),
    ("pruned", "pruned"),
    ("stuck", "nothing could be done"),
)


class LineChip(QAbstractButton):
    """A sample of a line and its name. Checked: it is drawn."""

    def __init__(self, line: Line, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        bind_font(self, small_font)
        self.show_line(line)
        on_theme_changed(self.updateGeometry)

    def show_line(self, line: Line) -> None:
        """Stand for a line."""
        self.line = line
        self.setText(line.title)
        self.setAccessibleName(f"Draw {line.title}, a line that is {line.stroke.words}")
        self.setToolTip(f"{line.title}: {line.stroke.words}. Click to draw it or leave it out")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + scaled(SAMPLE) + 2 * S8 + S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
        painter.setPen(QPen(now.accent if self.hasFocus() else now.line, 1.5))
        painter.setBrush(now.card if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, RADIUS, RADIUS)
        middle = frame.center().y()
        if self.isChecked():
            painter.setPen(self.line.stroke.pen())
        else:
            painter.setPen(QPen(now.faint, 1))
        painter.drawLine(QPointF(S8, middle), QPointF(S8 + scaled(SAMPLE), middle))
        painter.setPen(now.ink if self.isChecked() else now.dim)
        font = self.font()
        font.setStrikeOut(not self.isChecked())
        painter.setFont(font)
        room = frame.adjusted(S8 + scaled(SAMPLE) + S8, 0, -S4, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self.text())


class SignKey(QWidget):
    """One sign and what it means."""

    def __init__(self, kind: SignKind, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind, self._words = kind, words
        bind_font(self, small_font)
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self._words) + 2 * scaled(SIGN) + 2 * S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = scaled(SIGN)
        paint_sign(painter, self._kind, QPointF(half + 2, self.height() / 2), theme().dim)
        painter.setPen(theme().dim)
        room = QRectF(self.rect()).adjusted(2 * half + S8, 0, 0, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self._words)


class LineLegend(QWidget):
    """A chip for each line, then the signs."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=6, down=4)
        self.chips: dict[str, LineChip] = {}
        self._signs = [SignKey(kind, words, self) for kind, words in SIGNS]
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Lines that are drawn")
        for sign in self._signs:
            self._flow.addWidget(sign)

    @property
    def hidden(self) -> list[str]:
        """The lines that are left out."""
        return [key for key, chip in self.chips.items() if not chip.isChecked()]

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Have a chip for each of these lines; what was left out stays so."""
        wanted = {line.key: line for line in lines}
        for key in [key for key in self.chips if key not in wanted]:
            chip = self.chips.pop(key)
            self._flow.removeWidget(chip)
            chip.deleteLater()
        for sign in self._signs:
            self._flow.removeWidget(sign)
        for key, line in wanted.items():
            if key in self.chips:
                self.chips[key].show_line(line)
                continue
            chip = self.chips[key] = LineChip(line, self)
            chip.toggled.connect(lambda _on: self.changed.emit())
            self._flow.addWidget(chip)
            chip.show()
        for sign in self._signs:
            self._flow.addWidget(sign)
        self._flow.invalidate()
        self.updateGeometry()

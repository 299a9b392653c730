"""How full the context is, in the header and by the composer."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.theme import bind_font, mono_font, on_theme_changed, theme
from ui.widgets.figures import full, round_short, short


class ContextGauge(QWidget):
    """``121.4k / 200k`` with a bar, and a tick where compaction is due.

    Beyond the tick the bar takes the warning colour and the figure an exclamation mark.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tokens, self._window, self._threshold = 0, 200_000, 200_000
        self._source = ""
        bind_font(self, mono_font)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Context")
        on_theme_changed(self.update)

    def set_context(self, tokens: int, window: int, threshold: int, source: str) -> None:
        """Tokens in the context, the window, where compaction is due, and who counted."""
        self._tokens, self._window = max(0, tokens), max(1, window)
        self._threshold, self._source = max(0, min(threshold, window)), source
        left = self._threshold - self._tokens
        state = (
            f"{full(left)} left before compaction is due"
            if left >= 0
            else (
                f"{full(-left)} beyond the threshold of {full(self._threshold)}: compaction is due"
            )
        )
        words = f"{full(self._tokens)} of {full(self._window)} tokens ({source}); {state}"
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """The figure beside the bar."""
        due = " !" if self._tokens > self._threshold else ""
        return f"{short(self._tokens)} / {round_short(self._window)}{due}"

    def sizeHint(self) -> QSize:
        return QSize(190 + 12 + self._text_width(), max(20, self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(48 + 12 + self._text_width(), max(20, self.fontMetrics().height()))

    def _text_width(self) -> int:
        return self.fontMetrics().horizontalAdvance(self.text())

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self.width() - 12 - self._text_width()
        middle = self.height() / 2
        bar = QRectF(0, middle - 4, width, 8)
        painter.setPen(QPen(now.line, 0))
        painter.setBrush(now.line)
        painter.drawRoundedRect(bar, 4, 4)
        due = self._tokens > self._threshold
        share = min(1.0, self._tokens / self._window)
        if share > 0:
            painter.setPen(QPen(now.lost if due else now.accent, 0))
            painter.setBrush(now.lost if due else now.accent)
            painter.drawRoundedRect(QRectF(0, middle - 4, max(8.0, width * share), 8), 4, 4)
        x = round(width * self._threshold / self._window)
        painter.setPen(QPen(now.ink, 2))
        painter.drawLine(QPointF(x, middle - 8), QPointF(x, middle + 8))
        painter.setPen(now.lost if due else now.ink)
        painter.setFont(self.font())
        painter.drawText(
            QPointF(width + 12, middle + self.fontMetrics().ascent() / 2 - 1), self.text()
        )

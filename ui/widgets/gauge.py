"""How full the context is, and how far it is to the next compaction: in the header."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.audit.provenance import Provenance, context_known
from ui.audit.known import marked
from ui.theme import bind_font, mono_font, on_theme_changed, theme
from ui.theme.verdicts import TO_SUMMARIZE, verdict_brush
from ui.widgets.figures import full, short

NEAR = 0.85
"""Share of the mark from which the context counts as near it."""
_BAR = 190
_SMALLEST_BAR = 48
_GAP = 12


class _Shown(Struct, frozen=True):
    """Sizes in tokens."""

    tokens: int = 0
    window: int = 200_000
    mark: int = 200_000
    about: bool = False
    source: str = ""
    is_automatic: bool = True
    is_window_known: bool = True

    @property
    def is_beyond(self) -> bool:
        """A provider took more than a window that is only assumed: there is a larger one."""
        exact = context_known(self.source).provenance is Provenance.EXACT
        return not self.is_window_known and self.tokens > self.window and exact

    @property
    def left(self) -> int:
        return self.mark - self.tokens

    @property
    def is_due(self) -> bool:
        return self.tokens > self.mark and not self.is_beyond

    @property
    def is_near(self) -> bool:
        return not self.is_due and not self.is_beyond and self.tokens >= self.mark * NEAR


class ContextGauge(QWidget):
    """``121.4k / 200k`` with a bar, and a tick where compaction is due.

    Near the tick the bar is hatched and coloured, as everything is that is to be summarized, and
    the figure says how near it is; beyond it both take the warning colour and say that it is due.
    """

    needs_changed = Signal()
    """The figure takes more room, or less."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = _Shown()
        bind_font(self, mono_font)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Context")
        on_theme_changed(self.update)

    def set_context(
        self,
        tokens: int,
        window: int,
        threshold: int,
        source: str,
        about: bool = False,
        is_window_known: bool = True,
    ) -> None:
        """Set tokens in the context, the window, where compaction is due, and who counted.

        ``about``: the place is not the same each time, as with summaries that are made ahead.
        ``is_window_known``: else another agent has it, which did not record it.
        """
        window = max(1, window)
        mark = max(0, min(threshold, window))
        self._show(
            _Shown(max(0, tokens), window, mark, about, source, self._shown.is_automatic,
                   is_window_known)
        )  # fmt: skip

    def set_automatic(self, is_automatic: bool) -> None:
        """Set whether the session is compacted by itself."""
        self._show(replace(self._shown, is_automatic=is_automatic))

    def _show(self, shown: _Shown) -> None:
        if shown == self._shown:
            return
        before, self._shown = self._text_width(), shown
        words = self._words()
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.updateGeometry()
        self.update()
        if self._text_width() != before:
            self.needs_changed.emit()

    def _words(self) -> str:
        now = self._shown
        at = f"{'about ' if now.about else ''}{full(now.mark)}"
        if now.is_due:
            state = f"{full(-now.left)} beyond the threshold of {at}: compaction is due"
        else:
            near = "near the threshold, " if now.is_near else ""
            state = f"{near}{full(now.left)} left before compaction is due"
        how = f"Compacts at {at}."
        if not now.is_automatic:
            how = f"Compaction is due at {at}, and does not happen by itself now."
        taken = f"{full(now.tokens)} of {full(now.window)} tokens ({now.source})"
        spoken = f"{taken}; {state}. {how}"
        known = context_known(now.source)
        if now.is_beyond:
            return (
                f"{full(now.tokens)} tokens ({now.source}). Its agent did not record the window, "
                f"which is larger than the {full(now.window)} that are set here."
            )
        if not now.is_window_known:
            spoken += " Its agent did not record the window: this one is set here."
        elif now.tokens > now.window and known.provenance is Provenance.EXACT:
            spoken += " A provider took them all: its model has a larger window than is set."
        return spoken if known.provenance is Provenance.EXACT else f"{spoken}\n{known.basis}"

    def text(self) -> str:
        """The figure beside the bar."""
        now = self._shown
        taken = marked(short(now.tokens), context_known(now.source)) if now.tokens else "0"
        if now.is_beyond:
            return f"{taken} / window unknown"
        figures = f"{taken} / {short(now.window)}"
        if now.is_due:
            return f"{figures} · due !"
        return f"{figures} · due in {short(now.left)}" if now.is_near else figures

    def sizeHint(self) -> QSize:
        return QSize(_BAR + _GAP + self._text_width(), max(20, self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:
        smallest = _SMALLEST_BAR + _GAP + self._text_width()
        return QSize(smallest, max(20, self.fontMetrics().height()))

    def _text_width(self) -> int:
        return self.fontMetrics().horizontalAdvance(self.text())

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self.width() - _GAP - self._text_width()
        middle = self.height() / 2
        painter.setPen(QPen(now.line, 0))
        painter.setBrush(now.line)
        painter.drawRoundedRect(QRectF(0, middle - 4, width, 8), 4, 4)
        shown = self._shown
        share = min(1.0, shown.tokens / shown.window)
        # Of a window that nobody knows no share is taken.
        if share > 0 and not shown.is_beyond:
            self._fill(painter, QRectF(0, middle - 4, max(8.0, width * share), 8))
        if not shown.is_beyond:
            x = round(width * shown.mark / shown.window)
            painter.setPen(QPen(now.ink, 2))
            painter.drawLine(QPointF(x, middle - 8), QPointF(x, middle + 8))
        painter.setPen(self._colour(now.ink))
        painter.setFont(self.font())
        baseline = middle + self.fontMetrics().ascent() / 2 - 1
        painter.drawText(QPointF(width + _GAP, baseline), self.text())

    def _colour(self, calm: QColor) -> QColor:
        if self._shown.is_due:
            return theme().lost
        return theme().comp if self._shown.is_near else calm

    def _fill(self, painter: QPainter, bar: QRectF) -> None:
        colour = self._colour(theme().accent)
        if not self._shown.is_near:
            painter.setPen(QPen(colour, 0))
            painter.setBrush(colour)
            painter.drawRoundedRect(bar, 4, 4)
            return
        painter.setPen(QPen(colour, 1))
        painter.setBrush(theme().card)
        painter.drawRoundedRect(bar, 4, 4)
        painter.setBrushOrigin(bar.topLeft())
        painter.setBrush(verdict_brush(TO_SUMMARIZE, self.devicePixelRatioF()))
        painter.drawRoundedRect(bar, 4, 4)

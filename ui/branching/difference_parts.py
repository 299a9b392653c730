"""The parts of a comparison: its figures side by side, and two texts with their differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QTextEdit, QWidget

from explorer.session.branch_difference import FIGURES, BranchDifference, Side
from explorer.session.text_difference import Piece
from ui.theme import S4, S8, S16, on_theme_changed, scaled, theme
from ui.widgets.labels import Caption

BARS: dict[str, Callable[[Side], float]] = {
    "Messages": lambda side: side.messages,
    "Adds to the context": lambda side: side.tokens,
    "Cost": lambda side: side.spent.cost,
    "Time": lambda side: side.elapsed_ms,
}
"""Figures that are drawn as bars beside each other as well."""


class Share(QWidget):
    """A bar as long as its share of the larger of two figures."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self.update)

    def set_share(self, share: float) -> None:
        self.share = share
        self.setVisible(share > 0)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(24), scaled(4))

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().accent)
        width = max(2.0, self.width() * min(1.0, self.share))
        painter.drawRoundedRect(QRectF(0, 0, width, self.height()), 2, 2)


class FiguresGrid(QWidget):
    """Captions at the left, the figures of both branches beside them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Figures of both branches")
        self.setMinimumWidth(1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(S16, S8, S16, S8)
        self._grid.setHorizontalSpacing(S16)
        self._grid.setVerticalSpacing(S4)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        self.values: dict[str, tuple[QLabel, QLabel]] = {}
        self._bars: dict[str, tuple[Share, Share]] = {}
        line = 0
        for title, _ in FIGURES:
            self._grid.addWidget(Caption(title, self), line, 0, Qt.AlignmentFlag.AlignTop)
            pair = QLabel(self), QLabel(self)
            for column, label in enumerate(pair, 1):
                label.setWordWrap(True)
                label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._grid.addWidget(label, line, column)
            self.values[title] = pair
            line += 1
            if title in BARS:
                bars = Share(self), Share(self)
                for column, bar in enumerate(bars, 1):
                    self._grid.addWidget(bar, line, column)
                self._bars[title] = bars
                line += 1

    def show_difference(self, found: BranchDifference, left: str, right: str) -> None:
        """Show the figures; ``left`` and ``right`` are what the branches are called."""
        sides = (found.left, found.right)
        for title, words in FIGURES:
            for label, side, name in zip(self.values[title], sides, (left, right), strict=True):
                # A model's name may be broken behind its provider.
                label.setText(words(side).replace("/", "/\u200b"))
                label.setAccessibleName(f"{title} of {name}: {words(side)}")
        for title, bars in self._bars.items():
            figures = [BARS[title](side) for side in sides]
            most = max(figures)
            for bar, figure in zip(bars, figures, strict=True):
                bar.set_share(figure / most if most else 0.0)


class MarkedText(QTextEdit):
    """A text in which what the other one has not is marked: by a ground and a line below."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pieces: Sequence[Piece] = ()
        self._empty = ""
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        on_theme_changed(self._fill)

    def show_pieces(self, pieces: Sequence[Piece], empty: str) -> None:
        """``empty``: what is said where there is no text."""
        self._pieces, self._empty = pieces, empty
        self._fill()

    @property
    def marked(self) -> list[str]:
        """The stretches that are marked."""
        return [piece.text for piece in self._pieces if piece.differs]

    def _fill(self) -> None:
        now = theme()
        plain, marked = QTextCharFormat(), QTextCharFormat()
        marked.setBackground(now.sel)
        marked.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        marked.setUnderlineColor(now.accent)
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for piece in self._pieces:
            cursor.insertText(piece.text, marked if piece.differs else plain)
        if not self._pieces:
            plain.setForeground(now.dim)
            cursor.insertText(self._empty, plain)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

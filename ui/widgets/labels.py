"""Small texts: captions, key caps, labels that shorten themselves, hairlines."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextDocumentFragment,
)
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from ui.theme import bind_font, on_theme_changed, set_tone, small_font, theme, ui_font


def set_rich(label: QLabel, html: str) -> None:
    """Show trusted rich text; what it quotes must be escaped.

    The style sheet makes every other label plain, so that no text of a session is read as HTML.
    """
    label.setProperty("rich", True)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setText(html)


def set_plain(label: QLabel, text: str) -> None:
    """Show plain text again where ``set_rich`` was."""
    label.setProperty("rich", False)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)


class RichLabel(QLabel):
    """Trusted rich text, what it quotes escaped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_rich(self, "")


class Heading(QLabel):
    """A bold title in plain text. ``wraps``: in several lines where needed."""

    def __init__(self, parent: QWidget, wraps: bool = False) -> None:
        super().__init__(parent)
        self.setWordWrap(wraps)
        self.setTextFormat(Qt.TextFormat.PlainText)
        bind_font(self, lambda: ui_font(0.5, bold=True))


class Caption(QLabel):
    """A small dim label. ``tone``: see ``set_tone``; ``wraps``: in several lines where needed."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        tone: str = "dim",
        wraps: bool = False,
    ) -> None:
        super().__init__(text, parent)
        self.setWordWrap(wraps)
        self.setTextFormat(Qt.TextFormat.PlainText)
        bind_font(self, small_font)
        set_tone(self, tone)


class SteadyCaption(Caption):
    """Several lines whose figures change while something below it is dragged: at a width it stays
    as high as it was once, until it is to begin anew."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, wraps=True)
        self._most: dict[int, int] = {}
        """Height by width, in pixels."""
        on_theme_changed(self.begin_anew)

    def begin_anew(self) -> None:
        """Be as high as the present words."""
        self._most.clear()
        self.updateGeometry()

    def heightForWidth(self, width: int, /) -> int:
        high = max(super().heightForWidth(width), self._most.get(width, 0))
        self._most[width] = high
        return high


class MessageLine(QLabel):
    """A line of a dialog that says how it went; hidden while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def say(self, text: str, *, failed: bool = False) -> None:
        """Show a sentence, of something that failed in the colour of losses."""
        self.setText(text)
        self.setVisible(bool(text))
        set_tone(self, "lost" if failed else "")


class Hairline(QFrame):
    """A separator of one pixel."""

    def __init__(self, vertical: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("line", "v" if vertical else "h")
        self.setFrameShape(QFrame.Shape.NoFrame)


MARK = "…"
_FEW = 14
"""Characters for which there must be room, so that words are cut in their middle."""


def elided(
    metrics: QFontMetrics | QFontMetricsF, text: str, width: float, *, keep_end: bool = False
) -> str:
    """The text cut to a width in pixels, with one mark where something is missing: of a text that
    was cut before, that mark stays. ``keep_end``: its end tells as much as its beginning."""
    if metrics.horizontalAdvance(text) <= width:
        return text
    head, cut_before, tail = text.rpartition(MARK) if keep_end else (text, "", "")
    right, end = Qt.TextElideMode.ElideRight, metrics.horizontalAdvance(tail)
    if cut_before:
        if tail and end <= width / 2:
            return f"{_cut(metrics, head + MARK, right, width - end)}{tail}"
        text = head + MARK
    is_long = width >= _FEW * metrics.averageCharWidth()
    in_middle = keep_end and not cut_before and is_long
    return _cut(metrics, text, Qt.TextElideMode.ElideMiddle if in_middle else right, width)


def _cut(
    metrics: QFontMetrics | QFontMetricsF, text: str, mode: Qt.TextElideMode, width: float
) -> str:
    shown = metrics.elidedText(text, mode, int(width))
    return re.sub(rf"(?:{MARK}[\s,;:]*)+$", MARK, re.sub(f"{MARK}+", MARK, shown))


class ElidedLabel(QLabel):
    """One line that ends in an ellipsis where there is no room; the tool tip has all of it."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self.marked = ""
        """A stretch of the text that is marked."""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def mark(self, stretch: str) -> None:
        """Mark a stretch of the text; an empty one takes the mark away."""
        self.marked = stretch
        self.update()

    def setText(self, text: str, /) -> None:
        line = " ".join(text.split())
        super().setText(line)
        self.setAccessibleName(line)
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def shown_text(self) -> str:
        """What is painted at the present width."""
        room = self.contentsRect().width()
        if self._mode is Qt.TextElideMode.ElideRight:
            return elided(self.fontMetrics(), self.text(), room)
        return self.fontMetrics().elidedText(self.text(), self._mode, room)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        shown = self.shown_text()
        self.setToolTip(self.text() if shown != self.text() else "")
        painter = QPainter(self)
        self._paint_mark(painter, shown)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), shown)

    def _paint_mark(self, painter: QPainter, shown: str) -> None:
        """A ground and a line below the marked stretch, as far as it is shown."""
        at = self.text().find(self.marked) if self.marked else -1
        if at < 0:
            return
        metrics, rect, now = self.fontMetrics(), self.contentsRect(), theme()
        left = metrics.horizontalAdvance(shown[:at])
        wide = metrics.horizontalAdvance(shown[: at + len(self.marked)]) - left
        top = rect.top() + (rect.height() - metrics.height()) // 2
        place = QRect(rect.left() + left, top, max(wide, 2), metrics.height())
        painter.fillRect(place, now.sel)
        painter.fillRect(QRect(place.left(), place.bottom(), place.width(), 1), now.accent)


class LinkButton(QPushButton):
    """A button that looks like a link, reachable by Tab; Return presses it as well."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("kind", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(event)


class ClickLabel(RichLabel):
    """Trusted rich text with links; Tab moves between them, Return follows one. Without a link it
    is no stop of the Tab key: nothing would show that it has the keyboard."""

    link = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
            | Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.setOpenExternalLinks(False)
        self.linkActivated.connect(self.link)
        self._words = ""
        on_theme_changed(self._again)

    def set_words(self, html: str, spoken: str) -> None:
        """Show ``html`` (already escaped where it quotes) and say ``spoken``."""
        self.setAccessibleName(spoken)
        if html == self._words:
            return
        self._words = html
        self._again()
        # The Tab key stops where there is something to follow.
        policies = Qt.FocusPolicy
        self.setFocusPolicy(policies.StrongFocus if "<a " in html else policies.ClickFocus)
        if self.hasFocus():
            self._go_to_link(first=True)

    def _again(self) -> None:
        # Links take their colour from the palette when the text is set.
        self.setText("")
        self.setText(self._words)

    def focusInEvent(self, event: QFocusEvent, /) -> None:
        """By Tab right to the first link, by Shift+Tab to the last."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._go_to_link(first=event.reason() is Qt.FocusReason.TabFocusReason)

    def _go_to_link(self, *, first: bool) -> None:
        """Have the keyboard on the first link, or on the last."""
        words = QTextDocumentFragment.fromHtml(self._words).toPlainText()
        self.setSelection(0 if first else len(words), 0)
        self.focusNextPrevChild(first)

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        super().mousePressEvent(event)
        event.accept()

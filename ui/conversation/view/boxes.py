"""Parts laid out at a width: they paint themselves, find characters, and take selections."""

from __future__ import annotations

import time
from typing import NamedTuple

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)

from ui import theme
from ui.conversation.view.calls import seconds
from ui.conversation.view.parts import ItemPart, Note, Prose, Role, Row
from ui.inspector.markdown_view import InertDocument, render_markdown
from ui.theme.tokens import blend
from ui.widgets.labels import elided

_WIDEST = 900
"""Words are not set wider than this, at a text scale of 100 %: longer lines read badly."""
_ROLES = ("Compacted", "Thinking", "SendMessage")
"""The longest names in the column of roles; a longer one ends in an ellipsis."""
_NARROW = 460
"""Below this the names of who speaks give way to their signs."""


class BoxInks(Struct, frozen=True):
    """Everything that painting and laying out need to know of the look."""

    now: theme.Theme
    ui: QFont
    bold: QFont
    small: QFont
    mono: QFont
    metrics: QFontMetrics
    small_metrics: QFontMetrics
    mono_metrics: QFontMetrics
    width: int
    """Of the whole surface, in logical pixels."""
    left: int
    """Where a message begins."""
    right: int
    """Where it ends at the latest."""
    narrow: bool
    sign: int
    """Side of an icon."""
    selection: QColor
    hit: QColor
    current_hit: QColor
    user_ground: QColor
    """Behind the words of the person."""
    dpr: float

    @classmethod
    def make(cls, width: int, dpr: float) -> BoxInks:
        """For a surface of this width, in the theme and at the scale in force."""
        now = theme.theme()
        ui, small, mono = theme.ui_font(), theme.small_font(), theme.mono_font()
        metrics = QFontMetrics(ui)
        sign = theme.scaled(15)
        narrow = width < theme.scaled(_NARROW)
        names = 0 if narrow else max(map(metrics.horizontalAdvance, _ROLES))
        left = theme.S16 + sign + theme.S8 + (names + theme.S12 if names else 0)
        right = min(width - theme.S16, left + theme.scaled(_WIDEST))
        return cls(
            now=now, ui=ui, bold=theme.ui_font(bold=True), small=small, mono=mono,
            metrics=metrics, small_metrics=QFontMetrics(small), mono_metrics=QFontMetrics(mono),
            width=width, left=left, right=max(right, left + theme.scaled(60)), narrow=narrow,
            sign=sign,
            selection=blend(now.accent, now.paper, 0.32),
            hit=blend(now.shell, now.paper, 0.38),
            current_hit=now.accent,
            user_ground=blend(now.sel, now.paper, 0.55),
            dpr=dpr,
        )  # fmt: skip

    @property
    def room(self) -> int:
        """Width of a message."""
        return self.right - self.left


_QUOTE = QTextFormat.Property.BlockQuoteLevel

WHOLE = 1 << 30
"""As the end of a selection: everything."""


class Zone(NamedTuple):
    """Something in a box that does something when it is clicked."""

    rect: QRectF
    deed: str
    tip: str


class Looks(Struct):
    """How a box is to look at this moment."""

    selected: tuple[int, int] | None = None
    """Characters of it that are selected."""
    query: str = ""
    current: int = -1
    """Which of its hits is the one that was gone to."""
    hovered: bool = False


class Box:
    """A part at a width. Coordinates are the surface's; y counts from the top of the box."""

    height = 0.0
    is_stale = False
    """Whether it gets better looking when there is time (see ``improve``)."""
    improved_at = 0.0
    """When it did so last, in seconds of the monotonic clock."""

    def __init__(self, part: ItemPart, inks: BoxInks) -> None:
        self.part, self.inks = part, inks

    @property
    def left(self) -> float:
        """Where its content begins."""
        return self.inks.left + (theme.S12 if self.part.inset else 0)

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        """Draw it; ``top`` and ``clip`` (what is to be drawn at all) are the surface's."""

    def place(self, at: QPointF) -> int:
        """The position of a character at a point; 0 where there is no text."""
        return 0

    def length(self) -> int:
        """Positions that its text has."""
        return 0

    def text(self, first: int = 0, end: int = WHOLE) -> str:
        """The words between two positions, as they are shown."""
        return self.part.words

    def markdown(self, first: int, end: int) -> str:
        """The words between two positions as Markdown."""
        return self.text(first, end)

    def zones(self) -> list[Zone]:
        """What can be clicked."""
        return []

    def link(self, at: QPointF) -> str:
        """The address of the link at a point, or nothing."""
        return ""

    def hits(self, query: str) -> list[tuple[int, int]]:
        """Where a text occurs, by positions."""
        return []

    def hit_rect(self, number: int, query: str) -> QRectF:
        """Where a hit is, for scrolling to it."""
        return QRectF(self.left, 0, 1, min(self.height, 20))

    def improve(self) -> None:
        """Do what was put off for the sake of the first paint; the height stays."""

    def grow(self, part: ItemPart) -> bool:
        """Become a part that has more at its end; False where it must be laid out again."""
        return False


class DocumentBox(Box):
    """A box around a text document."""

    text_top = 0.0
    padding = 0.0
    tint = "ink"

    def __init__(self, part: ItemPart, inks: BoxInks) -> None:
        super().__init__(part, inks)
        self.document: QTextDocument = InertDocument()
        self.document.setUndoRedoEnabled(False)
        self.document.setDocumentMargin(0)
        self.document.setIndentWidth(20)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document.setDefaultTextOption(option)
        self._found: tuple[str, list[tuple[int, int]]] = ("", [])

    def fit(self, width: float) -> QSizeF:
        """Lay the document out."""
        self.document.setTextWidth(max(width, 20))
        return self.document.size()

    @property
    def text_left(self) -> float:
        """Where the document begins."""
        return self.left + self.padding

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, getattr(self.inks.now, self.tint))
        context.palette = palette
        origin = QPointF(self.text_left, top + self.text_top)
        context.clip = clip.translated(-origin)
        context.selections = self._selections(looks)
        painter.save()
        painter.translate(origin)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def _selections(self, looks: Looks) -> list[QAbstractTextDocumentLayout.Selection]:
        found = []
        if looks.query:
            for number, (first, end) in enumerate(self.hits(looks.query)):
                current = number == looks.current
                fill = self.inks.current_hit if current else self.inks.hit
                ink = self.inks.now.on_accent if current else self.inks.now.ink
                found.append(self._marked(first, end, fill, ink))
        if looks.selected is not None:
            first, end = looks.selected
            found.append(self._marked(first, end, self.inks.selection, None))
        return found

    def _marked(
        self, first: int, end: int, fill: QColor, ink: QColor | None
    ) -> QAbstractTextDocumentLayout.Selection:
        mark = QAbstractTextDocumentLayout.Selection()
        mark.cursor = self._cursor(first, end)
        form = QTextCharFormat()
        form.setBackground(fill)
        if ink is not None:
            form.setForeground(ink)
        mark.format = form
        return mark

    def _cursor(self, first: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(first, self.length()))
        cursor.setPosition(min(end, self.length()), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def place(self, at: QPointF) -> int:
        point = at - QPointF(self.text_left, self.text_top)
        hit = self.document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
        return max(hit, 0)

    def word_at(self, position: int, unit: QTextCursor.SelectionType) -> tuple[int, int]:
        """The word or the line around a position."""
        cursor = self._cursor(position, position)
        cursor.select(unit)
        return cursor.selectionStart(), cursor.selectionEnd()

    def length(self) -> int:
        return self.document.characterCount() - 1

    def text(self, first: int = 0, end: int = WHOLE) -> str:
        words = self._cursor(first, end).selectedText()
        return words.replace("\u2029", "\n").replace("\u2028", "\n").replace("\u00a0", " ")

    def link(self, at: QPointF) -> str:
        return self.document.documentLayout().anchorAt(at - QPointF(self.text_left, self.text_top))

    def hits(self, query: str) -> list[tuple[int, int]]:
        if self._found[0] != query:
            found = []
            cursor = self.document.find(query, 0)
            while not cursor.isNull():
                found.append((cursor.selectionStart(), cursor.selectionEnd()))
                cursor = self.document.find(query, cursor)
            self._found = query, found
        return self._found[1]

    def hit_rect(self, number: int, query: str) -> QRectF:
        found = self.hits(query)
        if not 0 <= number < len(found):
            return super().hit_rect(number, query)
        block = self.document.findBlock(found[number][0])
        rect = self.document.documentLayout().blockBoundingRect(block)
        line = block.layout().lineForTextPosition(found[number][0] - block.position())
        if line.isValid():
            y = rect.top() + line.y()
            return QRectF(self.text_left, self.text_top + y, 1, line.height())
        return rect.translated(self.text_left, self.text_top)


class ProseBox(DocumentBox):
    """Markdown."""

    def __init__(self, part: Prose, inks: BoxInks) -> None:
        super().__init__(part, inks)
        self.tint = "dim" if part.inset else "ink"
        render_markdown(self.document, part.text)
        self._bars = self._tidy()
        self.height = self.fit(inks.right - self.left).height()

    def _tidy(self) -> list[tuple[int, int]]:
        """Take out the lines that Qt adds around tables, and give quotes a bar; the first and the
        last block of each quote."""
        quotes: list[tuple[int, int]] = []
        block = self.document.begin()
        while block.isValid():
            form = block.blockFormat()
            at_edge = not block.previous().isValid() or not block.next().isValid()
            if at_edge and not block.text() and self.document.blockCount() > 1:
                thin = QTextBlockFormat()
                thin.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
                QTextCursor(block).mergeBlockFormat(thin)
            if form.intProperty(QTextFormat.Property.BlockQuoteLevel):
                quote = QTextBlockFormat()
                quote.setLeftMargin(theme.S12 * form.intProperty(_QUOTE))
                QTextCursor(block).mergeBlockFormat(quote)
                number = block.blockNumber()
                first = quotes.pop()[0] if quotes and quotes[-1][1] == number - 1 else number
                quotes.append((first, number))
            block = block.next()
        return quotes

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        layout = self.document.documentLayout()
        for first, last in self._bars:
            above = layout.blockBoundingRect(self.document.findBlockByNumber(first)).top()
            below = layout.blockBoundingRect(self.document.findBlockByNumber(last)).bottom()
            bar = QRectF(self.text_left, top + above, 2, below - above)
            painter.fillRect(bar, self.inks.now.line)
        super().paint(painter, top, looks, clip)

    def markdown(self, first: int, end: int) -> str:
        if first <= 0 and end >= self.length():
            assert isinstance(self.part, Prose)
            return self.part.text
        fragment = self._cursor(first, end).selection()
        return fragment.toMarkdown(QTextDocument.MarkdownFeature.MarkdownDialectGitHub).strip("\n")


class NoteBox(DocumentBox):
    """Small words, with a sign where they say why something failed."""

    def __init__(self, part: Note, inks: BoxInks) -> None:
        super().__init__(part, inks)
        self.tint = part.tint
        self.padding = inks.sign + theme.S4 if part.icon else 0
        self.document.setDefaultFont(inks.small if not part.icon else inks.ui)
        self.document.setPlainText(part.text)
        self.height = self.fit(inks.right - self.left - self.padding).height()

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        part = self.part
        assert isinstance(part, Note)
        if part.icon:
            sign = self.inks.sign
            picture = theme.icon_pixmap(part.icon, part.tint, sign, self.inks.dpr)
            middle = top + (self.inks.metrics.height() - sign) / 2
            painter.drawPixmap(QPointF(self.left, middle), picture)
        super().paint(painter, top, looks, clip)


_CHEVRON = 12


def paint_role(painter: QPainter, inks: BoxInks, role: Role, top: float, line: float) -> None:
    """Paint the role at the left; ``line`` is the height of the first line."""
    sign, colour = inks.sign, getattr(inks.now, role.tint)
    picture = theme.icon_pixmap(role.icon, role.tint, sign, inks.dpr)
    painter.drawPixmap(QPointF(theme.S16, top + (line - sign) / 2), picture)
    if inks.narrow:
        return
    painter.setFont(inks.ui)
    painter.setPen(colour)
    left = theme.S16 + sign + theme.S8
    room = inks.left - left - theme.S8
    name = inks.metrics.elidedText(role.name, Qt.TextElideMode.ElideRight, room)
    baseline = top + (line - inks.metrics.height()) / 2 + inks.metrics.ascent()
    painter.drawText(QPointF(left, baseline), name)


class RowBox(Box):
    """A ``Row``; it is selected as a whole or not at all."""

    def __init__(self, part: Row, inks: BoxInks) -> None:
        super().__init__(part, inks)
        self.row = part
        self.height = float(inks.metrics.height() + theme.S4)

    def length(self) -> int:
        return 1

    def place(self, at: QPointF) -> int:
        return 0 if at.x() < (self.left + self.inks.right) / 2 else 1

    def text(self, first: int = 0, end: int = 1) -> str:
        parts = (self.row.role.name if self.row.role else "", self.row.text, self.row.tail)
        return "  ".join(part for part in parts if part)

    def hits(self, query: str) -> list[tuple[int, int]]:
        found = self.row.text.casefold().count(query.casefold())
        return [(0, 1)] * found

    @property
    def acts(self) -> bool:
        """Whether a click does anything."""
        return bool(self.row.opens or self.row.goes_to >= 0 or self.row.address)

    def tail_words(self) -> str:
        """What came of it; for a running call with the time that it runs."""
        if self.row.since:
            return (
                f"{self.row.tail} · {seconds(int(time.monotonic() - self.row.since), whole=True)}"
            )
        return self.row.tail

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        inks, row = self.inks, self.row
        whole = QRectF(self.left - theme.S4, top, inks.right - self.left + theme.S4, self.height)
        if looks.selected is not None or (looks.hovered and self.acts):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(inks.selection if looks.selected is not None else inks.now.panel)
            painter.drawRoundedRect(whole, 4, 4)
        right = float(inks.right - theme.S4)
        if row.opens:
            side = theme.scaled(_CHEVRON)
            name = "chevron-down" if row.is_open else "chevron-right"
            picture = theme.icon_pixmap(name, "dim", side, inks.dpr)
            painter.drawPixmap(QPointF(right - side, top + (self.height - side) / 2), picture)
            right -= side + theme.S8
        right = self._paint_tail(painter, top, right)
        end = self._paint_text(painter, top, right, looks)
        if row.is_mark and right - end > theme.S24:
            painter.setPen(inks.now.line)
            middle = round(top + self.height / 2)
            painter.drawLine(QPointF(end + theme.S12, middle), QPointF(right - theme.S4, middle))

    def _paint_tail(self, painter: QPainter, top: float, right: float) -> float:
        words = self.tail_words()
        if not words:
            return right
        metrics = self.inks.small_metrics
        room = int(min(right - self.left, max((right - self.left) * 0.45, theme.scaled(110))))
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        left = right - metrics.horizontalAdvance(shown)
        painter.setFont(self.inks.small)
        painter.setPen(getattr(self.inks.now, self.row.tail_tint))
        painter.drawText(QPointF(left, self._baseline(top, metrics)), shown)
        return left - theme.S12

    def _paint_text(self, painter: QPainter, top: float, right: float, looks: Looks) -> float:
        row, inks = self.row, self.inks
        metrics = inks.mono_metrics if row.mono else inks.metrics
        room = max(0, int(right - self.left))
        # Laying out what cannot be seen would take its time.
        shown = elided(metrics, row.text[:1000], room)
        width = metrics.horizontalAdvance(shown)
        if looks.query and (at := shown.casefold().find(looks.query.casefold())) >= 0:
            left = self.left + metrics.horizontalAdvance(shown[:at])
            wide = metrics.horizontalAdvance(shown[at : at + len(looks.query)])
            fill = inks.hit if looks.current < 0 else inks.selection
            painter.fillRect(QRectF(left, top + 1, wide, self.height - 2), fill)
        painter.setFont(inks.mono if row.mono else inks.ui)
        painter.setPen(getattr(inks.now, row.tint))
        painter.drawText(QPointF(self.left, self._baseline(top, metrics)), shown)
        return self.left + width

    def _baseline(self, top: float, metrics: object) -> float:
        # All type of a row stands on one line.
        whole = self.inks.metrics
        return top + (self.height - whole.height()) / 2 + whole.ascent()

"""One item laid out, part by part and only where it is looked at: prose, code, pictures that are
decoded in threads."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPen, QTextBlockFormat, QTextCursor

from explorer.session.entries import ImageBlock
from ui import theme
from ui.conversation.view.boxes import (
    Box,
    BoxInks,
    DocumentBox,
    Looks,
    NoteBox,
    ProseBox,
    RowBox,
    Zone,
)
from ui.conversation.view.parts import Code, Diff, ItemPart, Note, PicturePart, Prose, Row
from ui.inspector.code import colour
from ui.inspector.images import PictureRefused, decode
from ui.widgets.figures import size
from ui.widgets.loader import BackgroundJobs
from ui.widgets.plain_text import split_lines


class CodeBox(DocumentBox):
    """Code, an output or a diff on a panel; long ones are several boxes in a row."""

    def __init__(self, part: Code | Diff, inks: BoxInks) -> None:
        super().__init__(part, inks)
        self.opens = part.opens if isinstance(part, Code) else True
        self.closes = part.closes if isinstance(part, Code) else True
        self.padding = theme.S12 if not part.inset else theme.S8
        self._headed = self.opens and isinstance(part, Code) and part.fenced
        head = inks.small_metrics.height() + theme.S8 if self._headed else theme.S4
        self.text_top = head if self.opens else 0
        self.document.setDefaultFont(inks.mono)
        self._copy_side = inks.sign + theme.S8
        if isinstance(part, Code):
            self._shown, _ = split_lines(part.text)
            self.document.setPlainText(self._shown)
            self.is_stale = part.coloured and bool(part.language or part.path)
        else:
            self._fill_diff(part)
        self._fit()

    def _fit(self) -> None:
        room = self.inks.right - self.left - 2 * self.padding
        size = self.fit(room - (0 if self._headed else self._copy_side))
        self.height = self.text_top + size.height() + (theme.S8 if self.closes else 0)

    def grow(self, part: ItemPart) -> bool:
        """More lines: those that are there keep their colours."""
        old = self.part
        if not isinstance(part, Code) or not isinstance(old, Code):
            return False
        if (
            not part.text.startswith(old.text)
            or replace(part, text=old.text, closes=old.closes) != old
        ):
            return False
        shown, _ = split_lines(part.text)
        if not shown.startswith(self._shown):
            return False
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(shown[len(self._shown) :])
        self.part, self._shown, self.closes = part, shown, part.closes
        self.is_stale = part.coloured and bool(part.language or part.path)
        self._found = ("", [])
        self._fit()
        return True

    def _fill_diff(self, part: Diff) -> None:
        now = self.inks.now
        fills = {"+": now.added, "-": now.removed}
        lines = part.lines
        words = (f"{line.sign.replace('@', ' ')} {line.text[:998]}" for line in lines)
        self.document.setPlainText("\n".join(words))
        block = self.document.begin()
        for line in lines:
            if (fill := fills.get(line.sign)) is not None:
                form = QTextBlockFormat()
                form.setBackground(fill)
                QTextCursor(block).mergeBlockFormat(form)
            block = block.next()

    @property
    def surface(self) -> QRectF:
        """The panel behind it."""
        return QRectF(self.left, 0, self.inks.right - self.left, self.height)

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        now, panel = self.inks.now, self.surface.translated(0, top)
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(now.panel)
        painter.setClipRect(panel.intersected(clip))
        # Corners only where the block begins and ends.
        above = 0 if self.opens else theme.RADIUS
        below = 0 if self.closes else theme.RADIUS
        painter.drawRoundedRect(panel.adjusted(0, -above, 0, below), theme.RADIUS, theme.RADIUS)
        painter.restore()
        if self._headed:
            self._paint_head(painter, top)
        super().paint(painter, top, looks, clip)
        if self.opens:
            rect = self._copy_rect().translated(0, top)
            sign = self.inks.sign
            picture = theme.icon_pixmap(
                "copy", "ink" if looks.hovered else "dim", sign, self.inks.dpr
            )
            corner = rect.center() - QPointF(sign / 2, sign / 2)
            painter.drawPixmap(corner, picture)

    def _paint_head(self, painter: QPainter, top: float) -> None:
        assert isinstance(self.part, Code)
        painter.setFont(self.inks.small)
        painter.setPen(self.inks.now.dim)
        baseline = top + theme.S4 + self.inks.small_metrics.ascent()
        painter.drawText(QPointF(self.text_left, baseline), self.part.language or "text")

    def _copy_rect(self) -> QRectF:
        side = self._copy_side
        return QRectF(self.inks.right - side - 2, 2, side, side)

    def zones(self) -> list[Zone]:
        return [Zone(self._copy_rect(), "copy", "Copy the code")] if self.opens else []

    def improve(self) -> None:
        self.is_stale, self.improved_at = False, time.monotonic()
        part = self.part
        if isinstance(part, Code):
            colour(self.document, self.document.begin(), part.text, part.language, part.path)


_MOST_CACHED = 24
_HIGHEST = 320
"""Height of a picture at most, at a text scale of 100 %."""

Decoded = tuple[QImage, str]
"""The picture (null where it is not shown) and its size, or why it is not shown."""


class Pictures(QObject):
    """Decodes what is asked for, one after the other."""

    ready = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cache: OrderedDict[ImageBlock, Decoded | None] = OrderedDict()
        self._background = BackgroundJobs(self)
        self._background.done.connect(self._done)

    def of(self, block: ImageBlock) -> Decoded | None:
        """A picture, or None while it is decoded; ``ready`` tells when to ask again."""
        if block not in self._cache:
            self._cache[block] = None
            self._background.run(block, lambda: _decode(block))
            while len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(block)
        return self._cache[block]

    def _done(self, block: ImageBlock, result: object) -> None:
        failed = QImage(), "The picture cannot be decoded."
        self._cache[block] = result if isinstance(result, tuple) else failed
        self.ready.emit()


def _decode(block: ImageBlock) -> Decoded:
    try:
        image, whole, length = decode(block)
    except PictureRefused as error:
        return QImage(), str(error)
    return image, f"{block.mime}, {whole.width()} × {whole.height()}, {size(length)}"


class PictureBox(Box):
    """A picture with its size in words below it."""

    def __init__(self, part: PicturePart, inks: BoxInks, pictures: Pictures) -> None:
        super().__init__(part, inks)
        self._decoded = pictures.of(part.image)
        self._caption = inks.small_metrics.height() + theme.S4
        image = self._decoded[0] if self._decoded is not None else QImage()
        self._rect = QRectF(self.left, 0, 0, 0)
        if not image.isNull():
            wide = min(inks.right - self.left, image.width())
            high = min(theme.scaled(_HIGHEST), image.height() * wide / image.width())
            wide = image.width() * high / image.height()
            self._rect = QRectF(self.left, 0, wide, high)
            self._shown = image.scaled(
                round(wide * inks.dpr), round(high * inks.dpr),
                Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation,
            )  # fmt: skip
        self.height = self._rect.height() + self._caption

    @property
    def is_decoded(self) -> bool:
        """Whether it is known how high it is."""
        return self._decoded is not None

    def length(self) -> int:
        return 1

    def text(self, first: int = 0, end: int = 1) -> str:
        return self._decoded[1] if self._decoded is not None else self.part.words

    def zones(self) -> list[Zone]:
        return [Zone(self._rect, "entry", "Show it in the inspector")]

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        rect = self._rect.translated(0, top)
        if not self._rect.isEmpty():
            painter.drawImage(rect, self._shown)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.inks.now.line, 1))
            painter.drawRect(rect)
            if looks.selected is not None:
                fill = self.inks.selection
                fill.setAlpha(120)
                painter.fillRect(rect, fill)
        painter.setFont(self.inks.small)
        painter.setPen(self.inks.now.dim)
        words = self._decoded[1] if self._decoded is not None else "Decoding the picture…"
        metrics = self.inks.small_metrics
        room = self.inks.right - int(self.left)
        baseline = rect.bottom() + theme.S4 + metrics.ascent()
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(self.left, baseline), shown)


def make_box(part: ItemPart, inks: BoxInks, pictures: Pictures) -> Box:
    """Lay a part out."""
    if isinstance(part, Prose):
        return ProseBox(part, inks)
    if isinstance(part, Code | Diff):
        return CodeBox(part, inks)
    if isinstance(part, PicturePart):
        return PictureBox(part, inks, pictures)
    if isinstance(part, Note):
        return NoteBox(part, inks)
    assert isinstance(part, Row)
    return RowBox(part, inks)


def _gap(part: ItemPart, before: ItemPart | None) -> float:
    """Space above a part."""
    if before is None:
        if isinstance(part, Row):
            return theme.S12 if part.is_mark else theme.S8 if part.key[0] == "k" else 2
        return theme.S24 if isinstance(part, Prose) and part.by_user else theme.S12
    if isinstance(part, Code) and isinstance(before, Code) and not part.opens:
        return 0
    if isinstance(part, Row) and isinstance(before, Row):
        return 2
    if isinstance(part, Prose) and part.text.startswith("#"):
        return theme.S12
    if isinstance(part, Note):
        return theme.S4
    return theme.S8


def _below(part: ItemPart) -> float:
    """Space below the last part of an item: a user's message stands on a coloured ground."""
    is_user = isinstance(part, Prose | Code | PicturePart) and part.by_user
    if isinstance(part, Row) and not part.is_mark:
        return 0
    return theme.S12 if is_user else theme.S4


def _guess(part: ItemPart, inks: BoxInks) -> float:
    """About how high a part is, without laying it out."""
    if isinstance(part, Row):
        return inks.metrics.height() + theme.S4
    if isinstance(part, Note):
        return inks.small_metrics.height()
    if isinstance(part, PicturePart):
        return theme.scaled(180)
    if isinstance(part, Diff):
        return len(part.lines) * inks.mono_metrics.height() + theme.S12
    text = part.words
    metrics = inks.mono_metrics if isinstance(part, Code) else inks.metrics
    columns = max(10.0, inks.room / max(metrics.averageCharWidth(), 1))
    return (text.count("\n") + 1 + len(text) / columns / 2) * metrics.height()


class LaidItem:
    """The parts of an item with their heights, exact where a part was looked at."""

    def __init__(self, entry: int, parts: list[ItemPart], inks: BoxInks) -> None:
        self.entry = entry
        self.parts: list[ItemPart] = []
        self.places: dict[str, int] = {}
        self._boxes: list[Box | None] = []
        self._gaps: list[float] = []
        self._belows: list[float] = []
        self._heights: list[float] = []
        self._tops: list[float] | None = None
        self.inks = inks
        self.set_parts(parts)

    def set_parts(self, parts: list[ItemPart]) -> None:
        """Show other parts; what is the same keeps its box."""
        same = 0
        for old, new in zip(self.parts, parts, strict=False):
            if old is not new and old != new:
                break
            same += 1
        boxes = {part.key: box for part, box in zip(self.parts, self._boxes, strict=True) if box}
        if len(parts) != len(self.parts):
            # Another part is the last one now: it is the last that has space below it.
            same = max(0, min(same, len(self.parts) - 1, len(parts) - 1))
        del self._boxes[same:], self._gaps[same:], self._heights[same:], self._belows[same:]
        for at in range(same, len(parts)):
            part = parts[at]
            gap = _gap(part, parts[at - 1] if at else None)
            box = boxes.get(part.key)
            keeps = box is not None and (box.part == part or box.grow(part))
            self._boxes.append(box if keeps else None)
            self._gaps.append(gap)
            below = _below(part) if at == len(parts) - 1 else 0
            self._belows.append(below)
            high = box.height if keeps and box else _guess(part, self.inks)
            self._heights.append(gap + high + below)
        self.parts, self._tops = parts, None
        self.places = {part.key: at for at, part in enumerate(parts)}

    def set_inks(self, inks: BoxInks) -> None:
        """Set width and colours: each item is laid out again when it is shown."""
        self.inks = inks
        parts, self.parts, self._boxes = self.parts, [], []
        self._gaps, self._belows, self._heights = [], [], []
        self.set_parts(parts)

    @property
    def height(self) -> float:
        """Of all parts, as far as it is known."""
        return self._starts()[-1]

    def _starts(self) -> list[float]:
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0.0))
        return self._tops

    def top(self, part: int) -> float:
        """Where a part begins, its gap included."""
        return self._starts()[part]

    def part_at(self, y: float) -> int:
        """The part at a height."""
        return min(max(bisect_right(self._starts(), y) - 1, 0), len(self.parts) - 1)

    def gap(self, part: int) -> float:
        """Space above a part's box, which counts as the part's."""
        return self._gaps[part]

    def measure(self, part: int, pictures: Pictures) -> float:
        """The exact height of a part with its gap; lays it out where that was not done."""
        self.box(part, pictures)
        return self._heights[part]

    def is_exact(self, part: int) -> bool:
        return self._boxes[part] is not None

    def box(self, part: int, pictures: Pictures) -> Box:
        """A part laid out."""
        box = self._boxes[part]
        if box is None:
            box = self._boxes[part] = make_box(self.parts[part], self.inks, pictures)
            height = self._gaps[part] + box.height + self._belows[part]
            if height != self._heights[part]:
                self._heights[part] = height
                self._tops = None
        return box

    def known_box(self, part: int) -> Box | None:
        """A part's box if it is laid out."""
        return self._boxes[part]

    def forget_pictures(self) -> None:
        """A picture was decoded: those that waited are laid out again."""
        for at, box in enumerate(self._boxes):
            if isinstance(box, PictureBox) and not box.is_decoded:
                self._boxes[at] = None

"""Pictures: decoded in a thread when they come into sight, kept while they are near."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPen

from ui import theme
from ui.agent.view.background import Background
from ui.agent.view.boxes import Box, Looks, Zone
from ui.agent.view.inks import Inks
from ui.agent.view.parts import Picture
from ui.inspector.blocks import ImageBlock
from ui.inspector.images import PictureRefused, decode
from ui.widgets.figures import size

_KEPT = 24
_HIGHEST = 320
"""Height of a picture at most, at a text scale of 100 %."""

Decoded = tuple[QImage, str]
"""The picture (null where it is not shown) and its size, or why it is not shown."""


class Pictures(QObject):
    """Decodes what is asked for, one after the other."""

    ready = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[ImageBlock, Decoded | None] = OrderedDict()
        self._background = Background(self)
        self._background.done.connect(self._done)

    def of(self, block: ImageBlock) -> Decoded | None:
        """A picture, or None while it is decoded; ``ready`` tells when to ask again."""
        if block not in self._kept:
            self._kept[block] = None
            self._background.run(block, lambda: _decode(block))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(block)
        return self._kept[block]

    def _done(self, block: ImageBlock, result: object) -> None:
        failed = QImage(), "The picture cannot be decoded."
        self._kept[block] = result if isinstance(result, tuple) else failed
        self.ready.emit()


def _decode(block: ImageBlock) -> Decoded:
    try:
        image, whole, length = decode(block)
    except PictureRefused as error:
        return QImage(), str(error)
    return image, f"{block.mime}, {whole.width()} × {whole.height()}, {size(length)}"


class PictureBox(Box):
    """A picture with its size in words below it."""

    def __init__(self, part: Picture, inks: Inks, pictures: Pictures) -> None:
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

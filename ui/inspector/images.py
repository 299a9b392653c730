"""Pictures of a session: decoded in a thread, within limits, never fetched."""

from __future__ import annotations

import base64
import binascii

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.session.entries import ImageBlock
from ui.theme import S4
from ui.widgets.figures import size
from ui.widgets.labels import Caption
from ui.widgets.loader import Loader
from ui.widgets.panels import column_in

MOST_BASE64 = 24 * 1024 * 1024
"""Characters of base64; more is not decoded."""
MOST_PIXELS = 40_000_000
SHOWN = 1200
"""Longest side of the shown picture, in pixels."""


class PictureRefused(ValueError):
    """Why a picture is not shown, in words."""


def decode(block: ImageBlock) -> tuple[QImage, QSize, int]:
    """The picture scaled down for showing, its full size, and its bytes.

    Raises PictureRefused. Runs in any thread.
    """
    if not block.data or block.data.startswith("blob:"):
        raise PictureRefused("The picture is kept outside of the session file.")
    if len(block.data) > MOST_BASE64:
        raise PictureRefused(f"The picture is too large to show ({size(len(block.data))}).")
    try:
        raw = base64.b64decode(block.data, validate=False)
    except (binascii.Error, ValueError) as error:
        raise PictureRefused(f"The picture cannot be decoded: {error}.") from error
    buffer = QBuffer()
    buffer.setData(QByteArray(raw))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    # A drawing format could refer to files; only pixels are read.
    if bytes(reader.format().data()) in (b"svg", b"svgz", b""):
        raise PictureRefused("The data is not a picture of pixels.")
    whole = reader.size()
    if whole.width() * whole.height() > MOST_PIXELS:
        raise PictureRefused(f"The picture is too large: {whole.width()} × {whole.height()}.")
    if max(whole.width(), whole.height()) > SHOWN:
        reader.setScaledSize(whole.scaled(SHOWN, SHOWN, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise PictureRefused(f"The picture cannot be decoded: {reader.errorString()}.")
    return image, whole, len(raw)


class PictureView(QWidget):
    """One picture, as wide as there is room, with its size in words."""

    def __init__(self, block: ImageBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image = QImage()
        self._picture = QLabel(self)
        self._picture.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.caption = Caption("Decoding the picture…", self, wraps=True)
        column = column_in(self, S4)
        column.addWidget(self._picture)
        column.addWidget(self.caption)
        self._mime = block.mime or "image"
        self._loader = Loader(self)
        self._loader.loaded.connect(self._decoded)
        self._loader.failed.connect(self._refused)
        self._loader.load(lambda: decode(block))

    def _decoded(self, result: tuple[QImage, QSize, int]) -> None:
        self._image, whole, length = result
        words = f"{self._mime}, {whole.width()} × {whole.height()}, {size(length)}"
        self.caption.setText(words)
        self._picture.setAccessibleName(f"picture, {words}")
        self._fit()

    def _refused(self, message: str) -> None:
        self.caption.setText(message.partition(": ")[2] or message)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._image.isNull():
            return
        ratio = self.devicePixelRatioF()
        width = min(self.width(), self._image.width())
        shown = self._image.scaledToWidth(
            max(1, round(width * ratio)), Qt.TransformationMode.SmoothTransformation
        )
        shown.setDevicePixelRatio(ratio)
        self._picture.setPixmap(QPixmap.fromImage(shown))
        self._picture.setFixedHeight(round(shown.height() / ratio))

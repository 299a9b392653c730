"""Pictures that go with a message: made small enough for every provider, in a thread."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter, QPainter

from explorer.models.request import ImagePart

LONGEST_SIDE = 2000
"""Pixels; providers scale what is larger down themselves, or refuse it."""
MOST_BYTES = 3_500_000
"""Of a picture before base64: the strictest provider takes 5 MB of base64."""
MOST_FILE_BYTES = 64 * 1024 * 1024
MOST_PIXELS = 80_000_000
THUMBNAIL = 96
"""Longest side of the thumbnail, in pixels."""
MIMES = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
"""What every provider takes, by the name that Qt has for it."""
SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ppm", ".tif", ".tiff"))
_QUALITIES = (90, 75, 55)


class PictureRefused(ValueError):
    """Why a picture cannot be sent, in words."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture as it is sent, and as it is shown until then."""

    part: ImagePart
    name: str
    thumbnail: QImage
    width: int
    height: int
    size: int
    """Bytes as they are sent, before base64."""

    @property
    def words(self) -> str:
        return f"{self.name}, {self.width} × {self.height}"


def is_picture(path: Path) -> bool:
    """Whether a file is a picture by its name."""
    return path.suffix.lower() in SUFFIXES


def from_file(path: Path) -> Attachment:
    """A picture from a file; its bytes are left as they are where every provider takes them.

    Raises PictureRefused and OSError. For a worker thread.
    """
    length = path.stat().st_size
    if length > MOST_FILE_BYTES:
        raise PictureRefused(f"{path.name} is too large to send ({length / 1e6:.0f} MB)")
    return from_bytes(path.read_bytes(), path.name)


def from_bytes(raw: bytes, name: str) -> Attachment:
    """The same of what a file holds. Raises PictureRefused. For a worker thread."""
    buffer = QBuffer()
    buffer.setData(QByteArray(raw))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    form = bytes(reader.format().data()).decode("ascii", "replace")
    # A drawing format could refer to files; only pixels are read.
    if form in ("", "svg", "svgz"):
        raise PictureRefused(f"{name} is not a picture of pixels")
    whole = reader.size()
    if whole.width() * whole.height() > MOST_PIXELS:
        raise PictureRefused(f"{name} is too large: {whole.width()} × {whole.height()}")
    image = reader.read()
    if image.isNull():
        raise PictureRefused(f"{name} cannot be decoded: {reader.errorString()}")
    small = max(image.width(), image.height()) <= LONGEST_SIDE and len(raw) <= MOST_BYTES
    if form in MIMES and small:
        return _attachment(image, raw, MIMES[form], name)
    return from_image(image, name)


def from_image(image: QImage, name: str) -> Attachment:
    """A picture that was pasted. Raises PictureRefused. For a worker thread."""
    if image.isNull():
        raise PictureRefused(f"{name} holds no picture")
    if max(image.width(), image.height()) > LONGEST_SIDE:
        image = _within(image, LONGEST_SIDE)
    raw, mime = _encoded(image, b"PNG", -1), "image/png"
    for quality in _QUALITIES:
        if len(raw) <= MOST_BYTES:
            break
        raw, mime = _encoded(_opaque(image), b"JPEG", quality), "image/jpeg"
    if len(raw) > MOST_BYTES:
        raise PictureRefused(f"{name} is too large to send, even made smaller")
    return _attachment(image, raw, mime, name)


def _opaque(image: QImage) -> QImage:
    """JPEG knows no transparency; what would shine through is white."""
    if not image.hasAlphaChannel():
        return image
    ground = QImage(image.size(), QImage.Format.Format_RGB32)
    ground.fill(Qt.GlobalColor.white)
    painter = QPainter(ground)
    painter.drawImage(0, 0, image)
    painter.end()
    return ground


def _within(image: QImage, side: int) -> QImage:
    return image.scaled(
        QSize(side, side),
        Qt.AspectRatioMode.KeepAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )


def _encoded(image: QImage, form: bytes, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(form))
    writer.setQuality(quality)
    if not writer.write(image):
        raise PictureRefused(f"the picture cannot be made smaller: {writer.errorString()}")
    return bytes(buffer.data().data())


def _attachment(image: QImage, raw: bytes, mime: str, name: str) -> Attachment:
    part = ImagePart(mime, base64.b64encode(raw).decode("ascii"))
    thumbnail = _within(image, THUMBNAIL)
    return Attachment(part, name, thumbnail, image.width(), image.height(), len(raw))

"""Pictures that go with a message: made small enough for every provider in a thread, and shown as
chips above the message box."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QImageReader, QImageWriter, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.models.request import ImagePart
from ui import theme
from ui.widgets.figures import size
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in

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


class AttachmentRefused(ValueError):
    """Why a picture cannot be sent, in words."""


class Attachment(Struct, frozen=True):
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
        raise AttachmentRefused(f"{path.name} is too large to send ({length / 1e6:.0f} MB)")
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
        raise AttachmentRefused(f"{name} is not a picture of pixels")
    whole = reader.size()
    if whole.width() * whole.height() > MOST_PIXELS:
        raise AttachmentRefused(f"{name} is too large: {whole.width()} × {whole.height()}")
    image = reader.read()
    if image.isNull():
        raise AttachmentRefused(f"{name} cannot be decoded: {reader.errorString()}")
    small = max(image.width(), image.height()) <= LONGEST_SIDE and len(raw) <= MOST_BYTES
    if form in MIMES and small:
        return _attachment(image, raw, MIMES[form], name)
    return from_image(image, name)


def from_image(image: QImage, name: str) -> Attachment:
    """A picture that was pasted. Raises PictureRefused. For a worker thread."""
    if image.isNull():
        raise AttachmentRefused(f"{name} holds no picture")
    if max(image.width(), image.height()) > LONGEST_SIDE:
        image = _within(image, LONGEST_SIDE)
    raw, mime = _encoded(image, b"PNG", -1), "image/png"
    for quality in _QUALITIES:
        if len(raw) <= MOST_BYTES:
            break
        raw, mime = _encoded(_opaque(image), b"JPEG", quality), "image/jpeg"
    if len(raw) > MOST_BYTES:
        raise AttachmentRefused(f"{name} is too large to send, even made smaller")
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
        raise AttachmentRefused(f"the picture cannot be made smaller: {writer.errorString()}")
    return bytes(buffer.data().data())


def _attachment(image: QImage, raw: bytes, mime: str, name: str) -> Attachment:
    part = ImagePart(mime, base64.b64encode(raw).decode("ascii"))
    thumbnail = _within(image, THUMBNAIL)
    return Attachment(part, name, thumbnail, image.width(), image.height(), len(raw))


CHIP_HEIGHT = 36
_REMOVING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)


class Chip(QFrame):
    """One picture. Delete removes it, and so does its cross."""

    removed = Signal()

    def __init__(self, attachment: Attachment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.attachment = attachment
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"Picture {attachment.words}. Delete removes it.")
        self.setToolTip(
            f"{attachment.words}, {size(attachment.size)} as it is sent.\nDelete removes it."
        )
        self._picture = QLabel(self)
        self._cross = QToolButton(self)
        theme.bind_icon(self._cross, "close", "dim")
        self._cross.setToolTip("Do not send this picture")
        self._cross.setAccessibleName(f"Remove picture {attachment.name}")
        self._cross.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cross.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.S4, theme.S4, theme.S4, theme.S4)
        row.setSpacing(theme.S8)
        row.addWidget(self._picture)
        name = attachment.name
        row.addWidget(Caption(name if len(name) <= 28 else f"{name[:14]}…{name[-12:]}", self))
        row.addWidget(self._cross)
        theme.on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        side, ratio = theme.scaled(CHIP_HEIGHT - 2 * theme.S4), self.devicePixelRatioF()
        icon = QIcon(QPixmap.fromImage(self.attachment.thumbnail))
        shown = icon.pixmap(QSize(round(side * 1.6), side), ratio)
        self._picture.setPixmap(shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _REMOVING:
            self.removed.emit()
        else:
            super().keyPressEvent(event)


class ChipRow(QWidget):
    """All pictures of the message; hidden while there are none."""

    changed = Signal()
    emptied = Signal()
    """The last picture was removed while a chip had the keyboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Pictures of the message")
        self._chips: list[Chip] = []
        self._flow = FlowLayout(across=theme.S8, down=theme.S4)
        self._warning = Caption("", self, "comp")
        self._warning.setWordWrap(True)
        self._warning.hide()
        column = column_in(self, theme.S4)
        column.addLayout(self._flow)
        column.addWidget(self._warning)
        self.hide()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return tuple(chip.attachment for chip in self._chips)

    @property
    def chips(self) -> tuple[Chip, ...]:
        return tuple(self._chips)

    def add(self, attachment: Attachment) -> None:
        chip = Chip(attachment, self)
        chip.removed.connect(self._remover(chip))
        self._chips.append(chip)
        self._flow.addWidget(chip)
        self._tell()

    def _remover(self, chip: Chip) -> Callable[[], None]:
        return lambda: self._remove(chip)

    def _remove(self, chip: Chip) -> None:
        at = self._chips.index(chip)
        had_keys = chip.hasFocus()
        self._take(chip)
        if had_keys and self._chips:
            self._chips[min(at, len(self._chips) - 1)].setFocus()
        elif had_keys:
            self.emptied.emit()
        self._tell()

    def _take(self, chip: Chip) -> None:
        self._chips.remove(chip)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    def clear(self) -> None:
        for chip in list(self._chips):
            self._take(chip)
        self._tell()

    def set_warning(self, words: str) -> None:
        """Set what a person ought to know before sending; empty for nothing."""
        self._warning.setText(words)
        self._warning.setAccessibleName(words)
        self._warning.setVisible(bool(words))

    def _tell(self) -> None:
        self.setVisible(bool(self._chips))
        self._flow.invalidate()
        self.updateGeometry()
        self.changed.emit()

"""The pictures that go with the message: one chip each, above the message box."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from ui import theme
from ui.agent.composer_pictures import Attachment
from ui.widgets.figures import size
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption

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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.S4)
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
        """What a person ought to know before sending; empty for nothing."""
        self._warning.setText(words)
        self._warning.setAccessibleName(words)
        self._warning.setVisible(bool(words))

    def _tell(self) -> None:
        self.setVisible(bool(self._chips))
        self._flow.invalidate()
        self.updateGeometry()
        self.changed.emit()

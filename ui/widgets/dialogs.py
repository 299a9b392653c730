"""Dialogs as large as they like, but never larger than the window that they belong to."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog

from ui.theme import S16, scaled


def room_for(dialog: QDialog) -> QSize:
    """The most that a dialog may take: its window with a margin, or the screen."""
    parent = dialog.parentWidget()
    room = parent.window().size() if parent is not None else dialog.screen().availableSize()
    return room - QSize(2 * S16, 2 * S16)


def fit(dialog: QDialog, width: int, height: int) -> None:
    """Resize a dialog to a size of the drawing (text scale of 100 %), within its room."""
    dialog.resize(QSize(scaled(width), scaled(height)).boundedTo(room_for(dialog)))


def grow(dialog: QDialog, width: int, height: int) -> None:
    """At least that size of the drawing, within its room; never smaller than it is."""
    wanted = QSize(scaled(width), scaled(height)).boundedTo(room_for(dialog))
    dialog.resize(dialog.size().expandedTo(wanted))

"""How a place is marked in a text that is read: a ground and a line below, never colour alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from ui.theme import theme


def mark_format() -> QTextCharFormat:
    """The looks of a marked place in the theme of now."""
    now, form = theme(), QTextCharFormat()
    form.setBackground(now.sel)
    form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    form.setUnderlineColor(now.accent)
    return form


def mark(view: QPlainTextEdit | QTextEdit, places: Sequence[QTextCursor]) -> None:
    """Mark the stretches that cursors of the view's document select; none takes all marks away."""
    found = []
    for place in places:
        one = QTextEdit.ExtraSelection()
        one.cursor = place
        one.format = mark_format()
        found.append(one)
    view.setExtraSelections(found)


def marked(view: QPlainTextEdit | QTextEdit) -> list[str]:
    """The stretches that are marked, their lines divided by line feeds."""
    found = view.extraSelections()
    return [one.cursor.selectedText().replace("\u2029", "\n") for one in found]

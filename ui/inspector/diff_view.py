"""A replacement as a unified diff: signs and line numbers first, colour second."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from explorer.session.text_difference import changed_lines
from ui.inspector.blocks import DiffBlock
from ui.theme import on_theme_changed, theme
from ui.widgets.plain_text import LINE, PlainTextView


class DiffLine(NamedTuple):
    """One line: its sign (``+``, ``-``, space, or ``@`` for a gap) and its text."""

    sign: str
    text: str


def diff_lines(old: str, new: str, context: int = 3) -> list[DiffLine]:
    """The unified diff of two texts, line by line."""
    return [DiffLine(line.sign, line.text) for line in changed_lines(old, new, context)]


def unified_lines(text: str) -> list[DiffLine]:
    """The lines of a unified diff that is one already; its headers are left out."""
    out: list[DiffLine] = []
    in_change = False
    # Other characters that end lines stand within a line of the diff, and are a part of it.
    for line in text.split("\n"):
        if line.startswith("@@"):
            if out:
                out.append(DiffLine("@", "…"))
            in_change = True
        elif in_change and line[:1] in ("+", "-", " "):
            out.append(DiffLine(line[0], line[1:]))
        elif in_change and not line:
            out.append(DiffLine(" ", ""))
    return out


class DiffView(PlainTextView):
    """Shows the diff of one replacement, or ``lines`` that were compared elsewhere.

    ``fit``: grows with its text up to that many pixels.
    """

    def __init__(
        self,
        block: DiffBlock,
        parent: QWidget | None = None,
        *,
        lines: list[DiffLine] | None = None,
        fit: int = 420,
    ) -> None:
        super().__init__(parent, fit=fit)
        self._lines = diff_lines(block.old, block.new) if lines is None else lines
        added = sum(line.sign == "+" for line in self._lines)
        removed = sum(line.sign == "-" for line in self._lines)
        self.summary = f"+{added} −{removed}"
        self.setAccessibleName(
            f"Changes of {block.path or 'a file'}: {added} added, {removed} removed"
        )
        shown = (f"{line.sign.replace('@', ' ')} {line.text[: LINE - 2]}" for line in self._lines)
        self.set_text("\n".join(shown))
        on_theme_changed(self._paint_lines)
        self.loaded.connect(self._paint_lines)
        self._paint_lines()

    def _paint_lines(self) -> None:
        now = theme()
        fills: dict[str, QColor] = {"+": now.added, "-": now.removed}
        block = self.document().begin()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for line in self._lines:
            if not block.isValid():
                break
            fill = fills.get(line.sign)
            if fill is not None:
                form = QTextBlockFormat()
                form.setBackground(fill)
                QTextCursor(block).mergeBlockFormat(form)
            elif line.sign == "@":
                dim = QTextCharFormat()
                dim.setForeground(now.dim)
                gap = QTextCursor(block)
                gap.select(QTextCursor.SelectionType.LineUnderCursor)
                gap.mergeCharFormat(dim)
            block = block.next()
        cursor.endEditBlock()

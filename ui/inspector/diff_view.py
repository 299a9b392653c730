"""A replacement as a unified diff: signs and line numbers first, colour second."""

from __future__ import annotations

from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from explorer.session.text_difference import DifferenceLine
from ui.theme import on_theme_changed, theme
from ui.widgets.message_blocks import SIGNS, DiffBlock
from ui.widgets.plain_text import LINE, PlainTextView


def unified_lines(text: str) -> list[DifferenceLine]:
    """The lines of a unified diff; its headers are left out."""
    out: list[DifferenceLine] = []
    in_change = False
    # Other characters that end lines stand within a line of the diff, and are a part of it.
    for line in text.split("\n"):
        if line.startswith("@@"):
            if out:
                out.append(DifferenceLine("@", "…"))
            in_change = True
        elif in_change and (sign := SIGNS.get(line[:1] or " ")):
            out.append(DifferenceLine(sign, line[1:]))
    return out


class DiffView(PlainTextView):
    """Shows a change of a file. ``fit``: grows with its text up to that many pixels."""

    def __init__(self, block: DiffBlock, parent: QWidget | None = None, *, fit: int = 420) -> None:
        super().__init__(parent, fit=fit)
        self._lines = block.lines
        self.summary = block.figures
        self.setAccessibleName(
            f"Changes of {block.path or 'a file'}: "
            f"{block.count('+')} added, {block.count('-')} removed"
        )
        shown = (f"{line.sign.replace('@', ' ')} {line.text[: LINE - 2]}" for line in self._lines)
        self.set_text("\n".join(shown))
        on_theme_changed(self._paint_lines)
        self.loaded.connect(self._paint_lines)
        self.verticalScrollBar().rangeChanged.connect(self._show_first_change)
        self._paint_lines()

    def _show_first_change(self) -> None:
        """Where not all is in sight, what is changed is, and not the lines before it."""
        at = next((at for at, line in enumerate(self._lines) if line.sign in "+-"), 0)
        block = self.document().findBlockByNumber(at)
        self.verticalScrollBar().setValue(max(0, block.firstLineNumber() - 1))

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

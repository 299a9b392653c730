"""Summaries side by side, one section below the other, what the others do not say marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.difference import Cell, Difference, SectionRow
from explorer.session.text_difference import Piece
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, theme, ui_font
from ui.widgets.labels import Caption, Hairline, RichLabel

NARROW = 640
"""Pixels, at a text scale of 100 %: below it the texts stand below each other."""


def row_note(row: SectionRow, names: Sequence[str]) -> str:
    """What there is to say of a section besides its texts."""
    parts = []
    if row.missing:
        parts.append(f"missing in {_listed(row.missing, names)}")
    if row.repeated:
        parts.append(f"more than once in {_listed(row.repeated, names)}")
    if row.is_equal:
        parts.append("the same in all")
    return ", ".join(parts)


def _listed(which: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[at] for at in which)


class MarkedLabel(RichLabel):
    """A text with the stretches marked that others have not: by a ground and a line below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pieces: Sequence[Piece] = ()
        self._empty = ""
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        bind_font(self, ui_font)
        on_theme_changed(self._fill)

    def show_cell(self, cell: Cell | None, name: str, title: str) -> None:
        """Show what a candidate has in a section."""
        self.pieces = cell.pieces if cell is not None else ()
        if cell is None:
            told = "no such section"
        else:
            own = "; ".join(piece.text.strip() for piece in cell.pieces if piece.differs)
            told = f"{cell.text}. Of its own: {own or 'nothing'}"
        self.setAccessibleName(f"{title} of {name}: {told}")
        self._empty = "— no such section" if cell is None else "— empty"
        self._fill()

    def _fill(self) -> None:
        now = theme()
        if not self.pieces:
            self.setText(f'<span style="color:{now.dim.name()}">{escape(self._empty)}</span>')
            return
        style = f"background-color:{now.sel.name()};text-decoration:underline;"
        parts = []
        for piece in self.pieces:
            text = escape(piece.text).replace("\n", "<br/>").replace("  ", "&nbsp; ")
            parts.append(f'<span style="{style}">{text}</span>' if piece.differs else text)
        self.setText("".join(parts))


class SectionBlock(QWidget):
    """One section: its heading, what is odd about it, and its text in every candidate."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(bold=True))
        self.note = Caption("", self)
        self.note.setWordWrap(True)
        self.cells: list[MarkedLabel] = []
        self._captions: list[Caption] = []
        self.line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.line.setSpacing(S16)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S8)
        column.setSpacing(S4)
        column.addWidget(self.title)
        column.addWidget(self.note)
        column.addLayout(self.line)
        column.addWidget(Hairline(parent=self))

    def showing(self, row: SectionRow, names: Sequence[str]) -> Iterator[None]:
        """Show a section, text by text, in steps between which the window answers."""
        self.title.setText(row.title)
        note = row_note(row, names)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        for name, cell in zip(names, row.cells, strict=True):
            place = QWidget(self)
            inner = QVBoxLayout(place)
            inner.setContentsMargins(0, 0, 0, 0)
            inner.setSpacing(0)
            caption = Caption(name, place)
            label = MarkedLabel(place)
            label.show_cell(cell, name, row.title)
            inner.addWidget(caption)
            inner.addWidget(label)
            inner.addStretch(1)
            self._captions.append(caption)
            self.cells.append(label)
            self.line.addWidget(place, 1)
            yield

    def stack(self, is_narrow: bool) -> None:
        """Texts below each other, each with its candidate's name, or beside each other."""
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self.line.setDirection(way)
        for caption in self._captions:
            caption.setVisible(is_narrow)


class SectionsView(QWidget):
    """Made block by block, so that the window answers between two of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.blocks: list[SectionBlock] = []
        self._shown: Difference | None = None
        self.only_apart = QCheckBox("&Only what differs", self)
        self.only_apart.setChecked(False)
        self.only_apart.toggled.connect(lambda _on: self._hide_equal())
        told = Caption("What the reference does not say is marked and underlined.", self)
        told.setWordWrap(True)
        self._names = QWidget(self)
        self._name_line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._names)
        # As wide as the texts below, which have a scroll bar beside them.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        self._name_line.setContentsMargins(S16, S4, S16 + bar, S4)
        self._name_line.setSpacing(S16)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setAccessibleName("Sections side by side")
        head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(S16, S8, S16, 0)
        head.setSpacing(S12)
        head.addWidget(told, 1)
        head.addWidget(self.only_apart)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._names)
        column.addWidget(Hairline(parent=self))
        column.addWidget(self._area, 1)
        self._start()

    def _start(self) -> None:
        body = QWidget(self._area)
        # It grows at its end: what is there already is not painted again for that.
        body.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self.blocks = []
        self._area.setWidget(body)
        while (item := self._name_line.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def showing(self, found: Difference | None) -> Iterator[None]:
        """Show other summaries, section by section, in steps between which the window answers."""
        self._shown = found
        self._start()
        if found is None:
            return
        for at, candidate in enumerate(found.candidates):
            words = candidate.name + (", the reference" if at == found.reference else "")
            label = QLabel(words, self._names)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            bind_font(label, lambda: ui_font(bold=True))
            self._name_line.addWidget(label, 1)
        yield
        for at in range(len(found.sections)):
            yield from self._adding(found, at)

    @property
    def is_whole(self) -> bool:
        """Whether all sections are there."""
        return self._shown is None or len(self.blocks) == len(self._shown.sections)

    def _adding(self, found: Difference, at: int) -> Iterator[None]:
        block = SectionBlock(self._area.widget())
        block.hide()
        yield from block.showing(found.sections[at], [one.name for one in found.candidates])
        block.stack(self._is_narrow())
        block.setVisible(not (self.only_apart.isChecked() and found.sections[at].is_equal))
        self._column.insertWidget(at, block)
        self.blocks.append(block)
        yield

    def _hide_equal(self) -> None:
        if self._shown is None:
            return
        for block, row in zip(self.blocks, self._shown.sections, strict=False):
            block.setVisible(not (self.only_apart.isChecked() and row.is_equal))

    def _is_narrow(self) -> bool:
        count = len(self._shown.candidates) if self._shown is not None else 2
        return self.width() < scaled(NARROW // 2) * count

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._names.setVisible(not self._is_narrow())
        for block in self.blocks:
            block.stack(self._is_narrow())

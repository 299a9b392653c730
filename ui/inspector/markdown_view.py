"""Markdown of untrusted text: no network, no file, no script, and links only after a second look.

Both the browser and its document refuse every resource: the document would otherwise open local
files where the browser gives it nothing.
"""

from __future__ import annotations

import re
from math import sqrt
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QImage,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTable,
    QTextTableFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from ui.inspector.code import colour
from ui.theme import mono_font, on_theme_changed, theme, ui_font
from ui.widgets.plain_text import paint_focus

Property = QTextFormat.Property

MARKDOWN_LIMIT = 64 * 1024
"""Characters that are rendered as Markdown; longer texts are shown plain, in pieces."""

LONGEST_LINE = 4000
"""A text with a longer line is shown plain: laying it out would take the window's time."""

_FRONT_MATTER = 0x100000
"""Qt's flag, without a name in Python: lines between two of hyphens at the top are not shown."""

_LONG_CELL = 60
"""Characters of a cell of a table from which on its columns are as wide as their texts ask for."""

_NAMELESS = re.compile(r"(?<!\\)!\[\](?=[(\[])")

_FEATURES = QTextDocument.MarkdownFeature(
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub.value & ~_FRONT_MATTER
    | QTextDocument.MarkdownFeature.MarkdownNoHTML.value
)

_NO_IMAGE = QImage(1, 1, QImage.Format.Format_ARGB32)
_NO_IMAGE.fill(Qt.GlobalColor.transparent)


def can_render(text: str) -> bool:
    """Whether a text is small enough to be laid out as Markdown at once."""
    if len(text) > MARKDOWN_LIMIT:
        return False
    return max(map(len, text.split("\n")), default=0) <= LONGEST_LINE


_STRUCTURE = re.compile(
    r"\s*(#{1,6}\s|[-*+]\s|\d+[.)]\s|>|\||=+\s*$|-{2,}|```|~~~|:?-+:?\s*\|)|\t| {4}"
)
_FENCE = re.compile(r"\s*(```|~~~)")
_WHOLE_LINE = re.compile(r"\s*(#{1,6}\s|\||```|~~~|-{3,}\s*$|={3,}\s*$)|\t| {4}")


def keep_breaks(text: str) -> str:
    """Line breaks within a paragraph stay line breaks; Markdown alone would join the lines.

    Session text is often typed or printed line by line, and its lines mean something. Images
    without a description get one.
    """
    lines, out, fenced = text.split("\n"), [], False
    for number, line in enumerate(lines):
        if not fenced and "`" not in line and not line.startswith(("    ", "\t")):
            line = _NAMELESS.sub("![no description]", line)  # Qt would leave the image out
        out.append(line)
        if _FENCE.match(line):
            fenced = not fenced
        following = lines[number + 1] if number + 1 < len(lines) else ""
        joined = (
            not fenced
            and line.strip()
            and following.strip()
            and not _WHOLE_LINE.match(line)
            and not _STRUCTURE.match(following)
        )
        out.append("\u2028" if joined else "\n")
    return "".join(out[:-1])


class InertDocument(QTextDocument):
    """A document that loads nothing."""

    def loadResource(self, kind: int, name: QUrl | str, /) -> Any:
        if kind == int(QTextDocument.ResourceType.ImageResource.value):
            return _NO_IMAGE
        return QByteArray()


def render_markdown(document: QTextDocument, text: str) -> None:
    """Fill a document that loads nothing with Markdown, in the theme's type and colours."""
    document.setDefaultFont(ui_font())
    document.setMarkdown(keep_breaks(text), _FEATURES)
    _images_to_words(document)
    _Restyle(document).run()


def _images_to_words(document: QTextDocument) -> None:
    """Images are not loaded: their descriptions stay, as links that can be looked at.

    Done in the document, not in its source: there an image has many spellings, and code that
    only looks like one would be changed.
    """
    images: list[tuple[int, int, str, str]] = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            piece, form = iterator.fragment(), iterator.fragment().charFormat()
            if form.isImageFormat():
                first, end = piece.position(), piece.position() + piece.length()
                words = " ".join([form.stringProperty(Property.ImageAltText)] * piece.length())
                address = form.toImageFormat().name()
                if images and images[-1][1] == first and images[-1][3] == address:
                    # Qt makes an image of each stretch of a description that has markup.
                    first, _, earlier, _ = images.pop()
                    words = earlier + words
                images.append((first, end, words, address))
            iterator += 1
        block = block.next()
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for first, end, words, address in reversed(images):
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(address)
        link.setForeground(theme().accent)
        cursor.setPosition(first)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(f"image: {words}", link)
    cursor.endEditBlock()


class MarkdownView(QTextBrowser):
    """Rendered text as high as it is; it does not scroll by itself."""

    link_asked = Signal(str)
    """A link was clicked; nothing has been opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = ""
        self.setAccessibleName("Text of the entry")
        self.setDocument(InertDocument(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", True)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.anchorClicked.connect(lambda url: self.link_asked.emit(url.toString()))
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(20)
        on_theme_changed(self._render)

    def loadResource(self, kind: int, name: QUrl | str, /) -> Any:
        return self.document().loadResource(kind, name)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        super().paintEvent(event)
        paint_focus(self)

    def set_markdown(self, text: str) -> None:
        """Show a text; at most ``MARKDOWN_LIMIT`` characters (see ``can_render``)."""
        self._source = text
        self._render()

    def markdown_source(self) -> str:
        """The text as it was given."""
        return self._source

    def _render(self) -> None:
        render_markdown(self.document(), self._source)
        self._refit()

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._refit()

    def _refit(self) -> None:
        self.document().setTextWidth(self.viewport().width())
        self.setFixedHeight(max(18, int(self.document().size().height()) + 2))

    def sizeHint(self) -> QSize:
        return QSize(240, max(18, int(self.document().size().height()) + 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 18)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        event.ignore()

    def changeEvent(self, event: QEvent, /) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._refit()


def _cell_text(table: QTextTable, line: int, at: int) -> str:
    cell = table.cellAt(line, at)
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()


def _wanted(text: str) -> float:
    """The share of a table's width that a cell asks for: its longest word whole, and not as many
    lines as would be in one of the others' width."""
    word = max(map(len, text.split()), default=0)
    return max(sqrt(len(text)), 0.7 * word + 1)


class _Restyle:
    """Gives the rendered document the theme's type, code boxes, colours and spacing."""

    def __init__(self, document: QTextDocument) -> None:
        self.document = document
        self.now = theme()

    def run(self) -> None:
        self._tables()
        block = self.document.begin()
        while block.isValid():
            form = block.blockFormat()
            if form.headingLevel():
                self._heading(block)
            if form.hasProperty(Property.BlockCodeFence) or form.hasProperty(
                Property.BlockCodeLanguage
            ):
                block = self._code(block)
                continue
            self._inline(block)
            block = block.next()

    def _tables(self) -> None:
        for frame in self.document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                form = frame.format().toTableFormat()
                form.setBorderCollapse(True)
                form.setBorder(1)
                form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                form.setBorderBrush(self.now.line)
                form.setCellPadding(4)
                form.setTopMargin(4)
                form.setBottomMargin(8)
                frame.setFormat(form)
                self._columns(frame, form)

    def _columns(self, table: QTextTable, form: QTextTableFormat) -> None:
        """Long texts get the room: Qt gives all columns that want more the same."""
        columns = [
            [_cell_text(table, line, at) for line in range(table.rows())]
            for at in range(table.columns())
        ]
        if max(len(text) for column in columns for text in column) < _LONG_CELL:
            return
        shares = [max(map(_wanted, column)) for column in columns]
        kind = QTextLength.Type.PercentageLength
        form.setColumnWidthConstraints(
            [QTextLength(kind, 100 * share / sum(shares)) for share in shares]
        )
        table.setFormat(form)

    def _heading(self, block: QTextBlock) -> None:
        level = block.blockFormat().headingLevel()
        form = QTextCharFormat()
        size = ui_font().pointSizeF() + max(0, 4 - level)
        form.setProperty(Property.FontPointSize, size)
        form.setProperty(Property.FontSizeAdjustment, 0)
        form.setFontWeight(QFont.Weight.DemiBold)
        cursor = QTextCursor(block)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        cursor.mergeCharFormat(form)
        spaced = QTextBlockFormat()
        spaced.setTopMargin(10 if block.blockNumber() else 0)
        spaced.setBottomMargin(4)
        QTextCursor(block).mergeBlockFormat(spaced)

    def _inline(self, block: QTextBlock) -> None:
        """Inline code takes the fixed font of the theme."""
        cursor = QTextCursor(block)
        mono = mono_font()
        iterator = block.begin()
        while not iterator.atEnd():
            piece = iterator.fragment()
            if piece.isValid() and piece.charFormat().fontFixedPitch():
                form = QTextCharFormat()
                form.setFontFamilies(mono.families())
                form.setProperty(Property.FontPointSize, mono.pointSizeF())
                form.setBackground(self.now.panel)
                cursor.setPosition(piece.position())
                cursor.setPosition(
                    piece.position() + piece.length(), QTextCursor.MoveMode.KeepAnchor
                )
                cursor.mergeCharFormat(form)
            iterator += 1

    def _code(self, first: QTextBlock) -> QTextBlock:
        """Box the lines of one fenced block; returns the block after them."""
        language = first.blockFormat().stringProperty(Property.BlockCodeLanguage)
        mono = mono_font()
        mono_format = QTextCharFormat()
        mono_format.setFontFamilies(mono.families())
        mono_format.setProperty(Property.FontPointSize, mono.pointSizeF())
        boxed = QTextBlockFormat()
        boxed.setBackground(self.now.panel)
        boxed.setNonBreakableLines(False)
        boxed.setLeftMargin(0)
        boxed.setTopMargin(0)
        boxed.setBottomMargin(0)
        lines: list[str] = []
        block = first
        while block.isValid() and (
            block.blockFormat().hasProperty(Property.BlockCodeFence)
            or block.blockFormat().hasProperty(Property.BlockCodeLanguage)
        ):
            lines.append(block.text())
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.mergeCharFormat(mono_format)
            cursor = QTextCursor(block)
            cursor.mergeBlockFormat(boxed)
            block = block.next()
        self._pad(first, block)
        colour(self.document, first, "\n".join(lines), language)
        return block

    def _pad(self, first: QTextBlock, after: QTextBlock) -> None:
        above, below = QTextBlockFormat(), QTextBlockFormat()
        above.setTopMargin(6)
        below.setBottomMargin(6)
        QTextCursor(first).mergeBlockFormat(above)
        last = after.previous() if after.isValid() else self.document.lastBlock()
        QTextCursor(last).mergeBlockFormat(below)

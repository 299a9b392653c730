"""Where a search hit or a finding stands in an entry, marked, and the strip that steps through."""

from __future__ import annotations

import json
from html import escape

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QTextEdit,
    QToolButton,
    QWidget,
)

from explorer.audit.findings import QuotedText
from ui.inspector.markdown_view import MarkdownView
from ui.theme import S4, S8, S16, bind_icon, scaled, theme
from ui.widgets.labels import Caption, ElidedLabel, LinkButton, set_plain, set_rich
from ui.widgets.marked import mark
from ui.widgets.panels import CollapsibleSection, row
from ui.widgets.plain_text import PlainTextView


class PlaceStrip(QFrame):
    """Hidden while nothing is marked. Escape leads back from any of its buttons."""

    back_asked = Signal()
    step_asked = Signal(int)
    """To the place after (1) or before (-1) the one that is marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.words = ElidedLabel(parent=self)
        self.previous = self._button("chevron-up", "Where it was mentioned before", -1)
        self.following = self._button("chevron-down", "Where it was mentioned after that", 1)
        self.back = LinkButton("&Back to the findings", self)
        self.back.setToolTip("To the list that led here (Esc)")
        self.back.clicked.connect(self.back_asked)
        line = row(self.words, self.previous, self.following, self.back, wide=self.words)
        line.setContentsMargins(S16, S4, S8, S4)
        self.setLayout(line)
        self.hide()

    def _button(self, icon: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(self)
        bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(lambda: self.step_asked.emit(step))
        return button

    def show_place(self, words: str, number: int, count: int) -> None:
        """Show the ``number``-th of ``count`` places, from 1."""
        where = f"{number:,} of {count:,} · " if count > 1 else ""
        self.words.setText(where + words)
        for button, there in ((self.previous, number > 1), (self.following, number < count)):
            button.setVisible(count > 1)
            button.setEnabled(there)
        self.setAccessibleName(self.words.text())
        self.show()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.back_asked.emit()
        else:
            super().keyPressEvent(event)


_MARKUP = frozenset("*_`#>|[]()\\~-\u2028\u2029\ufffc\ufdd0\ufdd1")
"""Characters that stand in Markdown's source and not in its rendering, or the other way round."""


def squeezed(text: str) -> tuple[str, list[int]]:
    """A text without spaces and what may be markup, and where each of its characters stood."""
    at = [i for i, one in enumerate(text) if one not in _MARKUP and not one.isspace()]
    return "".join([text[i] for i in at]), at


def rendered_place(source: str, shown: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a stretch of Markdown stands in the text that it is rendered to; None where that does
    not have it, such as the address of a link. All in characters."""
    wanted, _ = squeezed(source[start:end])
    if not wanted:
        return None
    before, _ = squeezed(source[:start])
    number = _count(before + wanted, wanted)
    text, places = squeezed(shown)
    at = found = text.find(wanted)
    while number > 1 and at >= 0:
        number -= 1
        at = text.find(wanted, at + 1)
        found = at if at >= 0 else found
    if found < 0:
        return None
    return places[found], places[found + len(wanted) - 1] + 1


def _count(text: str, wanted: str) -> int:
    """How often a text has another, overlaps counted."""
    number, at = 0, text.find(wanted)
    while at >= 0:
        number, at = number + 1, text.find(wanted, at + 1)
    return number


def place_in_json(pretty: str, wanted: QuotedText) -> tuple[int, int] | None:
    """Where a stretch of one of an entry's texts stands in the entry's JSON, in characters."""
    for whole, start, end in ((*wanted,), (wanted.text, 0, len(wanted.text))):
        at = pretty.find(f'"{_dumped(whole)}"') if whole is wanted.whole else -1
        at = at + 1 if at >= 0 else pretty.find(_dumped(whole))
        if at >= 0:
            return at + len(_dumped(whole[:start])), at + len(_dumped(whole[:end]))
    return None


def _dumped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


class PlaceMarker:
    """Marks one place at a time among the views of an entry."""

    def __init__(self) -> None:
        self._shown: tuple[QWidget, QTextCursor | None, str] | None = None

    def mark(self, content: QWidget, wanted: QuotedText) -> QWidget | None:
        """Mark a stretch where it is shown; returns the view, or None where none shows it.

        What is folded is opened. ``reveal`` brings it into sight once it is laid out.
        """
        found = self._in_texts(content, wanted) or self._in_labels(content, wanted.text)
        self._shown = found
        if found is None:
            return None
        above: QWidget | None = found[0]
        while above is not None and above is not content:
            if isinstance(above, CollapsibleSection) and not above.expanded:
                above.set_expanded(True)
            above = above.parentWidget()
        self.restyle()
        return found[0]

    def mark_json(self, view: PlainTextView, wanted: QuotedText) -> bool:
        """Mark a stretch in the JSON of its entry; returns whether it is there."""
        place = place_in_json(view.text(), wanted)
        self._shown = None
        if place is None:
            return False
        self._shown = (view, view.stretch(place[0], place[1] - place[0]), wanted.text)
        self.restyle()
        return True

    def restyle(self) -> None:
        """Paint the mark in the theme of now."""
        if self._shown is None:
            return
        view, cursor, text = self._shown
        if isinstance(view, QPlainTextEdit | QTextEdit) and cursor is not None:
            mark(view, [cursor])
        elif isinstance(view, ElidedLabel):
            view.mark(text)
        elif isinstance(view, QLabel):
            self._mark_label(view, text)

    def forget(self) -> None:
        """Take the mark away, before the views go or show something else."""
        if self._shown is not None and isinstance(self._shown[0], QPlainTextEdit):
            mark(self._shown[0], [])
        elif self._shown is not None and isinstance(self._shown[0], Caption):
            set_plain(self._shown[0], self._shown[0].accessibleName())
        self._shown = None

    def reveal(self, area: QScrollArea | None) -> None:
        """Bring what is marked into sight, in its view and in the one around it."""
        if self._shown is None:
            return
        view, cursor, _ = self._shown
        rect = view.rect()
        if isinstance(view, QPlainTextEdit | QTextEdit) and cursor is not None:
            start = QTextCursor(cursor)
            start.setPosition(cursor.selectionStart())
            view.setTextCursor(start)
            if isinstance(view, QPlainTextEdit):
                view.centerCursor()
            rect = view.cursorRect(start)
            rect.translate(view.viewport().pos())
        content = area.widget() if area is not None else None
        if area is not None and content is not None and content.isAncestorOf(view):
            place = QRect(view.mapTo(content, rect.topLeft()), rect.size())
            third = area.viewport().height() // 3
            centre = QPoint(place.left(), place.center().y())
            area.ensureVisible(centre.x(), centre.y(), scaled(24), max(third, scaled(24)))

    # where it is shown ---------------------------------------------------------------------------

    @staticmethod
    def _in_texts(
        content: QWidget, wanted: QuotedText
    ) -> tuple[QWidget, QTextCursor | None, str] | None:
        """A view that has all of the text, else one that has the stretch."""
        views = [
            view
            for view in content.findChildren(QWidget)
            if isinstance(view, PlainTextView | MarkdownView)
        ]
        for whole, start, end in ((*wanted,), (wanted.text, 0, len(wanted.text))):
            for view in views:
                source = view.text() if isinstance(view, PlainTextView) else view.markdown_source()
                at = source.find(whole)
                if at < 0:
                    continue
                if isinstance(view, PlainTextView):
                    return view, view.stretch(at + start, end - start), wanted.text
                cursor = _in_markdown(view, at + start, at + end)
                if cursor is not None:
                    return view, cursor, wanted.text
        return None

    @staticmethod
    def _in_labels(content: QWidget, text: str) -> tuple[QWidget, QTextCursor | None, str] | None:
        line = " ".join(text.split())
        for label in content.findChildren(QLabel):
            if line and line in label.text() and isinstance(label, Caption | ElidedLabel):
                return label, None, line
        return None

    @staticmethod
    def _mark_label(label: QLabel, text: str) -> None:
        words = label.accessibleName() or label.text()
        label.setAccessibleName(words)
        before, found, after = words.partition(text)
        now = theme()
        style = f"background-color:{now.sel.name()};text-decoration:underline;"
        set_rich(
            label, f'{escape(before)}<span style="{style}">{escape(found)}</span>{escape(after)}'
        )


def _in_markdown(view: MarkdownView, start: int, end: int) -> QTextCursor | None:
    """What is rendered of a stretch of the view's source."""
    document = view.document()
    shown = document.toRawText()
    place = rendered_place(view.markdown_source(), shown, start, end)
    if place is None:
        return None
    cursor = QTextCursor(document)
    first, last = (len(shown[:at].encode("utf-16-le", "surrogatepass")) // 2 for at in place)
    cursor.setPosition(first)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    return cursor

"""Dialogs: one frame, one with a list at the left and a page at the right, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLayout,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from ui.theme import S4, S8, S12, S16, on_theme_changed, scaled
from ui.widgets.labels import Hairline
from ui.widgets.name_list import NameList
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import add, column_in, column_of, push_button, row_in


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


class Dialog(QDialog):
    """A head, a body with all the room, and a foot below a hairline. Escape closes it."""

    def __init__(self, window_title: str, parent: QWidget | None, is_modal: bool = True) -> None:
        """``is_modal``: whether the window behind it waits; other dialogs go beside it."""
        super().__init__(parent)
        self.setWindowTitle(window_title)
        if not is_modal:
            self.setModal(False)

    def button(self, text: str, tip: str = "") -> QPushButton:
        """A button; Return on another widget of the dialog does not press it."""
        return push_button(text, self, tip)

    def lay_out(self, head: QLayout | None, body: QWidget | QLayout, foot: QLayout) -> None:
        """``head``: None where it scrolls with the body. ``foot``: its buttons, the one that
        closes among them."""
        column = column_in(self, 0)
        if head is not None:
            add(column, head)
        add(column, body, 1)
        column.addWidget(Hairline(parent=self))
        foot.setContentsMargins(S16, S8, S16, S12)
        column.addLayout(foot)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.matches(QKeySequence.StandardKey.Cancel):
            self.close()
            return
        super().keyPressEvent(event)


class TwoPaneDialog(Dialog):
    """A list at the left; at the right notices, the page of what is chosen, and buttons.

    It does not block the window behind it.
    """

    def __init__(
        self, window_title: str, list_name: str, most_width: int, parent: QWidget | None = None
    ) -> None:
        """``list_name``: for screen readers; ``most_width`` of the left pane, in pixels at a text
        scale of 100 %; in a narrow dialog it takes a third."""
        super().__init__(window_title, parent, is_modal=False)
        self._left, self._most_width = QWidget(self), most_width
        self._left.setProperty("surface", "panel")
        self._left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.list = NameList(list_name, self._left)
        self.notice = NoticeStrip(self)
        on_theme_changed(self._fit_left)

    def lay_out_panes(
        self,
        below: QLayout | None,
        head: QLayout | None,
        page: QWidget,
        foot: QWidget | QLayout,
    ) -> None:
        """``below``: what stands below the list."""
        left = column_in(self._left, S8, (S4, S8, S4, S12))
        left.addWidget(self.list, 1)
        if below is not None:
            left.addLayout(below)
        right = column_of(self.notice, spacing=0)
        if head is not None:
            add(right, head)
        right.addWidget(page, 1)
        right.addWidget(Hairline(parent=self))
        add(right, foot)
        whole = row_in(self, 0)
        whole.addWidget(self._left)
        whole.addWidget(Hairline(vertical=True, parent=self))
        whole.addLayout(right, 1)
        self._fit_left()

    def _fit_left(self) -> None:
        self._left.setFixedWidth(min(scaled(self._most_width), round(self.width() * 0.35)))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._fit_left()


class HelpDialog(QDialog):
    """What can be typed or pressed, and what that does, in sections."""

    def __init__(
        self,
        window_title: str,
        name: str,
        sections: Mapping[str, Sequence[tuple[str, str]]],
        parent: QWidget,
    ) -> None:
        """``name``: of the text, for screen readers; ``sections``: by title, their pairs of what
        is typed and what it does."""
        super().__init__(parent)
        self.setWindowTitle(window_title)
        text = QTextBrowser(self)
        text.setHtml(help_html(sections))
        text.setAccessibleName(name)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)


def help_html(sections: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """A heading and a table per section."""
    width = scaled(190)
    parts = []
    for title, rows in sections.items():
        cells = "".join(
            f"<tr><td width='{width}' style='padding:3px 0'><code>{escape(typed)}</code></td>"
            f"<td style='padding:3px 0'>{escape(sentence)}</td></tr>"
            for typed, sentence in rows
        )
        parts.append(f"<h3>{escape(title)}</h3><table>{cells}</table>")
    return "".join(parts)

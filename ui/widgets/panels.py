"""The empty state, the section that folds, pages in one place, and the heading over a part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    S24,
    bind_font,
    bind_icon,
    icon_pixmap,
    on_theme_changed,
    scaled,
    set_font,
    set_tone,
    small_font,
    ui_font,
)


class EmptyState(QWidget):
    """What to do next, where there is nothing to show."""

    pressed = Signal()
    other_pressed = Signal()

    def __init__(
        self,
        icon: str,
        title: str,
        text: str,
        action: str = "",
        parent: QWidget | None = None,
        other: str = "",
    ) -> None:
        """``action`` and ``other``: what the buttons are called; empty for none."""
        super().__init__(parent)
        self._icon = icon
        self._sign = QLabel(self)
        self._title = QLabel(title, self)
        self._text = QLabel(text, self)
        self.button = QPushButton(action, self)
        self.button.setVisible(bool(action))
        self.button.clicked.connect(self.pressed)
        self.other = QPushButton(other, self)
        self.other.setVisible(bool(other))
        self.other.clicked.connect(self.other_pressed)
        column = column_in(self, S8, (S24, S8, S24, S8))
        column.addStretch(2)
        for label in (self._sign, self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(label is not self._sign)
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        set_tone(self._text, "dim")
        column.addSpacing(S4)
        for button in (self.button, self.other):
            button.setAutoDefault(True)  # the Return key presses it, as in a dialog
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        on_theme_changed(self._restyle)
        self._restyle()

    def set_words(self, title: str, text: str, icon: str = "") -> None:
        """Say something else; ``icon``: with another sign."""
        self._title.setText(title)
        self._text.setText(text)
        if icon:
            self._icon = icon
            self._restyle()

    def _restyle(self) -> None:
        self._sign.setPixmap(icon_pixmap(self._icon, "faint", scaled(32), self.devicePixelRatioF()))
        self._title.setFont(ui_font(1, bold=True))


class FoldButton(QToolButton):
    """Shows and hides what there is no room for in a low window."""

    def __init__(self, title: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setText(title)
        self.setCheckable(True)
        self.setProperty("fold", True)
        self.setAccessibleName(what)
        self.setToolTip(what)
        bind_font(self, small_font)
        self.toggled.connect(lambda _on: self._tell())
        self._tell()

    def _tell(self) -> None:
        bind_icon(self, "chevron-down" if self.isChecked() else "chevron-right", "dim")
        self.setAccessibleDescription("expanded" if self.isChecked() else "collapsed")


class CollapsibleSection(QWidget):
    """A heading that shows and hides what is below it. ``summary`` is shown while it is shut; a
    ``heading`` stands over parts that have titles."""

    toggled = Signal(bool)

    def __init__(
        self,
        title: str,
        content: QWidget,
        *,
        expanded: bool = False,
        tone: str = "dim",
        heading: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._heading = heading
        self._title = title
        self._expanded = expanded
        self.content = content
        self.header = QToolButton(self)
        self.header.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.header.setProperty("fold", True)
        self.header.setProperty("heading", heading)
        self.header.setText(title)
        self.header.setAccessibleName(title)
        self.header.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.header.setMinimumWidth(1)
        self.header.setCursor(Qt.CursorShape.PointingHandCursor)
        self.header.clicked.connect(lambda: self.set_expanded(not self._expanded))
        self._tone = tone
        column = column_in(self, S4)
        column.addWidget(self.header)
        column.addWidget(content)
        on_theme_changed(self._restyle)
        self._restyle()
        self._apply()

    def _restyle(self) -> None:
        set_font(self.header, ui_font(1, bold=True) if self._heading else small_font())

    @property
    def expanded(self) -> bool:
        """Whether the content is shown."""
        return self._expanded

    def set_title(self, title: str) -> None:
        """Change the heading."""
        self._title = title
        self.header.setAccessibleName(title)
        self._fit_title()

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._fit_title()

    def _fit_title(self) -> None:
        """The heading ends in an ellipsis where there is no room for all of it."""
        self.header.setText(self._title)
        around = self.header.sizeHint().width() - self.header.fontMetrics().horizontalAdvance(
            self._title
        )
        room = max(0, self.width() - around)
        mode = Qt.TextElideMode.ElideRight
        self.header.setText(self.header.fontMetrics().elidedText(self._title, mode, room))

    def set_expanded(self, expanded: bool) -> None:
        """Show or hide the content."""
        if expanded != self._expanded:
            self._expanded = expanded
            self._apply()
            self.toggled.emit(expanded)

    def _apply(self) -> None:
        self.content.setVisible(self._expanded)
        bind_icon(self.header, "chevron-down" if self._expanded else "chevron-right", self._tone)
        state = "expanded" if self._expanded else "collapsed"
        self.header.setAccessibleDescription(state)


Margins = tuple[int, int, int, int]
"""Pixels at the left, the top, the right and the bottom."""
NO_MARGINS = (0, 0, 0, 0)


def column_in(widget: QWidget, spacing: int = -1, margins: Margins = NO_MARGINS) -> QVBoxLayout:
    """A column that fills a widget; ``spacing`` in pixels, -1: the style's."""
    column = QVBoxLayout(widget)
    column.setContentsMargins(*margins)
    column.setSpacing(spacing)
    return column


def row_in(widget: QWidget, spacing: int = -1, margins: Margins = NO_MARGINS) -> QHBoxLayout:
    """A line that fills a widget; ``spacing`` in pixels, -1: the style's."""
    line = QHBoxLayout(widget)
    line.setContentsMargins(*margins)
    line.setSpacing(spacing)
    return line


def column_of(
    *parts: QWidget | QLayout, spacing: int = S8, margins: Margins = NO_MARGINS
) -> QVBoxLayout:
    """Widgets and layouts below one another; ``spacing`` in pixels."""
    column = QVBoxLayout()
    column.setContentsMargins(*margins)
    column.setSpacing(spacing)
    for part in parts:
        add(column, part)
    return column


def add(column: QVBoxLayout, part: QWidget | QLayout, stretch: int = 0) -> None:
    """Add a part to a column, whether it is a widget or a layout."""
    if isinstance(part, QWidget):
        column.addWidget(part, stretch)
    else:
        column.addLayout(part, stretch)


def reach_behind(before: QWidget, *parts: QWidget) -> None:
    """Let the Tab key come to parts and what is in them behind another, in which something takes
    the keyboard, hidden or not."""
    # Not by the chain of focus itself: PySide takes each of its widgets for a child of the one
    # before it, and lets go of it with that one.
    moved = list(dict.fromkeys(chain.from_iterable(map(_stops, parts))))
    *_, last = (one for one in _stops(before) if one not in moved)
    for one in moved:
        QWidget.setTabOrder(last, one)
        last = one


def _stops(part: QWidget) -> Iterator[QWidget]:
    """What takes the keyboard in a window; Qt orders nothing else."""
    window = part.window()
    for one in (part, *part.findChildren(QWidget)):
        if one.focusPolicy() != Qt.FocusPolicy.NoFocus and one.window() is window:
            yield one


def push_button(text: str, parent: QWidget, tip: str = "", primary: bool = False) -> QPushButton:
    """A button that Return presses only where the keyboard is on it; ``primary``: the one of its
    page that goes on."""
    button = QPushButton(text, parent)
    button.setAutoDefault(False)
    button.setToolTip(tip)
    if primary:
        button.setProperty("kind", "primary")
    return button


def enable_unless(button: QPushButton, why_not: str) -> None:
    """Let a button be pressed; where ``why_not`` is not empty it cannot, and its tip says why."""
    if button.property("usualTip") is None:
        button.setProperty("usualTip", button.toolTip())
    button.setEnabled(not why_not)
    button.setToolTip(why_not or button.property("usualTip"))


def section(parent: QWidget | None = None) -> tuple[QWidget, QVBoxLayout]:
    """A part of a pane with the pane's margins: its widget and its column."""
    widget = QWidget(parent)
    column = column_in(widget, S8, (S16, S12, S16, S12))
    return widget, column


def labelled(name: str, control: QWidget, parent: QWidget) -> QWidget:
    """A control with its name before it, on one line."""
    pair = QWidget(parent)
    label = QLabel(name, pair)
    label.setBuddy(control)
    line = row_in(pair, S4)
    line.addWidget(label)
    line.addWidget(control)
    return pair


def row(*widgets: QWidget | int, spacing: int = S8, wide: QWidget | None = None) -> QHBoxLayout:
    """Widgets in a line; a whole number is a stretch of that weight. ``wide``: the one that takes
    the room that the others leave."""
    line = QHBoxLayout()
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(spacing)
    for part in widgets:
        if isinstance(part, int):
            line.addStretch(part)
        else:
            line.addWidget(part, 1 if part is wide else 0)
    return line


def inset(widget: QWidget, margins: Margins) -> QHBoxLayout:
    """A widget with room around it. A label that has margins of its own loses them when the theme
    changes."""
    line = row(widget)
    line.setContentsMargins(*margins)
    return line


def beside(left: QWidget, right: QWidget, sizes: tuple[int, int], parent: QWidget) -> QSplitter:
    """A list at the left and what is chosen in it at the right, with a splitter between them;
    ``sizes``: pixels, whose ratio stays."""
    split = _split(Qt.Orientation.Horizontal, (left, right), sizes, parent)
    split.setSizes(list(sizes))
    return split


def stacked(upper: QWidget, lower: QWidget, shares: tuple[int, int], parent: QWidget) -> QSplitter:
    """One above the other, with a splitter between them; ``shares`` of the room that is added."""
    return _split(Qt.Orientation.Vertical, (upper, lower), shares, parent)


def _split(
    way: Qt.Orientation, parts: tuple[QWidget, QWidget], shares: tuple[int, int], parent: QWidget
) -> QSplitter:
    split = QSplitter(way, parent)
    split.setChildrenCollapsible(False)
    for at, (part, share) in enumerate(zip(parts, shares, strict=True)):
        split.addWidget(part)
        split.setStretchFactor(at, share)
    return split


class OnePage(QWidget):
    """Unlike a stack of widgets it is as high as its current page needs at its width, so that a
    scroll area around it scrolls only where that page is too long."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: list[QWidget] = []
        self._at = -1
        column_in(self, 0)

    def add(self, page: QWidget) -> int:
        """One more page; the first one is shown. Returns its number."""
        self._pages.append(page)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(page)
        at = len(self._pages) - 1
        page.setVisible(at == 0)
        self._at = max(self._at, 0)
        return at

    def current(self) -> int:
        """The number of the page that is shown; -1 without pages."""
        return self._at

    def show_page(self, at: int) -> None:
        """Show another page."""
        if at != self._at:
            # First away, then there: together they would ask for more room than there is.
            self._pages[self._at].hide()
            self._pages[at].show()
            self._at = at
            self.updateGeometry()


def fold_of(body: QWidget, height: int) -> int:
    """Where a page that is cut at a height in pixels is to be cut instead, so that no line of it is
    cut through; the height itself where that would leave too little."""
    edge = height
    for _ in range(_FOLDS):
        cut = _line_above(body, body, edge)
        if cut == edge:
            break
        edge = cut
    return edge if height - edge <= scaled(_MOST_LEFT_OUT) else height


_FOLDS = 12
"""Parts beside one another of which each may move the edge."""
_MOST_LEFT_OUT = 48
"""Pixels at a text scale of 100 % that may stay empty for that."""


def _line_above(part: QWidget, body: QWidget, edge: int) -> int:
    """The end of the last whole line above an edge that cuts a part; else the edge."""
    top = part.mapTo(body, QPoint(0, 0)).y()
    if not top < edge < top + part.height():
        return edge
    is_leaf = isinstance(part, QAbstractScrollArea) or part.layout() is None
    if isinstance(part, QSplitter) or not is_leaf:
        shown = (one for one in part.children() if isinstance(one, QWidget) and not one.isHidden())
        return min((_line_above(one, body, edge) for one in shown), default=edge)
    above, line = 0, part.height()
    if isinstance(part, QTableView):
        above = part.horizontalHeader().height() + part.frameWidth()
        line = part.verticalHeader().defaultSectionSize()
    elif isinstance(part, QLabel) and part.wordWrap():
        line = part.height() // max(1, part.height() // part.fontMetrics().lineSpacing())
    whole = (edge - top - above) // max(1, line)
    return top + above + whole * line if whole > 0 else top


class WholeArea(QScrollArea):
    """Scrolls up and down; while it shows the beginning, no line is cut through at its edge. What
    the keyboard comes to is in sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spare = 0
        """Pixels at the lower edge that show nothing."""
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._fit())
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._fit)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._follow)

    def _follow(self, _old: QWidget | None, now: QWidget | None) -> None:
        """Qt does so itself only when the keyboard comes from within. What the mouse is on stays
        below it."""
        pressed = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if now is not None and not pressed and self.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, S8)

    def _fit(self) -> None:
        body, room = self.widget(), self.viewport().height() + self._spare
        spare = 0
        if body is not None and not self.verticalScrollBar().value() and body.height() > room:
            spare = room - fold_of(body, room)
        if spare != self._spare:
            self._spare = spare
            self.setViewportMargins(0, 0, 0, spare)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._soon.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Qt has set it on the page itself.
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._soon.start()
        return super().eventFilter(watched, event)


def scroll_area(parent: QWidget | None, name: str = "", has_frame: bool = True) -> QScrollArea:
    """An area that scrolls up and down alone. With a ``name`` the keyboard stops at it."""
    area = QScrollArea(parent)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(name)
    area.setProperty("ring", bool(name))
    if not name:
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    if not has_frame:
        area.setFrameShape(QFrame.Shape.NoFrame)
    return area

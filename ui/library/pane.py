"""The sessions at the left, grouped by the folder that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.store import SessionRow
from ui import theme
from ui.audit.known import NOT_RECORDED
from ui.widgets.labels import LinkButton, elided
from ui.widgets.panels import column_in

AnyIndex = QModelIndex | QPersistentModelIndex
KEY_ROLE = Qt.ItemDataRole.UserRole
DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
SEPARATOR = " · "


def when(ms: float, now: datetime) -> str:
    """A moment as one says it: today 14:02, yesterday, Tue, 12 Nov, 12 Nov 2024."""
    if ms <= 0:
        return ""
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=now.tzinfo)
    except (ValueError, OverflowError, OSError):
        return ""  # a file may hold a year that no calendar here has
    days = (now.date() - moment.date()).days
    if days == 0:
        return f"today {moment:%H:%M}"
    if days == 1:
        return "yesterday"
    if 0 < days < 7:
        return f"{moment:%a}"
    return f"{moment.day} {moment:%b}" + (f" {moment.year}" if moment.year != now.year else "")


def detail(row: SessionRow, now: datetime) -> str:
    """The second line of a session: when, how large, how often compacted."""
    is_untimed = row.entries and row.last_ms <= 0
    parts = [f"time {NOT_RECORDED}" if is_untimed else when(row.last_ms, now), f"{row.entries:,}"]
    if row.compactions:
        parts.append(f"{row.compactions} compaction{'s' if row.compactions > 1 else ''}")
    return SEPARATOR.join(part for part in parts if part)


def fitting_detail(metrics: QFontMetrics, detail: str, width: int) -> str:
    """A detail that fits a width in pixels: where it must be, without the number of entries, then
    without the time as well."""
    parts = detail.split(SEPARATOR)
    while metrics.horizontalAdvance(SEPARATOR.join(parts)) > width and len(parts) > 1:
        del parts[-2]
    return elided(metrics, SEPARATOR.join(parts), width)


def project(row: SessionRow) -> str:
    """The last part of the working folder, whichever system wrote it."""
    return row.cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "no folder"


class LibraryModel(QAbstractListModel):
    """Headings and sessions in one list; headings cannot be selected."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[str | SessionRow] = []

    def set_sessions(self, sessions: Sequence[SessionRow]) -> None:
        """Newest projects first, and newest sessions first in each."""
        groups: dict[str, list[SessionRow]] = {}
        for row in sorted(sessions, key=lambda row: -row.last_ms):
            groups.setdefault(project(row), []).append(row)
        self.beginResetModel()
        self._rows = []
        for name, rows in groups.items():
            self._rows += [name, *rows]
        self.endResetModel()

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if isinstance(self._rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        if isinstance(row, str):
            return " ".join(row.split()) if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(index.row())
        if role == KEY_ROLE:
            return row.key
        if role == DETAIL_ROLE:
            return detail(row, datetime.now().astimezone())
        if role == Qt.ItemDataRole.ToolTipRole:
            known = detail(row, datetime.now().astimezone())
            return f"{row.title}\n{known}\n{row.cwd}\n{row.path}".strip()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.title}, {detail(row, datetime.now().astimezone())}"
        return None

    def title(self, at: int) -> str | None:
        """The title of a row's session; None for a heading."""
        row = self._rows[at]
        if isinstance(row, str):
            return None
        return " ".join(row.title.split()) or "Untitled session"

    def row_of(self, key: int) -> int:
        for at, row in enumerate(self._rows):
            if not isinstance(row, str) and row.key == key:
                return at
        return -1


def title_lines(metrics: QFontMetrics, title: str, width: int) -> list[str]:
    """A title in one line, or broken between two words into two that fit a width in pixels."""
    if metrics.horizontalAdvance(title) <= width:
        return [title]
    first, *words = title.split()
    while words and metrics.horizontalAdvance(f"{first} {words[0]}") <= width:
        first = f"{first} {words.pop(0)}"
    return [elided(metrics, line, width) for line in (first, " ".join(words)) if line]


class LibraryDelegate(QStyledItemDelegate):
    """A title, in two lines where it needs them, over a dim detail; the open session has a bar at
    its left edge."""

    open_key = 0

    def __init__(self, view: QListView, model: LibraryModel) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self._widths: dict[tuple[str, str], int] = {}
        """Pixels of titles in a font."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        # Asked for each row at every new width of the pane.
        metrics = self._view.fontMetrics()
        line, title = metrics.lineSpacing(), self._model.title(index.row())
        if title is None:
            return QSize(120, line + theme.S16)
        room = self._view.viewport().width() - theme.S16 - theme.S8
        key = title, self._view.font().key()
        width = self._widths.get(key)
        if width is None:
            width = self._widths[key] = metrics.horizontalAdvance(title)
        lines = 3 if width > room and " " in title else 2
        return QSize(120, lines * line + theme.S12)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        colors = theme.theme()
        rect: QRect = option.rect
        inner = rect.adjusted(theme.S16, theme.S4, -theme.S8, -theme.S4)
        font: QFont = option.font
        painter.save()
        if index.data(KEY_ROLE) is None:
            self._heading(painter, font, inner, str(index.data()))
            painter.restore()
            return
        state = option.state
        is_open = index.data(KEY_ROLE) == self.open_key
        if is_open or state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, colors.sel)
        if is_open:
            painter.fillRect(QRect(rect.topLeft(), QSize(3, rect.height())), colors.accent)
        painter.setPen(QPen(colors.ink))
        painter.setFont(font)
        lines = title_lines(painter.fontMetrics(), str(index.data()), inner.width())
        height = inner.height() // (len(lines) + 1)
        place = QRect(inner.left(), inner.top(), inner.width(), height)
        for line in lines:
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, line)
            place.translate(0, height)
        painter.setPen(QPen(colors.dim))
        painter.setFont(theme.small_font())
        text = fitting_detail(painter.fontMetrics(), str(index.data(DETAIL_ROLE)), inner.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(colors.accent, 1, Qt.PenStyle.DotLine))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        painter.restore()

    def _heading(self, painter: QPainter, font: QFont, inner: QRect, text: str) -> None:
        bold = QFont(theme.small_font())
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QPen(theme.theme().dim))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignBottom, shown)


class SessionList(QListView):
    """Shows whole rows, no heading as the last of them, and the current one whatever room it is
    left."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._spare = 0
        """Pixels at the lower edge that show nothing."""
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._fit())
        self.verticalScrollBar().rangeChanged.connect(lambda _least, _most: self._fit())

    def _fit(self) -> None:
        room = self.viewport().height() + self._spare
        index = self.indexAt(QPoint(1, room - 1))
        edge = room
        while index.isValid():
            row = self.visualRect(index)
            if row.bottom() < edge and index.data(KEY_ROLE) is not None:
                break
            edge, index = row.top(), index.siblingAtRow(index.row() - 1)
        spare = room - edge
        if spare != self._spare and spare < room:
            self._spare = spare
            self.setViewportMargins(0, 0, 0, spare)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            # The titles may need more lines, or fewer.
            self.scheduleDelayedItemsLayout()
        self._fit()
        self.scrollTo(self.currentIndex())


class LibraryPane(QWidget):
    """Open by click or Enter; import and find below the list."""

    open_requested = Signal(int)
    import_requested = Signal()
    find_requested = Signal()
    export_requested = Signal(int)
    trash_requested = Signal(int)
    all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("surface", "panel")
        title = QLabel("Sessions", self)
        theme.bind_font(title, lambda: theme.ui_font(1, bold=True))
        self.model = LibraryModel()
        self.list = self._make_list()
        self.delegate = LibraryDelegate(self.list, self.model)
        self.list.setItemDelegate(self.delegate)
        self.import_button = QPushButton("Import…", self)
        self.import_button.setToolTip("Import session files (or drop them on the window)")
        self.import_button.clicked.connect(self.import_requested)
        self.find_button = QPushButton("Find…", self)
        self.find_button.setToolTip("Look for the sessions of your agents on this computer")
        self.find_button.clicked.connect(self.find_requested)
        self.all_button = LinkButton("All sessions…", self)
        self.all_button.setToolTip("All stored sessions: filters, sums, archive and trash")
        self.all_button.clicked.connect(self.all_requested)
        every = QHBoxLayout()
        every.setContentsMargins(theme.S12, theme.S4, theme.S16, 0)
        every.addWidget(self.all_button)
        every.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(theme.S16, theme.S8, theme.S16, theme.S12)
        buttons.setSpacing(theme.S8)
        buttons.addWidget(self.import_button)
        buttons.addWidget(self.find_button)
        layout = column_in(self, 0, (0, theme.S12, 0, 0))
        title.setContentsMargins(theme.S16, 0, theme.S16, 0)
        layout.addWidget(title)
        layout.addWidget(self.list, 1)
        layout.addLayout(every)
        layout.addLayout(buttons)
        self.show_sessions((), 0)

    def _make_list(self) -> SessionList:
        made = SessionList(self)
        made.setModel(self.model)
        made.setFrameShape(QListView.Shape.NoFrame)
        made.setProperty("surface", "panel")
        made.viewport().setAutoFillBackground(False)
        made.setAccessibleName("Sessions")
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        made.customContextMenuRequested.connect(self._menu)
        made.clicked.connect(self._open)
        made.activated.connect(self._open)
        return made

    def show_sessions(self, sessions: Sequence[SessionRow], open_key: int) -> None:
        self.model.set_sessions(sessions)
        self.set_open(open_key)

    def set_open(self, key: int) -> None:
        """Mark the session that the window shows."""
        self.delegate.open_key = key
        row = self.model.row_of(key)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))
        self.list.viewport().update()

    def _open(self, index: QModelIndex) -> None:
        key = index.data(KEY_ROLE)
        if key is not None and key != self.delegate.open_key:
            self.open_requested.emit(key)

    def _menu(self, at: QPoint) -> None:
        key = self.list.indexAt(at).data(KEY_ROLE)
        if key is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open").triggered.connect(lambda: self.open_requested.emit(key))
        menu.addAction("Export…").triggered.connect(lambda: self.export_requested.emit(key))
        menu.addSeparator()
        menu.addAction("Move to trash").triggered.connect(lambda: self.trash_requested.emit(key))
        menu.popup(self.list.viewport().mapToGlobal(at))

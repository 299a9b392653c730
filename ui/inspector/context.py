"""The inspector's tab for the context: what the model sees at an entry, message by message."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.context_size import context_size
from explorer.compaction.profile import PROFILES, Profile
from explorer.session.context import Context, context_at
from ui.inspector.context_model import Column, ContextModel
from ui.inspector.ports import InspectedDocument
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    role_icon,
    role_token,
    theme,
    ui_font,
)
from ui.widgets.budget_bar import BudgetBar
from ui.widgets.figures import count, full, round_short, short
from ui.widgets.labels import Caption, ElidedLabel, Hairline
from ui.widgets.panels import EmptyState, row
from ui.widgets.swatch import Legend

Index = QModelIndex | QPersistentModelIndex


class _MessageDelegate(QStyledItemDelegate):
    """Paints icon, number, role as sent and first line in one line."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        if index.column() != Column.TEXT:
            super().paint(painter, option, index)
            return
        now, rect = theme(), option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, now.sel)
        kind, flags = index.data(ContextModel.KIND), index.data(ContextModel.FLAGS)
        ratio = painter.device().devicePixelRatio()
        sign = icon_pixmap(role_icon(kind, flags), role_token(kind, flags), 14, ratio)
        painter.drawPixmap(rect.left() + S4, rect.center().y() - 6, sign)
        x = rect.left() + S4 + 20
        painter.setFont(mono_font(-0.5))
        number = f"#{index.data(ContextModel.ENTRY)}"
        painter.setPen(now.dim)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(x, rect.top(), 400, rect.height()), middle, number)
        x += max(QFontMetrics(mono_font(-0.5)).horizontalAdvance(number) + S8, 44)
        font = ui_font(-0.5)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        role = f"{index.data(ContextModel.ROLE)}: "
        painter.drawText(QRectF(x, rect.top(), 400, rect.height()), middle, role)
        x += metrics.horizontalAdvance(role)
        painter.setPen(now.ink)
        room = rect.right() - x - S4
        text = metrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(QRectF(x, rect.top(), max(room, 0), rect.height()), middle, text)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index, /) -> QSize:
        return QSize(120, 26)


class _Table(QTableView):
    """Rows that Return and a click activate."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.setAccessibleName("Messages that the model sees")

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.clicked.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class ContextPane(QWidget):
    """Bar, model, thinking level and messages of the context at an entry."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: InspectedDocument | None = None
        self._index = -1
        self._own_request = -1
        self._window, self._reserve = 200_000, 16_384
        self._profile: Profile = PROFILES["explorer"]
        self._context: Context | None = None
        self.title = ElidedLabel(parent=self)
        self.reserve = Caption(parent=self)
        self.bar = BudgetBar(self)
        self.legend = Legend(self)
        self.facts = Caption(parent=self)
        self.facts.setWordWrap(True)
        self.model = ContextModel(self)
        self.table = _Table(self)
        self.table.setModel(self.model)
        self.table.setItemDelegateForColumn(Column.TEXT, _MessageDelegate(self.table))
        self.table.clicked.connect(lambda index: self._clicked(index.row()))
        self.legend.filter_changed.connect(self.model.set_filter)
        self.empty = EmptyState(
            "eye", "Nothing is sent here", "Select an entry to see the messages that a model "
            "would be sent at it.", parent=self,
        )  # fmt: skip
        self._views = QStackedWidget(self)
        self._views.addWidget(self.empty)
        self._views.addWidget(self._build())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._views)
        self.setMinimumWidth(320)
        on_theme_changed(self._restyle)
        self._restyle()

    def _build(self) -> QWidget:
        page = QWidget(self)
        head = QVBoxLayout()
        head.setContentsMargins(S16, S12, S16, S8)
        head.setSpacing(S4)
        line = row(self.title, self.reserve)
        line.setStretchFactor(self.title, 1)
        head.addLayout(line)
        head.addWidget(self.bar)
        head.addWidget(self.legend)
        head.addWidget(self.facts)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.table, 1)
        return page

    def _restyle(self) -> None:
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(Column.TEXT, QHeaderView.ResizeMode.Stretch)
        digits = QFontMetrics(ui_font()).horizontalAdvance("0,000,000") + S12
        for column in (Column.TOKENS, Column.RUNNING):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, digits)
        height = QFontMetrics(ui_font()).height() + 9
        self.table.verticalHeader().setDefaultSectionSize(height)
        self.table.verticalHeader().setMinimumSectionSize(height)
        self.table.viewport().update()

    def set_limits(self, window: int, reserve: int, profile: Profile | None = None) -> None:
        """The context window and what is kept free of it, in tokens; and whose rules count."""
        self._window, self._reserve = window, reserve
        self._profile = profile or self._profile
        self._refresh()

    def show_context(self, document: InspectedDocument | None, index: int) -> None:
        """Show what the model sees at an entry; -1 or no document shows that there is nothing.

        An entry that was asked for by a click in this list only selects its row: the context that
        a person is reading does not shrink under the pointer.
        """
        own, self._own_request = self._own_request, -1
        if document is self._document and document is not None and index == own:
            self.table.selectRow(self.model.row_of(index))
            return
        self._document, self._index = document, index
        if document is None or index < 0:
            self.model.clear()
            self._views.setCurrentIndex(0)
            return
        self._context = context_at(document.tree, index)
        self.model.show_context(document, self._context)
        self._refresh()
        self._views.setCurrentIndex(1)
        if self.model.rowCount():
            self.table.scrollToBottom()

    def refresh(self) -> None:
        """Count again, after a tokenizer did."""
        if self._document is not None and self._index >= 0:
            self._own_request = -1
            self.show_context(self._document, self._index)

    def _refresh(self) -> None:
        document, context = self._document, self._context
        if document is None or context is None:
            return
        size = context_size(document.tree, context, self._profile, document.weights)
        shares = self.model.shares()
        self.bar.set_budget(shares, self._window, self._reserve)
        self.legend.set_shares(shares)
        self.title.setText(
            f"Context at #{self._index}, {short(size.tokens)} of {round_short(self._window)} "
            f"tokens ({size.source})"
        )
        self.reserve.setText(f"reserve {short(self._reserve)}")
        summed = sum(share.tokens for share in shares)
        by = "tokenizer" if document.weights is not None else "estimate"
        parts = [count(len(context.messages), "message")]
        if summed != size.tokens:
            parts.append(f"they add up to {full(summed)} ({by})")
        if context.model:
            parts.append(context.model)
        parts.append(f"thinking {context.thinking_level}")
        if context.compaction >= 0:
            parts.append(f"compaction #{context.compaction} in force")
        self.facts.setText(" · ".join(parts))

    def _clicked(self, row_number: int) -> None:
        entry = self.model.entry(row_number)
        self._own_request = entry
        self.entry_requested.emit(entry)
        self._own_request = -1 if self._own_request == entry else self._own_request

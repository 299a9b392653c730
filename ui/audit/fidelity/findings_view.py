"""The list of findings: one click on a number shows where the source says it."""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.audit.findings import STATED_WRONGLY, Fate, Finding
from ui.audit.fidelity.findings_model import ROW, FindingsModel, Heading
from ui.audit.fidelity.words import FATE_TITLES, ONE_KIND, TEXTURES
from ui.theme import (
    S4,
    S8,
    S12,
    bind_font,
    icon_pixmap,
    on_theme_changed,
    paint_verdict,
    scaled,
    small_font,
    theme,
    ui_font,
)
from ui.widgets.figures import count
from ui.widgets.swatch import swatch_size

Index = QModelIndex | QPersistentModelIndex


def _one_line(text: str) -> str:
    return " ".join(text[:400].split())


class _Delegate(QStyledItemDelegate):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._restyle()
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.body, self.small = ui_font(-0.5), small_font()
        self.strong = QFont(self.body)
        self.strong.setWeight(QFont.Weight.Bold)
        self.body_metrics, self.small_metrics = QFontMetrics(self.body), QFontMetrics(self.small)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index, /) -> QSize:
        return QSize(120, self.body_metrics.height() + self.small_metrics.height() + 10)

    def number_rect(self, rect: QRect, finding: Finding) -> QRect:
        """Where the number of the source stands."""
        wide = self.small_metrics.horizontalAdvance(f"#{finding.atom.last}") + S8
        return QRect(rect.right() - wide - S8, rect.top(), wide + S8, rect.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        row, now = index.data(ROW), theme()
        rect = QRectF(option.rect)
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, now.sel)
        elif isinstance(row, Heading):
            painter.fillRect(rect, now.panel)
        painter.setPen(now.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if isinstance(row, Heading):
            self._heading(painter, rect, row)
        elif isinstance(row, Finding):
            self._finding(painter, rect, row)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRectF, row: Heading) -> None:
        now, sign = theme(), scaled(14)
        ratio = painter.device().devicePixelRatio()
        name = "chevron-down" if row.is_open else "chevron-right"
        painter.drawPixmap(
            QPointF(rect.left() + S4, rect.top() + 5), icon_pixmap(name, "dim", sign, ratio)
        )
        left = rect.left() + S4 + sign + S4
        number = f"{row.number:,}"
        wide = self.body_metrics.horizontalAdvance(number) + S12
        room = rect.right() - left - wide - S8
        tone = now.lost if row.group.is_grave else now.ink
        self._two(painter, rect, left, room, row.group.title, row.group.why, tone, self.strong)
        painter.setFont(self.body)
        painter.setPen(tone)
        place = QRectF(rect.right() - wide - S4, rect.top() + 4, wide, self.body_metrics.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight), number)

    def _finding(self, painter: QPainter, rect: QRectF, row: Finding) -> None:
        now = theme()
        width, height = swatch_size()
        left = rect.left() + S12
        top = rect.top() + 4 + (self.body_metrics.height() - height) / 2
        sign = QRectF(left, top, width, height)
        if row.fate in STATED_WRONGLY:
            painter.setFont(self.strong)
            painter.setPen(now.lost)
            painter.drawText(sign, int(Qt.AlignmentFlag.AlignCenter), "≠")
        else:
            paint_verdict(painter, sign, TEXTURES[row.fate])
        left += width + S8
        right = rect.right() - S8
        if row.atom.sources:
            number = self.number_rect(rect.toRect(), row)
            painter.setFont(self.small)
            painter.setPen(now.accent)
            place = QRectF(number).adjusted(0, 4, -S4, 0)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignRight), f"#{row.atom.last}")
            right = number.left()
        told = f"{FATE_TITLES[row.fate]} · {ONE_KIND[row.atom.kind]}"
        if row.source is not None:
            told += f" · said: {_one_line(row.source.text)}"
        elif len(row.atom.sources) > 1:
            told += f" · said in {count(len(row.atom.sources), 'entry', 'entries')}"
        elif row.note and row.fate is not Fate.LOST:
            told += f" · {row.note}"
        self._two(
            painter, rect, left, right - left, _one_line(row.atom.text), told, now.ink, self.body
        )

    def _two(
        self,
        painter: QPainter,
        rect: QRectF,
        left: float,
        room: float,
        first: str,
        second: str,
        tone: QColor,
        font: QFont,
    ) -> None:
        elide = Qt.TextElideMode.ElideRight
        painter.setFont(font)
        painter.setPen(tone)
        metrics = QFontMetrics(font)
        baseline = rect.top() + 4 + metrics.ascent()
        painter.drawText(QPointF(left, baseline), metrics.elidedText(first, elide, int(room)))
        painter.setFont(self.small)
        painter.setPen(theme().dim)
        baseline = rect.bottom() - 5 - self.small_metrics.descent()
        shown = self.small_metrics.elidedText(second, elide, int(room))
        painter.drawText(QPointF(left, baseline), shown)


class FindingsView(QListView):
    """Return shows where it was said, with Shift where the summary says it; on a heading it folds
    the group."""

    source_requested = Signal(object, int)
    """The ``Finding``, and its source that is to be shown."""
    summary_requested = Signal(object)
    """The ``Finding`` whose place in the summary is to be shown."""
    finding_chosen = Signal(object)
    """The ``Finding`` that is selected now, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.findings = FindingsModel(self)
        self.setModel(self.findings)
        self._paints = _Delegate(self)
        self.setItemDelegate(self._paints)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Findings, the gravest first")
        self.setFrameShape(QListView.Shape.NoFrame)
        bind_font(self, ui_font)
        on_theme_changed(self.scheduleDelayedItemsLayout)
        self.selectionModel().currentChanged.connect(lambda *_: self._tell())

    def current(self) -> Finding | None:
        """The finding with the keyboard."""
        row = self.currentIndex().data(ROW) if self.currentIndex().isValid() else None
        return row if isinstance(row, Finding) else None

    def select_row(self, row: int) -> None:
        """Put the keyboard on a row; -1 on none."""
        self.setCurrentIndex(self.findings.index(row, 0) if row >= 0 else QModelIndex())
        self._tell()

    def _tell(self) -> None:
        self.finding_chosen.emit(self.current())

    def _turn(self, row: int) -> None:
        self.findings.turn(row)
        self.select_row(row)

    def mouseReleaseEvent(self, event: QMouseEvent, /) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = index.data(ROW) if index.isValid() else None
        if event.button() != Qt.MouseButton.LeftButton or row is None:
            return
        if isinstance(row, Heading):
            self._turn(index.row())
        elif row.atom.sources:
            number = self._paints.number_rect(self.visualRect(index), row)
            if number.contains(event.position().toPoint()):
                self.source_requested.emit(row, row.atom.last)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        index = self.currentIndex()
        row = index.data(ROW) if index.isValid() else None
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(row, Heading):
            side = Qt.Key.Key_Left if row.is_open else Qt.Key.Key_Right
            if event.key() in (*keys, Qt.Key.Key_Space, side):
                self._turn(index.row())
            else:
                super().keyPressEvent(event)
        elif isinstance(row, Finding) and event.key() in keys:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.summary_requested.emit(row)
            elif row.atom.sources:
                self.source_requested.emit(row, row.atom.last)
        else:
            super().keyPressEvent(event)

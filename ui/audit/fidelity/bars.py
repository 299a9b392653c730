"""Survival as bars: of all atoms, and kind by kind."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from explorer.audit.findings import STATED_WRONGLY, Fate, Fidelity, KindRow
from explorer.facts import FactKind
from ui.audit.fidelity.words import BAR, FATE_TITLES, KIND_TITLES, TEXTURES, kind_title, percent
from ui.theme import (
    S4,
    S8,
    bind_font,
    on_theme_changed,
    paint_verdict,
    scaled,
    small_font,
    theme,
)
from ui.widgets.swatch import Legend, Share


def paint_fates(painter: QPainter, rect: QRectF, counts: Mapping[Fate, int]) -> None:
    """A bar whose parts are as long as their shares; each at least two pixels."""
    shown = [(fate, counts.get(fate, 0)) for fate in BAR if counts.get(fate, 0)]
    total = sum(number for _, number in shown)
    if not total:
        return
    left = rect.left()
    for at, (fate, number) in enumerate(shown):
        right = rect.right() if at == len(shown) - 1 else left + rect.width() * number / total
        part = QRectF(left, rect.top(), max(2.0, right - left), rect.height())
        paint_verdict(painter, part, TEXTURES[fate], radius=1.5)
        left = right


def fate_legend(parent: QWidget) -> Legend:
    """What the textures mean."""
    legend = Legend(parent)
    legend.set_shares(
        [Share(fate.value, FATE_TITLES[fate], 0, TEXTURES[fate], filterable=False) for fate in BAR]
    )
    return legend


def counts_words(counts: Mapping[Fate, int]) -> str:
    """``12 kept verbatim, 3 lost``: those that there are."""
    parts = [f"{counts[fate]:,} {FATE_TITLES[fate]}" for fate in Fate if counts.get(fate, 0)]
    return ", ".join(parts) or "none"


class FateBar(QWidget):
    """All atoms of an audit in one bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: Mapping[Fate, int] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self.update)

    def show_counts(self, counts: Mapping[Fate, int]) -> None:
        """Show how many atoms met each fate."""
        self._counts = counts
        self.setAccessibleName(f"Survival: {counts_words(counts)}")
        self.setToolTip(counts_words(counts))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(120), scaled(14))

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        paint_fates(painter, QRectF(self.rect()), self._counts)


class KindButton(QAbstractButton):
    """One kind with its bar and figures. Checked: the findings are of this kind alone."""

    def __init__(self, row: KindRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row = row
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setText(KIND_TITLES[row.kind])
        wrong = {fate: number for fate, number in row.counts.items() if fate in STATED_WRONGLY}
        self._figure = f"{row.survived:,} of {row.total:,}" if row.total else "—"
        self._wrong = f"+ {sum(wrong.values()):,} wrong" if wrong else ""
        self.leaves_room = False
        """Whether room is left for what is stated wrongly, as other rows of the table need it."""
        words = f"{kind_title(row.kind)}: {percent(row.rate)} survives; {counts_words(row.counts)}"
        self.setAccessibleName(words)
        self.setToolTip(f"{words}. Click to see only these findings.")
        bind_font(self, small_font)
        on_theme_changed(self.update)

    def sizeHint(self) -> QSize:
        return QSize(scaled(200), self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, metrics = theme(), QPainter(self), self.fontMetrics()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.hasFocus() or self.underMouse():
            painter.setPen(QPen(now.accent, 1) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(now.sel if self.isChecked() else now.panel)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        title = metrics.horizontalAdvance("Constraints") + S8
        figure = metrics.horizontalAdvance("1,000 of 1,000") + S8
        wrong = metrics.horizontalAdvance("+ 100 wrong") + S4 if self.leaves_room else 0
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(now.ink)
        painter.drawText(QRectF(S4, 0, title, self.height()), middle, self.text())
        right = self.width() - wrong
        painter.setPen(now.dim)
        painter.drawText(
            QRectF(right - figure, 0, figure - S8, self.height()),
            middle | int(Qt.AlignmentFlag.AlignRight),
            self._figure,
        )
        painter.setPen(now.lost)
        painter.drawText(QRectF(right, 0, wrong, self.height()), middle, self._wrong)
        room = right - figure - S4 - title - S4
        if self.row.total and room > scaled(12):
            height = scaled(9)
            bar = QRectF(S4 + title, (self.height() - height) / 2, room, height)
            paint_fates(painter, bar, self.row.counts)


class KindTable(QWidget):
    """Every kind of which there is anything."""

    kind_chosen = Signal(object)
    """The ``FactKind`` whose findings alone are wanted, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Survival by kind")
        self.buttons: dict[FactKind, KindButton] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def show_kinds(self, told: Fidelity) -> None:
        """Show the rows of an audit."""
        for button in self.buttons.values():
            button.hide()
            button.deleteLater()
        self.buttons = {}
        any_wrong = not STATED_WRONGLY.isdisjoint(fate for row in told.kinds for fate in row.counts)
        for row in told.kinds:
            button = self.buttons[row.kind] = KindButton(row, self)
            button.leaves_room = any_wrong
            button.toggled.connect(lambda on, kind=row.kind: self._toggled(kind, on))
            self._column.addWidget(button)
            button.show()

    def check(self, kind: FactKind | None) -> None:
        """Follow a choice that was made elsewhere."""
        for own, button in self.buttons.items():
            button.blockSignals(True)
            button.setChecked(own is kind)
            button.blockSignals(False)
            button.update()

    def _toggled(self, kind: FactKind, on: bool) -> None:
        self.check(kind if on else None)
        self.kind_chosen.emit(kind if on else None)

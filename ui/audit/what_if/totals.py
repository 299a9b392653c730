"""Which lines are drawn, and what every one of them came to in figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QWidget,
)

from explorer.audit.simulation import Prices
from explorer.compaction.reasons import share_text
from ui.audit.what_if.chart import SIGN, paint_sign
from ui.audit.what_if.lines import SignKind, WalkLine
from ui.theme import RADIUS, S4, S8, bind_font, on_theme_changed, scaled, small_font, theme
from ui.widgets.figures import count, full, short
from ui.widgets.flow import FlowLayout
from ui.widgets.table import RIGHT, Column, Table, TableModel

SAMPLE = 34
"""Pixels of a line's sample at a text scale of 100 %."""
SIGNS: tuple[tuple[SignKind, str], ...] = (
    ("compacted", "compacted"),
    ("split", "compacted inside a turn"),
    ("pruned", "pruned"),
    ("stuck", "nothing could be done"),
)


class LineChip(QAbstractButton):
    """A sample of a line and its name. Checked: it is drawn."""

    def __init__(self, line: WalkLine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        bind_font(self, small_font)
        self.show_line(line)
        on_theme_changed(self.updateGeometry)

    def show_line(self, line: WalkLine) -> None:
        """Stand for a line."""
        self.line = line
        self.setText(line.title)
        self.setAccessibleName(f"Draw {line.title}, a line that is {line.stroke.words}")
        self.setToolTip(f"{line.title}: {line.stroke.words}. Click to draw it or leave it out")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + scaled(SAMPLE) + 2 * S8 + S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
        painter.setPen(QPen(now.accent if self.hasFocus() else now.line, 1.5))
        painter.setBrush(now.card if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, RADIUS, RADIUS)
        middle = frame.center().y()
        if self.isChecked():
            painter.setPen(self.line.stroke.pen())
        else:
            painter.setPen(QPen(now.faint, 1))
        painter.drawLine(QPointF(S8, middle), QPointF(S8 + scaled(SAMPLE), middle))
        painter.setPen(now.ink if self.isChecked() else now.dim)
        font = self.font()
        font.setStrikeOut(not self.isChecked())
        painter.setFont(font)
        room = frame.adjusted(S8 + scaled(SAMPLE) + S8, 0, -S4, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self.text())


class SignKey(QWidget):
    """One sign and what it means."""

    def __init__(self, kind: SignKind, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind, self._words = kind, words
        bind_font(self, small_font)
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self._words) + 2 * scaled(SIGN) + 2 * S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = scaled(SIGN)
        paint_sign(painter, self._kind, QPointF(half + 2, self.height() / 2), theme().dim)
        painter.setPen(theme().dim)
        room = QRectF(self.rect()).adjusted(2 * half + S8, 0, 0, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self._words)


class LineLegend(QWidget):
    """A chip for each line, then the signs."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=6, down=4)
        self.chips: dict[str, LineChip] = {}
        self._signs = [SignKey(kind, words, self) for kind, words in SIGNS]
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Lines that are drawn")
        for sign in self._signs:
            self._flow.addWidget(sign)

    @property
    def hidden(self) -> list[str]:
        """The lines that are left out."""
        return [key for key, chip in self.chips.items() if not chip.isChecked()]

    def show_lines(self, lines: Sequence[WalkLine]) -> None:
        """Have a chip for each of these lines; what was left out stays so."""
        wanted = {line.key: line for line in lines}
        for key in [key for key in self.chips if key not in wanted]:
            chip = self.chips.pop(key)
            self._flow.removeWidget(chip)
            chip.deleteLater()
        for sign in self._signs:
            self._flow.removeWidget(sign)
        for key, line in wanted.items():
            if key in self.chips:
                self.chips[key].show_line(line)
                continue
            chip = self.chips[key] = LineChip(line, self)
            chip.toggled.connect(lambda _on: self.changed.emit())
            self._flow.addWidget(chip)
            chip.show()
        for sign in self._signs:
            self._flow.addWidget(sign)
        self._flow.invalidate()
        self.updateGeometry()


MOST_ROWS = 8
"""In sight without scrolling."""


def _keeps(line: WalkLine) -> str:
    policy = line.found.policy
    if line.found.is_recorded:
        return "—"
    if policy.profile.cut_unit == "rounds":
        return count(policy.settings.keep_rounds, "round")
    return short(policy.settings.keep_recent_tokens)


def _keeps_of_window(line: WalkLine) -> str:
    settings = line.found.policy.settings
    if line.found.is_recorded or line.found.policy.profile.cut_unit == "rounds":
        return ""
    share = share_text(settings.keep_recent_tokens / settings.context_window)
    return (
        f"{full(settings.keep_recent_tokens)} tokens, {share} of a window of "
        f"{full(settings.context_window)}. Sizes shrink in proportion with a smaller window."
    )


def _split_share(line: WalkLine) -> str:
    return f"{share_text(line.found.split_turns)} of {line.found.turns:,} turns"


def _cached_share(line: WalkLine) -> str:
    found = line.found
    return f"{share_text(found.cached / found.sent)} of what is sent" if found.sent else ""


def _figure(
    title: str,
    tip: str,
    value: Callable[[WalkLine], int],
    detail: Callable[[WalkLine], str] = lambda _line: "",
) -> Column[WalkLine]:
    def text(line: WalkLine) -> str:
        return full(value(line))

    def spoken(line: WalkLine) -> str:
        return f"{title} {text(line)}"

    return Column(title, text, RIGHT, value, tip, detail=detail, spoken=spoken)


COLUMNS: list[Column[WalkLine]] = [
    Column(
        "Rules", lambda line: line.title, tip="What the session was walked under",
        detail=lambda line: line.found.measure.words,
    ),
    Column(
        "Keeps", _keeps, RIGHT, tip="Tokens, or rounds, that a compaction keeps as they are",
        detail=_keeps_of_window, spoken=lambda line: f"Keeps {_keeps(line)}",
    ),
    Column(
        "Threshold",
        lambda line: "—" if line.found.is_recorded else short(line.found.threshold),
        RIGHT, tip="Above so many tokens the context is compacted",
        detail=lambda line: f"of a window of {full(line.found.window)} tokens",
    ),
    _figure(
        "Compacted", "How many compactions there would have been",
        lambda line: len(line.found.compactions), lambda line: f"{_split_share(line)} split",
    ),
    _figure(
        "In a turn", "How many of them cut inside a turn", lambda line: line.found.splits,
        _split_share,
    ),
    _figure(
        "Pruned", "How often old tool results gave way to notes",
        lambda line: len(line.found.prunes),
    ),
    _figure("Largest", "The largest prompt, in tokens", lambda line: line.found.largest),
    _figure(
        "Sent", "Tokens of all prompts together: each request reads the whole context again",
        lambda line: line.found.sent,
        lambda line: (
            f"{line.found.exact:,} of {len(line.found.requests):,} prompts as the provider counted "
            "them"
        ),
    ),
    _figure(
        "Cached", "The part of it that the provider's cache would have held",
        lambda line: line.found.cached, _cached_share,
    ),
    _figure(
        "Summaries", "Tokens that were sent to have summaries written",
        lambda line: line.found.asked, lambda line: line.found.summaries.words,
    ),
    _figure(
        "Too large",
        "Requests that do not fit the window although all was done that the rules allow",
        lambda line: line.found.too_large,
    ),
]  # fmt: skip


def cost_column(prices: Prices) -> Column[WalkLine]:
    """What all calls come to with the prices of a model."""

    def detail(line: WalkLine) -> str:
        cost = line.found.cost(prices)
        return f"{cost.replies:,.2f} for replies, {cost.summaries:,.2f} for summaries"

    return Column(
        "Cost", lambda line: f"${line.found.cost(prices).total:,.2f}", RIGHT,
        lambda line: line.found.cost(prices).total, "Dollars, with the prices of the chosen model",
        detail=detail,
    )  # fmt: skip


FIRST_TO_GO = ("Threshold", "Keeps", "In a turn", "Pruned", "Largest", "Summaries")
"""Headings of the columns that a narrow table leaves out, one after the other."""


class TotalsTable(Table):
    """One row per line. Choosing a row follows its line in the chart."""

    line_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(TableModel[WalkLine](COLUMNS), "Totals of every walk", parent)
        self._is_following = False
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        bind_font(self, small_font)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.selectionModel().currentRowChanged.connect(self._selected)
        self.restyle()

    def arrange_columns(self) -> None:
        """Every column is as wide as its contents; where even those that stay have no room, the
        table scrolls sideways."""
        self._choose_columns()

    def _choose_columns(self) -> None:
        header, titles = self.horizontalHeader(), [column.title for column in self.rows.columns]
        widths = [
            max(header.sectionSizeHint(at), self.sizeHintForColumn(at)) for at in range(len(titles))
        ]
        left = sum(widths) - self.viewport().width()
        for title in FIRST_TO_GO:
            at = titles.index(title)
            self.setColumnHidden(at, left > 0)
            left -= widths[at] if left > 0 else 0

    def show_totals(self, lines: Sequence[WalkLine], prices: Prices | None) -> None:
        """Show what these lines came to; the cost where prices are known."""
        key = self._key()
        columns = COLUMNS if prices is None else [*COLUMNS, cost_column(prices)]
        self.rows.show(lines, columns)
        self.follow(key)
        self.restyle()

    def restyle(self) -> None:
        """As high as its rows are, up to eight of them."""
        super().restyle()
        self.horizontalHeader().setSectionsClickable(True)
        rows = min(self.rows.rowCount(), MOST_ROWS) * self.row_height()
        head, bar = self.horizontalHeader().sizeHint(), self.horizontalScrollBar().sizeHint()
        self.setMinimumHeight(rows + head.height() + bar.height() + 4)

    def follow(self, key: str) -> None:
        """Select the row of a line."""
        wanted = next((line for line in self.rows.rows if line.key == key), None)
        if wanted is not None and key != self._key():
            self._is_following = True
            self.selectRow(self.rows.row_of(wanted))
            self._is_following = False

    def _key(self) -> str:
        return "" if self.current is None else str(self.current.key)

    def _selected(self) -> None:
        if (key := self._key()) and not self._is_following:
            self.line_chosen.emit(key)

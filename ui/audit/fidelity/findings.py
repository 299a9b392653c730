"""Findings in groups as a list, and one of them in full."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct
from PySide6.QtCore import (
    QModelIndex,
    QObject,
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
    QLabel,
    QListView,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.audit.findings import Excerpt, Fidelity, Finding, Group
from explorer.audit.words import (
    GROUP_MEANINGS,
    GROUP_TITLES,
    KIND_TITLES,
    RULE_OF_THUMB,
    finding_words,
    none_words,
    not_carried_words,
)
from explorer.facts.fact import Fact, FactKind
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    paint_verdict,
    scaled,
    small_font,
    theme,
    ui_font,
)
from ui.theme.verdicts import LOST
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, LinkButton, RichLabel
from ui.widgets.panels import column_in, enable_unless
from ui.widgets.swatch import swatch_size
from ui.widgets.table import ROW, Column, Index, TableModel


class GroupHeading(Struct, frozen=True):
    """A group as a row of the list."""

    group: Group
    number: int
    is_open: bool = True

    @property
    def title(self) -> str:
        """What is shown first."""
        return GROUP_TITLES[self.group]

    @property
    def note(self) -> str:
        """What is shown below it."""
        return GROUP_MEANINGS[self.group]


class NotCarriedHeading(Struct, frozen=True):
    """The row of all other strings that stand nowhere any more, folded at first."""

    title: str
    is_open: bool = False
    number: int = 0
    note: str = "Said otherwise, not needed, or lost: no rule can tell."


class NotCarriedKind(Struct, frozen=True):
    """The strings of one kind that stand nowhere any more, folded at first."""

    kind: FactKind
    facts: Sequence[Fact]
    is_open: bool = False
    number: int = 0

    @property
    def title(self) -> str:
        """The kind and how many there are."""
        return f"{KIND_TITLES[self.kind]} ({len(self.facts):,})"

    @property
    def note(self) -> str:
        """The first of them."""
        return " · ".join(_one_line(fact.title) for fact in self.facts[:_MOST_STRINGS])


class NotCarriedFact(Struct, frozen=True):
    """One of these strings."""

    fact: Fact

    @property
    def title(self) -> str:
        """The string, on a line."""
        return _one_line(self.fact.title)

    @property
    def note(self) -> str:
        """Where it stands last."""
        return f"In entry #{self.fact.last}" if self.fact.sources else ""


class NoneFound(Struct, frozen=True):
    """The row on the groups without findings."""

    title: str
    note: str


Heading = GroupHeading | NotCarriedHeading | NotCarriedKind
FindingRow = Heading | Finding | NotCarriedFact | NoneFound
_MOST_STRINGS, _MOST_ROWS = 40, 500
"""Strings on the line of a kind, and below it."""


def _sentence(row: FindingRow) -> str:
    if isinstance(row, Finding):
        return finding_words(row)
    if isinstance(row, NotCarriedFact | NoneFound):
        return ". ".join(part for part in (row.title, row.note) if part)
    return f"{row.title}, {'open' if row.is_open else 'folded'}. {row.note}"


def _tip(row: FindingRow) -> str | None:
    return RULE_OF_THUMB if isinstance(row, NoneFound) else None


def _title(row: FindingRow) -> str:
    return row.text if isinstance(row, Finding) else row.title


class FindingsModel(TableModel[FindingRow]):
    """The groups with findings, a row on the others, then what else is not carried as one folded
    row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__([Column("Findings", _title, spoken=_sentence, detail=_tip)], parent)
        self._found = Fidelity()
        self._turned: set[str] = set()
        """Titles of groups that are not as they were at first."""

    def show_findings(self, found: Fidelity) -> None:
        """Show the findings of another summary, all else folded."""
        self._found = found
        self._turned = set()
        self._fill()

    def turn(self, row: int) -> None:
        """Fold a group, or unfold it."""
        heading = self.rows[row]
        if isinstance(heading, Heading):
            self._turned ^= {heading.title}
            self._fill()

    def first_finding(self) -> int:
        """The row of the first finding; -1 when none is shown."""
        return next((at for at, row in enumerate(self.rows) if isinstance(row, Finding)), -1)

    def _fill(self) -> None:
        rows: list[FindingRow] = []
        for group in Group:
            if found := self._found.of(group):
                heading = GroupHeading(group, len(found), GROUP_TITLES[group] not in self._turned)
                rows += [heading, *(found if heading.is_open else ())]
        if none := none_words(self._found):
            rows.append(NoneFound(none[0], ", ".join(none[1:]).capitalize()))
        if words := not_carried_words(self._found):
            rows.append(NotCarriedHeading(words, words in self._turned))
            if words in self._turned:
                for kind, facts in self._found.not_carried.items():
                    line = NotCarriedKind(kind, facts)
                    is_open = line.title in self._turned
                    rows.append(NotCarriedKind(kind, facts, is_open))
                    rows += [NotCarriedFact(one) for one in facts[:_MOST_ROWS] if is_open]
        self.show(rows)


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
        wide = self.small_metrics.horizontalAdvance(f"#{finding.fact.last}") + S8
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
        elif isinstance(row, NotCarriedFact | NoneFound):
            left = rect.left() + 2 * S12
            room = rect.right() - left - S8
            self._two(painter, rect, left, room, row.title, row.note, now.ink, self.body)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRectF, row: Heading) -> None:
        now, sign = theme(), scaled(14)
        ratio = painter.device().devicePixelRatio()
        name = "chevron-down" if row.is_open else "chevron-right"
        painter.drawPixmap(
            QPointF(rect.left() + S4, rect.top() + 5), icon_pixmap(name, "dim", sign, ratio)
        )
        left = rect.left() + S4 + sign + S4
        number = f"{row.number:,}" if row.number else ""
        wide = self.body_metrics.horizontalAdvance(number) + S12
        room = rect.right() - left - wide - S8
        tone = now.lost if row.number else now.ink
        font = self.strong if isinstance(row, GroupHeading) else self.body
        self._two(painter, rect, left, room, row.title, row.note, tone, font)
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
        if row.group is Group.WRONG:
            painter.setFont(self.strong)
            painter.setPen(now.lost)
            painter.drawText(sign, int(Qt.AlignmentFlag.AlignCenter), "≠")
        else:
            paint_verdict(painter, sign, LOST)
        left += width + S8
        right = rect.right() - S8
        if row.fact.sources:
            number = self.number_rect(rect.toRect(), row)
            painter.setFont(self.small)
            painter.setPen(now.accent)
            place = QRectF(number).adjusted(0, 4, -S4, 0)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignRight), f"#{row.fact.last}")
            right = number.left()
        self._two(
            painter, rect, left, right - left, _one_line(row.text), row.reason, now.ink, self.body
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
    """Return shows its source, with Shift where the summary says it; on a heading it folds
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
        self.setAccessibleName("Findings in groups")
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
        elif isinstance(row, Finding) and row.fact.sources:
            number = self._paints.number_rect(self.visualRect(index), row)
            if number.contains(event.position().toPoint()):
                self.source_requested.emit(row, row.fact.last)

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
            elif row.fact.sources:
                self.source_requested.emit(row, row.fact.last)
        else:
            super().keyPressEvent(event)


MOST_SOURCES = 6
LONGEST = 400
ACTIONS = (
    ("pin", "Pin the entr&y", "Keep the entry that says it verbatim, through every compaction"),
    ("instruct", "Add to the instru&ctions", "Ask for it in the instructions of the next summary"),
    ("mend", "Check an&d mend…", "Show a model the findings, and let it mend the summary"),
)


class FindingPart(QWidget):
    """Below the list; empty while nothing is selected."""

    source_requested = Signal(object, int)
    """The ``Finding``, and one of its sources."""
    summary_requested = Signal(object)
    action_asked = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding: Finding | None = None
        self.is_read_only = False
        """Whether nothing can be done about a finding here: what the team noted has the room."""
        self.no_mending = ""
        """Why the summary cannot be mended; empty where it can."""
        self.offered: frozenset[str] = frozenset()
        """Which of the actions there is somebody for."""
        self.text = QLabel(self)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setMaximumHeight(scaled(76))
        bind_font(self.text, lambda: mono_font(-0.5))
        self.excerpt = RichLabel(self)
        self.excerpt.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.excerpt.setWordWrap(True)
        self.excerpt.setMaximumHeight(scaled(92))
        bind_font(self.excerpt, small_font)
        self.why = Caption("", self, wraps=True)
        self._sources = QWidget(self)
        self._links = FlowLayout(self._sources, across=S8, down=S4)
        self.links: list[LinkButton] = []
        self.in_summary = QPushButton("Show in the &summary", self)
        self.in_summary.setToolTip("Where the summary says it (Shift+Return in the list)")
        self.in_summary.clicked.connect(lambda: self.summary_requested.emit(self.finding))
        self.buttons: dict[str, QPushButton] = {}
        buttons = FlowLayout(across=S8, down=S4)
        buttons.addWidget(self.in_summary)
        for name, title, tip in ACTIONS:
            button = self.buttons[name] = QPushButton(title, self)
            button.setToolTip(tip)
            button.clicked.connect(lambda _=False, name=name: self._act(name))
            buttons.addWidget(button)
        column = column_in(self, S4, (S16, S4, S16, S8))
        for part in (self.text, self.why, self._sources, self.excerpt):
            column.addWidget(part)
        column.addLayout(buttons)
        self.show_finding(None)

    def _act(self, name: str) -> None:
        if self.finding is not None:
            self.action_asked.emit(name, self.finding)

    def offer(self, *names: str) -> None:
        """Offer actions that somebody answers to."""
        self.offered = self.offered | frozenset(names)
        self.show_finding(self.finding)

    def show_finding(self, finding: Finding | None) -> None:
        """Show a finding, or nothing."""
        self.finding = finding
        self.setVisible(finding is not None)
        if finding is None:
            return
        text = finding.text if len(finding.text) <= LONGEST else finding.text[:LONGEST] + "…"
        self.text.setText(text)
        self.text.setAccessibleName(f"{GROUP_TITLES[finding.group]}: {text}")
        self.why.setText(finding.reason)
        self.excerpt.clear()
        self.excerpt.hide()
        self.text.show()
        self._show_sources(finding)
        self.in_summary.setVisible(bool(finding.places))
        for name, button in self.buttons.items():
            button.setVisible(name in self.offered and not self.is_read_only)
            button.setEnabled(bool(finding.fact.sources) or name != "pin")
        enable_unless(self.buttons["mend"], self.no_mending)

    def show_excerpt(self, finding: Finding, found: Excerpt | None) -> None:
        """Show the words of the source around the place, where the finding is still shown."""
        if finding is not self.finding or found is None:
            return
        before, text, after = (escape(" ".join(part.split())) for part in found)
        style = f"background-color:{theme().sel.name()};text-decoration:underline;"
        place = f'<span style="{style}">{text}</span>'
        words = f"#{finding.fact.last}: {before} {place} {after}"
        self.excerpt.setText(words)
        self.excerpt.setAccessibleName(
            f"In entry {finding.fact.last}: {found.before}{found.text}{found.after}"
        )
        self.excerpt.show()
        # The same words twice would take the room of the list above.
        self.text.setVisible(found.text.strip() != finding.text.strip())

    def _show_sources(self, finding: Finding) -> None:
        while (item := self._links.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.links = []
        # The last entry that states it comes first: it is the one that counts.
        sources = finding.fact.sources[::-1]
        for source in sources[:MOST_SOURCES]:
            link = LinkButton(f"#{source}", self._sources)
            link.setAccessibleName(f"Show the source, entry {source}, at the place")
            link.setToolTip("Show the place in the inspector, and the entry on the map")
            link.clicked.connect(
                lambda _=False, source=source: self.source_requested.emit(self.finding, source)
            )
            self.links.append(link)
            self._links.addWidget(link)
            link.show()
        if len(sources) > MOST_SOURCES:
            more = Caption(f"and {len(sources) - MOST_SOURCES:,} more", self._sources)
            self._links.addWidget(more)
            more.show()
        self._sources.setVisible(bool(sources))
        self._links.invalidate()

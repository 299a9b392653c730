"""The pages of a comparison of summaries: sections, facts won and lost, figures, generations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QCheckBox,
    QHeaderView,
    QLabel,
    QSizePolicy,
    QStyle,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.difference import (
    Candidate,
    Difference,
    Drift,
    DriftStep,
    FindingRow,
    SectionCell,
    SectionRow,
)
from explorer.audit.findings import Group
from explorer.audit.words import GROUP_TITLES, KIND_TITLES, ONE_KIND, RULE_OF_THUMB
from explorer.facts.fact import FactKind
from explorer.session.text_difference import (
    DifferencePiece,
)
from ui.audit.known import NOT_RECORDED
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, theme, ui_font
from ui.widgets.comparison import ComparisonRow, FiguresGrid
from ui.widgets.figures import count, full
from ui.widgets.labels import Caption, Hairline, RichLabel
from ui.widgets.panels import column_in, scroll_area
from ui.widgets.table import Column, Table, TableModel

NARROW = 640
"""Pixels, at a text scale of 100 %: below it the texts stand below each other."""


def row_note(row: SectionRow, names: Sequence[str]) -> str:
    """What there is to say of a section besides its texts."""
    parts = []
    if row.missing:
        parts.append(f"missing in {_listed(row.missing, names)}")
    if row.repeated:
        parts.append(f"more than once in {_listed(row.repeated, names)}")
    if row.is_equal and len(names) > 1:
        parts.append("the same in all")
    return ", ".join(parts)


def _listed(which: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[at] for at in which)


class MarkedLabel(RichLabel):
    """A text with the stretches marked that others have not: by a ground and a line below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pieces: Sequence[DifferencePiece] = ()
        self._empty = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        bind_font(self, ui_font)
        on_theme_changed(self._fill)

    def show_cell(self, cell: SectionCell | None, name: str, title: str) -> None:
        """Show what a candidate has in a section."""
        self.pieces = cell.pieces if cell is not None else ()
        if cell is None:
            spoken = "no such section"
        else:
            unique = "; ".join(piece.text.strip() for piece in cell.pieces if piece.differs)
            spoken = f"{cell.text}. Of its own: {unique or 'nothing'}"
        self.setAccessibleName(f"{title} of {name}: {spoken}")
        self._empty = "— no such section" if cell is None else "— empty"
        self._fill()

    def _fill(self) -> None:
        now = theme()
        if not self.pieces:
            self.setText(f'<span style="color:{now.dim.name()}">{escape(self._empty)}</span>')
            return
        style = f"background-color:{now.sel.name()};text-decoration:underline;"
        parts = []
        for piece in self.pieces:
            text = escape(piece.text).replace("\n", "<br/>").replace("  ", "&nbsp; ")
            parts.append(f'<span style="{style}">{text}</span>' if piece.differs else text)
        self.setText("".join(parts))


class SectionBlock(QWidget):
    """One section: its heading, what is odd about it, and its text in every candidate."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(bold=True))
        self.note = Caption("", self, wraps=True)
        self.cells: list[MarkedLabel] = []
        self._captions: list[Caption] = []
        self.line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.line.setSpacing(S16)
        column = column_in(self, S4, (S16, S8, S16, S8))
        column.addWidget(self.title)
        column.addWidget(self.note)
        column.addLayout(self.line)
        column.addWidget(Hairline(parent=self))

    def showing(self, row: SectionRow, names: Sequence[str]) -> Iterator[None]:
        """Show a section, text by text, in steps between which the window answers."""
        self.title.setText(row.title)
        note = row_note(row, names)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        for name, cell in zip(names, row.cells, strict=True):
            place = QWidget(self)
            inner = column_in(place, 0)
            caption = Caption(name, place)
            label = MarkedLabel(place)
            label.show_cell(cell, name, row.title)
            inner.addWidget(caption)
            inner.addWidget(label)
            inner.addStretch(1)
            self._captions.append(caption)
            self.cells.append(label)
            self.line.addWidget(place, 1)
            yield

    def stack(self, is_narrow: bool) -> None:
        """Texts below each other, each with its candidate's name, or beside each other."""
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self.line.setDirection(way)
        for caption in self._captions:
            caption.setVisible(is_narrow)


MARKED = (
    "Marked and underlined: what the reference does not say, and in the reference what none of the "
    "others says."
)
UNMARKED = "They have no heading in common: the texts stand side by side, unmarked."


class SectionsView(QWidget):
    """Made block by block, so that the window answers between two of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.blocks: list[SectionBlock] = []
        self._shown: Difference | None = None
        self.only_apart = QCheckBox("&Only what differs", self)
        self.only_apart.setChecked(False)
        self.only_apart.toggled.connect(lambda _on: self._hide_equal())
        self.caption = Caption(MARKED, self, wraps=True)
        self._names = QWidget(self)
        self._name_line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._names)
        # As wide as the texts below, which have a scroll bar beside them.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        self._name_line.setContentsMargins(S16, S4, S16 + bar, S4)
        self._name_line.setSpacing(S16)
        self._area = scroll_area(self, "Sections side by side", has_frame=False)
        head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(S16, S8, S16, 0)
        head.setSpacing(S12)
        head.addWidget(self.caption, 1)
        head.addWidget(self.only_apart)
        column = column_in(self, 0)
        column.addLayout(head)
        column.addWidget(self._names)
        column.addWidget(Hairline(parent=self))
        column.addWidget(self._area, 1)
        self._start()

    def _start(self) -> None:
        body = QWidget(self._area)
        # It grows at its end: what is there already is not painted again for that.
        body.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self.blocks = []
        self._area.setWidget(body)
        while (item := self._name_line.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def showing(self, found: Difference | None) -> Iterator[None]:
        """Show other summaries, section by section, in steps between which the window answers."""
        self._shown = found
        self._start()
        if found is None:
            return
        is_alone = len(found.candidates) == 1
        self.caption.setText(UNMARKED if found.is_unmarked else "" if is_alone else MARKED)
        self.only_apart.setVisible(not (is_alone or found.is_unmarked))
        for at, candidate in enumerate(found.candidates):
            is_reference = at == found.reference and not is_alone
            words = candidate.name + (", the reference" if is_reference else "")
            label = QLabel(words, self._names)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setWordWrap(True)
            bind_font(label, lambda: ui_font(bold=True))
            self._name_line.addWidget(label, 1)
        yield
        for at in range(len(found.sections)):
            yield from self._adding(found, at)

    @property
    def is_whole(self) -> bool:
        """Whether all sections are there."""
        return self._shown is None or len(self.blocks) == len(self._shown.sections)

    def _adding(self, found: Difference, at: int) -> Iterator[None]:
        block = SectionBlock(self._area.widget())
        block.hide()
        yield from block.showing(found.sections[at], [one.name for one in found.candidates])
        block.stack(self._is_narrow())
        block.setVisible(not self._is_hidden(found, found.sections[at]))
        self._column.insertWidget(at, block)
        self.blocks.append(block)
        yield

    def _hide_equal(self) -> None:
        if self._shown is None:
            return
        for block, row in zip(self.blocks, self._shown.sections, strict=False):
            block.setVisible(not self._is_hidden(self._shown, row))

    def _is_hidden(self, found: Difference, row: SectionRow) -> bool:
        return self.only_apart.isChecked() and row.is_equal and len(found.candidates) > 1

    def _is_narrow(self) -> bool:
        count = len(self._shown.candidates) if self._shown is not None else 2
        return self.width() < scaled(NARROW // 2) * count

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._names.setVisible(not self._is_narrow())
        for block in self.blocks:
            block.stack(self._is_narrow())


NOTHING = "The same findings in all of them."


def nothing_words(found: Difference) -> str:
    """Why no finding is shown, in a sentence."""
    unknown = [one.name for one in found.not_audited]
    if unknown:
        return (
            f"The file does not tell what went into {', '.join(unknown)}: what it keeps cannot be "
            "compared with the others. Compare their sections."
        )
    return NOTHING if found.shared else "No finding in any of them."


def finding_columns(found: Difference) -> list[Column[FindingRow]]:
    """Group, text, then one column per candidate."""

    def candidate(at: int, name: str) -> Column[FindingRow]:
        def colour(row: FindingRow) -> QColor | None:
            return theme().lost if row.has(at) else None

        def words(row: FindingRow) -> str:
            return ("stated wrongly" if row.first.stated else "missing") if row.has(at) else "–"

        return Column(name, words, sort_key=words, width=120, colour=colour)

    def group(row: FindingRow) -> str:
        return GROUP_TITLES[row.first.group]

    return [
        Column("Group", group, sort_key=group, width=160),
        Column("Finding", lambda row: " ".join(row.first.text[:300].split()), stretch=True,
               detail=lambda row: f"{row.first.text[:2000]}\n{row.first.reason}"),
        *(candidate(at, one.name) for at, one in enumerate(found.candidates)),
    ]  # fmt: skip


class FindingsTable(Table):
    """Return or a double click shows the source on the map."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(TableModel[FindingRow](()), "Findings of some and not of all", parent)
        bind_font(self, lambda: ui_font(-0.5))
        self.row_activated.connect(self._show_source)
        self.restyle()

    def show_difference(self, found: Difference | None) -> None:
        """Show the findings of another comparison."""
        self.empty_text = nothing_words(found) if found is not None else ""
        columns = [] if found is None else finding_columns(found)
        self.rows.show(() if found is None else found.findings, columns)
        empty = found is not None and not found.findings
        self.setAccessibleDescription(self.empty_text if empty else "")
        if self.rows.rowCount():
            self.setCurrentIndex(self.rows.index(0, 1))

    def _show_source(self, row: FindingRow) -> None:
        if row.first.fact.sources:
            self.entry_requested.emit(row.first.fact.last)


UNKNOWN = "—"


def cost_words(cost: float | None) -> str:
    """Dollars as text."""
    if cost is None:
        return NOT_RECORDED
    if cost == 0:
        return "$0"
    return f"${cost:.2f}" if cost >= 0.01 else "under $0.01"


def figures_of(found: Difference) -> list[ComparisonRow]:
    """Each figure with one value per candidate; a setting that is the same for all is faint."""
    rows: list[ComparisonRow] = []

    def add(title: str, values: Sequence[str]) -> None:
        if any(value not in (UNKNOWN, NOT_RECORDED) for value in values):
            rows.append(ComparisonRow(title, values))

    every = found.candidates
    for group in Group:
        add(GROUP_TITLES[group], [_count(one, group) for one in every])
    add("Tokens of the summary", [_tokens(one.tokens) for one in every])
    add("Entries in the context with it", [_tokens(one.tokens_after) for one in every])
    add("Cost", [cost_words(one.cost) for one in every])
    times = [f"{one.elapsed_ms / 1000:.1f} s" if one.elapsed_ms else NOT_RECORDED for one in every]
    add("Time", times)
    apart = {name for name, _ in found.settings_apart}
    # What differs in how they were made stands before what does not.
    for name, values in sorted(found.settings, key=lambda row: row[0] not in apart):
        shown = [value or UNKNOWN for value in values]
        rows.append(ComparisonRow(name, shown, is_faint=name not in apart))
    return rows


def _count(one: Candidate, group: Group) -> str:
    if one.fidelity is None or not one.fidelity.is_readable:
        return UNKNOWN
    return f"{len(one.fidelity.of(group)):,}"


def _tokens(tokens: int) -> str:
    return full(tokens) if tokens >= 0 else UNKNOWN


class CandidateFigures(QWidget):
    """The findings of each candidate in figures, and how it was made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = FiguresGrid("Figures of all candidates", self, has_heads=True)
        self.bound = Caption(RULE_OF_THUMB, self, wraps=True)
        column = column_in(self, S8, (S16, S8, S16, S8))
        column.addWidget(self.grid)
        column.addWidget(self.bound)
        column.addStretch(1)

    @property
    def values(self) -> Mapping[str, Sequence[QLabel]]:
        """The labels of each figure, by its title."""
        return self.grid.values

    def show_difference(self, found: Difference | None) -> None:
        """Show other candidates."""
        if found is None:
            self.grid.show_figures((), ())
            return
        names = [one.name for one in found.candidates]
        self.grid.show_figures(names, figures_of(found))


MOST_FACTS = 200
"""Facts of a step that are listed at most for each kind."""
_STEP = int(Qt.ItemDataRole.UserRole)
_KIND = _STEP + 1


def step_words(step: DriftStep) -> str:
    """A step in a line."""
    changes = Counter(each.change for each in step.sections)
    names = ("added", "dropped", "changed")
    sections = [f"{changes[name]} {name}" for name in names if changes[name]]
    facts = f"sections: {', '.join(sections)}; " if sections else "no section changed; "
    return f"{facts}{len(step.added):,} things added, {len(step.dropped):,} dropped"


class DriftView(QWidget):
    """The summaries of a path as a tree of the steps from each to the next."""

    step_requested = Signal(int)
    """The number of a step whose two summaries are to stand side by side."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drift: Drift | None = None
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName("From each summary to the next")
        self.tree.setColumnCount(2)
        self.tree.setHeaderLabels(["From one to the next", "What changed"])
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.itemExpanded.connect(self._fill)
        self.tree.itemActivated.connect(lambda item, _column: self._activated(item))
        self.note = Caption("", self, wraps=True)
        column = column_in(self, S4, (S16, S8, S16, S8))
        column.addWidget(self.note)
        column.addWidget(self.tree, 1)
        column.addSpacing(S8)

    def show_drift(self, drift: Drift) -> None:
        """Show the summaries of a path."""
        self.drift = drift
        self.note.setText(
            "Return on a step puts its two summaries side by side."
            if drift.steps
            else "There are fewer than two compactions on this path: nothing can drift yet."
        )
        self.tree.clear()
        for number, step in enumerate(drift.steps):
            item = QTreeWidgetItem([f"{step.earlier.name} → {step.later.name}", step_words(step)])
            item.setData(0, _STEP, number)
            item.setToolTip(1, step_words(step))
            item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            self.tree.addTopLevelItem(item)
            item.setExpanded(len(drift.steps) == 1)
        if (first := self.tree.topLevelItem(0)) is not None:
            self.tree.setCurrentItem(first)

    def _fill(self, item: QTreeWidgetItem) -> None:
        """A step's parts are made when it is opened, a kind's things when that is: there may be
        thousands."""
        number, drift = item.data(0, _STEP), self.drift
        if item.childCount() or drift is None:
            return
        if isinstance(number, int):
            self._sections(item, drift.steps[number])
            self._kinds(item, drift.steps[number])
        elif (parent := item.parent()) is not None and item.data(0, _KIND) is not None:
            self._facts(item, drift.steps[parent.data(0, _STEP)], FactKind(item.data(0, _KIND)))

    @staticmethod
    def _sections(item: QTreeWidgetItem, step: DriftStep) -> None:
        for each in step.sections:
            if each.change != "same":
                item.addChild(QTreeWidgetItem([each.row.title, f"section {each.change}"]))

    @staticmethod
    def _kinds(item: QTreeWidgetItem, step: DriftStep) -> None:
        for kind in FactKind:
            added, dropped = step.count(kind)
            if not added and not dropped:
                continue
            part = QTreeWidgetItem([KIND_TITLES[kind], f"+ {added:,}, − {dropped:,}"])
            part.setData(0, _KIND, kind.value)
            part.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            item.addChild(part)

    @staticmethod
    def _facts(item: QTreeWidgetItem, step: DriftStep, kind: FactKind) -> None:
        for sign, what, facts in (("+", "added", step.added), ("−", "dropped", step.dropped)):
            found = [fact for fact in facts if fact.kind is kind]
            for fact in found[:MOST_FACTS]:
                text = " ".join(fact.text[:200].split())
                item.addChild(QTreeWidgetItem([f"{sign} {ONE_KIND[kind]} {what}", text]))
            if len(found) > MOST_FACTS:
                more = count(len(found) - MOST_FACTS, "more", "more")
                item.addChild(QTreeWidgetItem([sign, more]))

    def _activated(self, item: QTreeWidgetItem) -> None:
        number = item.data(0, _STEP)
        if isinstance(number, int):
            self.step_requested.emit(number)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        item = self.tree.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            self._activated(item)
            return
        super().keyPressEvent(event)

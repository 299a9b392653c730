"""The results of a recall test: a row per question, and below it the row in full."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QScrollArea, QWidget

from explorer.audit.recall import HIGHEST_GRADE, Grade
from explorer.audit.recall_result import (
    NOT_ASKED,
    SIDES,
    ClozeResult,
    OpenResult,
    RecallResult,
    Side,
)
from explorer.settings.prompt_templates import load_prompt
from ui.compaction.words import entry_links
from ui.theme import S4, S8, S16, scaled, theme
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ClickLabel, LinkButton
from ui.widgets.panels import column_in, stacked
from ui.widgets.table import Column, Table, TableModel

RecallRow = ClozeResult | OpenResult
SIDE_TITLES: dict[Side, str] = {"after": "After the compaction", "before": "With everything"}
_SHOWN = 200
"""Characters of a text that a row shows."""
_WIDE = 640
"""Width of the table from which answers have columns of their own."""


def given(row: RecallRow, side: Side) -> str:
    """An answer as it was given, in a line."""
    answer = row.answers[side]
    if answer is None:
        return ""
    return " ".join(answer.split())[:_SHOWN] or "no answer"


def expected(row: RecallRow) -> str:
    """What the record says."""
    if isinstance(row, ClozeResult):
        return row.question.answer
    return f"{count(len(row.question.points), 'point')} of the record"


def verdict(row: RecallRow) -> str:
    """What the answers show, in a few words."""
    if isinstance(row, ClozeResult):
        return row.verdict if row.answers["after"] is not None else ""
    after, before = row.grades["after"], row.grades["before"]
    if after is None:
        return "no grade" if row.answers["after"] is not None else ""
    words = f"{after.score} of {HIGHEST_GRADE}"
    return f"{words}, with everything {before.score}" if before is not None else words


def is_lost(row: RecallRow) -> bool:
    """Whether the compaction is what the answer lacks: with everything it was better."""
    if isinstance(row, ClozeResult):
        return row.is_lost
    one, other = row.grades["after"], row.grades["before"]
    return one is not None and other is not None and one.score < other.score


def sources(row: RecallRow) -> list[int]:
    """The entries that say it, the first one first."""
    if isinstance(row, ClozeResult):
        return [row.question.entry]
    return list(dict.fromkeys(point.entry for point in row.question.points))


def _colour(row: RecallRow) -> QColor | None:
    return theme().lost if is_lost(row) else None


def _answers(side: Side) -> Column[RecallRow]:
    def detail(row: RecallRow) -> str | None:
        return row.answers[side]

    title = SIDE_TITLES[side]
    return Column(title, lambda row: given(row, side), width=150, shown_from=_WIDE, detail=detail)


def result_columns() -> list[Column[RecallRow]]:
    """Question, both answers, what was expected, verdict, source."""
    return [
        Column("Question", lambda row: row.question.text, stretch=True,
               detail=lambda row: row.question.text),
        *(_answers(side) for side in SIDES),
        Column("Expected", expected, width=150),
        Column("Verdict", verdict, sort_key=verdict, fits=True, colour=_colour),
        Column("Entry", lambda row: f"#{sources(row)[-1]}", fits=True,
               tip="The source: a click or Return selects it on the map"),
    ]  # fmt: skip


class ResultPart(QWidget):
    """A row in full, with links to its sources."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words, self.record = self._label(), self._label()
        self.rubric_button = LinkButton("The &rubric ▸", self)
        self.rubric_button.setCheckable(True)
        self.rubric_button.setToolTip("What the judge model grades open answers by")
        self.rubric = Caption(load_prompt("recall-rubric").strip(), self, wraps=True)
        self.rubric_button.toggled.connect(self.rubric.setVisible)
        column = column_in(self, S8, (S16, S8, S16, S8))
        for part in (self.words, self.rubric_button, self.rubric, self.record):
            column.addWidget(part)
        column.addStretch(1)
        self.show_row(None, "")

    def _label(self) -> ClickLabel:
        label = ClickLabel(self)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        label.link.connect(lambda link: self.entry_requested.emit(int(link.removeprefix("entry:"))))
        return label

    def show_row(self, row: RecallRow | None, judge: str) -> None:
        """Show a row; ``judge``: the model that graded open answers."""
        is_open = isinstance(row, OpenResult)
        self.rubric_button.setVisible(is_open)
        self.rubric.setVisible(is_open and self.rubric_button.isChecked())
        _fill(self.words, [] if row is None else _answers_of(row, judge))
        _fill(self.record, [] if row is None else _record_of(row))


Line = tuple[str, str, str]
"""Heading, plain text and links of a paragraph; heading and links are rich text."""


def _fill(label: ClickLabel, lines: Sequence[Line]) -> None:
    html = "".join(f"<p>{title}{escape(text)}{links}</p>" for title, text, links in lines)
    label.set_words(html, " ".join(text for _, text, _ in lines))


def _answers_of(row: RecallRow, judge: str) -> list[Line]:
    lines = [("", row.question.text, "")]
    is_asked = any(answer is not None for answer in row.answers.values())
    for side in SIDES if is_asked else ():
        answer = row.answers[side]
        words = NOT_ASKED if answer is None else answer.strip() or "no answer"
        if isinstance(row, ClozeResult) and answer is not None and row.results[side] is None:
            words += " (its context does not hold the source)"
        lines.append((f"<b>{SIDE_TITLES[side]}:</b> ", words, ""))
        grade = row.grades[side] if isinstance(row, OpenResult) else None
        if grade is not None:
            lines.append((f"<b>Graded by {escape(judge)}:</b> ", _graded(grade), ""))
    return lines


def _record_of(row: RecallRow) -> list[Line]:
    if isinstance(row, ClozeResult):
        return [("<b>Expected:</b> ", row.question.answer, _link(row.question.entry))]
    return [
        ("<b>The record:</b> " if at == 0 else "", point.text, _link(point.entry))
        for at, point in enumerate(row.question.points)
    ]


def _graded(grade: Grade) -> str:
    return f"{grade.score} of {HIGHEST_GRADE}. {grade.reason}"


def _link(entry: int) -> str:
    return f" ({entry_links(f'#{entry}')})"


class RecallResults(QWidget):
    """The table, and the chosen row below it. A click on a row, or Return, selects its source."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._judge = ""
        self.table = Table(TableModel(result_columns()), "Questions and answers", self)
        self.table.clicked.connect(self._clicked)
        self.table.row_activated.connect(self._activated)
        self.table.current_changed.connect(self._show)
        self.table.restyle()
        self.part = ResultPart(self)
        self.part.entry_requested.connect(self.entry_requested)
        self._area = QScrollArea(self)
        self._area.setWidget(self.part)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setMinimumHeight(scaled(90))
        split = stacked(self.table, self._area, (3, 2), self)
        split.setSizes([scaled(300), scaled(180)])
        column_in(self, S4).addWidget(split, 1)

    def show_result(self, result: RecallResult | None) -> None:
        """Show the questions of a test with what became of them; the row that was chosen stays
        chosen."""
        rows: list[RecallRow] = [] if result is None else [*result.cloze, *result.open]
        self._judge = "" if result is None else result.questions.judge
        chosen = self.table.currentIndex().row()
        is_same = [one.question for one in rows] == [one.question for one in self.table.rows.rows]
        self.table.rows.show(rows, same=is_same)
        if rows:
            self.table.selectRow(max(0, chosen) if is_same else 0)
        self._show(self.table.current)

    def _show(self, row: RecallRow | None) -> None:
        self.part.show_row(row, self._judge)

    def _clicked(self, index: QModelIndex) -> None:
        row = self.table.rows.at(index.row())
        if row is not None:
            self._activated(row)

    def _activated(self, row: RecallRow) -> None:
        self.entry_requested.emit(sources(row)[-1])

"""The page of what was needed again: one row per compaction and per thing, with both entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from explorer.audit.needed_again import Need, NeededAfter, NeededAgain, NeedGroup, grouped
from explorer.audit.repeats import Repeat
from explorer.audit.words import (
    NEED_TITLES,
    NEEDED_MEANING,
    again_words,
    doubt_words,
    known_words,
    lines_text,
    need_text,
    needs_words,
    path_words,
    repeated_words,
    short_text,
    tail_words,
    tails_words,
    unfollowed_words,
)
from explorer.session.tree import SessionTree
from ui.audit.ledger_view import LEAST_ROWS, ONE_FIGURE
from ui.audit.words import sentence_case
from ui.compaction.words import entry_links
from ui.theme import S8, S12, S16
from ui.widgets.entry_table import EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import full, moment
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ClickLabel, Hairline, Heading
from ui.widgets.panels import EmptyState, OnePage, column_in, inset
from ui.widgets.table import RIGHT, Column

NeedRow = NeededAfter | NeedGroup | Need
Threads = tuple[tuple[int, int], ...]
"""Pairs of entries: the one before and the one after."""

_MOST_PLACES = 6

NOTHING_COMPACTED = (
    "history",
    "Nothing was compacted here",
    "A recorded compaction is judged by what had to be done again after it.",
)
LOOKING = (
    "history",
    "The session is being read",
    "What had to be done again after its compactions comes here.",
)
NOTHING_NEEDED = (
    "check",
    "Nothing was found to be needed again",
    "Left out are short reads, and what may have changed or may still have been in the context.",
)
EARLIER = "After the compactions before it nothing was found to be needed again."


def threads_of(row: NeedRow | None) -> Threads:
    """The entries that a row leads to, as pairs."""
    if row is None:
        return ()
    needs = (row,) if isinstance(row, Need) else row.needs
    return tuple((need.repeat.before, need.repeat.after) for need in needs)


def compaction_of(row: NeedRow) -> int:
    """The compaction after which something was needed again."""
    if isinstance(row, NeededAfter):
        return row.compaction
    return (row if isinstance(row, Need) else row.needs[0]).taken_by


def _entry(row: NeedRow) -> int:
    if isinstance(row, NeededAfter):
        return row.compaction
    return (row if isinstance(row, Need) else row.needs[0]).repeat.after


def _tokens(row: NeedRow) -> int:
    return row.repeat.tokens if isinstance(row, Need) else row.tokens


def _line(row: NeedRow, of_need: Callable[[Repeat], str] = need_text) -> str:
    if isinstance(row, NeededAfter):
        return needs_words(row.needs)
    if isinstance(row, Need):
        return of_need(row.repeat)
    text = of_need(row.needs[0].repeat._replace(first=0))
    return f"{text}, {len(row.needs):,} times"


def _short_line(row: NeedRow) -> str:
    return _line(row, short_text)


def _title(row: Need | NeedGroup) -> str:
    return NEED_TITLES[row.kind]


def _sentence(row: NeedRow) -> str:
    if isinstance(row, NeededAfter):
        return f"After compaction #{row.compaction}: {_line(row)}."
    return f"{_line(row)}. {_where(row)}"


def _where(row: Need | NeedGroup) -> str:
    """What was done again, and at which entries."""
    title = sentence_case(_title(row))
    if isinstance(row, Need):
        return f"{title}: {again_words(row.repeat)}."
    places = [
        f"at #{one.repeat.after} ({_lines(one.repeat)}{known_words(one.repeat)})"
        for one in row.needs[:_MOST_PLACES]
    ]
    left = len(row.needs) - len(places)
    return f"{title}: {', '.join(places)}{f' and {left:,} times more' if left else ''}."


def _lines(repeat: Repeat) -> str:
    return f"{words}, " if (words := lines_text(repeat)) else ""


class NeedModel(EntryModel[NeedRow]):
    """A row for each compaction after which anything was done, and below it what was needed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            "Where, and what was needed again",
            (
                Column(
                    "Tokens", lambda row: full(_tokens(row)) if _tokens(row) else "–", RIGHT,
                    _tokens, shown_from=ONE_FIGURE,
                ),
            ),
            EntryCells(
                _entry,
                lambda row, _line: _sentence(row),
                lead=lambda row: (
                    "" if isinstance(row, NeededAfter) else f"{_title(row)}  "
                ),
                strong=lambda row: isinstance(row, NeededAfter),
                line=_short_line,
            ),
            parent,
        )  # fmt: skip


class NeedWidget(QWidget):
    """The chosen row in full, and the way to its entries."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: NeedRow | None = None
        self.title = Heading(self, wraps=True)
        self.where = ClickLabel(self)
        self.where.link.connect(
            lambda link: self.entry_requested.emit(int(link.removeprefix("entry:")))
        )
        self.note = Caption(parent=self, wraps=True)
        self.before = self._button("Show &before", "Select the entry that shows it before")
        self.after = self._button("Sho&w again", "Select the entry that shows it again")
        self.before.clicked.connect(lambda: self._show(0))
        self.after.clicked.connect(lambda: self._show(1))
        column = column_in(self, S8, (S16, S12, S16, S12))
        for part in (self.title, self.where, self.note):
            column.addWidget(part)
        column.addLayout(wrapping_row(self.before, self.after))
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Before and again")

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        return button

    def show_row(self, row: NeedRow, tree: SessionTree | None) -> None:
        """Show one row."""
        self._row = row
        is_need = isinstance(row, Need)
        # A path keeps its letters as they are.
        line = _line(row)
        self.title.setText(sentence_case(line) if isinstance(row, NeededAfter) else line)
        self.before.setVisible(is_need)
        self.after.setVisible(is_need)
        if isinstance(row, NeededAfter):
            when = moment(tree.columns.time[row.compaction]) if tree is not None else ""
            where = f"After compaction #{row.compaction}{f', {when}' if when else ''}."
            note = " ".join(part for part in (tails_words(row.needs), doubt_words([row])) if part)
        else:
            needs = row.needs if isinstance(row, NeedGroup) else (row,)
            where = f"{_where(row)} Compaction #{needs[0].taken_by} took it out of the context."
            tokens = repeated_words(needs)
            note = " ".join(part for part in (tokens, tail_words(_longest(needs))) if part)
        self.where.set_words(entry_links(where), where)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def _show(self, which: int) -> None:
        if isinstance(self._row, Need):
            repeat = self._row.repeat
            self.entry_requested.emit((repeat.before, repeat.after)[which])


class NeededPage(QWidget):
    """What was needed again on a path: in a sentence, as rows, and of one row both entries."""

    entry_requested = Signal(int)
    row_changed = Signal()
    """Another row is the chosen one."""
    compaction_chosen = Signal(int)
    """The compaction of a row that the person chose."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_filling = False
        """Whether the rows are set, and the chosen one with them."""
        self.summary = Caption(parent=self, wraps=True)
        self.summary.setToolTip(NEEDED_MEANING)
        self.model = NeedModel(self)
        self.table = EntryTableView(self.model, "Needed again", self, LEAST_ROWS)
        self.part = NeedWidget(self)
        self.table.selectionModel().currentChanged.connect(self._current)
        self.table.entry_chosen.connect(self._clicked)
        self.part.entry_requested.connect(self.entry_requested)
        self.empty = EmptyState(*NOTHING_COMPACTED, parent=self)
        self._pages = OnePage(self)
        self._pages.add(self.empty)
        self._pages.add(self._build())
        column_in(self).addWidget(self._pages)

    def _build(self) -> QWidget:
        page = QWidget(self._pages)
        column = column_in(page, 0)
        self._head = QWidget(page)
        column_in(self._head, 0).addLayout(inset(self.summary, (S16, S8, S16, S8)))
        column.addWidget(self._head)
        column.addWidget(self.table, 1)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.part)
        return page

    def show_needed(self, found: NeededAgain, tree: SessionTree | None) -> None:
        """Show what was needed again on a path; the chosen row stays where it is still there."""
        chosen = self.chosen()
        rows = list(_rows(found))
        self.model.use_session(tree)
        # The newest: it is the one in force, of which the head speaks.
        first = next((row for row in reversed(rows) if isinstance(row, NeededAfter)), None)
        self._is_filling = True
        self.table.show_rows(rows, chosen if chosen in rows else first)
        self._is_filling = False
        self.summary.setText(path_words(found))
        # Where one compaction has all of it, its row says the same.
        is_one = sum(bool(one.needs or one.in_doubt) for one in found.after) == 1
        self._head.setVisible(not (rows and is_one) or found.unfollowed >= 0)
        icon, title, text = NOTHING_NEEDED if found.after else NOTHING_COMPACTED
        if found.unfollowed >= 0:
            icon, title = LOOKING[0], unfollowed_words(found.unfollowed)
            text = EARLIER if len(found.after) > 1 else LOOKING[2]
        self.empty.set_words(title, text, icon)
        self._pages.show_page(1 if rows else 0)

    def show_looking(self) -> None:
        """Show that a path is being looked through, where nothing is known of it yet."""
        if not self.model.rows:
            icon, title, text = LOOKING
            self.empty.set_words(title, text, icon)

    def chosen(self) -> NeedRow | None:
        """The row that is current."""
        row: NeedRow | None = self.table.current
        return row

    def choose_compaction(self, compaction: int) -> None:
        """Make the row of a compaction the chosen one, where it has one."""
        at = self.model.row_of_entry(compaction)
        if at >= 0:
            self._is_filling = True
            self.table.selectRow(at)
            self._is_filling = False

    def follow_moment(self, compaction: int) -> None:
        """The same, unless the chosen row is of that compaction."""
        row = self.chosen()
        if row is None or compaction_of(row) != compaction:
            self.choose_compaction(compaction)

    def _current(self, _current: QModelIndex) -> None:
        if (row := self.chosen()) is not None:
            self.part.show_row(row, self.model.tree)
            if not self._is_filling:
                self.compaction_chosen.emit(compaction_of(row))
        self.row_changed.emit()

    def _clicked(self, entry: int) -> None:
        if (row := self.chosen()) is not None:
            # It may have been the chosen one before.
            self.compaction_chosen.emit(compaction_of(row))
        self.entry_requested.emit(entry)


def _rows(found: NeededAgain) -> Iterator[NeedRow]:
    """None where nothing was needed again at all."""
    for one in found.after if found.needs else ():
        if one.is_followed:
            yield one
            yield from grouped(one.needs)


def _longest(needs: Sequence[Need]) -> Need:
    """The one that only the longest tail would have held; the first where one has no tail."""
    return max(needs, key=lambda need: float("inf") if need.tail is None else need.tail.needed)

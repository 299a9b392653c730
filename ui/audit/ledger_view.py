"""The page of the ledger: every entry with its verdict, and of the chosen one the rule in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from explorer.audit.ledger import Ledger, LedgerVerdict
from explorer.audit.rules import rule_of
from explorer.session.records import Previews
from ui.audit.known import ProvenanceBadge, entry_figure, entry_tokens_words
from ui.audit.words import LEADS, MEANINGS, VERDICTS, sentence_case, texture
from ui.compaction.words import entry_links
from ui.theme import S4, S8, S12, S16, role_name
from ui.widgets.entry_table import ENTRY, EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import count, full
from ui.widgets.labels import Caption, ClickLabel, Hairline
from ui.widgets.loader import Loader
from ui.widgets.panels import column_in, inset, row
from ui.widgets.swatch import Legend, Share
from ui.widgets.table import RIGHT, Column
from ui.widgets.terms import PRUNED_NOTES

ONE_FIGURE, TWO_FIGURES, RULE = 260, 360, 760
"""Widths of a table of the audit, in pixels at a text scale of 100 %, from which the words leave
room for one figure, for two, and for the rule. The figures stand below the table too."""
LEAST_ROWS = 4
"""Rows that are seen in the smallest window; the tab scrolls then."""
SEARCH_REST_MS = 150
SEARCHED_AT_ONCE = 2_000


class RulePart(QWidget):
    """One entry's verdict, the rule behind it, and where it lives on."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rule = ClickLabel(self)
        self.rule.link.connect(self._followed)
        self.lives = ClickLabel(self)
        self.lives.link.connect(self._followed)
        self.badge = ProvenanceBadge(self, "Verdict")
        self.basis = Caption(parent=self, wraps=True)
        column = column_in(self, S4, (S16, S8, S16, S12))
        column.addWidget(self.rule)
        column.addWidget(self.lives)
        column.addLayout(row(self.badge, self.basis, wide=self.basis))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.say_nothing()

    def say_nothing(self, selected: int = -1) -> None:
        """Show that no entry is selected, or that the one selected is not in the ledger."""
        words = "Choose an entry to read why it is kept, summarized or lost."
        if selected >= 0:
            words = f"#{selected} is not in the ledger of the moment that is chosen above."
        self.rule.set_words(words, words)
        self.lives.hide()
        self.badge.set_known(None)
        self.basis.setText("")

    def show_row(self, ledger: Ledger, at: int, is_undone: bool = False) -> None:
        """Show one row of a ledger. ``is_undone``: its moment is that of a compaction that was
        undone."""
        entry, verdict = ledger.entries[at], ledger.verdict(at)
        head = sentence_case(VERDICTS[verdict])
        rule = rule_of(ledger, at)
        meaning = "" if verdict is LedgerVerdict.LOST else f" {MEANINGS[verdict]}"
        if is_undone:
            meaning = f" As it was at #{ledger.in_force}, which was undone:{meaning}"
        lives = ledger.summaries(at)
        if verdict is LedgerVerdict.IN_THIS_SUMMARY and lives:
            head = f"Summarized by #{lives[-1]}"
        spoken = f"#{entry}: {head}.{meaning} {rule}"
        links = entry_links(f"{meaning} {rule}", entry)
        self.rule.set_words(f"<b>#{entry}: {head}.</b>{links}", spoken)
        # What is sent word for word does not live on in a summary, if it stands there too.
        has_lives = len(lives) > 1 and verdict is not LedgerVerdict.VERBATIM
        self.lives.setVisible(has_lives)
        if has_lives:
            words = "Summarized by " + ", then by ".join(f"#{each}" for each in lives)
            self.lives.set_words(entry_links(f"{words}."), f"{words}.")
        known = ledger.known(at)
        self.badge.set_known(known)
        self.basis.setText(known.basis)

    def _followed(self, link: str) -> None:
        self.entry_requested.emit(int(link.removeprefix("entry:")))


class LedgerModel(EntryModel[int]):
    """Rows of a ledger by their numbers, all of them or a choice."""

    def __init__(self, parent: QWidget) -> None:
        self.ledger: Ledger | None = None
        super().__init__(
            "Entry",
            (
                Column("Why", lambda row: rule_of(self._shown, row), shown_from=RULE),
                Column(
                    "Since", self._since, RIGHT, lambda row: self._shown.since(row),
                    tip="The compaction since which it stands like this; – from the beginning",
                    shown_from=TWO_FIGURES,
                ),
                Column(
                    "Tokens", self._figure, RIGHT,
                    lambda row: self._shown.weight(row), shown_from=ONE_FIGURE,
                ),
            ),
            EntryCells(
                lambda row: self._shown.entries[row],
                self._description,
                verdict=lambda row: texture(self._shown.verdicts[row]),
                lead=lambda row: LEADS.get(self._shown.verdict(row), ""),
                strong=lambda row: self._shown.verdicts[row] == LedgerVerdict.LOST,
            ),
            parent,
        )  # fmt: skip

    @property
    def _shown(self) -> Ledger:
        """The ledger; there is one wherever there are rows."""
        assert self.ledger is not None
        return self.ledger

    def show_ledger(self, ledger: Ledger | None, read: Previews | None) -> None:
        """Show another ledger, all of its rows."""
        self.use_session(ledger.tree if ledger is not None else None, read)
        self.ledger = ledger
        self.show(range(len(ledger)) if ledger is not None else range(0))

    def row_of_entry(self, entry: int) -> int:
        """The shown row of an entry, or -1."""
        return self.row_of(self.ledger.row(entry)) if self.ledger is not None else -1

    def _since(self, row: int) -> str:
        since = self._shown.since(row)
        return f"#{since}" if since >= 0 else "–"

    def _figure(self, row: int) -> str:
        ledger = self._shown
        return entry_figure(ledger.tree.columns, ledger.entries[row], ledger.weight(row))

    def _description(self, row: int, line: str) -> str:
        ledger = self._shown
        entry, columns = ledger.entries[row], ledger.tree.columns
        verdict = sentence_case(VERDICTS[ledger.verdict(row)])
        return (
            f"#{entry}, {role_name(columns.kind[entry], columns.flags[entry])}: {line}\n"
            f"{verdict}, {entry_tokens_words(columns, entry, ledger.weight(row))}. "
            f"{rule_of(ledger, row)}"
        )


class LedgerView(QWidget):
    """Filter, search, table, and the rule of the chosen row."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.legend = Legend(self)
        self.legend.filter_changed.connect(lambda _key: self._choose())
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find in the ledger")
        self.search.setAccessibleName("Find in the ledger")
        self.search.setClearButtonEnabled(True)
        self._is_low = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(SEARCH_REST_MS)
        self._rest.timeout.connect(self._choose)
        self.search.textChanged.connect(lambda _text: self._rest.start())
        self._found = Loader(self)
        self._found.loaded.connect(self._settle)
        self.model = LedgerModel(self)
        self.table = EntryTableView(
            self.model, "Entries with their verdicts", self, LEAST_ROWS, outlines_losses=True
        )
        # Whole rows first: at the top never a part of one.
        self.table.setVerticalScrollMode(EntryTableView.ScrollMode.ScrollPerItem)
        self.table.entry_chosen.connect(self.entry_requested)
        self.table.selectionModel().currentChanged.connect(self._current)
        self.nothing = Caption("No entry is like this.", self)
        self.nothing.hide()
        self.part = RulePart(self)
        self.part.entry_requested.connect(self.entry_requested)
        self._previews: Previews | None = None
        self._is_undone = False
        self._entry = -1
        self._lay_out()

    def _lay_out(self) -> None:
        head = QWidget(self)
        lines = column_in(head, S4, (S16, S8, S16, S8))
        lines.addWidget(self.legend)
        lines.addWidget(self.search)
        column = column_in(self, 0)
        column.addWidget(head)
        column.addWidget(self.table, 1)
        column.addLayout(inset(self.nothing, (S16, S8, S16, S8)))
        column.addWidget(Hairline(parent=self))
        column.addWidget(self.part)

    @property
    def shown(self) -> Ledger | None:
        """The ledger that is shown."""
        return self.model.ledger

    def show_ledger(
        self, ledger: Ledger | None, previews: Previews | None, *, is_undone: bool = False
    ) -> None:
        """Show another ledger; the filter, the search and the chosen entry stay. None: the session
        was left, and with it the search. ``is_undone``: its compaction was."""
        self._previews, self._is_undone = previews, is_undone
        if ledger is None:
            self.search.clear()
        self.model.show_ledger(ledger, previews)
        self._show_legend()
        self._choose()

    def _show_legend(self) -> None:
        ledger = self.model.ledger
        self.legend.set_shares([] if ledger is None else shares_of(ledger, self._is_low))

    def show_entry(self, entry: int) -> None:
        """Choose an entry's row, as when it was selected in another view."""
        self._entry = entry
        at = self.model.row_of_entry(entry)
        selection = self.table.selectionModel()
        if at < 0:
            selection.clear()
            self.table.setCurrentIndex(QModelIndex())
        elif self.table.currentIndex().row() != at:
            self.table.selectRow(at)
            self.table.scrollTo(self.model.index(at, 0))
        self._tell(entry)

    def set_low(self, is_low: bool) -> None:
        """In a low window the figures of the verdicts are in their tips."""
        self._is_low = is_low
        self._show_legend()

    # choosing ------------------------------------------------------------------------------------

    def _choose(self) -> None:
        ledger = self.model.ledger
        self._found.forget()
        if ledger is None:
            self._settle(range(0))
            return
        key = self.legend.filter_key()
        rows: Sequence[int] = range(len(ledger))
        if key:
            rows = ledger.rows_of(LedgerVerdict(int(key)))
        text, previews = self.search.text().strip().casefold(), self._previews
        if not text or previews is None:
            self._settle(rows)
            return
        self._found.load(lambda: _matching(ledger, rows, text, previews))

    def _settle(self, rows: Sequence[int]) -> None:
        if rows != self.model.rows:
            self.model.show(rows)
        has_any = len(rows) > 0
        self.nothing.setVisible(not has_any and self.model.ledger is not None)
        self.table.setAccessibleDescription(count(len(rows), "entry", "entries"))
        self.show_entry(self._entry)

    def _current(self, current: QModelIndex) -> None:
        if current.isValid():
            entry = current.data(ENTRY)
            if entry != self._entry:
                self._entry = entry
                self._tell(entry)

    def _tell(self, entry: int) -> None:
        ledger = self.model.ledger
        at = ledger.row(entry) if ledger is not None and entry >= 0 else -1
        if ledger is None or at < 0:
            self.part.say_nothing(-1 if ledger is None else entry)
        else:
            self.part.show_row(ledger, at, self._is_undone)


_TITLES = {LedgerVerdict.PRUNED: PRUNED_NOTES}


def shares_of(ledger: Ledger, is_short: bool = False) -> list[Share]:
    """The verdicts that there are, for the legend, each with its tokens. ``is_short``: as words
    alone, as rows begin with them."""
    return [
        Share(
            str(int(verdict)),
            f"{_TITLES.get(verdict) or VERDICTS[verdict]} ({full(ledger.counts[verdict])})",
            ledger.tokens[verdict],
            texture(verdict),
            label=(LEADS.get(verdict, "").strip() or VERDICTS[verdict]) if is_short else "",
        )
        for verdict in LedgerVerdict
        if ledger.counts[verdict]
    ]


def _matching(ledger: Ledger, rows: Sequence[int], text: str, previews: Previews) -> list[int]:
    """The rows whose number or first line holds a text; reads, so for a thread."""
    found: list[int] = []
    for start in range(0, len(rows), SEARCHED_AT_ONCE):
        part = rows[start : start + SEARCHED_AT_ONCE]
        lines = previews.previews([ledger.entries[row] for row in part])
        found += [
            row
            for row, line in zip(part, lines, strict=True)
            if text in line.casefold() or text == f"#{ledger.entries[row]}"
        ]
    return found

"""The page of losses: what was lost or put at risk, why, and the repairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QPushButton,
    QSizePolicy,
    QWidget,
)

from explorer.audit.findings import Loss, Repair, Severity
from explorer.audit.provenance import Known
from explorer.audit.words import LOSSES_TITLE, SEVERITY_TITLES, unread_words
from explorer.session.tree import SessionTree
from ui.audit.known import ProvenanceBadge
from ui.audit.ledger_view import LEAST_ROWS, ONE_FIGURE, TWO_FIGURES
from ui.audit.words import COUNTED, REPAIRS, SEVERITY_TEXTURES, sentence_case
from ui.compaction.words import entry_links
from ui.theme import S8, S12, S16
from ui.widgets.entry_table import EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import count, full
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ClickLabel, Hairline, Heading
from ui.widgets.panels import EmptyState, OnePage, column_in, enable_unless, inset, row
from ui.widgets.table import RIGHT, Column


def _figure(number: int) -> str:
    return full(number) if number else "–"


class LossModel(EntryModel[Loss]):
    """One row per loss."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            "Where, and what",
            (
                Column(
                    "Entries", lambda loss: _figure(len(loss.entries)), RIGHT,
                    lambda loss: len(loss.entries), shown_from=TWO_FIGURES,
                ),
                Column(
                    "Tokens", lambda loss: _figure(loss.tokens), RIGHT,
                    lambda loss: loss.tokens, shown_from=ONE_FIGURE,
                ),
            ),
            EntryCells(
                lambda loss: loss.at,
                lambda loss, _line: (
                    f"{sentence_case(SEVERITY_TITLES[loss.severity])}: {loss.title}. {loss.cause}"
                ),
                verdict=lambda loss: int(SEVERITY_TEXTURES[loss.severity]),
                lead=lambda loss: f"{SEVERITY_TITLES[loss.severity]}  ",
                strong=lambda loss: loss.severity is Severity.LOST,
                line=lambda loss: loss.title,
            ),
            parent,
        )  # fmt: skip


class LossWidget(QWidget):
    """One loss: cause, what would have prevented it, how it is known, and what to do."""

    entry_requested = Signal(int)
    repair_requested = Signal(object, object)
    """A ``Loss`` and the ``Repair`` that was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loss: Loss | None = None
        self.refused = ""
        """Why nothing can be repaired here; empty where it can."""
        self.title = Heading(self, wraps=True)
        self.cause = ClickLabel(self)
        self.cause.link.connect(lambda link: self._follow(link))
        self.prevention = Caption(parent=self, wraps=True)
        self.badge = ProvenanceBadge(self, "Cause")
        self.basis = Caption(parent=self, wraps=True)
        self.show_button = QPushButton("&Show", self)
        self.show_button.setToolTip("Select it on the map and in the ledger")
        self.show_button.clicked.connect(self._show)
        self.buttons = {repair: self._button(repair) for repair in Repair}
        self._lay_out()

    def _button(self, repair: Repair) -> QPushButton:
        text, tip = REPAIRS[repair]
        button = QPushButton(text, self)
        button.setToolTip(tip)
        button.clicked.connect(lambda: self.repair_requested.emit(self._loss, repair))
        return button

    def _lay_out(self) -> None:
        column = column_in(self, S8, (S16, S12, S16, S12))
        column.addWidget(self.title)
        column.addWidget(self.cause)
        column.addWidget(self.prevention)
        column.addLayout(row(self.badge, self.basis, wide=self.basis))
        column.addLayout(wrapping_row(self.show_button, *self.buttons.values()))
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def show_loss(self, loss: Loss, offered: Collection[Repair]) -> None:
        """Show one loss; of its repairs those that can be done here are offered."""
        self._loss = loss
        self.title.setText(f"{sentence_case(SEVERITY_TITLES[loss.severity])}: {loss.title}")
        self.cause.set_words(entry_links(loss.cause), loss.cause)
        self.prevention.setText(f"What would have prevented it: {loss.prevention}")
        self.badge.set_known(Known(loss.provenance, loss.basis))
        self.basis.setText(loss.basis)
        for repair, button in self.buttons.items():
            can = repair in loss.repairs and repair in offered
            button.setVisible(can and (repair is not Repair.PIN or bool(loss.entries)))
            enable_unless(button, self.refused)

    def _show(self) -> None:
        if self._loss is not None:
            self.entry_requested.emit(self._loss.target)

    def _follow(self, link: str) -> None:
        self.entry_requested.emit(int(link.removeprefix("entry:")))


NONE_DROPPED = (
    "compaction", "No entry was dropped without a summary",
    "What the summary itself left out is on the page Findings.",
)  # fmt: skip
"""The sign and the words where nothing is lost."""
NOTHING_COMPACTED = (
    "compaction", "Nothing was compacted here",
    "What a compaction drops without a summary is listed here, with its cause.",
)  # fmt: skip


class LossesView(QWidget):
    """The list of losses, and of the chosen one the cause and what can be done."""

    entry_requested = Signal(int)
    repair_requested = Signal(object, object)
    findings_requested = Signal()
    """What a summary itself left out is to be shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offered: set[Repair] = set()
        """The repairs that can be done here."""
        self.summary = Caption(parent=self, wraps=True)
        self.model = LossModel(self)
        self.table = EntryTableView(
            self.model, LOSSES_TITLE, self, LEAST_ROWS, outlines_losses=True
        )
        self.table.selectionModel().currentChanged.connect(self._current)
        self.part = LossWidget(self)
        self.table.row_activated.connect(lambda _loss: self.part.show_button.click())
        self.part.entry_requested.connect(self.entry_requested)
        self.part.repair_requested.connect(self.repair_requested)
        self.part.setAccessibleName("Cause and repair")
        self.empty = EmptyState(*NONE_DROPPED, action="Sho&w findings", parent=self)
        self.empty.pressed.connect(self.findings_requested)
        self._pages = OnePage(self)
        self._pages.add(self.empty)
        self._pages.add(self._build())
        column = column_in(self)
        column.addWidget(self._pages)

    def _build(self) -> QWidget:
        page = QWidget(self._pages)
        column = column_in(page, 0)
        column.addLayout(inset(self.summary, (S16, S8, S16, S8)))
        column.addWidget(self.table, 1)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.part)
        return page

    def show_losses(
        self,
        losses: Sequence[Loss],
        tree: SessionTree | None,
        unread: Sequence[int] = (),
        is_compacted: bool = True,
    ) -> None:
        """Show the losses of a path; the chosen one stays where it is still there. ``unread``: the
        compactions whose summaries cannot be read."""
        unknown = unread_words(unread)
        icon, title, text = NONE_DROPPED if is_compacted else NOTHING_COMPACTED
        if unknown:
            icon, title = "unknown", "No fault was found, as far as the file tells"
            text = f"{unknown} What was kept word for word is on the page Ledger."
        self.empty.set_words(title, text, icon)
        self.empty.button.setVisible(is_compacted)
        chosen = self.chosen()
        self.model.use_session(tree)
        self.model.show(losses)
        self._pages.show_page(1 if losses else 0)
        counts = [(s, sum(one.severity is s for one in losses)) for s in reversed(Severity)]
        found = ", ".join(count(n, *COUNTED[severity]) for severity, n in counts if n)
        self.summary.setText(f"On this path: {found}. {unknown}".strip())
        if losses:
            same = (
                one for one in losses
                if chosen is not None and (one.kind, one.at) == (chosen.kind, chosen.at)
            )  # fmt: skip
            self.choose(next(same, losses[0]))

    def chosen(self) -> Loss | None:
        """The loss whose row is current."""
        found: Loss | None = self.table.current
        return found

    def choose(self, loss: Loss) -> None:
        """Make a loss the chosen one."""
        if (row := self.model.row_of(loss)) >= 0:
            self.table.selectRow(row)

    def _current(self, _current: QModelIndex) -> None:
        if (loss := self.chosen()) is not None:
            self.part.show_loss(loss, self.offered)

"""The page of losses: what was lost or put at risk, why, and the ways to mend it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.losses import Gravity, Loss, Repair
from explorer.audit.provenance import Known
from explorer.session.tree import SessionTree
from ui.audit.badges import ProvenanceBadge
from ui.audit.ledger_model import Index
from ui.audit.table import LEAST, ROOMY, AuditTable
from ui.audit.words import GRAVITIES, GRAVITY_TEXTURES, REPAIRS, sentence_case
from ui.compaction.words import entry_links
from ui.theme import S4, S8, S12, S16, bind_font, ui_font
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, LEAD, STRONG, VERDICT
from ui.widgets.figures import count, full
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, ClickLabel, Hairline
from ui.widgets.one_page import OnePage
from ui.widgets.panels import EmptyState, row


class Column(IntEnum):
    """What a row shows."""

    WHAT = 0
    ENTRIES = 1
    TOKENS = 2


_TITLES = ("Where, and what", "Entries", "Tokens")


class LossModel(QAbstractTableModel):
    """One row per loss."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._tree: SessionTree | None = None
        self.losses: Sequence[Loss] = ()

    def show_losses(self, losses: Sequence[Loss], tree: SessionTree | None) -> None:
        """Show other losses."""
        self.beginResetModel()
        self.losses, self._tree = losses, tree
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.losses)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _TITLES[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        if self._tree is None or not index.isValid():
            return None
        loss, column = self.losses[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            if column == Column.WHAT:
                return loss.title
            figure = len(loss.entries) if column == Column.ENTRIES else loss.tokens
            return full(figure) if figure else "–"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            return right if column else None
        columns = self._tree.columns
        if role == ENTRY:
            return loss.at
        if role == KIND:
            return columns.kind[loss.at]
        if role == FLAGS:
            return columns.flags[loss.at]
        if role == VERDICT:
            return int(GRAVITY_TEXTURES[loss.gravity])
        if role == LEAD:
            return f"{GRAVITIES[loss.gravity]}  "
        if role == STRONG:
            return loss.gravity is Gravity.LOST
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{sentence_case(GRAVITIES[loss.gravity])}: {loss.title}. {loss.cause}"
        return None


class LossPart(QWidget):
    """One loss: cause, what would have prevented it, how it is known, and what to do."""

    entry_requested = Signal(int)
    repair_requested = Signal(object, object)
    """A ``Loss`` and the ``Repair`` that was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loss: Loss | None = None
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.cause = ClickLabel(self)
        self.cause.link.connect(lambda link: self._follow(link))
        self.prevention = Caption(parent=self)
        self.prevention.setWordWrap(True)
        self.badge = ProvenanceBadge(self, "Cause")
        self.basis = Caption(parent=self)
        self.basis.setWordWrap(True)
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
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S16, S12)
        column.setSpacing(S8)
        column.addWidget(self.title)
        column.addWidget(self.cause)
        column.addWidget(self.prevention)
        line = row(self.badge, self.basis)
        line.setStretchFactor(self.basis, 1)
        column.addLayout(line)
        flow = FlowLayout(across=S8, down=S4)
        flow.addWidget(self.show_button)
        for button in self.buttons.values():
            flow.addWidget(button)
        column.addLayout(flow)
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def show_loss(self, loss: Loss, offered: Collection[Repair]) -> None:
        """Tell of one loss; of its repairs those that can be done here are offered."""
        self._loss = loss
        self.title.setText(f"{sentence_case(GRAVITIES[loss.gravity])}: {loss.title}")
        self.cause.set_words(entry_links(loss.cause), loss.cause)
        self.prevention.setText(f"What would have prevented it: {loss.prevention}")
        self.badge.set_known(Known(loss.provenance, loss.basis))
        self.basis.setText(loss.basis)
        for repair, button in self.buttons.items():
            can = repair in loss.repairs and repair in offered
            button.setVisible(can and (repair is not Repair.PIN or bool(loss.entries)))

    def _show(self) -> None:
        if self._loss is not None:
            self.entry_requested.emit(self._loss.target)

    def _follow(self, link: str) -> None:
        self.entry_requested.emit(int(link.removeprefix("entry:")))


class LossesView(QWidget):
    """The list of losses, and of the chosen one the cause and what can be done."""

    entry_requested = Signal(int)
    repair_requested = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offered: set[Repair] = set()
        """The repairs that can be done here."""
        self.summary = Caption(parent=self)
        self.summary.setWordWrap(True)
        self.summary.setContentsMargins(S16, S8, S16, S8)
        self.model = LossModel(self)
        shown_from: dict[int, int] = {Column.ENTRIES: ROOMY, Column.TOKENS: LEAST}
        self.table = AuditTable(Column.WHAT, (Column.ENTRIES, Column.TOKENS), shown_from, self)
        self.table.setAccessibleName("Losses")
        self.table.setModel(self.model)
        self.table.restyle()
        self.table.selectionModel().currentChanged.connect(self._current)
        self.part = LossPart(self)
        self.table.activated.connect(lambda _index: self.part.show_button.click())
        self.part.entry_requested.connect(self.entry_requested)
        self.part.repair_requested.connect(self.repair_requested)
        self.part.setAccessibleName("Cause and repair")
        self.empty = EmptyState(
            "check", "Nothing was lost here",
            "Every message on this path is in the context, told by a summary, or was never meant "
            "for a model.", parent=self,
        )  # fmt: skip
        self._pages = OnePage(self)
        self._pages.add(self.empty)
        self._pages.add(self._build())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)

    def _build(self) -> QWidget:
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.summary)
        column.addWidget(self.table, 1)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.part)
        return page

    def show_losses(self, losses: Sequence[Loss], tree: SessionTree | None) -> None:
        """Show the losses of a path; the chosen one stays where it is still there."""
        chosen = self.chosen()
        self.model.show_losses(losses, tree)
        self._pages.show_page(1 if losses else 0)
        counts = [(g, sum(one.gravity is g for one in losses)) for g in reversed(Gravity)]
        self.summary.setText(
            "Found on this path: "
            + ", ".join(f"{count(n, 'time', 'times')} {GRAVITIES[g]}" for g, n in counts if n)
        )
        if losses:
            same = (
                at for at, one in enumerate(losses)
                if chosen is not None and (one.kind, one.at) == (chosen.kind, chosen.at)
            )  # fmt: skip
            self.table.selectRow(next(same, 0))

    def chosen(self) -> Loss | None:
        """The loss whose row is current."""
        at = self.table.currentIndex().row()
        return self.model.losses[at] if 0 <= at < len(self.model.losses) else None

    def choose(self, loss: Loss) -> None:
        """Make a loss the chosen one."""
        if loss in self.model.losses:
            self.table.selectRow(list(self.model.losses).index(loss))

    def _current(self, _current: QModelIndex) -> None:
        if (loss := self.chosen()) is not None:
            self.part.show_loss(loss, self.offered)

"""The inspector's tab for the context: what the model sees at an entry, message by message."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from explorer.audit.provenance import (
    Known,
    context_known,
    context_model_known,
    thinking_known,
    weight_known,
    window_known,
)
from explorer.compaction.context_size import context_size
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.session.context import Context, context_at
from ui.audit.badges import ProvenanceBadge
from ui.audit.known import NOT_RECORDED, marked, spoken
from ui.inspector.context_model import Column, ContextModel
from ui.inspector.ports import InspectedDocument
from ui.theme import S4, S8, S12, S16
from ui.widgets.budget_bar import BudgetBar
from ui.widgets.entry_table import EntryTable
from ui.widgets.figures import count, full, round_short, short
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, ElidedLabel, Hairline
from ui.widgets.panels import EmptyState, row
from ui.widgets.swatch import Legend, beyond_share


class ContextPane(QWidget):
    """Bar, model, thinking level and messages of the context at an entry."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: InspectedDocument | None = None
        self._index = -1
        self._own_request = -1
        self._window, self._reserve = 200_000, 16_384
        self._profile: Profile = PROFILES["explorer"]
        self._context: Context | None = None
        self.title = ElidedLabel(parent=self)
        self.reserve = Caption(parent=self)
        self.bar = BudgetBar(self)
        self.legend = Legend(self)
        self.facts = Caption(parent=self)
        self.facts.setWordWrap(True)
        self.badges = {
            name: ProvenanceBadge(self, name, labelled=True)
            for name in ("size", "window", "model", "thinking")
        }
        """How the figures of the head are known, where they are not simply recorded."""
        self.model = ContextModel(self)
        figures = (Column.TOKENS, Column.RUNNING)
        self.table = EntryTable(Column.TEXT, figures, {Column.RUNNING: 400}, self)
        self.table.setAccessibleName("Messages that the model sees")
        self.table.setModel(self.model)
        self.table.restyle()
        self.table.entry_chosen.connect(self._chosen)
        self.legend.filter_changed.connect(self.model.set_filter)
        self.empty = EmptyState(
            "eye", "Nothing is sent here", "Select an entry to see the messages that a model "
            "would be sent at it.", parent=self,
        )  # fmt: skip
        self._views = QStackedWidget(self)
        self._views.addWidget(self.empty)
        self._views.addWidget(self._build())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._views)

    def _build(self) -> QWidget:
        page = QWidget(self)
        head = QVBoxLayout()
        head.setContentsMargins(S16, S12, S16, S8)
        head.setSpacing(S4)
        line = row(self.title, self.reserve)
        line.setStretchFactor(self.title, 1)
        head.addLayout(line)
        head.addWidget(self.bar)
        head.addWidget(self.legend)
        head.addWidget(self.facts)
        flow = FlowLayout(across=S12, down=0)
        for badge in self.badges.values():
            flow.addWidget(badge)
        head.addLayout(flow)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.table, 1)
        return page

    def set_limits(self, window: int, reserve: int, profile: Profile | None = None) -> None:
        """The context window and what is kept free of it, in tokens; and whose rules count."""
        self._window, self._reserve = window, reserve
        self._profile = profile or self._profile
        self._refresh()

    def clear(self) -> None:
        """Show that there is nothing."""
        self._document, self._context, self._index = None, None, -1
        self.model.clear()
        self._views.setCurrentIndex(0)

    def show_context(
        self, document: InspectedDocument | None, index: int, settings: Settings | None = None
    ) -> None:
        """Show what the model sees at an entry; -1 or no document shows that there is nothing.

        An entry that was asked for by a click in this list only selects its row: the context that
        a person is reading does not shrink under the pointer.
        """
        own, self._own_request = self._own_request, -1
        if settings is not None:
            self._window, self._reserve = settings.context_window, settings.reserve_tokens
        if document is None or index < 0:
            self.clear()
            return
        if document is self._document and index == own:
            self.table.selectRow(self.model.row_of(index))
            return
        self._document, self._index = document, index
        self._context = context_at(document.tree, index)
        self.model.show_context(document, self._context)
        self._refresh()
        self._views.setCurrentIndex(1)
        if self.model.rowCount():
            self.table.scrollToBottom()

    def refresh(self) -> None:
        """Count again, after a tokenizer did."""
        if self._document is not None and self._index >= 0:
            self._own_request = -1
            self.show_context(self._document, self._index)

    def _refresh(self) -> None:
        document, context = self._document, self._context
        if document is None or context is None:
            return
        sent = self._profile.weights == "sent"
        size = context_size(
            document.tree, context, self._profile, document.weights if sent else None
        )
        shares = self.model.shares()
        summed = sum(share.tokens for share in shares)
        if size.tokens > summed:
            shares.insert(0, beyond_share(size.tokens - summed))
        self.bar.set_budget(shares, self._window, self._reserve)
        self.legend.set_shares(shares)
        own = document.made_here(self._index)
        known = context_known(size.source)
        taken = short(size.tokens) if own else marked(short(size.tokens), known)
        self.title.setText(
            f"Context at #{self._index}, {taken} of {round_short(self._window)} "
            f"tokens ({size.source})"
        )
        self.title.setAccessibleName(spoken(self.title.text()))
        self._show_known(document, context, known, own)
        self.reserve.setText(f"reserve {short(self._reserve)}")
        by = "tokenizer" if document.weights is not None else "estimate"
        parts = [count(len(context.messages), "message")]
        if summed != size.tokens:
            figure = full(summed) if own else marked(full(summed), weight_known(by == "tokenizer"))
            parts.append(f"entries {figure} ({by})")
        if context.model:
            parts.append(context.model)
        elif not own:
            parts.append(f"model {NOT_RECORDED}")
        parts.append(f"thinking {context.thinking_level}")
        if context.compaction >= 0:
            parts.append(f"compaction #{context.compaction} in force")
        if context.again:
            parts.append(f"{len(context.again):,} told again")
        if context.omitted:
            parts.append(f"{len(context.omitted):,} omitted")
        self.facts.setText(" · ".join(parts))
        self.facts.setAccessibleName(spoken(self.facts.text()))

    def _show_known(
        self, document: InspectedDocument, context: Context, size: Known, own: bool
    ) -> None:
        columns = document.tree.columns
        is_named = any(at in context.path for at in columns.thinking)
        known = {
            "size": size,
            "window": window_known(own),
            "model": context_model_known(bool(context.model)),
            "thinking": thinking_known(is_named),
        }
        for name, badge in self.badges.items():
            if own:
                badge.set_known(None)
            else:
                badge.set_unless_exact(known[name])

    def _chosen(self, entry: int) -> None:
        self._own_request = entry
        self.entry_requested.emit(entry)

"""The inspector's tab for the context: what the model sees at an entry, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from explorer.agent.turn_interface import Outgoing
from explorer.audit.provenance import (
    Known,
    context_known,
    weight_known,
    window_known,
)
from explorer.compaction.context_size import message_tokens
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.prompting.rendered_prompt import BudgetExceededError
from explorer.services.document import Document
from explorer.services.sent_context import SentContext, sent_context
from explorer.session.context import PathContext, context_at
from explorer.session.edit_entries import Reinserted
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import SessionTree
from ui.audit.known import (
    NOT_RECORDED,
    ProvenanceBadge,
    entry_figure,
    entry_tokens_words,
    marked,
    reason,
    spoken,
)
from ui.theme import S4, S8, S12, S16, on_theme_changed, role_name, scaled
from ui.theme.verdicts import NOT_SENT, PINNED, PRUNED
from ui.widgets.entry_table import EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import count, full, short
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ElidedLabel, Hairline
from ui.widgets.loader import Loader
from ui.widgets.panels import EmptyState, WholeArea, column_in, column_of
from ui.widgets.swatch import BudgetBar, Legend, Share, beyond_share
from ui.widgets.table import RIGHT, Column
from ui.widgets.terms import explain


class ContextCategory(NamedTuple):
    """A part of the bar: which messages it gathers, and its colour."""

    key: str
    title: str
    token: str


CATEGORIES = (
    ContextCategory("summary", "summaries", "comp"),
    ContextCategory("user", "user", "user"),
    ContextCategory("assistant", "assistant", "asst"),
    ContextCategory("thinking", "thinking", "think"),
    ContextCategory("calls", "tool calls", "shell"),
    ContextCategory("results", "tool results", "tool"),
    ContextCategory("notes", "notes", "branch"),
)
_NUMBER = {category.key: number for number, category in enumerate(CATEGORIES)}
_BY_KIND = {
    Kind.COMPACTION: "summary",
    Kind.BRANCH_SUMMARY: "summary",
    Kind.COMPACTION_SUMMARY_ROLE: "summary",
    Kind.BRANCH_SUMMARY_ROLE: "summary",
    Kind.USER: "user",
    Kind.BASH_EXECUTION: "user",
    Kind.PYTHON_EXECUTION: "user",
    Kind.TOOL_RESULT: "results",
}
_TABLE = bytes(
    _NUMBER[_BY_KIND.get(Kind(value), "notes")] if value in set(Kind) else 0 for value in range(256)
)
_REPLIES = selector({Kind.ASSISTANT})
_WITH_TEXT, _WITH_CALL = int(Flag.HAS_TEXT), int(Flag.HAS_TOOL_CALL)


def categories_of(tree: SessionTree, entries: Sequence[int]) -> bytes:
    """The number of each entry's category in ``CATEGORIES``."""
    columns = tree.columns
    kinds = bytes(map(columns.kind.__getitem__, entries))
    found = bytearray(kinds.translate(_TABLE))
    text, calls, thinking = _NUMBER["assistant"], _NUMBER["calls"], _NUMBER["thinking"]
    flags = columns.flags
    for place in compress(range(len(kinds)), kinds.translate(_REPLIES)):
        flag = flags[entries[place]]
        found[place] = text if flag & _WITH_TEXT else calls if flag & _WITH_CALL else thinking
    return bytes(found)


def number_of(key: str) -> int:
    """A category's number. Raises KeyError for a key that none has."""
    return _NUMBER[key]


def only(number: int) -> bytes:
    """A table for ``bytes.translate``: 1 for one category, 0 for the others."""
    return bytes(value == number for value in range(256))


def shares_of(categories: bytes, tokens: Sequence[int]) -> list[Share]:
    """Tokens by category; those without any are left out."""
    sums = [
        sum(compress(tokens, categories.translate(only(number))))
        for number in range(len(CATEGORIES))
    ]
    return [
        Share(each.key, each.title, sums[number], token=each.token)
        for number, each in enumerate(CATEGORIES)
        if sums[number]
    ]


_ROLES_SENT = {
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "tool result",
}


def role_sent(kind: int) -> str:
    """The role under which a message reaches the model: commands, notes, summaries and words
    of a developer as user."""
    return _ROLES_SENT.get(Kind(kind), "user")


LEAST_ROWS = 4
"""Rows that are seen in the smallest window; the tab scrolls then."""
TWO_FIGURES, WITH_ROLES = 300, 400
"""Widths in pixels at a text scale of 100 % from which there is room for the sum so far, and for
the roles in words too."""


class ContextModel(EntryModel[int]):
    """Messages in the order in which they are sent. Rows are their places in the context."""

    def __init__(self, parent: QWidget) -> None:
        self._context: PathContext | None = None
        self._counted: list[int] = []
        """Tokens of each message of the context."""
        self._running: list[int] = []
        self._categories = b""
        self._filter = ""
        self._is_terse = False
        self._sent: SentContext | None = None
        cells = EntryCells(
            lambda at: self._entry(at),
            self._description,
            verdict=self._verdict,
            lead=self._lead,
            line=self._pruned_note,
        )
        super().__init__("Message", self._figures(""), cells, parent)

    def _figures(self, source: str) -> tuple[Column[int], Column[int]]:
        """The columns of the figures. ``source``: where the tokens come from, in a sentence."""
        return (
            Column(
                "Tokens", self._figure, RIGHT,
                lambda at: self._counted[at], source,
            ),
            Column(
                "So far", lambda at: full(self._running[at]), RIGHT, tip=source,
                shown_from=TWO_FIGURES,
            ),
        )  # fmt: skip

    def show_context(self, document: Document, context: PathContext) -> None:
        """Show another context."""
        self.show(())
        self.use_session(document.tree, document.payloads.shown)
        self._context = context
        measured = document.tokens.weights_for(document.tokens.profile)
        self._counted = message_tokens(document.tree, context, measured)
        self._running = list(accumulate(self._counted))
        self._categories = categories_of(document.tree, context.messages)
        self._sent = None
        source = reason("Tokens", weight_known(measured is not None))
        self._fill(self._figures(source))

    def show_sent(self, sent: SentContext) -> None:
        """Show what a request was found to hold of the context, once its entries were read."""
        assert self._context is not None
        self._sent = sent
        self._fill()

    def clear(self) -> None:
        """Show nothing."""
        self.show(())
        self.use_session(None)
        self._context, self._counted, self._running, self._categories = None, [], [], b""
        self._sent = None

    def set_terse(self, is_terse: bool) -> None:
        """Whether the roles of messages are told by their signs alone."""
        if is_terse != self._is_terse:
            self._is_terse = is_terse
            self.refresh()

    def set_filter(self, key: str) -> None:
        """Show only the messages of one category, or all."""
        if key != self._filter:
            self._filter = key
            self._fill()

    def _fill(self, figures: tuple[Column[int], Column[int]] | None = None) -> None:
        rows: Sequence[int] = range(len(self._counted))
        if self._filter:
            rows = list(compress(rows, self._categories.translate(only(number_of(self._filter)))))
        self.show(rows, None if figures is None else (self.columns[0], *figures))

    def shares(self) -> list[Share]:
        """Tokens by category, of all messages."""
        return shares_of(self._categories, self._counted)

    def _entry(self, at: int) -> int:
        assert self._context is not None
        return self._context.messages[at]

    def _figure(self, at: int) -> str:
        assert self.tree is not None
        return entry_figure(self.tree.columns, self._entry(at), self._counted[at])

    def _tokens_words(self, at: int) -> str:
        assert self.tree is not None
        return entry_tokens_words(self.tree.columns, self._entry(at), self._counted[at])

    def _pruned_note(self, at: int) -> str | None:
        assert self._context is not None
        pruned = self._context.pruned.get(self._entry(at))
        return None if pruned is None else pruned.text

    def _verdict(self, at: int) -> int | None:
        if self._unsent(at):
            return NOT_SENT
        if self._reinserted(at) is not None:
            return PINNED
        return PRUNED if self._pruned_note(at) is not None else None

    def _lead(self, at: int) -> str:
        if self._reinserted(at) is not None:
            return f"#{self._entry(at)}, repeated: "
        if self._unsent(at):
            return "not sent: "
        return "" if self._is_terse else f"{role_sent(self._kind(at))}: "

    @property
    def sent(self) -> SentContext | None:
        """What the request holds, once the entries were read."""
        return self._sent

    def _unsent(self, at: int) -> str:
        """Why a message is left out of the request, in a sentence; empty for one that is sent."""
        return self._sent.unsent.get(self._entry(at), "") if self._sent is not None else ""

    def _reinserted(self, at: int) -> Reinserted | None:
        assert self._context is not None
        return self._context.again.get(self._entry(at))

    def _description(self, at: int, line: str) -> str:
        kind, entry = self._kind(at), self._entry(at)
        name = f"#{entry}, {role_name(kind, self._flags(at))}"
        if why := self._unsent(at):
            return f"{name}, not sent: {line} ({self._tokens_words(at)})\n{why}"
        changed = self._sent.changed.get(entry) if self._sent is not None else None
        return (
            f"{name}, sent as {role_sent(kind)}: "
            f"{line} ({self._tokens_words(at)}){self._pruned_by(at)}"
            f"{self._reinserted_by(at)}" + (f"\n{changed}" if changed else "")
        )

    def _reinserted_by(self, at: int) -> str:
        again = self._reinserted(at)
        if again is None:
            return ""
        if again.why == "recorded":
            return f", kept by #{again.by}: its record holds it, word for word"
        why = f"pinned by #{again.by}" if again.why == "pin" else f"kept by #{again.by}"
        return f", {why}: repeated after the summary, word for word, as a message of the user"

    def _pruned_by(self, at: int) -> str:
        assert self._context is not None
        result = self._context.pruned.get(self._entry(at))
        if result is None:
            return ""
        return f", pruned by #{result.by}, which recorded {full(result.tokens)}"


def counted_words(by: str, entries: int, as_sent: int, known: Known | None) -> str:
    """``counted here (estimate): entries ≈1,200, as sent ≈1,100``: tokens of a context's entries,
    and of their messages where these take others. ``known``: how, for the mark."""
    figures = [("entries", entries), ("as sent", as_sent)][: 1 + (as_sent != entries)]
    shown = (
        f"{name} {full(tokens) if known is None else marked(full(tokens), known)}"
        for name, tokens in figures
    )
    return f"counted here ({by}): {', '.join(shown)}"


def _sent_or_reason(
    document: Document, profile: Profile, outgoing: Outgoing, index: int, window: int
) -> SentContext | str:
    """What is sent, or why no request can be made."""
    try:
        return sent_context(document, profile, outgoing, index, window)
    except BudgetExceededError as error:
        return str(error)


class ContextPane(QWidget):
    """Bar, model, thinking level and messages of the context at an entry."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._index = -1
        self._request = -1
        self._window, self._reserve = 200_000, 16_384
        self._is_window_known = False
        self._profile: Profile = PROFILES["explorer"]
        self._context: PathContext | None = None
        self._outgoing: Outgoing | None = None
        self._loader = Loader(self)
        self._loader.loaded.connect(self._show_sent)
        self.title = ElidedLabel(parent=self)
        self.reserve = Caption(parent=self)
        explain(self.reserve, "reserve")
        self.bar = BudgetBar(self)
        self.legend = Legend(self)
        self.facts = Caption(parent=self, wraps=True)
        self.badges = {
            name: ProvenanceBadge(self, name, labelled=True) for name in ("size", "window")
        }
        """How the figures of the head are known, where they are not simply recorded."""
        self.model = ContextModel(self)
        self.table = EntryTableView(self.model, "Messages that the model sees", self, LEAST_ROWS)
        # Whole rows: at the end neither the first nor the last is cut, also when the head grows.
        self.table.setVerticalScrollMode(EntryTableView.ScrollMode.ScrollPerItem)
        bar = self.table.verticalScrollBar()
        bar.valueChanged.connect(lambda value: self._note_end(value == bar.maximum()))
        bar.rangeChanged.connect(lambda _low, _high: self._stay_at_end())
        self._is_at_end = False
        self.table.entry_chosen.connect(self._chosen)
        self.legend.filter_changed.connect(self.model.set_filter)
        self.empty = EmptyState(
            "eye", "Nothing is sent here", "Select an entry to see the messages that a model "
            "would be sent at it.", parent=self,
        )  # fmt: skip
        self._views = QStackedWidget(self)
        self._views.addWidget(self.empty)
        self._views.addWidget(self._build())
        column = column_in(self)
        column.addWidget(self._views)
        on_theme_changed(self._make_room)

    def _build(self) -> QWidget:
        # In a small window, or with large text, the tab scrolls as a whole: squeezed, the words
        # above the table would be cut off.
        area = WholeArea(self._views)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget(area.viewport())
        area.setWidget(page)
        head = column_of(
            self.title, self.bar, self.legend, self.facts,
            wrapping_row(self.reserve, *self.badges.values(), across=S12, down=0),
            spacing=S4, margins=(S16, S12, S16, S8),
        )  # fmt: skip
        column = column_in(page, 0)
        column.addLayout(head)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.table, 1)
        return area

    def set_limits(
        self,
        window: int,
        reserve: int,
        profile: Profile | None = None,
        *,
        is_window_known: bool = False,
    ) -> None:
        """Set the context window and what is reserved of it, in tokens; and whose rules count.
        ``is_window_known``: else the window is assumed."""
        self._window, self._reserve = window, reserve
        self._is_window_known = is_window_known
        self._profile = profile or self._profile
        self._refresh()

    def set_outgoing(self, outgoing: Outgoing) -> None:
        """Set what a request of the agent holds beside the conversation."""
        self._outgoing = outgoing

    def _show_sent(self, sent: SentContext | str) -> None:
        if isinstance(sent, str):
            self.facts.setText(sent)
            return
        self.model.show_sent(sent)
        self._refresh()

    def clear(self) -> None:
        """Show that there is nothing."""
        self._loader.forget()
        self._document, self._context, self._index = None, None, -1
        self.model.clear()
        self._views.setCurrentIndex(0)

    def show_context(
        self, document: Document | None, index: int, settings: Settings | None = None
    ) -> None:
        """Show what the model sees at an entry; -1 or no document shows that there is nothing.

        An entry that was asked for by a click in this list only selects its row: the context that
        a person is reading does not shrink under the pointer.
        """
        asked, self._request = self._request, -1
        if settings is not None:
            self._window, self._reserve = settings.context_window, settings.reserve_tokens
        if document is None or index < 0:
            self.clear()
            return
        if document is self._document and index == asked:
            self.table.selectRow(self.model.row_of_entry(index))
            return
        self._document, self._index = document, index
        self._context = context_at(document.tree, index)
        self.model.show_context(document, self._context)
        self._refresh()
        profile, outgoing, window = self._profile, self._outgoing, self._window
        if outgoing is not None:
            self._loader.load(lambda: _sent_or_reason(document, profile, outgoing, index, window))
        self._views.setCurrentIndex(1)
        if self.model.rowCount():
            self.table.scrollToBottom()

    def _refresh(self) -> None:
        document, context = self._document, self._context
        if document is None or context is None:
            return
        size = document.tokens.context_size(self._profile, context.leaf)
        shares = self.model.shares()
        summed = sum(share.tokens for share in shares)
        if beyond := size.beyond_of(summed):
            shares.insert(0, beyond_share(beyond))
        self.bar.set_budget(shares, self._window, self._reserve)
        self.legend.set_shares(shares)
        is_ours = document.writer.made_here(self._index)
        known = context_known(size.source)
        taken = short(size.shown) if is_ours else marked(short(size.shown), known)
        head = f"Context at #{self._index}: {taken} of {short(self._window)}"
        # Of how many messages is in the tip of how it is known.
        self.title.setText(f"{head} ({size.source.partition(' of ')[0]})")
        self.title.setAccessibleName(spoken(f"{head} ({size.source})"))
        self._show_known(known, is_ours)
        self.reserve.setText(f"reserve {short(self._reserve)}")
        by = document.tokens.counted_by
        sent, parts = self.model.sent, [count(len(context.messages), "message")]
        if sent is not None:
            parts = [f"{count(len(sent.messages), 'message')} sent"]
            parts += [f"{full(len(sent.unsent))} not sent"] if sent.unsent else []
        as_sent = summed if sent is None else sent.sent_tokens
        if summed != size.shown or as_sent != summed:
            how = None if is_ours else weight_known(by == "tokenizer")
            parts.append(counted_words(by, summed, as_sent, how))
        if context.model:
            parts.append(context.model)
        elif not is_ours:
            parts.append(f"model {NOT_RECORDED}")
        if context.thinking_level != "off":  # which is also what stands where nothing is recorded
            parts.append(f"thinking {context.thinking_level}")
        if context.compaction >= 0:
            parts.append(f"compaction #{context.compaction} in force")
        if context.again:
            parts.append(f"{len(context.again):,} repeated")
        if context.omitted:
            parts.append(f"{len(context.omitted):,} omitted")
        self.facts.setText(" · ".join(parts))
        self.facts.setAccessibleName(spoken(self.facts.text()))

    def _show_known(self, size: Known, is_ours: bool) -> None:
        known = {"size": size, "window": window_known(is_ours or self._is_window_known)}
        for name, badge in self.badges.items():
            if is_ours:
                badge.set_known(None)
            else:
                badge.set_unless_exact(known[name])

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        self.model.set_terse(self.width() < scaled(WITH_ROLES))

    def _note_end(self, is_at_end: bool) -> None:
        self._is_at_end = is_at_end

    def _stay_at_end(self) -> None:
        if self._is_at_end:
            self.table.scrollToBottom()

    def _chosen(self, entry: int) -> None:
        self._request = entry
        self.entry_requested.emit(entry)

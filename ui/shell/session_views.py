"""The one place in which views are refreshed: from the typed changes and from the selection."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from explorer.compaction.requests import output_cap
from explorer.compaction.triggers import (
    fitted,
    limits_of,
)
from explorer.formats.registry import adapter_of
from explorer.services.agent import outgoing_of
from explorer.services.changes import (
    AutomaticChanged,
    BackgroundChanged,
    CompactionEnded,
    CompactionStarted,
    CountsChanged,
    EntriesAppended,
    EntriesChanged,
    LabelsChanged,
    LeafMoved,
    PruneMade,
    SessionsChanged,
)
from explorer.services.document import Document
from explorer.services.effective_rules import next_mark
from explorer.services.library import project_name
from explorer.session.text import legible
from ui.actions import add_change
from ui.app_state import BREATH_S, AppState
from ui.compaction.words import price_text
from ui.library.controller import SessionsController
from ui.map.navigation import NavigationController
from ui.map.rows import RowFilter
from ui.shell.dialogs import ask_text
from ui.widgets.figures import count, short


class SessionViewsController(QObject):
    """Selection, leaf, labels, counts: whatever changes is shown everywhere at once."""

    menu_opening = Signal(object, int)
    """(``QMenu``, entry): the menu of an entry opens; more may be added to it."""

    def __init__(
        self, state: AppState, sessions: SessionsController, navigation: NavigationController
    ) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._navigation = navigation
        self._counts = state.profile.weights
        self._mapped: Document | None = None
        """The session on the map."""
        self._is_filled = True
        """Whether the inspector may show the session: not before the map has painted it."""
        self._origin = ""
        """What the session was forked from, in words; empty for one that is no fork."""
        window = state.window
        window.map.selection_changed.connect(self.selected)
        window.map.activated.connect(navigation.go_to)
        window.map.menu_requested.connect(self._menu)
        window.inspector.currentChanged.connect(lambda _tab: self._inspect())
        for pane in (window.context, window.compaction, window.agent):
            pane.entry_requested.connect(self._state.select)
        window.entry.entry_requested.connect(self._follow_link)
        state.document_changed.connect(self._document_changed)
        state.fillers.append(self._fill_inspector)
        state.settings_changed.connect(self._settings_changed)
        state.models_changed.connect(self._status)
        window.header.profile_chosen.connect(state.set_profile)
        state.opened.connect(self._ready)
        state.bus.on(SessionsChanged, lambda _change: sessions.refresh())
        state.bus.on_shown(EntriesAppended, self._entries_appended)
        state.bus.on_shown(EntriesChanged, self._entries_changed)
        state.bus.on_shown(LeafMoved, self._leaf_moved)
        state.bus.on_shown(LabelsChanged, self._labels_changed)
        state.bus.on_shown(CountsChanged, self._counts_changed)
        for kind in (AutomaticChanged, BackgroundChanged, CompactionStarted, CompactionEnded,
                     PruneMade):  # fmt: skip
            state.bus.on_shown(kind, lambda _change: self._status())

    def _ready(self) -> None:
        self._state.window.header.set_profile(self._state.profile.name)
        self._sessions.refresh()
        self._document_changed()

    # changes --------------------------------------------------------------------------------------

    def _entries_appended(self, change: EntriesAppended) -> None:
        document, window = self._state.document, self._state.window
        assert document is not None
        window.map.entries_appended(change.first, change.count)
        if any(document.tree.columns.usage[change.first : change.first + change.count]):
            # A reply tells the size that the compaction before it left.
            window.agent.recount()
        window.compaction.refresh()
        self._state.tasks.start("Counting tokens", document.tokens.count_new())
        self._status()

    def _entries_changed(self, change: EntriesChanged) -> None:
        document, window = self._state.document, self._state.window
        assert document is not None
        window.map.entries_changed(change.entries)
        window.agent.reread(change.entries)
        window.compaction.refresh()
        self._state.tasks.start("Counting tokens", document.tokens.count_new())
        if window.map.selected in change.entries:
            self._inspect()
        self._status()

    def _leaf_moved(self, change: LeafMoved) -> None:
        window = self._state.window
        self._state.read_window()
        follows = window.map.selected == change.old
        window.map.set_leaf(change.new)
        if follows and change.new >= 0:
            # Who looks at the leaf goes on looking at the leaf.
            window.map.select(change.new)
        window.compaction.refresh()
        window.agent.refresh()
        self._sessions.refresh()
        self._inspect()
        self._status()

    def _labels_changed(self, _change: LabelsChanged) -> None:
        document, window = self._state.document, self._state.window
        assert document is not None
        window.map.set_labels(document.tree.labels())
        window.entry.refresh_labels()
        self._status()

    def _counts_changed(self, _change: CountsChanged) -> None:
        if self._state.document is not None:
            work = self._recount(self._state.document)
            self._state.tasks.start("Showing the counts", work)

    async def _recount(self, document: Document) -> None:
        """Show new counts pane by pane: together they would hold the window up."""
        window = self._state.window
        panes = (window.agent.recount, window.compaction.refresh)
        for show in (self._weigh, *panes, self._inspect, self._status):
            await asyncio.sleep(BREATH_S)
            if self._state.document is document:
                show()

    def _weigh(self) -> None:
        """Figures on the map are counted as the profile counts."""
        document = self._state.document
        if document is not None:
            self._state.window.map.set_weights(document.tokens.weights_for(document.tokens.profile))

    def _settings_changed(self) -> None:
        self._state.window.header.set_profile(self._state.profile.name)
        document, counts = self._state.document, self._state.profile.weights
        if document is not None and document.tokens.weights is not None and counts != self._counts:
            self._weigh()
        self._counts = counts
        self._status()
        self._inspect()

    def _document_changed(self) -> None:
        document, window = self._state.document, self._state.window
        self.keep_map()
        self._mapped = None
        self._origin = self._origin_of(document) if document is not None else ""
        window.library.set_open(document.key if document else 0)
        if document is not None:
            window.show_panes(True)
        elif window.is_ready:
            # Not at once: another session may be shown in the same breath.
            QTimer.singleShot(0, self, self._show_welcome)
        window.inspector.setEnabled(document is not None)
        window.entry.clear()
        window.context.clear()
        self._is_filled = False
        if document is None:
            window.map.clear()
        else:
            tree = document.tree
            window.map.show_session(
                tree,
                document.payloads.shown,
                document.leaf,
                tree.labels(),
                document.writer.made_here,
            )
            self._take_map(document)
            window.map.select(document.leaf)
            window.map.setFocus()
        self._status()

    def _fill_inspector(self) -> None:
        self._is_filled = True
        self._inspect()

    def _show_welcome(self) -> None:
        self._state.window.show_panes(self._state.document is not None)

    def _origin_of(self, document: Document) -> str:
        if (shown := self._state.team_session) is not None:
            return f" · {shown.library}, published by {shown.shared.publisher}"
        if not document.header.parent_session:
            return ""
        origin = self._state.bench_of(document.key).related(document.key).parent
        title = f"“{origin.title or 'Untitled session'}”" if origin else ""
        match document.header.relation:
            case "subagent":
                return f" · started by {title}" if title else " · a sub-agent"
            case "compactor":
                return f" · wrote a summary for {title}" if title else " · wrote a summary"
        return f" · fork of {title}" if title else " · a fork"

    def keep_map(self) -> None:
        """What is folded and left out on the map is stored with its session."""
        document, pane = self._mapped, self._state.window.map
        if document is not None:
            ids = document.tree.columns.ids
            folded = [ids[entry] for entry in sorted(pane.folded)]
            chosen = {"filter": int(pane.filter), "folded": folded}
            document.choices.set("map", chosen if folded or pane.filter else None)

    def _take_map(self, document: Document) -> None:
        self._mapped, pane = document, self._state.window.map
        stored = document.choices.all().get("map")
        if not isinstance(stored, dict) or not pane.is_complete:
            return
        folded, chosen = stored.get("folded"), stored.get("filter")
        if isinstance(folded, list):
            entries = (document.tree.index_of(name) for name in folded if isinstance(name, str))
            pane.set_folded(entries)
        if chosen in list(RowFilter):
            pane.set_filter(RowFilter(chosen))

    # selection ------------------------------------------------------------------------------------

    def selected(self, _index: int) -> None:
        self._inspect()
        self._state.state_changed.emit()

    def _follow_link(self, index: int) -> None:
        """The pane with the link is about to show the other entry: the map has the keyboard."""
        self._state.window.map.setFocus()
        self._state.select(index)

    def _inspect(self) -> None:
        """Fill the tab that is shown; the others wait until they are."""
        document, window = self._state.document, self._state.window
        if document is None or not self._is_filled:
            return
        at = window.map.selected
        tab = window.tab
        if tab == "entry":
            if at >= 0:
                window.entry.show_entry(document, at)
            else:
                window.entry.clear()
        elif tab == "context":
            model = self._state.agent_model()
            pictures = document.models.info(model).images is not False
            outgoing = outgoing_of(document.shared.agent_prompt, model, None)
            window.context.set_outgoing(replace(outgoing, pictures=pictures))
            window.context.show_context(document, at if at >= 0 else document.leaf)

    def _status(self) -> None:
        self._state.state_changed.emit()
        document, window = self._state.document, self._state.window
        if document is None:
            window.header.show_session("", "")
            window.setWindowTitle("Session Explorer")
            for label in (window.saved, window.leaf, window.model, window.entries):
                label.setText("")
            return
        tree, settings = document.tree, self._state.settings
        size = document.tokens.context_size(self._state.profile)
        branches = len(tree.branch_ends(document.leaf))
        window.header.show_session(
            document.title,
            f"{project_name(document.header.cwd) or 'no folder'}"
            f" · {adapter_of(document.header.format).title} session"
            f" · {count(len(tree), 'entry', 'entries')}"
            f" · {count(branches, 'branch', 'branches')}{self._origin}",
        )
        title = " ".join(legible(document.title).split())
        window.setWindowTitle(f"{title} — Session Explorer")
        # What is shown is what triggers: the agent's model may have a smaller window.
        model = document.models.info(self._state.agent_model())
        # As long as another agent leads the session, it is that one's window.
        taken = model.window if self._state.is_led_here else None
        limits = limits_of(self._state.profile, settings, taken)
        reserve = limits.window - limits.threshold
        known = self._state.is_window_known
        window.context.set_limits(
            limits.window, reserve, self._state.profile, is_window_known=known
        )
        mark = next_mark(self._state.profile, settings, taken)
        tokens, source = size.shown, size.source
        if size.beyond:
            source += f" and {short(size.beyond)} expected beyond the entries"
        if self._state.profile.prompt_budget is not None:
            # Such a prompt is measured by its own count, whatever a provider reported before.
            tokens = document.tokens.counted_size(self._state.profile)
            source = (
                "estimate"
                if document.tokens.weights_for(self._state.profile) is None
                else "tokenizer"
            )
        window.header.show_context(tokens, limits.window, mark, source, known)
        window.compaction.set_model_window(taken or 0, known)
        window.saved.setText("read only" if document.read_only else "● saved")
        window.leaf.setText(f"leaf #{document.leaf}" if document.leaf >= 0 else "no leaf")
        window.model.setText(self._summarizer_words(limits.threshold))
        window.entries.setText(count(len(tree), "entry", "entries"))

    def _summarizer_words(self, threshold: int) -> str:
        """The model of the next automatic summary, and its cost at most."""
        state, writer = self._state, self._state.next_summarizer()
        words = f"summaries by {writer}"
        document = state.document
        if document is None or writer.startswith("offline/"):
            return words
        info = document.models.info(writer)
        answer = output_cap("history", fitted(state.profile, state.settings), info.output_limit)
        price = price_text(threshold, answer, info.input_price, info.output_price)
        return f"{words}, {price} each" if price else words

    # the menu of an entry -------------------------------------------------------------------------

    def _menu(self, index: int, at: QPoint) -> None:
        document, window = self._state.document, self._state.window
        if document is None:
            return
        menu = QMenu(window)
        menu.aboutToHide.connect(menu.deleteLater)
        refused = self._state.read_only
        add_change(menu, "Go here", lambda: self._navigation.go_to(index), refused)
        menu.addAction("Show the context here").triggered.connect(
            lambda: self._tab(index, "context")
        )
        menu.addAction("Preview a compaction here").triggered.connect(
            lambda: self.preview_at(index)
        )
        self.menu_opening.emit(menu, index)
        menu.addSeparator()
        add_change(menu, "Label…", lambda: self.ask_label(index), refused)
        menu.addAction("Copy id").triggered.connect(
            lambda: self._copy(document.tree.columns.ids[index])
        )
        menu.popup(at)

    def preview_at(self, index: int) -> None:
        """Show what a compaction at an entry would do; the leaf stays where it is."""
        self._state.window.compaction.set_at(index)
        self._tab(index, "compaction")

    def _tab(self, index: int, tab: str) -> None:
        window = self._state.window
        if self._state.document is not None:
            window.map.select(index)
            window.show_tab(tab)

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._state.say(f"{text} copied")

    def ask_label(self, index: int) -> None:
        """Ask for the label of an entry; an empty one removes it."""
        document = self._state.document
        if document is None or index < 0 or self._state.refuses():
            return
        ask_text(
            self._state.window,
            "Label",
            f"Label of #{index} (empty removes it)",
            document.tree.labels().get(index, ""),
            lambda text: self._state.tasks.start(
                "Labelling", document.edits.set_label(index, text)
            ),
        )

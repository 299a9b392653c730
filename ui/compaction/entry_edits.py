"""Pins, omissions and prunes: what a person does to entries before they are compacted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu

from explorer.compaction.pruning import PruningPlan
from explorer.services.changes import LeafMoved
from explorer.services.compaction import cut_after
from explorer.services.document import Document
from explorer.services.edits import CannotShape, NothingToUndo, Shaped, pruning_of
from explorer.session.edits import can_be_sent
from explorer.store.rows import StoreError
from ui.actions import add_change
from ui.app_state import AppState
from ui.compaction.prune_dialog import PruneDialog
from ui.map.navigation import NavigationController
from ui.widgets.figures import count, full
from ui.widgets.notice import Notice


class EditOffer(NamedTuple):
    """What can be done with an entry."""

    why_not: str = ""
    """Why nothing can; empty where it can be pinned, omitted and be where a compaction ends."""
    pinned: bool = False
    omitted: bool = False


class EditWords(NamedTuple):
    """What is said of an edit."""

    what: str
    meaning: str = ""


NAMED = 2
"""Entries that are named each; more are counted."""
NOTHING = EditOffer("Select an entry on the map first.")


def nothing_more() -> None:
    """For what ends with itself."""


class EntryEditsController(QObject):
    """What a person does to entries, from the map, the inspector, the ledger or the palette.

    Every method starts a task, and a notice with *Undo* says what came of it.
    """

    changed = Signal()
    """Something was pinned, omitted, or is no more."""

    def __init__(self, state: AppState, navigation: NavigationController) -> None:
        super().__init__(state)
        self._state, self._navigation = state, navigation
        self._panel = panel = state.window.compaction
        self._notice: Notice | None = None
        self._notice_leaf = -1
        """The leaf at which its *Undo* takes back what it is of."""
        state.bus.on_shown(LeafMoved, self._leaf_moved)
        state.window.map.shape_asked.connect(self._key)
        panel.unpin_requested.connect(lambda entry: self.unpin([entry]))
        panel.take_in_requested.connect(lambda entry: self.take_in([entry]))
        panel.budget_chosen.connect(self.keep_user_messages)
        panel.partition_changed.connect(self._show)
        panel.entry_menu_requested.connect(self._ledger_menu)

    def pin(
        self, entries: Sequence[int], reason: str = "", then: Callable[[], None] = nothing_more
    ) -> None:
        """Keep entries of the active path word for word through every compaction. ``then`` is
        called when they are pinned."""
        self._start("Pinning", lambda document: self._pin(document, list(entries), reason), then)

    def unpin(self, entries: Sequence[int]) -> None:
        """End their pins."""
        self._start("Unpinning", lambda document: self._unpin(document, list(entries)))

    def omit(self, entries: Sequence[int], reason: str = "") -> None:
        """Leave entries, with their whole rounds, out of the context and of summaries."""
        self._start("Omitting", lambda document: self._omit(document, list(entries), reason))

    def take_in(self, entries: Sequence[int]) -> None:
        """End their omission."""
        self._start("Taking in", lambda document: self._take_in(document, list(entries)))

    def toggle_pin(self, entry: int) -> None:
        """Pin an entry, or unpin it."""
        document = self._state.document
        if document is not None:
            (self.unpin if entry in document.edits.shape().pinned else self.pin)([entry])

    def toggle_omission(self, entry: int) -> None:
        """Omit an entry, or take it in again."""
        document = self._state.document
        if document is not None:
            (self.take_in if entry in document.edits.shape().omitted else self.omit)([entry])

    def keep_user_messages(self, tokens: int) -> None:
        """Keep the user's messages up to so many tokens; 0: none."""
        self._start("Keeping messages", lambda document: self._keep(document, tokens))

    def up_to(self, entry: int) -> None:
        """Show the compaction that summarizes up to an entry, ready to be ordered."""
        state, document = self._state, self._state.document
        panel = self._panel
        if document is None:
            return
        panel.set_at(None)
        if panel.partition is None:
            return
        try:
            cut = cut_after(document.tree, panel.partition, entry)
        except CannotShape as error:
            state.say(str(error))
            return
        panel.set_cut(cut)
        state.window.show_tab("compaction")
        state.say(f"The cut is after #{entry}: summarize it there, or drag the cut elsewhere.")

    def from_here(self, entry: int) -> None:
        """Ask for a summary in place of all from an entry on."""
        self._navigation.summarize_from(entry)

    # what is offered -----------------------------------------------------------------------------

    def offers(self, entry: int) -> EditOffer:
        """What can be done with an entry."""
        document = self._state.document
        if document is None or not 0 <= entry < len(document.tree):
            return NOTHING
        path = document.tree.path(document.leaf)
        if entry not in path:
            return EditOffer(f"#{entry} is not on the active path.")
        if not can_be_sent(document.tree, path, entry):
            return EditOffer(f"#{entry} is never sent to a model.")
        shape = document.edits.shape()
        return EditOffer("", entry in shape.pinned, entry in shape.omitted)

    def fill_menu(self, menu: QMenu, entry: int) -> None:
        """Offer it in the menu of an entry."""
        offer = self.offers(entry)
        if offer.why_not:
            return
        menu.addSeparator()
        deeds: list[tuple[str, Callable[[int], None]]] = [
            ("Unpin" if offer.pinned else "Pin", self.toggle_pin),
            ("Take in again" if offer.omitted else "Omit", self.toggle_omission),
            ("Summarize up to here…", self.up_to),
            ("Summarize from here…", self.from_here),
        ]
        for text, deed in deeds:
            add_change(menu, text, partial(deed, entry), self._state.read_only)

    def _key(self, how: str, entry: int) -> None:
        if self._state.refuses():
            return
        if why_not := self.offers(entry).why_not:
            self._state.say(why_not)
        elif how == "pin":
            self.toggle_pin(entry)
        else:
            self.toggle_omission(entry)

    def _ledger_menu(self, entry: int, at: QPoint) -> None:
        if not self.offers(entry).why_not:
            menu = QMenu(self._panel)
            menu.aboutToHide.connect(menu.deleteLater)
            self.fill_menu(menu, entry)
            menu.popup(at)

    def _show(self, _shown: object) -> None:
        """Fill the part of the panel that lists what is pinned, omitted and kept."""
        document = self._state.document
        if document is None:
            self._panel.show_shaping([], [], 0)
            return
        rows = document.edits.shaped_rows(self._state.profile)
        rule = document.edits.shape().user_budget
        tokens = rule.tokens if rule is not None else self._state.profile.keep_user_tokens
        previews = document.payloads.shown.previews([row.entry for row in rows])
        self._panel.show_shaping(rows, previews, tokens)

    # doing ---------------------------------------------------------------------------------------

    def _start(
        self,
        title: str,
        work: Callable[[Document], Awaitable[EditWords]],
        then: Callable[[], None] = nothing_more,
    ) -> None:
        state, document = self._state, self._state.document
        if document is None or state.refuses():
            return
        if state.agent_running:
            state.say("The agent is still answering; stop it first.")
            return
        state.tasks.start(title, self._done(document, work, then))

    async def _done(
        self,
        document: Document,
        work: Callable[[Document], Awaitable[EditWords]],
        then: Callable[[], None],
    ) -> None:
        state = self._state
        try:
            words = await work(document)
        except (CannotShape, NothingToUndo) as error:
            state.say(str(error))
            return
        except StoreError as error:
            state.notice("error", str(error), "Nothing was changed.")
            return
        self.changed.emit()
        if state.document is document:
            state.notice(
                "done", words.what, words.meaning, action="&Undo",
                on_action=self._panel.undo_requested.emit,
            )  # fmt: skip
            self._notice, self._notice_leaf = state.window.notices.notice, document.leaf
            then()

    def _leaf_moved(self, _change: LeafMoved) -> None:
        """At another leaf, *Undo* would take back something else, or nothing."""
        state, notices = self._state, self._state.window.notices
        document = state.document
        if self._notice is None or document is None or document.leaf == self._notice_leaf:
            return
        if notices.notice is self._notice:
            notices.dismiss()
        self._notice = None

    async def _pin(self, document: Document, entries: list[int], reason: str) -> EditWords:
        made = await document.edits.pin(entries, reason)
        return EditWords(
            f"{_entries(made)} pinned, {self._weigh(document, made)}.",
            "Kept word for word through every compaction.",
        )

    def _weigh(self, document: Document, made: Shaped) -> str:
        weights = (document.tokens.entry_tokens(at) for at in made.entries)
        return f"{full(sum(weights))} tokens"

    async def _unpin(self, document: Document, entries: list[int]) -> EditWords:
        made = await document.edits.unpin(entries)
        return EditWords(f"{_entries(made)} unpinned.")

    async def _omit(self, document: Document, entries: list[int], reason: str) -> EditWords:
        made = await document.edits.omit(entries, reason)
        more = ""
        if len(made.entries) > len(set(entries)):
            more = ", a call and its results together"
        return EditWords(
            f"{_entries(made)} omitted{more}, {self._weigh(document, made)}.",
            "Left out of the context and of summaries.",
        )

    async def _take_in(self, document: Document, entries: list[int]) -> EditWords:
        made = await document.edits.include(entries)
        return EditWords(f"{_entries(made)} taken in again.")

    async def _keep(self, document: Document, tokens: int) -> EditWords:
        await document.edits.keep_user_messages(tokens)
        if not tokens:
            return EditWords("Your messages are summarized like all others.")
        return EditWords(
            f"Your own messages are kept, the newest first, up to {full(tokens)} tokens.",
            "Word for word through compactions.",
        )


def _entries(made: Shaped) -> str:
    if len(made.entries) > NAMED:
        return count(len(made.entries), "entry", "entries")
    return " and ".join(f"#{entry}" for entry in made.entries)


class PruningController(QObject):
    """One dialog at a time."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self.dialog: PruneDialog | None = None
        state.document_changed.connect(self.close)

    def ask(self) -> None:
        """Show what pruning at the leaf would do."""
        state, document = self._state, self._state.document
        if document is None or self.dialog is not None:
            return
        if state.agent_running:
            state.say("The agent is still answering; stop it first.")
            return
        profile = state.profile
        size = document.tokens.context_size(profile)
        lent = ""
        if profile.pruning is None:
            lent = f"{profile.title} prunes nothing by itself; the corrected rules are used."
        self.dialog = PruneDialog(
            document.tree,
            document.payloads.shown,
            lambda policy: document.edits.plan_pruning(profile, policy),
            pruning_of(profile),
            lent,
            (size.tokens, size.source),
            state.window,
        )
        self.dialog.prune_chosen.connect(self._prune)
        self.dialog.entry_requested.connect(state.select)
        self.dialog.finished.connect(self._closed)
        self.dialog.open()

    def close(self) -> None:
        """What is shown is not of this session any more."""
        if self.dialog is not None:
            self.dialog.reject()

    def _closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _prune(self, plan: PruningPlan) -> None:
        self._state.tasks.start("Pruning", self._append(plan))

    async def _append(self, plan: PruningPlan) -> None:
        state, document = self._state, self._state.document
        if document is None:
            return
        try:
            entry = await document.edits.prune(plan)
        except (ValueError, StoreError) as error:
            state.notice("error", str(error), "Nothing was pruned.")
            return
        state.select(entry)
        state.say(
            f"{count(len(plan.results), 'tool result')} pruned, {full(plan.saved)} tokens saved; "
            "undo takes it back."
        )

"""From the preview to the draft, the commit, undo and redo; and the cut on the map."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer

from explorer.audit.source_agent import has_profile
from explorer.compaction.partition import Partition
from explorer.formats.registry import adapter_of
from explorer.models.catalogue import ModelInfo, cannot_summarize
from explorer.models.client import Cancelled, CancelToken
from explorer.services.changes import CompactionEnded
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.edits import NothingToUndo
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.actions import NO_SESSION
from ui.app_state import SUMMARY_MODEL, AppState
from ui.compaction.automatic import AutomaticController
from ui.compaction.words import compacted_words, is_possible, plain_reason
from ui.shell.dialogs import Role, confirm

MOST_WAITING = 5
"""Drafts of earlier that are shown again at most."""

TAKEN_BACK = {
    "pin": "The change of pins was taken back",
    "omit": "The change of omissions was taken back",
    "keep-user-messages": "The rule about your own messages was taken back",
}


class CompactionController(QObject):
    """Listens to the panel and the map's cut; one draft at a time."""

    def __init__(self, state: AppState, automatic: AutomaticController) -> None:
        super().__init__(state)
        self._state = state
        self._cancel: CancelToken | None = None
        self._shown: Document | None = None
        self._offered: tuple[list[ModelInfo], str] = ([], "")
        self._automatic = automatic
        self._panel, window = state.window.compaction, state.window
        panel = self._panel
        panel.partition_changed.connect(self._partition_changed)
        panel.settings_changed.connect(state.set_settings)
        panel.setup.following.settled.connect(window.map.follow_cut)
        panel.profile_chosen.connect(state.set_profile)
        panel.profile_changed.connect(state.set_rules)
        panel.model_chosen.connect(self._model_chosen)
        panel.summarize_requested.connect(self.summarize)
        panel.cancel_requested.connect(self.stop)
        panel.commit_requested.connect(self.commit)
        panel.discard_requested.connect(self._discard)
        panel.undo_requested.connect(self.undo)
        panel.redo_requested.connect(self.redo)
        window.map.selection_changed.connect(panel.show_entry)
        window.map.cut_dragged.connect(panel.set_cut)
        window.map.cut_dropped.connect(self._cut_dropped)
        # The map is painted after the tab: both at once would hold the window up.
        window.inspector.currentChanged.connect(
            lambda _tab: QTimer.singleShot(0, panel, self._tab_shown)
        )
        state.document_changed.connect(self._leave)
        state.fillers.append(self._document_changed)
        state.settings_changed.connect(self._follow_rules)
        state.models_changed.connect(self.show_models)
        state.opened.connect(self._ready)
        state.bus.on_shown(CompactionEnded, self._ended)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    @property
    def can_summarize(self) -> bool:
        """Whether there is something to compact, and no draft on its way."""
        shown = self._panel.partition
        return shown is not None and is_possible(shown) and not self.running

    @property
    def why_not(self) -> str:
        """Why there is nothing to summarize now, in a sentence."""
        if self.running:
            return "A summary is being written."
        shown = self._panel.partition
        return plain_reason(shown, False) if shown is not None else NO_SESSION

    def _ready(self) -> None:
        self._follow_rules()
        self.show_models()

    def _follow_rules(self) -> None:
        state = self._state
        self._panel.set_rules(state.profile, state.settings, state.unchanged_profile)

    def show_models(self) -> None:
        """Offer the models, with the one that is to be asked."""
        panel, state = self._panel, self._state
        if state.bench is not None:
            choices = [model for model in state.model_infos() if not cannot_summarize(model.id)]
            chosen = state.summary_models()[0]
            if (choices, chosen) != self._offered:
                self._offered = choices, chosen
                panel.set_models(choices, chosen)

    def keep_edits(self) -> None:
        """Store the texts of uncommitted drafts as they are edited by now."""
        document = self._shown
        if document is None:
            return
        document.choices.set("instructions", self._panel.instructions() or None)
        for draft, text in self._panel.texts():
            if isinstance(draft, Draft) and text != draft.summary:
                document.drafts.store_text(draft, text)

    def _leave(self) -> None:
        """Clear the panel of the previous document until this one is previewed."""
        self.stop()
        if self._state.document is not self._shown:
            self.keep_edits()
            self._panel.leave()

    def _document_changed(self) -> None:
        self.keep_edits()
        panel, document = self._panel, self._state.document
        form = document.header.format if document is not None else "pi"
        panel.setup.following.agent = "" if has_profile(form) else adapter_of(form).title
        panel.set_document(document)
        if document is self._shown:
            return
        self._shown = document
        self.show_models()
        instructions = document.choices.all().get("instructions") if document is not None else ""
        panel.set_instructions(instructions if isinstance(instructions, str) else "")
        if document is not None:
            self._state.tasks.start("Reading the drafts", self._offer_waiting(document))

    async def _offer_waiting(self, document: Document) -> None:
        """Show again what was drafted and neither committed nor discarded."""
        state, panel = self._state, self._panel
        try:
            found = await asyncio.to_thread(
                document.compaction.waiting_previews, state.profile, state.settings, MOST_WAITING
            )
        except StoreError as error:
            state.notice("error", f"Earlier drafts cannot be read: {error}", "They are kept.")
            return
        if not found or self.running or state.document is not document:
            return
        for draft, shown, text in found:
            panel.draft_finished(draft, shown, takes_focus=False, text=text)
        last = found[-1][0].leaf
        of = "" if last == document.leaf else f" of #{last}"
        state.say(f"A draft{of} that was not committed yet is on the tab Compaction.")

    def preview(self) -> None:
        """Show the tab, and its cut on the map, whether it was shown or not."""
        self._state.window.show_tab("compaction")
        self._tab_shown()

    def write_instructions(self) -> None:
        """Show the tab with the keyboard on the instructions."""
        self._state.window.show_tab("compaction")
        self._panel.set_up()

    def _tab_shown(self) -> None:
        """Reveal the cut on the map when the tab is opened; a lesson shows what it is about."""
        window, shown = self._state.window, self._panel.partition
        if self._state.is_trying:
            return
        if window.tab == "compaction" and shown is not None and shown.cut >= 0:
            window.map.reveal(shown.path[min(shown.cut, len(shown.path) - 1)])

    def _partition_changed(self, shown: Partition | None) -> None:
        self._state.window.map.set_partition(shown)
        self._state.state_changed.emit()

    def _cut_dropped(self, position: int) -> None:
        self._panel.set_cut(position)
        self._state.window.show_tab("compaction")

    def _model_chosen(self, model: str) -> None:
        self._state.choose_model(SUMMARY_MODEL, model)
        self._offered = self._offered[0], model

    # the draft -------------------------------------------------------------------------------

    def start_from_action(self) -> None:
        """Summarize what the panel shows, as its button does."""
        self._state.window.show_tab("compaction")
        self._panel.summarize()

    def summarize(self, shown: Partition, instructions: str, model: str) -> None:
        if self._cancel is None and self._state.document is not None:
            self._cancel = CancelToken()
            self._state.state_changed.emit()
            work = self._summarize(shown, instructions, model, self._cancel)
            self._state.tasks.start("The summary", work)

    def stop(self) -> None:
        """Cancel the running draft; the session is not changed."""
        if self._cancel is not None:
            self._cancel.cancel()

    async def _summarize(
        self, shown: Partition, instructions: str, model: str, cancel: CancelToken
    ) -> None:
        document, panel = self._state.document, self._panel
        assert document is not None
        panel.draft_started()

        def text(purpose: str, piece: str) -> None:
            if self._state.document is document:
                panel.draft_text(piece, purpose)

        def waits(sentence: str) -> None:
            if self._state.document is document:
                panel.draft_waits(sentence)

        def restarted(purpose: str) -> None:
            if self._state.document is document:
                panel.draft_restarted(purpose)

        try:
            others = self._state.after(model)
            order = SummaryOrder(
                instructions, model, text, cancel,
                fallbacks=others, on_progress=waits, on_restart=restarted,
            )  # fmt: skip
            draft = await document.compaction.summarize(shown, order)
        except Cancelled:
            panel.draft_cancelled()
        except DraftFailed as error:
            panel.draft_failed(str(error), "\n\n".join(part.text for part in error.parts))
        except (StoreError, ValueError) as error:
            panel.draft_failed(str(error))
        else:
            if self._state.document is document:
                panel.draft_finished(draft)
        finally:
            self._cancel = None
            self._state.state_changed.emit()

    def commit(self, draft: Draft, text: str, leaving: int | None = None) -> None:
        """Store a draft. ``leaving``: the leaf that is left for it, as it was shown."""
        if self._automatic.settle_draft(draft, text):
            return
        if leaving is not None and self._state.agent_running:
            self._state.say("The agent is still answering; stop it first.")
            return
        self._state.tasks.start("Storing the compaction", self._commit(draft, text, leaving))

    async def _commit(self, draft: Draft, text: str, leaving: int | None) -> None:
        state, panel = self._state, self._panel
        if state.document is None:
            return
        try:
            if leaving is None and draft.leaf != state.document.leaf:
                raise ValueError("The leaf has moved meanwhile; look at the draft again.")
            entry = await state.document.compaction.commit(draft, text, leaving=leaving)
        except (ValueError, StoreError) as error:
            panel.commit_failed(str(error))
            return
        # Waits until the summary is counted too.
        await state.document.tokens.counted_around(entry)
        sizes = compacted_words(state.document, entry)
        panel.committed(entry, sizes, -1 if leaving is None else leaving)
        panel.take_instructions(draft.instructions)
        state.select(entry)
        # The button that was pressed is gone; the map shows what came of it.
        state.window.map.setFocus()

    # the instructions ------------------------------------------------------------------------

    def _ended(self, ended: CompactionEnded) -> None:
        """Instructions that an automatic compaction took along were for it alone, too."""
        if ended.entry >= 0 and self._panel.instructions() and self._state.document is not None:
            work = self._follow_instructions(self._state.document, ended.entry)
            self._state.tasks.start("Reading the instructions", work)

    async def _follow_instructions(
        self, document: Document, compaction: int, *, back: bool = False
    ) -> None:
        """Take those of a compaction out of the box, or put them ``back`` where it was undone."""
        try:
            words = await asyncio.to_thread(document.drafts.instructions_of, compaction)
        except StoreError as error:
            self._state.notice(
                "error", f"The instructions cannot be read: {error}", "They are in the record."
            )
            return
        if self._state.document is not document:
            return
        if not back:
            self._panel.take_instructions(words)
        elif not self._panel.instructions():
            self._panel.set_instructions(words)

    def _discard(self, draft: object) -> None:
        if not isinstance(draft, Draft) or self._automatic.settle_draft(draft, None):
            return
        if self._state.document is not None:
            self._state.tasks.start(
                "Discarding the draft",
                self._state.document.drafts.mark(draft, "discarded", draft.summary),
            )

    # undo ------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back the latest compaction, prune, pin, omission or rule of the active path; asks
        first where it was not made in this window."""
        document = self._state.document
        if document is None:
            return
        if self._state.agent_running:
            self._state.say("The agent is still answering; stop it first.")
            return
        entry = document.edits.latest()

        def start() -> None:
            self._state.tasks.start("Undoing", self._undo(document, entry))

        if entry < 0 or document.writer.appended(entry):
            start()
            return
        what = "compaction" if document.tree.kind(entry) is Kind.COMPACTION else "edit"
        confirm(
            self._state.window, "Undo",
            f"Take back {what} #{entry}, which was not made in this window?",
            "", "Take it &back", start, Role.AcceptRole,
        )  # fmt: skip

    async def _undo(self, document: Document, entry: int) -> None:
        state = self._state
        if state.document is not document or document.edits.latest() != entry:
            state.say("The session has moved on meanwhile.")
            return
        left, made_here = document.leaf, document.writer.made_here
        try:
            undone = await document.edits.undo()
        except NothingToUndo as error:
            state.say(str(error))
            return
        except StoreError as error:
            state.notice("error", str(error), "Nothing was changed.")
            return
        # Only now there is something to redo.
        state.state_changed.emit()
        if undone.kind == "prune":
            state.select(undone.leaf)
            state.say("The prune was taken back: the model is sent the tool results whole again.")
            return
        if undone.kind in TAKEN_BACK:
            state.say(f"{TAKEN_BACK[undone.kind]}; its entry stays in the session.")
            return
        await self._follow_instructions(document, undone.entry, back=True)
        state.window.compaction.undone(undone.entry, undone.leaf, left, made_here(undone.entry))
        state.window.show_tab("compaction")
        state.select(undone.leaf)

    def redo(self) -> None:
        """Go back to where the latest undo left."""
        if self._state.agent_running:
            self._state.say("The agent is still answering; stop it first.")
        elif self._state.document is not None:
            self._state.tasks.start("Redoing", self._redo(self._state.document))

    async def _redo(self, document: Document) -> None:
        state = self._state
        try:
            leaf = await document.edits.redo()
        except NothingToUndo as error:
            state.say(str(error))
        except StoreError as error:
            state.notice("error", str(error), "Nothing was changed.")
        else:
            state.state_changed.emit()
            state.select(leaf)
            state.say(f"Redone: the leaf is #{leaf} again.")
            if document.tree.kind(leaf) is Kind.COMPACTION:
                await self._follow_instructions(document, leaf)

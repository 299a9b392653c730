"""Compactions that happen by themselves, or at once on a word, as the window shows them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.models.retry import Retry
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from explorer.work.automatic import AutomaticCompaction
from explorer.work.changes import (
    AutomaticChanged,
    Change,
    CompactionEnded,
    CompactionStarted,
    LeafMoved,
    PruneMade,
)
from explorer.work.document import Document, NothingToUndo, Undone
from explorer.work.rules import AutomaticRules
from ui.agent.automatic_strip import StripState
from ui.control.desk import Desk
from ui.widgets.figures import round_short, short

CHOICE = "automatic"
"""Under which a session keeps whether it is compacted by itself."""
_TRIGGERS = {
    "threshold": "threshold",
    "overflow": "overflow",
    "manual": "by hand",
    "requested": "asked for during the turn",
    "prompt": "the prompt was full",
    "background": "made ahead",
}


class AutomaticControl(QObject):
    """One automatic compaction per opened session, and the line that tells of it."""

    def __init__(self, desk: Desk, stop: Callable[[], None]) -> None:
        super().__init__(desk)
        self._desk = desk
        self._stop = stop
        """Ends what the agent is doing."""
        self._kept: dict[int, AutomaticCompaction] = {}
        self._chosen: dict[int, bool] = {}
        self._forgotten: set[int] = set()
        """Sessions whose choice was given up here, which the database may not know yet."""
        self._first: Callable[[], object] = lambda: None
        self._second: Callable[[], object] = lambda: None
        self._offered = -1
        """The entry that the line tells of, -1 for none."""
        strip, switch = desk.window.agent.automatic, desk.window.agent.automatic_switch
        strip.first_pressed.connect(lambda: self._first())
        strip.second_pressed.connect(lambda: self._second())
        switch.clicked.connect(self._switched)
        desk.fillers.append(self._document_changed)
        desk.settings_changed.connect(self._show_switch)

    def ready(self) -> None:
        """The workbench is there."""
        assert self._desk.bench is not None
        self._desk.bench.subscribe(self._changed)
        self._document_changed()

    async def stop_ahead(self) -> None:
        """End every summary that is made ahead, whichever session it is of."""
        for automatic in list(self._kept.values()):
            await automatic.prompts.stop()

    # one per session ---------------------------------------------------------------------------

    def of(self, document: Document) -> AutomaticCompaction:
        """What compacts a session by itself; the same for as long as the session is open."""
        kept = self._kept.get(document.key)
        if kept is None or kept.document is not document:
            if kept is not None:
                kept.close()
            kept = AutomaticCompaction(document, lambda: self.rules(document))
            self._kept[document.key] = kept
        return kept

    def rules(self, document: Document) -> AutomaticRules:
        """The rules as they stand now: those that the window shows."""
        desk = self._desk
        # What was written to a file a moment ago counts already (A12).
        desk.live.refresh()
        profile, (model, *fallbacks) = desk.profile, desk.summary_models()
        return AutomaticRules(
            profile,
            desk.settings,
            model,
            fallbacks=tuple(fallbacks),
            enabled=self.is_on(document),
            summary_models=self._for_prompts,
            auto_continue=profile.auto_continue,
        )

    def _for_prompts(self, model: str) -> tuple[str, ...]:
        """Whom the session or the settings name for conversations with a model; else itself."""
        return self._desk.models_for(model)

    def is_on(self, document: Document) -> bool:
        """Whether a session is compacted by itself: its own choice, else the profile's."""
        if document.key not in self._chosen and document.key not in self._forgotten:
            kept = document.choices().get(CHOICE)
            if isinstance(kept, bool):
                self._chosen[document.key] = kept
        return self._chosen.get(document.key, self._desk.profile.enabled)

    def own_choice(self) -> bool | None:
        """What the session shown chose for itself; None where it follows the settings."""
        document = self._desk.document
        if document is None:
            return None
        self.is_on(document)
        return self._chosen.get(document.key)

    def forget_choice(self) -> None:
        """Let the session shown follow the settings again."""
        document = self._desk.document
        if document is not None and self._chosen.pop(document.key, None) is not None:
            self._forgotten.add(document.key)
            document.choose(CHOICE, None)
            self._show_switch()
            self.show()

    def _switched(self, on: bool) -> None:
        document = self._desk.document
        if document is not None:
            self._chosen[document.key] = on
            document.choose(CHOICE, on)
            self.show()

    # what is shown -----------------------------------------------------------------------------

    def _document_changed(self) -> None:
        self._let_go()
        self._show_switch()
        self.show()

    def _let_go(self) -> None:
        """A session that was closed is watched no longer, and nothing is made ahead for it."""
        for key, automatic in list(self._kept.items()):
            if automatic.document is not self._desk.document:
                automatic.close()
                del self._kept[key]
                self._desk.tasks.start("Ending a summary", automatic.prompts.stop())

    def _show_switch(self) -> None:
        document, switch = self._desk.document, self._desk.window.agent.automatic_switch
        switch.setEnabled(document is not None)
        switch.setChecked(document is not None and self.is_on(document))

    def _changed(self, change: Change) -> None:
        document = self._desk.document
        if isinstance(change, LeafMoved):
            self._moved(document, change)
            return
        if document is None or not isinstance(
            change, CompactionStarted | CompactionEnded | PruneMade | AutomaticChanged
        ):
            return
        if change.key != document.key:
            return
        if isinstance(change, CompactionEnded):
            self._ended(document, change)
        elif isinstance(change, PruneMade):
            words = f"Pruned {change.results:,} old tool result{'s' if change.results > 1 else ''}"
            words += f": {short(change.saved)} tokens saved."
            self._offer(document, words, change.entry)
        else:
            self.show()

    def _moved(self, document: Document | None, change: LeafMoved) -> None:
        """What is left behind is no longer spoken of."""
        if document is None or document.key != change.key or self._offered < 0:
            return
        if self._offered not in document.tree.path(change.new):
            self.show()

    def waiting(self, retry: Retry) -> None:
        """A call is made again after a while."""
        self._first = self._stop
        self._desk.window.agent.automatic.count_down(retry)

    def goes_on(self) -> None:
        """Something arrived, or the turn is over: nothing is waited for any more."""
        if self._desk.window.agent.automatic.is_waiting:
            self.show()

    def show(self) -> None:
        """What is under way, waits or rests."""
        document, strip = self._desk.document, self._desk.window.agent.automatic
        self._offered = -1
        if document is None:
            strip.say(None)
            return
        automatic = self.of(document)
        if automatic.running is not None:
            now = automatic.running
            figures = f"{short(now.tokens)} of {round_short(now.window)}"
            self._first = automatic.cancel
            words = f"Compacting… ({_TRIGGERS[now.trigger]}, {figures})"
            words += f"  {now.note}" if now.note else ""
            strip.say(StripState(words, first="Cancel"))
            self._desk.window.agent.state.setText("")
        elif automatic.is_requested:
            self._first = automatic.forget_request
            strip.say(StripState("A compaction follows this turn.", first="Do not"))
        elif automatic.resting and self.is_on(document):
            self._first = automatic.reset
            strip.say(StripState(automatic.resting, "warning", "lost", first="Reset"))
        else:
            strip.say(None)

    def _ended(self, document: Document, ended: CompactionEnded) -> None:
        self.show()
        if ended.problem:
            self._desk.notice(
                "error", ended.problem, "Nothing was changed.",
                "The rules and the summarizer's model are on the tab Compaction.",
            )  # fmt: skip
        elif ended.cancelled:
            self._desk.say("The compaction was cancelled; nothing was changed.")
        elif self._desk.window.agent.automatic.state is None:
            self._tell_of(document, ended)

    def _tell_of(self, document: Document, ended: CompactionEnded) -> None:
        figures = f"{short(ended.tokens_before)} → {short(ended.tokens_after)} tokens"
        self._offer(document, f"Compacted ({_TRIGGERS[ended.trigger]}): {figures}.", ended.entry)

    def _offer(self, document: Document, words: str, entry: int) -> None:
        """Say what happened, and offer to look at it and to take it back."""
        self._first = lambda: self._show_entry(entry)
        self._second = lambda: self._desk.tasks.start("Undoing", self._undo(document, entry))
        self._offered = entry
        state = StripState(words, first="Show", second="Undo")
        self._desk.window.agent.automatic.say(state)

    def _show_entry(self, entry: int) -> None:
        self._desk.window.map.select(entry)
        self._desk.window.map.setFocus()

    async def _undo(self, document: Document, entry: int) -> None:
        desk = self._desk
        if desk.agent_running:
            desk.say("The agent is still answering; stop it first.")
            return
        try:
            if document.tree.kind(entry) is Kind.COMPACTION:
                undone = await self._undo_compaction(document, entry)
            else:
                undone = await document.undo_prune(entry)
        except NothingToUndo as error:
            desk.say(str(error))
        except StoreError as error:
            desk.notice("error", str(error), "Nothing was changed.")
        else:
            desk.window.map.select(undone.leaf)
            desk.say("It was taken back; its entry stays in the session.")
            self.show()

    @staticmethod
    async def _undo_compaction(document: Document, entry: int) -> Undone:
        if document.context().compaction != entry:
            raise NothingToUndo(
                "The session has moved on: that compaction is not the latest any more."
            )
        return await document.undo_compaction()

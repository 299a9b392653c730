"""The line above the message box: what compaction does by itself, asks, waits for, or did."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.compaction.background import State
from explorer.compaction.reasons import share_text
from explorer.models.retry import Retry
from explorer.work.auto_compaction.controller import AutomaticCompaction
from explorer.work.changes import (
    AutomaticChanged,
    BackgroundChanged,
    Change,
    CompactionEnded,
    CompactionStarted,
    LeafMoved,
    PruneMade,
)
from explorer.work.document import Document
from ui.agent.automatic_strip import StripState
from ui.compaction.asking_words import asked_words
from ui.control.desk import Desk
from ui.widgets.figures import round_short, short

TRIGGERS = {
    "threshold": "threshold",
    "overflow": "overflow",
    "manual": "by hand",
    "requested": "asked for during the turn",
    "prompt": "the prompt was full",
    "background": "made ahead",
}
_SHOWN = AutomaticChanged | BackgroundChanged | CompactionStarted | CompactionEnded | PruneMade
_UNDO_TIPS = (
    "Show it on the map",
    "Take it back and let the agent go on with all of the context; it does not compact by itself"
    " until you press Reset (Ctrl+Alt+Z)",
    "Take it back, and no more",
)


class AutomaticLine(QObject):
    """Reads what there is to tell; buttons call what belongs to it."""

    def __init__(self, desk: Desk, of: Callable[[Document], AutomaticCompaction]) -> None:
        super().__init__(desk)
        self._desk = desk
        self._of = of
        self._pressed: tuple[Callable[[], object], ...] = ()
        self.offered = -1
        """The entry that can be taken back from here, -1 for none."""
        self.is_on: Callable[[Document], bool] = lambda _document: True
        self.stop: Callable[[], None] = lambda: None
        """Ends what the agent is doing."""
        self.compact: Callable[[], object] = lambda: None
        self.review: Callable[[], object] = lambda: None
        self.not_now: Callable[[], object] = lambda: None
        self.undo: Callable[[int], object] = lambda _entry: None
        self.undo_and_go_on: Callable[[int], object] = lambda _entry: None
        strip = desk.window.agent.automatic
        for at, signal in enumerate(
            (strip.first_pressed, strip.second_pressed, strip.third_pressed)
        ):
            signal.connect(lambda at=at: self._press(at))

    def _press(self, at: int) -> None:
        if at < len(self._pressed):
            self._pressed[at]()

    def _say(self, state: StripState | None, *pressed: Callable[[], object]) -> None:
        self._pressed = pressed
        self._desk.window.agent.automatic.say(state)

    # changes -------------------------------------------------------------------------------------

    def changed(self, change: Change) -> None:
        """Something happened by itself."""
        document = self._desk.document
        if document is None or not isinstance(change, _SHOWN | LeafMoved):
            return
        if change.key != document.key:
            return
        if isinstance(change, LeafMoved):
            # What is left behind is no longer spoken of.
            if self.offered >= 0 and self.offered not in document.tree.path(change.new):
                self.show()
        elif isinstance(change, CompactionEnded):
            self._ended(change)
        elif isinstance(change, PruneMade):
            words = f"Pruned {change.results:,} old tool result{'s' if change.results > 1 else ''}"
            self._offer(f"{words}: {short(change.saved)} tokens saved.", change.entry)
        elif not isinstance(change, BackgroundChanged) or self.offered < 0:
            self.show()

    def waiting(self, retry: Retry) -> None:
        """A call is made again after a while."""
        self._pressed = (self.stop,)
        self._desk.window.agent.automatic.count_down(retry)

    def goes_on(self) -> None:
        """Something arrived, or the turn is over: nothing is waited for any more."""
        if self._desk.window.agent.automatic.is_waiting:
            self.show()

    # what is shown -------------------------------------------------------------------------------

    def show(self) -> None:
        """What is under way, asked, waits or rests."""
        document = self._desk.document
        if self.offered >= 0:
            self.offered = -1
            self._desk.state_changed.emit()
        if document is None:
            self._say(None)
            return
        automatic = self._of(document)
        if automatic.confirmation.question is not None:
            self._ask(automatic)
        elif automatic.running is not None:
            self._run(automatic)
        elif automatic.is_requested:
            state = StripState("A compaction follows this turn.", first="Do not")
            self._say(state, automatic.forget_request)
        elif automatic.resting and self.is_on(document):
            state = StripState(automatic.resting, "warning", "lost", first="Reset")
            self._say(state, automatic.reset)
        else:
            self._say(*self._ahead(automatic))

    def _ask(self, automatic: AutomaticCompaction) -> None:
        question = automatic.confirmation.question
        assert question is not None
        told = asked_words(question)
        # One line has less room than the tab.
        first, second, third = told.compact.replace("&", ""), "Change…", "Not now"
        tips = (f"{told.compact_tip} (Ctrl+Alt+K)", told.review_tip,
                f"{told.not_now_tip} (Ctrl+Alt+N)")  # fmt: skip
        words = f"{told.short} The turn waits."
        state = StripState(words, "warning", "comp", first, second, third, tips)
        self._say(state, lambda: self.compact(), lambda: self.review(), lambda: self.not_now())
        self._desk.window.agent.state.setText("")

    def _run(self, automatic: AutomaticCompaction) -> None:
        now = automatic.running
        assert now is not None
        figures = f"{short(now.tokens)} of {round_short(now.window)}"
        words = f"Compacting… ({TRIGGERS[now.trigger]}, {figures})"
        words += f"  {now.note}" if now.note else ""
        self._say(StripState(words, first="Cancel"), automatic.cancel)
        self._desk.window.agent.state.setText("")

    def _ahead(
        self, automatic: AutomaticCompaction
    ) -> tuple[StripState | None, Callable[[], object]]:
        """A summary that is made while the agent works on."""
        machine = automatic.prompts.machine if automatic.prompts.is_active else None

        def stop() -> None:
            self._desk.tasks.start("Ending a summary", automatic.prompts.stop())

        if machine is None or machine.state not in (State.IN_PROGRESS, State.COMPLETED):
            return None, stop
        full = f"the prompt is {share_text(machine.ratio)} full"
        if machine.state is State.IN_PROGRESS:
            words = f"A summary is being made ahead, while the agent works on: {full}."
            return StripState(words, first="Stop"), stop
        words = f"The summary that was made ahead takes its place before the next request: {full}."
        return StripState(words, first="Throw away"), stop

    # what happened -------------------------------------------------------------------------------

    def _ended(self, ended: CompactionEnded) -> None:
        self.show()
        if ended.problem:
            self._desk.notice(
                "error", ended.problem, "Nothing was changed.",
                "The rules and the summarizer's model are on the tab Compaction.",
            )  # fmt: skip
        elif ended.cancelled:
            self._desk.say("The compaction was cancelled; nothing was changed.")
        elif not self._is_held():
            figures = f"{short(ended.tokens_before)} → {short(ended.tokens_after)} tokens"
            self._offer(f"Compacted ({TRIGGERS[ended.trigger]}): {figures}.", ended.entry)

    def _is_held(self) -> bool:
        """Something else is to be told that a person must see."""
        document = self._desk.document
        if document is None:
            return True
        now = self._of(document)
        rests = bool(now.resting) and self.is_on(document)
        return (
            rests or now.is_requested or now.running is not None or bool(now.confirmation.question)
        )

    def _offer(self, words: str, entry: int) -> None:
        """Say what happened, and offer to look at it and to take it back."""
        self.offered = entry
        state = StripState(
            words, first="Show", second="Undo and go on", third="Undo", tips=_UNDO_TIPS
        )
        self._say(
            state, lambda: self._show_entry(entry), lambda: self.undo_and_go_on(entry),
            lambda: self.undo(entry),
        )  # fmt: skip
        self._desk.state_changed.emit()

    def _show_entry(self, entry: int) -> None:
        self._desk.window.map.select(entry)
        self._desk.window.map.setFocus()

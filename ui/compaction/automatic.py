"""Automatic compaction of the open sessions: its switches, its rules, and the strip above the
message box that shows what it is doing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from explorer.compaction.background import RunState
from explorer.compaction.reasons import share_text
from explorer.models.retry import Retry
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.auto_compaction.guards import CompactHere, CompactionQuestion, NotNow
from explorer.services.changes import (
    AutomaticChanged,
    BackgroundChanged,
    CompactionEnded,
    CompactionStarted,
    LeafMoved,
    PruneMade,
)
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.effective_rules import EffectiveRules
from ui.app_state import AppState
from ui.compaction.automatic_bar import question_words
from ui.compaction.words import compacted_words
from ui.conversation.strips import StripState
from ui.widgets.figures import short

TRIGGERS = {
    "threshold": "threshold",
    "overflow": "overflow",
    "manual": "by hand",
    "requested": "asked for during the turn",
    "prompt": "the prompt was full",
    "background": "made ahead",
}
_UNDO_TIPS = (
    "Show it on the map",
    "Take it back and let the agent go on with all of the context; it does not compact by itself"
    " until you press Reset (Ctrl+Alt+Z)",
    "Take it back, and no more",
)


class AutomaticLine(QObject):
    """Shows what compaction does by itself, asks, waits for, or did."""

    stop_asked = Signal()
    """What the agent is doing shall end."""
    compact_asked = Signal()
    review_asked = Signal()
    not_now_asked = Signal()
    undo_asked = Signal(int)
    undo_and_go_on_asked = Signal(int)

    def __init__(
        self,
        state: AppState,
        of: Callable[[Document], AutomaticCompaction],
        is_on: Callable[[Document], bool],
    ) -> None:
        """``of``: the automatic compaction of a session; ``is_on``: whether it may begin one."""
        super().__init__(state)
        self._state = state
        self._of = of
        self._is_on = is_on
        self._pressed: tuple[Callable[[], object], ...] = ()
        self.offered = -1
        """The entry that can be taken back from here, -1 for none."""
        self._strip = strip = state.window.agent.automatic
        for at, signal in enumerate(
            (strip.first_pressed, strip.second_pressed, strip.third_pressed)
        ):
            signal.connect(lambda at=at: self._press(at))
        bus = state.bus
        bus.on_shown(LeafMoved, self._leaf_moved)
        bus.on_shown(CompactionEnded, self._ended)
        bus.on_shown(PruneMade, self._pruned)
        bus.on_shown(BackgroundChanged, self._background_changed)
        bus.on_shown(CompactionStarted, lambda _change: self.show())
        bus.on_shown(AutomaticChanged, lambda _change: self.show())

    def _press(self, at: int) -> None:
        if at < len(self._pressed):
            self._pressed[at]()

    def _say(self, state: StripState | None, *pressed: Callable[[], object]) -> None:
        self._pressed = pressed
        self._strip.say(state)

    # changes -------------------------------------------------------------------------------------

    def _leaf_moved(self, change: LeafMoved) -> None:
        """What is left behind is no longer spoken of."""
        document = self._state.document
        assert document is not None
        if self.offered >= 0 and self.offered not in document.tree.path(change.new):
            self.show()

    def _pruned(self, change: PruneMade) -> None:
        words = f"Pruned {change.results:,} old tool result{'s' if change.results > 1 else ''}"
        self._offer(f"{words}: {short(change.saved)} tokens saved.", change.entry)

    def _background_changed(self, _change: BackgroundChanged) -> None:
        if self.offered < 0:
            self.show()

    def waiting(self, retry: Retry) -> None:
        """Show that a call is retried after a while."""
        self._pressed = (self.stop_asked.emit,)
        self._strip.count_down(retry)

    def goes_on(self) -> None:
        """End the waiting notice: something arrived, or the turn is over."""
        if self._strip.is_waiting:
            self.show()

    # what is shown -------------------------------------------------------------------------------

    def show(self) -> None:
        """What is under way, asked, waits or rests."""
        document = self._state.document
        if self.offered >= 0:
            self.offered = -1
            self._state.state_changed.emit()
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
        elif automatic.resting and self._is_on(document):
            state = StripState(automatic.resting, "warning", "lost", first="Reset")
            self._say(state, automatic.reset)
        else:
            self._say(*self._ahead(automatic))

    def _ask(self, automatic: AutomaticCompaction) -> None:
        question = automatic.confirmation.question
        assert question is not None
        wording = question_words(question)
        # One line has less room than the tab.
        first, second, third = wording.compact.replace("&", ""), "Change…", "Not now"
        tips = (f"{wording.compact_tip} (Ctrl+Alt+K)", wording.review_tip,
                f"{wording.not_now_tip} (Ctrl+Alt+N)")  # fmt: skip
        words = f"{wording.short} The turn waits."
        state = StripState(words, "warning", "comp", first, second, third, tips)
        self._say(state, self.compact_asked.emit, self.review_asked.emit, self.not_now_asked.emit)
        self._state.window.agent.set_activity("")

    def _run(self, automatic: AutomaticCompaction) -> None:
        now = automatic.running
        assert now is not None
        figures = f"{short(now.tokens)} of {short(now.window)}"
        words = f"Compacting… ({TRIGGERS[now.trigger]}, {figures})"
        words += f"  {now.note}" if now.note else ""
        self._say(StripState(words, first="Cancel"), automatic.cancel)
        self._state.window.agent.set_activity("")

    def _ahead(
        self, automatic: AutomaticCompaction
    ) -> tuple[StripState | None, Callable[[], object]]:
        """A summary that is made while the agent works on."""
        machine = automatic.prompts.machine if automatic.prompts.is_active else None

        def stop() -> None:
            self._state.tasks.start("Ending a summary", automatic.prompts.stop())

        if machine is None or machine.state not in (RunState.IN_PROGRESS, RunState.COMPLETED):
            return None, stop
        full = f"the prompt is {share_text(machine.ratio)} full"
        if machine.state is RunState.IN_PROGRESS:
            words = f"A summary is being made ahead, while the agent works on: {full}."
            return StripState(words, first="Stop"), stop
        words = f"The summary that was made ahead takes its place before the next request: {full}."
        return StripState(words, first="Throw away"), stop

    # what happened -------------------------------------------------------------------------------

    def _ended(self, ended: CompactionEnded) -> None:
        self.show()
        if ended.problem:
            self._state.notice(
                "error", ended.problem, "Nothing was changed.",
                "The rules and the summarizer's model are on the tab Compaction.",
            )  # fmt: skip
        elif ended.cancelled:
            self._state.say("The compaction was cancelled; nothing was changed.")
        elif not self._has_news():
            document = self._state.document
            assert document is not None
            sizes = compacted_words(document, ended.entry)
            self._offer(f"Compacted ({TRIGGERS[ended.trigger]}): {sizes}.", ended.entry)

    def _has_news(self) -> bool:
        """Show something else that the user must see."""
        document = self._state.document
        if document is None:
            return True
        now = self._of(document)
        rests = bool(now.resting) and self._is_on(document)
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
            state, lambda: self._show_entry(entry),
            lambda: self.undo_and_go_on_asked.emit(entry),
            lambda: self.undo_asked.emit(entry),
        )  # fmt: skip
        self._state.state_changed.emit()

    def _show_entry(self, entry: int) -> None:
        self._state.select(entry)
        self._state.window.map.setFocus()


CHOICE, ASK = "automatic", "automatic_asks"
"""Under which a session keeps whether it is compacted by itself, and whether that asks first."""
ASK_FIRST = "compaction.askFirst"


class AutomaticController(QObject):
    """One automatic compaction per opened session, its switches, and the line that shows it."""

    def __init__(self, state: AppState, stop: Callable[[], None]) -> None:
        """``stop`` ends what the agent is doing."""
        super().__init__(state)
        self._state = state
        self._by_session: dict[int, AutomaticCompaction] = {}
        self._chosen: dict[tuple[int, str], bool] = {}
        self._forgotten: set[tuple[int, str]] = set()
        """Choices that were given up here, which the database may not know yet."""
        self.line = AutomaticLine(state, self.of, self.is_on)
        self.line.stop_asked.connect(stop)
        self.line.compact_asked.connect(self.compact)
        self.line.not_now_asked.connect(self.not_now)
        self._bar = state.window.agent.bar
        self._bar.automatic_chosen.connect(lambda on: self._choose(CHOICE, on))
        self._bar.ask_chosen.connect(lambda on: self._choose(ASK, on))
        self._panel = state.window.compaction
        state.fillers.append(self._document_changed)
        state.settings_changed.connect(self._show_switches)
        state.opened.connect(self._document_changed)

    async def stop_ahead(self) -> None:
        """End every summary that is made ahead, whichever session it is of."""
        for automatic in list(self._by_session.values()):
            await automatic.prompts.stop()

    # one per session ---------------------------------------------------------------------------

    def of(self, document: Document) -> AutomaticCompaction:
        """What compacts a session by itself; the same for as long as the session is open."""
        known = self._by_session.get(document.key)
        if known is None or known.document is not document:
            if known is not None:
                known.close()
            known = AutomaticCompaction(document, lambda: self.rules(document))
            known.confirmation.attended = True
            self._by_session[document.key] = known
        return known

    def now(self) -> AutomaticCompaction | None:
        """The automatic compaction of the session shown."""
        document = self._state.document
        return self.of(document) if document is not None else None

    def adopt(self, document: Document, automatic: AutomaticCompaction) -> Callable[[], None]:
        """Show what another one does in a session as long as that is at work; returns its end."""
        before = self._by_session.pop(document.key, None)
        if before is not None:
            before.close()
        self._by_session[document.key] = automatic

        def release() -> None:
            if self._by_session.get(document.key) is automatic:
                del self._by_session[document.key]
                self.show()

        return release

    def rules(self, document: Document) -> EffectiveRules:
        """The rules as they stand now: those that the window shows."""
        state = self._state
        # What was written to a file a moment ago counts already (A12).
        state.live.refresh()
        profile, (model, *fallbacks) = state.profile, state.summary_models()
        return EffectiveRules(
            profile,
            state.settings,
            model,
            fallbacks=tuple(fallbacks),
            enabled=self.is_on(document),
            summary_models=self._state.models_for,
            auto_continue=profile.auto_continue,
            ask_first=self.asks_first(document),
        )

    # choices of a session ------------------------------------------------------------------------

    def is_on(self, document: Document) -> bool:
        """Whether a session is compacted by itself: its own choice, else the profile's."""
        chosen = self._session_choice(document, CHOICE)
        return self._state.profile.enabled if chosen is None else chosen

    def asks_first(self, document: Document) -> bool:
        """Whether that waits for a word each time: the session's choice, else the settings'."""
        chosen = self._session_choice(document, ASK)
        return self._state.values.get(ASK_FIRST) is True if chosen is None else chosen

    def _session_choice(self, document: Document, name: str) -> bool | None:
        at = document.key, name
        if at not in self._chosen and at not in self._forgotten:
            known = document.choices.all().get(name)
            if isinstance(known, bool):
                self._chosen[at] = known
            else:
                self._forgotten.add(at)
        return self._chosen.get(at)

    def session_choice(self, name: str = CHOICE) -> bool | None:
        """What the session shown chose for itself; None where it follows the settings."""
        document = self._state.document
        return self._session_choice(document, name) if document is not None else None

    def forget_choice(self, name: str = CHOICE) -> None:
        """Let the session shown follow the settings again."""
        document = self._state.document
        if document is not None and self._session_choice(document, name) is not None:
            del self._chosen[document.key, name]
            self._forgotten.add((document.key, name))
            document.choices.set(name, None)
            self._show_switches()
            self.show()

    def _choose(self, name: str, on: bool) -> None:
        document = self._state.document
        if document is not None:
            self._chosen[document.key, name] = on
            document.choices.set(name, on)
            self._show_switches()
            self.show()

    # the question before a compaction --------------------------------------------------------

    @property
    def question(self) -> CompactionQuestion | None:
        """The question that waits for an answer in the session shown, if any."""
        now = self.now()
        return now.confirmation.question if now is not None else None

    def compact(self, instructions: str = "") -> bool:
        """Accept the question, with the cut and the instructions of the tab; returns whether
        something was asked."""
        now, question, panel = self.now(), self.question, self._panel
        if now is None or question is None:
            return False
        words = instructions or panel.instructions()
        now.confirmation.answer(CompactHere(panel.cut, words, self._edited(question.draft)))
        return True

    def not_now(self) -> None:
        """Decline, and put off the next question for the time chosen beside the button."""
        self.answer(self._panel.automatic.answer())

    def answer(self, answer: NotNow) -> None:
        """Answer the question in the session shown."""
        now = self.now()
        if now is not None:
            now.confirmation.answer(answer)

    def settle_draft(self, draft: Draft, text: str | None) -> bool:
        """Whether a draft that is committed, or with no text discarded, answers what is asked."""
        now, question = self.now(), self.question
        if now is None or question is None or question.draft is not draft:
            return False
        self._panel.put_aside(draft)
        now.confirmation.answer(NotNow() if text is None else CompactHere(text=text))
        return True

    def _edited(self, draft: Draft | None) -> str | None:
        """What a person made of a draft that waits for a word; None where it is as it was."""
        if draft is None:
            return None
        return next((text for one, text in self._panel.texts() if one is draft), None)

    # what is shown -----------------------------------------------------------------------------

    def _document_changed(self) -> None:
        self._let_go()
        self._show_switches()
        self.show()

    def _let_go(self) -> None:
        """A session that was closed is watched no longer, and nothing is made ahead for it."""
        for key, automatic in list(self._by_session.items()):
            if automatic.document is not self._state.document:
                automatic.close()
                del self._by_session[key]
                self._state.tasks.start("Ending a summary", automatic.prompts.stop())

    def _show_switches(self) -> None:
        document = self._state.document
        on = document is not None and self.is_on(document)
        asks = document is not None and self.asks_first(document)
        self._bar.show_switches(document is not None, on, asks)
        self._show_gauge()

    def _show_gauge(self) -> None:
        document = self._state.document
        on = document is not None and self.is_on(document) and not self.of(document).resting
        self._state.window.header.show_automatic(on)

    def show(self) -> None:
        """What is under way, waits or rests."""
        self.line.show()
        self._show_gauge()

    def waiting(self, retry: Retry) -> None:
        """Show that a call is retried after a while."""
        self.line.waiting(retry)

    def goes_on(self) -> None:
        """End the waiting notice: something arrived, or the turn is over."""
        self.line.goes_on()

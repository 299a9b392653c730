"""A compaction that happens by itself, in plain sight: on the map, on its tab, word by word."""

from __future__ import annotations

from msgspec import Struct, field
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from explorer.compaction.background import RunState
from explorer.services.auto_compaction.guards import CompactionQuestion
from explorer.services.changes import (
    AutomaticChanged,
    BackgroundChanged,
    CompactionEnded,
    CompactionStarted,
    SummaryArrived,
)
from ui.app_state import AppState
from ui.compaction import notices
from ui.compaction.automatic import TRIGGERS, AutomaticController
from ui.compaction.controller import CompactionController
from ui.compaction.words import compacted_words
from ui.main_window import TABS
from ui.widgets.figures import short

TITLE = "Compaction"
_TAB, _PROMPT = TABS.index("compaction"), TABS.index("prompt")


class _Live(Struct):
    """A running summary that was not started on the tab."""

    model: str
    purposes: tuple[str, ...]
    why: str
    ahead: bool = False
    watched: bool = False
    """It is shown; otherwise it can be asked for."""
    texts: dict[str, str] = field(default_factory=dict)


class AutomaticProgressController(QObject):
    """Shows what begins, asks where that is wished, and tells the end. The keyboard stays where
    the person has it, and so does the selection."""

    stop_agent_asked = Signal()
    undo_and_go_on_asked = Signal(int)

    def __init__(
        self, state: AppState, automatic: AutomaticController, compaction: CompactionController
    ) -> None:
        super().__init__(state)
        self._state = state
        self._automatic = automatic
        self._compaction = compaction
        self._live: _Live | None = None
        self._asked: CompactionQuestion | None = None
        self._panel = panel = state.window.compaction
        self._bar, line = panel.automatic, automatic.line
        bar = self._bar
        bar.compact_asked.connect(automatic.compact)
        bar.review_asked.connect(self.review)
        bar.left.connect(automatic.answer)
        bar.watch_asked.connect(self._watch)
        panel.cancel_requested.connect(self._cancel)
        line.review_asked.connect(self.review)
        state.window.inspector.currentChanged.connect(self._tab_shown)
        state.document_changed.connect(self._forget)
        bus = state.bus
        bus.on_shown(SummaryArrived, self._text)
        bus.on_shown(CompactionStarted, self._started)
        bus.on_shown(CompactionEnded, self._ended)
        bus.on_shown(AutomaticChanged, lambda _change: self._look_for_question())
        bus.on_shown(BackgroundChanged, self._look_ahead)

    @property
    def asks(self) -> bool:
        """A question waits for the person's word."""
        return self._asked is not None

    def _forget(self) -> None:
        self._live = self._asked = None
        self._bar.clear()
        self._mark("")

    # a summary on its way ------------------------------------------------------------------------

    def _started(self, started: CompactionStarted) -> None:
        figures = f"{short(started.tokens)} of {short(started.window)} tokens are taken"
        ordered = started.trigger in ("manual", "requested")
        first = "Without a review, as you asked" if ordered else "By itself"
        why = f"{first} ({TRIGGERS[started.trigger]}): {figures}. The cut is on the map."
        self._live = _Live(started.model, started.purposes, why)
        self._show_cut()
        self._show_live("writing")

    def _show_live(self, mark: str) -> None:
        """Show it where that takes nothing away from the person; else offer to."""
        if self._is_reviewing():
            self._bar.tell("A summary is being written by itself; your drafts stay here.")
        else:
            self._watch()
        self._come_forward(mark)

    def _watch(self) -> None:
        live, panel = self._live, self._panel
        if live is None or self._compaction.running:
            return
        live.watched = True
        self._bar.clear()
        panel.watch(live.model, live.purposes, live.why)
        for purpose, text in live.texts.items():
            panel.draft_text(text, purpose)

    def _text(self, piece: SummaryArrived) -> None:
        live, panel = self._live, self._panel
        if live is None:
            return
        if piece.restart:
            live.texts[piece.purpose] = ""
        live.texts[piece.purpose] = live.texts.get(piece.purpose, "") + piece.text
        if not live.watched:
            return
        if piece.restart:
            panel.draft_restarted(piece.purpose)
        else:
            panel.draft_text(piece.text, piece.purpose)

    def _cancel(self) -> None:
        """Give up what is watched, which is not what the panel ordered."""
        live, now = self._live, self._automatic.now()
        if live is None or not live.watched or now is None:
            return
        if live.ahead:
            self._state.tasks.start("Ending a summary", now.prompts.stop())
        elif now.running is not None:
            now.cancel()
        else:
            # The prompt of a turn does not fit without it: the turn goes with it.
            self.stop_agent_asked.emit()

    def _ended(self, ended: CompactionEnded) -> None:
        live, self._live = self._live, None
        if live is None:
            return
        notice, document = None, self._state.document
        assert document is not None
        if ended.entry >= 0:
            notice = notices.happened(
                TRIGGERS[ended.trigger], ended.entry, compacted_words(document, ended.entry),
                lambda: self.undo_and_go_on_asked.emit(ended.entry),
            )  # fmt: skip
        elif ended.cancelled:
            notice = notices.CANCELLED
        if live.watched:
            self._panel.watched(notice)
        else:
            self._bar.clear()
            if notice is not None:
                self._panel.show_notice(notice)
        self._mark("done" if ended.entry >= 0 else "")

    def _look_ahead(self, change: BackgroundChanged) -> None:
        """A summary that is made while the agent works on takes no room by itself."""
        live = self._live
        if change.state == RunState.IN_PROGRESS.value:
            if live is None:
                now = self._state.models_for(self._state.agent_model())[0]
                why = "Made ahead, while the agent works on. It is applied before a next request."
                self._live = _Live(now, ("history",), why, ahead=True)
                self._bar.tell("A summary is being made ahead, while the agent works on.")
                self._mark("writing")
        elif live is not None and live.ahead:
            self._live = None
            self._bar.clear()
            if live.watched:
                self._panel.watched(None)
            self._mark("ready" if change.state == RunState.COMPLETED.value else "")

    # a question ----------------------------------------------------------------------------------

    def _look_for_question(self) -> None:
        now = self._automatic.now()
        question = now.confirmation.question if now is not None else None
        if question is self._asked:
            return
        self._asked = question
        if question is None:
            self._bar.clear()
            self._mark("")
        else:
            self._panel.set_at(None)
            self._panel.refresh()
            self._bar.ask(question)
            self._show_cut()
            self._come_forward("asks")
        self._state.state_changed.emit()

    def review(self) -> None:
        """Put everything that can be changed before the person: the turn waits for the commit."""
        window, asked = self._state.window, self._asked
        window.inspector.setCurrentIndex(_TAB)
        if asked is None:
            return
        if asked.draft is None:
            self._panel.set_up()
        elif all(one is not asked.draft for one, _, _ in self._panel.drafts()):
            self._panel.draft_finished(asked.draft)

    # where it is shown ---------------------------------------------------------------------------

    def _is_reviewing(self) -> bool:
        """Drafts are being read or written on the tab."""
        return self._compaction.running or self._panel.has_drafts

    def _is_busy(self) -> bool:
        """The person is at work in the inspector, looks at the prompt, or a dialog is open."""
        focus, inspector = QApplication.focusWidget(), self._state.window.inspector
        if inspector.currentIndex() == _PROMPT:
            return True
        if QApplication.activeModalWidget() or QApplication.activePopupWidget():
            return True
        return focus is not None and inspector.isAncestorOf(focus)

    def _come_forward(self, mark: str) -> None:
        """Bring the tab to the front, or mark it where the person is at work beside it."""
        inspector = self._state.window.inspector
        if inspector.currentIndex() != _TAB and not self._is_busy():
            inspector.setCurrentIndex(_TAB)
        self._mark(mark)

    def _mark(self, mark: str) -> None:
        """Say on the tab what is there to see; in front, only what waits for an answer."""
        inspector = self._state.window.inspector
        if inspector.currentIndex() == _TAB and mark != "asks":
            mark = ""
        inspector.setTabText(_TAB, f"{TITLE} ({mark})" if mark else TITLE)

    def _tab_shown(self, tab: int) -> None:
        if tab == _TAB and self._asked is None:
            self._mark("")

    def _show_cut(self) -> None:
        """Bring the cut on screen, where it is of the path to the leaf; select nothing."""
        panel = self._state.window.compaction
        if not self._is_reviewing():
            panel.set_at(None)
        panel.refresh()
        self._state.window.map.show_cut()

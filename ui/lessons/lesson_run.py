"""One lesson on the session that is shown: its steps, the predictions, and the engine's answers."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.services.document import Document
from explorer.services.lessons.answer import (
    Answer,
    NoAnswer,
    Place,
    Prediction,
    Situation,
    answer_words,
    judge,
    options_of,
    situation_at,
)
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.context_answers import running_sums, walk_lines
from explorer.services.lessons.lesson import Lesson, Step
from explorer.services.lessons.places import find_place, rules_sentence
from ui.app_state import AppState
from ui.lessons.overlay import Overlay
from ui.lessons.pane import LessonsPane
from ui.lessons.parts import PARTS
from ui.main_window import MainWindow
from ui.map.pane import Shown
from ui.map.rows import RowFilter
from ui.theme import scaled

ROOMY, LEAST, TIGHT = 1160, 860, 680
"""Widths at a text scale of 100 %: below the first the inspector is there only where it is lit,
below the second the map is not there then, and below the third not even where it is lit too."""

NO_PLACE = "This session has no place for this step."


def has_room_for_all(window: MainWindow) -> bool:
    """Whether panel, map and inspector can be read side by side."""
    return window.width() >= scaled(ROOMY)


class LessonRun(QObject):
    """At most one lesson at a time. It previews, selects and lights, and stores nothing."""

    step_done = Signal(str, int)
    """The id of a lesson, and how many of its steps are done."""
    ended = Signal()
    """The last step is done, or the lesson is to be left."""

    def __init__(self, state: AppState, pane: LessonsPane) -> None:
        super().__init__(state)
        self._state = state
        self._pane = pane
        self._view = pane.step
        window = state.window
        self._overlay = Overlay(window.centralWidget() or window, pane)
        self._overlay.strayed.connect(pane.focus_panel)
        self._lesson: Lesson | None = None
        self._document: Document | None = None
        self._at = 0
        self._given: Place | None = None
        self._note = ""
        self._situations: dict[str, Situation | None] = {}
        self._now: Situation | None = None
        self._answer: Answer | None = None
        self._refusal = ""
        self._prediction = Prediction()
        self._judged: dict[int, bool] = {}
        """Whether the first prediction of a step was right, by the step's number."""
        self._is_asking = False
        self._moves = False
        self._view.answer_asked.connect(self.answer)
        self._view.next_asked.connect(lambda: self._go(1))
        self._view.back_asked.connect(lambda: self._go(-1))
        window.map.selection_changed.connect(lambda _entry: self._point())
        window.compaction.partition_changed.connect(lambda _shown: self._cut_moved())
        for widget in (window.map.view, window.map.view.viewport(), window.map.outline):
            widget.installEventFilter(self)

    @property
    def step(self) -> Step | None:
        """The step that is shown."""
        return self._lesson.steps[self._at] if self._lesson is not None else None

    @property
    def is_asking(self) -> bool:
        """Whether a prediction is asked for, and not answered yet."""
        return self._is_asking

    @property
    def found(self) -> Answer | None:
        """The engine's answer to the step that is shown."""
        return self._answer

    # beginning and ending ------------------------------------------------------------------------

    async def occurs(self, lesson: Lesson) -> bool:
        """Whether the open session has a place for a lesson."""
        document = self._state.document
        if document is None:
            return False
        rules = self._rules(lesson)
        return await asyncio.to_thread(find_place, document, lesson.place, *rules) is not None

    async def begin(
        self, lesson: Lesson, at: int, given: Place | None = None, note: str = ""
    ) -> None:
        """Run a lesson on the open session. ``given``: the place of all of its steps; ``note``:
        said before where it is."""
        self._lesson, self._document, self._given = lesson, self._state.document, given
        self._note = note
        self._at, self._situations, self._judged = at, {}, {}
        await self._show(at)

    def end(self) -> None:
        """Quiet nothing any more, and follow the rules that were chosen before."""
        if self._lesson is None:
            return
        self._lesson, self._document, self._now, self._answer = None, None, None, None
        self._is_asking = False
        self._situations = {}
        self._overlay.put_out()
        window = self._state.window
        window.agent.show()
        window.map.show()
        self._state.end_trial()
        window.map.set_partition(window.compaction.partition)
        window.map.set_sums({})
        window.map.tell_context(True)

    def _rules(self, lesson: Lesson) -> tuple[Profile, Settings]:
        profile, settings = self._state.profile, self._state.settings
        if lesson.profile:
            profile = self._state.profiles[lesson.profile]
            settings = Settings.of(profile)
        if lesson.keep_recent:
            settings = replace(settings, keep_recent_tokens=lesson.keep_recent)
        return profile, settings

    # a step --------------------------------------------------------------------------------------

    def _go(self, by: int) -> None:
        lesson = self._lesson
        if lesson is None:
            return
        if by > 0:
            self.step_done.emit(lesson.id, self._at + 1)
        if self._at + by >= len(lesson.steps):
            self.ended.emit()
            return
        self._state.tasks.start("Showing the step", self._show(max(0, self._at + by)))

    async def _situation(self, lesson: Lesson, step: Step) -> Situation | None:
        """The place of a step in the session, found once for each name."""
        document = self._document
        assert document is not None
        name = "" if self._given is not None else step.place or lesson.place
        if name not in self._situations:
            place = self._given
            if place is None:
                rules = self._rules(lesson)
                place = await asyncio.to_thread(find_place, document, name, *rules)
            self._situations[name] = situation_at(document, place) if place is not None else None
        return self._situations[name]

    async def _show(self, at: int) -> None:
        lesson, document = self._lesson, self._document
        if lesson is None or document is None:
            return
        step = lesson.steps[at]
        now = await self._situation(lesson, step)
        answer, refusal = None, NO_PLACE
        if now is not None and step.answer:
            try:
                answer = await asyncio.to_thread(ANSWERS[step.answer].find, now)
            except NoAnswer as error:
                refusal = str(error)
        if self._lesson is not lesson or self._state.document is not document:
            return
        goes_on = at == self._at + 1 and now is self._now
        self._at, self._now, self._answer, self._refusal = at, now, answer, refusal
        self._prediction, self._is_asking = Prediction(), step.kind is not None
        where = refusal
        if now is not None:
            where = f"{now.place.sentence} {rules_sentence(document, now.place.profile)}".strip()
        self._view.show_step(
            lesson,
            at,
            f"{self._note} {where}".strip(),
            options_of(step, answer) if answer is not None else tuple(step.options.items()),
            now.filled if now is not None else str,
        )
        self._pane.show_lesson()
        if now is not None:
            self._move_to(now, step, stays=goes_on)
        self._light(step)
        if not self._is_asking:
            self._show_total()
        if self._is_asking and answer is None:
            self.answer()
        elif step.kind in ("entry", "cut"):
            self._state.window.map.setFocus()
        else:
            self._view.focus_first()

    def _move_to(self, now: Situation, step: Step, *, stays: bool) -> None:
        """Show the place of a step: rules, preview and selection. ``stays``: the step goes on
        from the one before it, so the map stays at the answer to that one."""
        window, place = self._state.window, now.place
        self._moves = True
        self._state.try_rules(place.profile, place.settings)
        window.compaction.set_at(place.at)
        window.compaction.set_cut(None)
        if window.map.shown is Shown.LIST:
            window.map.show_as(Shown.BOTH)
        if window.map.filter is not RowFilter.ALL:
            window.map.set_filter(RowFilter.ALL)
        is_about = place.instruction >= 0 and step.kind != "entry"
        if is_about:
            window.map.select(place.instruction)
        elif self._given is None and (not stays or step.then == "context"):
            # What is shown beside the answer goes by the selected entry.
            window.map.select(place.at)
        window.map.set_sums(running_sums(now) if step.sums else {})
        self._draw_cut(step)
        if step.cut in ("line", "shown") and not is_about:
            window.map.show_cut()
        self._moves = False

    def _draw_cut(self, step: Step) -> None:
        """The cut is on the map only where it gives nothing away."""
        window = self._state.window
        hidden = step.cut == "hidden" or (step.cut == "after" and self._is_asking)
        window.map.set_partition(
            None if hidden else window.compaction.partition, with_verdicts=step.cut != "line"
        )

    def _light(self, step: Step) -> None:
        """Light the part of a step, and cover what would give away its answer or a later one."""
        name = step.light if self._is_asking else step.then or step.light
        window, part = self._state.window, PARTS[name]
        if part.tab or step.cut == "hidden":
            window.show_tab(part.tab or "entry")
        has_room = has_room_for_all(window)
        window.room.keep_side(True, with_inspector=bool(part.tab) or has_room)
        least = scaled(TIGHT if part.with_map else LEAST)
        window.map.setVisible(not part.tab or window.width() >= least)
        window.agent.setVisible(name == "conversation")
        covered: list[QWidget] = []
        if self._asks_more():
            covered = [window.inspector]
            if name != "gauge":
                covered.append(window.header.gauge)
        window.map.tell_context(not self._asks_more())
        lit = [part.widgets(window), *([(window.map,)] if part.with_map else [])]
        self._overlay.light(lit, covered)

    def _asks_more(self) -> bool:
        """Whether this step or a later one is still to be answered. Who asked why the cut that is
        shown falls there has seen all of the window before."""
        if self._is_asking:
            return True
        if self._lesson is None or self._given is not None:
            return False
        return any(step.kind is not None for step in self._lesson.steps[self._at + 1 :])

    # a prediction --------------------------------------------------------------------------------

    def _point(self) -> None:
        """What is selected on the map is the prediction."""
        step, document = self.step, self._document
        if self._moves or not self._is_asking or step is None or step.kind != "entry":
            return
        entry = self._state.window.map.selected
        if entry >= 0 and document is not None:
            self._prediction = Prediction(entry=entry)
            words = document.payloads.shown.previews([entry])[0]
            self._view.show_pointed(f"#{entry} {words if len(words) <= 60 else words[:59] + '…'}")

    def _cut_moved(self) -> None:
        window, step = self._state.window, self.step
        if step is None or self._moves:
            return
        self._draw_cut(step)
        shown = window.compaction.partition
        if not self._is_asking or step.kind != "cut" or shown is None:
            return
        if window.compaction.cut is None or not isinstance(shown.preparation, Preparation):
            # The rules put it back where nothing would be summarized.
            self._prediction = Prediction()
            self._view.show_pointed("")
            return
        cut = shown.preparation.cut_point
        self._prediction = Prediction(cut=cut)
        self._view.show_pointed(f"the cut before #{shown.path[cut]}")

    def answer(self) -> None:
        """Show the engine's answer beside the prediction, if one was made."""
        step, answer, now = self.step, self._answer, self._now
        if step is None or not self._is_asking:
            return
        predicted = self._prediction if step.kind in ("entry", "cut") else self._view.prediction()
        self._is_asking = False
        judged, reason = None, self._refusal
        if answer is not None and now is not None:
            reason = answer.reason
            if predicted != Prediction():
                judged = judge(step, answer, predicted, now)
                self._judged.setdefault(self._at, judged.is_right)
            else:
                alone = answer_words(step, answer)
                if not reason.startswith(alone.removesuffix(".")):
                    reason = f"{alone} {reason}".strip()
        self._show_on_map(step, answer)
        self._view.show_answer(judged, reason)
        self._show_total()
        self._light(step)
        QTimer.singleShot(0, self, self._scroll_to_answer)

    def explain(self) -> None:
        """Show how the walk back came to the cut, instead of a question. What is selected stays."""
        step, now = self.step, self._now
        if step is None or now is None or not self._is_asking:
            return
        try:
            lines = walk_lines(now)
        except NoAnswer:
            self.answer()
            return
        self._is_asking = False
        self._moves = True
        self._draw_cut(step)
        self._state.window.map.bring_cut()
        self._moves = False
        self._view.show_walk(now.made.keep.tokens, lines)
        self._light(step)

    def _show_total(self) -> None:
        """At the end of a lesson with several predictions."""
        lesson, judged = self._lesson, self._judged
        if lesson is not None and self._at + 1 == len(lesson.steps) and len(judged) > 1:
            self._view.show_total(sum(judged.values()), len(judged))

    def _scroll_to_answer(self) -> None:
        for part in (self._view.next, self._view.verdict):
            self._pane.area.ensureWidgetVisible(part, 0, 24)

    def _show_on_map(self, step: Step, answer: Answer | None) -> None:
        window, now = self._state.window, self._now
        self._moves = True
        if answer is not None and answer.settings is not None and now is not None:
            self._state.try_rules(now.place.profile, answer.settings)
        if step.kind == "cut" and answer is not None and self._prediction.cut not in answer.cuts:
            window.compaction.set_cut(answer.cuts[0])
        self._draw_cut(step)
        # What was predicted stays in sight beside the answer, where both fit.
        if step.kind == "cut":
            window.map.bring_cut()
        elif answer is not None and answer.selected >= 0:
            window.map.bring(answer.selected)
            window.map.select(answer.selected, reveal=False)
        self._moves = False

    # the map's keys ------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In a lesson nothing on the map moves the leaf, pins or omits; a click on the entry that
        is selected is a prediction too."""
        if self._lesson is None:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.MouseButtonDblClick:
            return True
        if event.type() == QEvent.Type.MouseButtonRelease:
            QTimer.singleShot(0, self, self._point)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(event) or super().eventFilter(watched, event)
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._prediction == Prediction():
                self._point()
            if self._is_asking and self._prediction != Prediction():
                self.answer()
            else:
                self._pane.focus_panel()
            return True
        if not event.modifiers() and key in (Qt.Key.Key_P, Qt.Key.Key_O):
            return True
        if key == Qt.Key.Key_Escape:
            self.ended.emit()
            return True
        return False

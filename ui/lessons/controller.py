"""Runs lessons on the session that is open, or on the bundled one, and puts the window back."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.services.lessons.answer import Answer
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.judging import Prediction, judge, options_of
from explorer.services.lessons.lesson import Lesson, Step
from explorer.services.lessons.places import find_place
from explorer.services.lessons.shelf import Shelf, read_shelf
from explorer.services.lessons.situation import NoAnswer, Place, Situation, situation_at
from explorer.settings.paths import resource_path
from ui.app_state import AppState
from ui.lessons.overlay import Overlay
from ui.lessons.parts import PARTS
from ui.lessons.window_place import (
    SessionPlace,
    WindowPlace,
    put_back_session,
    put_back_window,
    take_place,
)
from ui.library.controller import SessionsController
from ui.theme import scaled

SAMPLE = ("samples", "retry-that-flakes.jsonl")
WIDTH = 300
"""Of the panel at a text scale of 100 %, in pixels."""
DONE = "lessons"
"""The name under which the preferences keep how far each lesson is."""


class LessonsController(QObject):
    """Shows the panel, and one lesson at a time."""

    def __init__(self, state: AppState, sessions: SessionsController) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._pane = state.window.lessons
        self._overlay = Overlay(state.window.centralWidget() or state.window, self._pane)
        self._shelf = Shelf((), ())
        self._more: dict[str, Lesson] = {}
        """Lessons that were opened from files."""
        self._before: WindowPlace | None = None
        self._lesson: Lesson | None = None
        self._at = 0
        self._situations: dict[str, Situation | None] = {}
        self._given: Place | None = None
        self._answer: Answer | None = None
        self._refusal = ""
        self._said = Prediction()
        self._is_open = False
        """Whether a prediction is asked for, and not answered yet."""
        self._moves = False
        """Whether it is this controller that changes the selection or the cut."""
        self._connect()

    def _connect(self) -> None:
        pane, state, window = self._pane, self._state, self._state.window
        pane.begin_asked.connect(self.begin)
        pane.list_asked.connect(self.show_list)
        pane.close_asked.connect(self.close)
        pane.step.answer_asked.connect(self.answer)
        pane.step.next_asked.connect(lambda: self._go(1))
        pane.step.back_asked.connect(lambda: self._go(-1))
        state.document_leaving.connect(self._session_leaves)
        window.map.selection_changed.connect(self._pointed)
        window.compaction.partition_changed.connect(self._cut_moved)
        for widget in (window.map.view, window.map.view.viewport(), window.map.outline):
            widget.installEventFilter(self)

    @property
    def is_running(self) -> bool:
        """Whether a lesson is shown."""
        return self._lesson is not None

    @property
    def step(self) -> Step | None:
        """The step that is shown."""
        return self._lesson.steps[self._at] if self._lesson is not None else None

    @property
    def is_asking(self) -> bool:
        """Whether a prediction is asked for, and not answered yet."""
        return self._is_open

    @property
    def found_answer(self) -> Answer | None:
        """The engine's answer to the step that is shown."""
        return self._answer

    # the panel -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Show the panel; where it is shown, put the keyboard into it."""
        side = self._state.window.side
        if side.currentWidget() is not self._pane:
            self._shelf = read_shelf()
            self._offer("")
            self._pane.show_list()
            self._before = self._before or take_place(self._state)
            side.setCurrentWidget(self._pane)
            self._state.window.room.keep_side(True)
            self._widen()
        self._pane.focus_panel()

    def _widen(self) -> None:
        upper = self._state.window.upper
        side, middle = upper.sizes()
        wanted = max(side, scaled(WIDTH))
        upper.setSizes([wanted, max(0, side + middle - wanted)])

    def _offer(self, chosen: str) -> None:
        done = self._state.preferences.lessons
        lessons = {lesson.id: lesson for lesson in self._shelf.lessons} | self._more
        counts = {name: value for name, value in done.items() if isinstance(value, int)}
        unfinished = (one.id for one in lessons.values() if counts.get(one.id, 0) < len(one.steps))
        self._pane.show_lessons(tuple(lessons.values()), counts, chosen or next(unfinished, ""))

    def close(self) -> None:
        """Close the panel: the window is as it was before it was opened."""
        self._end_lesson()
        window, before = self._state.window, self._before
        self._before = None
        if window.side.currentWidget() is self._pane:
            window.side.setCurrentWidget(window.library)
            window.room.keep_side(False)
        if before is None:
            return
        put_back_window(self._state, before)
        self._state.preferences.last_session = before.last_session
        if before.session is not None:
            put_back_session(self._state, before.session)
            window.map.setFocus()

    def stop(self) -> None:
        """The window closes."""
        if self._pane.isVisible() or self.is_running:
            self.close()

    def show_list(self) -> None:
        """End the lesson and show the list; the session is as it was."""
        lesson = self._lesson
        self._end_lesson()
        self._offer(lesson.id if lesson is not None else "")
        self._pane.show_list()
        self._pane.focus_panel()

    # a lesson ------------------------------------------------------------------------------------

    def begin(self, name: str, at: int = 0) -> None:
        """Run a lesson, on the open session where its subject occurs there."""
        self._state.tasks.start("Beginning the lesson", self._begin(name, at, None))

    def explain_cut(self) -> None:
        """Run the lesson on the cut at the step about it, on the cut that is shown."""
        shown, state = self._state.window.compaction.partition, self._state
        if shown is None or not isinstance(shown.preparation, Preparation):
            return
        made = shown.preparation
        sentence = f"In this session at #{made.leaf}, on the cut before #{made.first_kept}."
        place = Place(made.leaf, state.profile, state.settings, sentence)
        self.open()
        lesson = next((one for one in self._shelf.lessons if one.id == "cut"), None)
        if lesson is not None:
            names = [step.answer for step in lesson.steps]
            at = names.index("cut_entry") if "cut_entry" in names else 0
            state.tasks.start("Beginning the lesson", self._begin("cut", at, place, answers=True))

    async def _begin(self, name: str, at: int, given: Place | None, answers: bool = False) -> None:
        lessons = {lesson.id: lesson for lesson in self._shelf.lessons} | self._more
        lesson, state = lessons.get(name), self._state
        if lesson is None:
            return
        self._end_lesson()
        if self._before is None:
            self._before = take_place(state)
        if given is None and not await self._occurs(lesson):
            await self._sessions.import_now([resource_path(*SAMPLE)])
            if state.document is None:
                return
        self._lesson, self._given, self._situations = lesson, given, {}
        await self._show(at)
        if answers:
            self.answer()

    async def _occurs(self, lesson: Lesson) -> bool:
        """Whether the open session has a place for a lesson."""
        document = self._state.document
        if document is None:
            return False
        profile, settings = self._rules(lesson)
        return (
            await asyncio.to_thread(find_place, document, lesson.place, profile, settings)
            is not None
        )

    def _rules(self, lesson: Lesson) -> tuple[Profile, Settings]:
        profile, settings = self._state.profile, self._state.settings
        if lesson.profile:
            profile = self._state.profiles[lesson.profile]
            settings = Settings.of(profile)
        return profile, settings

    def _end_lesson(self) -> None:
        """Take back what a lesson did with the open session."""
        if self._lesson is None:
            return
        self._lesson, self._answer, self._is_open = None, None, False
        self._situations = {}
        self._overlay.put_out()
        self._moves = True
        self._state.end_trial()
        before = self._before
        if before is not None:
            put_back_window_tab(self._state, before)
            if before.session is not None:
                put_back_session(self._state, before.session)
        self._state.window.map.set_partition(self._state.window.compaction.partition)
        self._moves = False
        document = self._state.document
        home = before.session if before is not None else None
        if home is not None and document is not None and document.key != home.key:
            self._state.tasks.start("Going back", self._go_back(home))

    async def _go_back(self, home: SessionPlace) -> None:
        """Open the session again from which the bundled one was shown."""
        await self._sessions.open_now(home.key)
        put_back_session(self._state, home)

    def _session_leaves(self) -> None:
        """The lesson is of the session that goes."""
        if self._lesson is not None:
            self._before = None if self._before is None else self._before
            self._end_now()

    def _end_now(self) -> None:
        self._lesson, self._answer, self._is_open = None, None, False
        self._situations = {}
        self._overlay.put_out()
        self._state.end_trial()
        self._pane.show_list()

    # a step --------------------------------------------------------------------------------------

    def _go(self, by: int) -> None:
        lesson = self._lesson
        if lesson is None:
            return
        if by > 0:
            done = self._state.preferences.lessons
            done[lesson.id] = max(int(done.get(lesson.id, 0)), self._at + 1)
        if self._at + by >= len(lesson.steps):
            self.show_list()
            return
        self._state.tasks.start("Showing the step", self._show(max(0, self._at + by)))

    async def _situation(self, lesson: Lesson, step: Step) -> Situation | None:
        """The place of a step in the open session, found once for each name."""
        document = self._state.document
        assert document is not None
        name = step.place or lesson.place
        if self._given is not None:
            name = ""
        if name not in self._situations:
            place = self._given or await asyncio.to_thread(
                find_place, document, name, *self._rules(lesson)
            )
            found = situation_at(document, place) if place is not None else None
            self._situations[name] = found
        return self._situations[name]

    async def _show(self, at: int) -> None:
        lesson, document = self._lesson, self._state.document
        if lesson is None or document is None:
            return
        step = lesson.steps[at]
        now = await self._situation(lesson, step)
        answer, refusal = None, "There is no place for this step in this session."
        if now is not None and step.answer:
            try:
                answer = await asyncio.to_thread(ANSWERS[step.answer].find, now)
            except NoAnswer as error:
                refusal = str(error)
        if self._lesson is not lesson or self._state.document is not document:
            return
        self._at, self._answer, self._refusal = at, answer, refusal
        self._said, self._is_open = Prediction(), step.kind is not None
        if now is not None:
            self._move_to(now, step)
        where = now.place.sentence if now is not None else refusal
        options = options_of(step, answer) if answer is not None else tuple(step.options.items())
        self._pane.step.show_step(lesson, at, where, options)
        self._pane.show_lesson()
        self._light(step)
        if self._is_open and (answer is None or now is None):
            self.answer()
        elif step.kind in ("entry", "cut"):
            self._state.window.map.setFocus()
        else:
            self._pane.step.focus_first()

    def _move_to(self, now: Situation, step: Step) -> None:
        """Show the place of a step: rules, preview and selection."""
        window, place = self._state.window, now.place
        self._moves = True
        self._state.try_rules(place.profile, place.settings)
        at_leaf = place.at == now.document.leaf
        window.compaction.set_at(None if at_leaf else place.at)
        window.compaction.set_cut(None)
        if window.map.shown is window.map.shown.LIST:
            window.map.show_as(window.map.shown.BOTH)
        window.map.set_filter(window.map.filter.ALL)
        wanted = place.instruction if place.instruction >= 0 and step.kind != "entry" else place.at
        window.map.select(wanted)
        if self._is_open and not step.shows_cut:
            window.map.set_partition(None)
        else:
            window.map.set_partition(window.compaction.partition)
            if step.shows_cut and place.instruction < 0:
                window.map.show_cut()
        self._moves = False

    def _light(self, step: Step) -> None:
        """Light the part of a step, and cover what would give its answer away."""
        window, part = self._state.window, PARTS[step.light]
        if part.tab:
            window.show_tab(part.tab)
        covered: list[QWidget] = []
        if self._is_open:
            covered = [window.inspector]
            if step.light != "gauge":
                covered.append(window.header.gauge)
        self._overlay.light(part.widgets(window), covered)

    # a prediction --------------------------------------------------------------------------------

    def _pointed(self, entry: int) -> None:
        step, document = self.step, self._state.document
        if self._moves or not self._is_open or step is None or step.kind != "entry":
            return
        if entry >= 0 and document is not None:
            self._said = Prediction(entry=entry)
            words = document.previews([entry])[0]
            short = words if len(words) <= 60 else f"{words[:59]}…"
            self._pane.step.show_pointed(f"#{entry} {short}")

    def _cut_moved(self, _shown: object) -> None:
        window, step = self._state.window, self.step
        if step is None or not self._is_open or self._moves:
            return
        if not step.shows_cut:
            window.map.set_partition(None)
            return
        shown = window.compaction.partition
        if step.kind != "cut" or shown is None or window.compaction.cut is None:
            return
        if isinstance(shown.preparation, Preparation):
            cut = shown.preparation.cut_point
            self._said = Prediction(cut=cut)
            self._pane.step.show_pointed(f"the cut before #{shown.path[cut]}")

    def answer(self) -> None:
        """Show the engine's answer beside the prediction, if one was made."""
        lesson, step = self._lesson, self.step
        if lesson is None or step is None or not self._is_open:
            return
        now = self._situations.get("" if self._given is not None else step.place or lesson.place)
        said = self._said if step.kind in ("entry", "cut") else self._pane.step.prediction()
        self._is_open = False
        judged = None
        answer = self._answer
        if answer is not None and now is not None and said != Prediction():
            judged = judge(step, answer, said, now)
        self._show_on_map(step, answer)
        reason = answer.reason if answer is not None else self._refusal
        if judged is None and answer is not None:
            reason = f"{_told(step, answer)} {reason}".strip()
        self._pane.step.show_answer(step, judged, reason)
        self._light(step)
        QTimer.singleShot(0, self, self._to_answer)

    def _to_answer(self) -> None:
        self._pane.area.ensureWidgetVisible(self._pane.step.next, 0, 24)
        self._pane.area.ensureWidgetVisible(self._pane.step.verdict, 0, 24)

    def _show_on_map(self, step: Step, answer: Answer | None) -> None:
        window = self._state.window
        self._moves = True
        if step.kind == "cut" and answer is not None and self._said.cut not in answer.cuts:
            window.compaction.set_cut(answer.cuts[0])
        window.map.set_partition(window.compaction.partition)
        if answer is not None and answer.selected >= 0:
            window.map.select(answer.selected)
        elif step.kind == "cut":
            window.map.show_cut()
        self._moves = False

    # the map's keys ------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In a lesson nothing on the map moves the leaf, pins or omits."""
        if self._lesson is None:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.MouseButtonDblClick:
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key, plain = event.key(), not event.modifiers()
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._is_open and self._said != Prediction():
                    self.answer()
                else:
                    self._pane.focus_panel()
                return True
            if plain and key in (Qt.Key.Key_P, Qt.Key.Key_O):
                return True
            if plain and key == Qt.Key.Key_Escape:
                self.show_list()
                return True
        return super().eventFilter(watched, event)


def put_back_window_tab(state: AppState, before: WindowPlace) -> None:
    """Show the tab of the inspector that was shown."""
    state.window.show_tab(before.tab)


def _told(step: Step, answer: Answer) -> str:
    """The answer in words, where there is no prediction to compare it with."""
    if step.kind == "number":
        return f"{answer.number_text}."
    if step.kind == "choose":
        words = [text for name, text in options_of(step, answer) if name in answer.chosen]
        return f"{' and '.join(f'“{one}”' for one in words) or 'None of them'}."
    if answer.entries:
        return f"#{answer.entries[0]}."
    return ""

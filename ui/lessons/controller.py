"""The panel Learn: which lesson runs on which session, and the window put back after it."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject

from explorer.compaction.preparation import Preparation
from explorer.services.lessons.answer import Place
from explorer.services.lessons.lesson import Lesson
from explorer.services.lessons.lesson_file import Shelf, read_shelf
from ui.app_state import AppState
from ui.lessons.lesson_run import LessonRun
from ui.lessons.window_place import (
    SessionPlace,
    WindowPlace,
    put_back_session,
    put_back_window,
    take_place,
)
from ui.library.controller import SessionsController
from ui.main_window import LESSONS, LIBRARY
from ui.theme import scaled

WIDTH = 300
"""Of the panel at a text scale of 100 %, in pixels."""
LOW, NARROW = 800, 1000
"""Height at a text scale of 100 % below which the list of lessons has the room of the conversation,
and width from which it stands beside map and inspector."""
ABOUT_THE_CUT = ("cut", "cut_entry")
"""The lesson that tells why the cut falls where it does, and the answer of its step."""


class LessonsController(QObject):
    """Opens and closes the panel, begins lessons, and keeps how far each of them is."""

    def __init__(self, state: AppState, sessions: SessionsController, sample: Path) -> None:
        """``sample``: the session for subjects that do not occur in the one that is open."""
        super().__init__(state)
        self._sample = sample
        self._state = state
        self._sessions = sessions
        self._pane = pane = state.window.lessons
        self.run = LessonRun(state, pane)
        self._shelf = Shelf((), ())
        self._opened: dict[str, Lesson] = {}
        """Lessons that came from files of the user's."""
        self._before: WindowPlace | None = None
        self._opens = False
        """Whether another session is shown for a lesson, or the one before it again."""
        self._was_asked = False
        """Whether the panel came for one question alone, and goes with its lesson."""
        self._last = ""
        """The id of the lesson that ran last."""
        pane.begin_asked.connect(self.begin)
        pane.list_asked.connect(self.show_list)
        pane.leave_asked.connect(self._lesson_ended)
        pane.close_asked.connect(self.close)
        self.run.step_done.connect(self._step_done)
        self.run.ended.connect(self._lesson_ended)
        state.window.compaction.lesson_requested.connect(self.explain_cut)
        state.document_leaving.connect(self._session_leaves)

    @property
    def is_open(self) -> bool:
        """Whether the panel is shown."""
        return self._state.window.side.current() == LESSONS

    def lesson(self, name: str) -> Lesson | None:
        """The lesson of an id."""
        return self._lessons().get(name)

    def _lessons(self) -> dict[str, Lesson]:
        return {lesson.id: lesson for lesson in self._shelf.lessons} | self._opened

    # the panel -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Show the panel, with the example where no session is open; where it is shown, put the
        keyboard into it."""
        window = self._state.window
        if self._state.document is None:
            self._state.tasks.start("Opening the example", self._open_on_example())
            return
        if not self.is_open:
            self._shelf = read_shelf()
            self._tell_mistakes()
            self._before = take_place(self._state)
            self._offer()
            self._pane.show_list()
            window.side.show_page(LESSONS)
            self._make_room()
            side, middle = window.upper.sizes()
            share = 27 if window.inspector.isVisible() else 36
            wanted = max(side, min(scaled(WIDTH), window.width() * share // 100))
            window.upper.setSizes([wanted, max(0, side + middle - wanted)])
        self._pane.focus_panel()

    async def _open_on_example(self) -> None:
        await self._sessions.import_now([self._sample])
        if self._state.document is not None:
            self.open()

    def _make_room(self) -> None:
        """In a low window the list of lessons has the room of the conversation."""
        window = self._state.window
        window.room.keep_side(True, with_inspector=window.width() >= scaled(NARROW))
        window.agent.setVisible(window.height() >= scaled(LOW))

    def _tell_mistakes(self) -> None:
        if self._shelf.mistakes:
            file, first = self._shelf.mistakes[0]
            details = [f"{path}:{one.line}: {one.reason}" for path, one in self._shelf.mistakes]
            self._state.notice(
                "warning",
                f"{file.name}, line {first.line}: {first.reason}",
                "The other lessons can be used.",
                details="\n".join(details),
            )

    def _offer(self) -> None:
        lessons, done = self._lessons(), self._state.preferences.lessons
        counts = {name: value for name, value in done.items() if type(value) is int}
        left = [one.id for one in lessons.values() if counts.get(one.id, 0) < len(one.steps)]
        names = list(lessons)
        last = names.index(self._last) if self._last in lessons else -1
        # Whoever left a lesson in the middle goes on with it, else with the next one.
        following = names[last + 1 :] + names[: last + 1]
        chosen = next((name for name in following if name in left), "".join(following[:1]))
        if self._last in left:
            chosen = self._last
        self._pane.show_lessons(tuple(lessons.values()), counts, chosen)

    def _step_done(self, name: str, steps: int) -> None:
        done = self._state.preferences.lessons
        done[name] = max(int(done.get(name, 0)), steps)

    def _lesson_ended(self) -> None:
        if self._was_asked:
            self.close()
        else:
            self.show_list()

    def show_list(self) -> None:
        """End the lesson and show the list; the session is as it was."""
        self._was_asked = False
        self._end(goes_back=True)
        self._offer()
        self._pane.show_list()
        self._pane.focus_panel()

    def toggle(self) -> None:
        """Open the panel, or close it."""
        if self.is_open:
            self.close()
        else:
            self.open()

    def close(self) -> None:
        """Close the panel: the window is as it was before it was opened."""
        self._close(goes_back=True)
        if self._state.document is not None:
            self._state.window.map.setFocus()

    def stop(self) -> None:
        """The window closes: what is remembered of it is what was there before the lesson."""
        if self.is_open:
            self._close(goes_back=False)

    def _close(self, *, goes_back: bool) -> None:
        self._end(goes_back=goes_back)
        window, before = self._state.window, self._before
        self._before, self._was_asked = None, False
        window.side.show_page(LIBRARY)
        window.room.keep_side(False)
        window.agent.show()
        if before is not None:
            put_back_window(self._state, before)

    # a lesson ------------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        """Run a lesson, on the open session where its subject occurs there."""
        lesson = self.lesson(name)
        if lesson is not None:
            self._state.tasks.start("Beginning the lesson", self.begin_now(lesson))

    def explain_cut(self) -> None:
        """Run the lesson on the cut at the step about it, on the cut that is shown, with the walk
        to it: whoever asks has seen where it falls, and read its reason."""
        state = self._state
        shown = state.window.compaction.partition
        if shown is None or not isinstance(shown.preparation, Preparation):
            return
        made = shown.preparation
        sentence = f"In this session at #{made.leaf}, on the cut before #{made.first_kept}."
        place = Place(made.leaf, state.profile, state.settings, sentence)
        self._was_asked = not self.is_open
        self.open()
        lesson = self.lesson(ABOUT_THE_CUT[0])
        if lesson is not None:
            names = [step.answer for step in lesson.steps]
            at = names.index(ABOUT_THE_CUT[1]) if ABOUT_THE_CUT[1] in names else 0
            state.tasks.start("Beginning the lesson", self._explain(lesson, at, place))

    async def _explain(self, lesson: Lesson, at: int, place: Place) -> None:
        await self.begin_now(lesson, at, place)
        self.run.explain()

    async def begin_now(self, lesson: Lesson, at: int = 0, given: Place | None = None) -> None:
        """Run a lesson from a step on. ``given``: where, instead of where its subject occurs."""
        state = self._state
        self._end(goes_back=False)
        note = ""
        if given is None and not await self.run.occurs(lesson):
            if state.document is not None:
                note = "Your session has no such place; this is the bundled one."
            self._opens = True
            await self._sessions.import_now([self._sample])
            self._opens = False
            if state.document is None:
                return
        self._last = lesson.id
        await self.run.begin(lesson, at, given, note)

    def opened_file(self, lesson: Lesson) -> None:
        """Offer a lesson that came with a file."""
        self._opened[lesson.id] = lesson

    def _end(self, *, goes_back: bool) -> None:
        """Take back what a lesson did with the session that it ran on."""
        state, before = self._state, self._before
        if self.run.step is None:
            return
        self.run.end()
        self._make_room()
        if before is None:
            return
        state.window.show_tab(before.tab)
        home = before.session
        if home is None or state.document is None:
            return
        if state.document.key == home.key:
            put_back_session(state, home)
            return
        state.preferences.last_session = home.key
        if goes_back:
            state.tasks.start("Going back", self._go_back(home))

    async def _go_back(self, home: SessionPlace) -> None:
        """Open the session again from which the bundled one was shown."""
        self._opens = True
        await self._sessions.open_now(home.key)
        self._opens = False
        put_back_session(self._state, home)

    def _session_leaves(self) -> None:
        """End the lesson where another session is opened."""
        if self._opens:
            return
        self._end(goes_back=False)
        if self._before is not None:
            self._before = replace(self._before, session=None)
        self._pane.show_list()

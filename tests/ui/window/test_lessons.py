"""Lessons in the real window: every step predicted rightly and wrongly, and the window put back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QWidget

from explorer.compaction.profile import Settings
from explorer.services.lessons.answer import Answer
from explorer.services.lessons.lesson import Step
from explorer.services.lessons.lesson_file import read_shelf
from tests.generated import write_session
from tests.services.test_unreadable_compaction import rollout
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path
from tests.ui.window.steps import prepared
from tests.ui.window.test_looks import clashes
from ui.lessons.lesson_run import LessonRun
from ui.lessons.overlay import Overlay


class Pupil:
    """Works through lessons by keys and clicks."""

    def __init__(self, live: RunningWindow) -> None:
        self.live = live
        self.lessons: LessonRun = live.session.lessons.run
        self.pane = live.window.lessons

    async def open(self) -> None:
        self.live.keys("F4")
        await self.live.until(lambda: self.pane.isVisible(), "the panel")
        await self.live.settle()

    async def begin(self, name: str) -> None:
        """Choose a lesson in the list and begin it."""
        await self.live.until(lambda: not self.pane.runs_lesson, "the list of lessons")
        self.pane.list.select(name)
        self.live.click(self.pane.begin)
        await self.live.until(lambda: self.lessons.step is not None, f"the lesson {name}")
        await self.live.until(lambda: self.pane.runs_lesson, f"the first step of {name}")
        await self.live.idle()

    @property
    def step(self) -> Step:
        step = self.lessons.step
        assert step is not None, "no step is shown"
        return step

    @property
    def answer(self) -> Answer:
        answer = self.lessons.found
        assert answer is not None, f"{self.step.answer} has no answer here"
        return answer

    async def predict(self, rightly: bool) -> None:
        """Predict what the engine answers, or something else."""
        step, answer, live = self.step, self.answer, self.live
        if step.kind == "entry":
            entry = answer.entries[0] if rightly else self._wrong_entry(answer)
            live.window.map.model.uncover(entry)
            live.click_entry(entry)
        elif step.kind == "number":
            number = answer.number if rightly else 3 * answer.number + 7
            self.pane.step.number.setFocus()
            live.type(f"{number:,}", to=self.pane.step.number)
        elif step.kind == "choose":
            self._choose(answer, rightly)
        else:
            await self._move_cut(answer, rightly)
        await live.settle()
        assert self.pane.step.show_answer_button.isEnabled(), step.title

    def _wrong_entry(self, answer: Answer) -> int:
        rows = self.live.window.map.view.visible_rows()
        selected = self.live.window.map.selected
        return next(entry for entry in rows if entry not in (*answer.entries, selected))

    def _choose(self, answer: Answer, rightly: bool) -> None:
        boxes = self._boxes()
        right = [box for box in boxes if box.property("option") in answer.chosen]
        wrong = [box for box in boxes if box not in right]
        for box in right if rightly else wrong[:1] or right[:-1]:
            self.live.click(box, QPoint(12, box.height() // 2))

    def _boxes(self) -> list[QAbstractButton]:
        found = self.pane.step.findChildren(QAbstractButton)
        return [one for one in found if one.isVisible() and one.property("option") is not None]

    async def _move_cut(self, answer: Answer, rightly: bool) -> None:
        live, wanted = self.live, answer.cuts[0]
        live.window.map.setFocus()
        key = "Alt+Down" if rightly and wanted > live.partition.cut else "Alt+Up"
        for _ in range(80):
            live.keys(key)
            await live.settle(1)
            if (prepared(live).cut_point in answer.cuts) is rightly:
                return

    async def show_answer(self) -> None:
        self.live.click(self.pane.step.show_answer_button)
        await self.live.until(lambda: not self.lessons.is_asking, "the answer")
        await self.live.settle()

    def check_covers(self, is_last: bool) -> None:
        """What answers a later step stays covered until the last one is answered."""
        window, overlay = self.live.window, self.live.window.findChild(Overlay)
        assert overlay is not None
        lit = self.step.then or self.step.light
        shown: set[QWidget] = {window.inspector} if is_last else set()
        shown |= {window.header.gauge} if is_last or lit == "gauge" else set()
        assert set(overlay.covered) == {window.inspector, window.header.gauge} - shown
        tells = "in the context" in "".join(window.map.model.texts.tip(self.replied()))
        assert tells is is_last, self.step.title

    def replied(self) -> int:
        """An entry with which its provider reported the context's size; else the leaf."""
        usage = self.live.document.tree.columns.usage
        path = reversed(self.live.document.tree.path(self.live.document.leaf))
        return next((at for at in path if usage[at] > 0), self.live.document.leaf)

    async def next(self) -> None:
        """Go on, or end the lesson."""
        step = self.lessons.step
        self.live.click(self.pane.step.next)
        await self.live.until(lambda: self.lessons.step is not step, "what comes next")
        await self.live.idle()

    async def walk(self, name: str, rightly: Iterator[bool]) -> None:
        """A whole lesson; ``rightly``: for each step, whether the prediction is right. A cut
        cannot stop where it is wrong when every valid one is right."""
        await self.begin(name)
        results: list[bool] = []
        while self.lessons.step is not None:
            cannot_fail = self.step.kind == "cut" and self.step.answer == "valid_cuts"
            expected = next(rightly) or cannot_fail
            await self.predict(expected)
            await self.show_answer()
            verdict = self.pane.step.verdict.text()
            assert ("Right" in verdict) is expected, (name, self.step.title, verdict)
            assert self.pane.step.reason.text()
            results.append(expected)
            is_last = self.pane.step.next.text().startswith("End")
            self.check_covers(is_last)
            assert self.pane.step.total.isVisible() is (is_last and len(results) > 1)
            if is_last and len(results) > 1:
                total = f"{sum(results)} of {len(results)} predicted rightly"
                assert self.pane.step.total.text() == total
            await self.next()


def state_of(live: RunningWindow) -> dict[str, object]:
    """What a lesson must leave as it was."""
    window, state = live.window, live.session.state
    return {
        "session": live.document.key,
        "entries": len(live.document.tree),
        "leaf": live.document.leaf,
        "choices": live.document.choices.all(),
        "rules": (state.chosen, state.profile, state.settings),
        "selected": window.map.selected,
        "previewed at": window.compaction.at,
        "cut": window.compaction.cut,
        "drawn": live.partition.cut,
        "zoom": window.map.view.zoom,
        "folded": frozenset(window.map.folded),
        "filter": window.map.filter,
        "tab": live.tab,
        "side": window.upper.sizes(),
        "agent": window.agent.isVisible(),
    }


LESSONS = tuple(lesson.id for lesson in read_shelf().lessons)


async def walk_all(live: RunningWindow, first: bool, names: tuple[str, ...] = LESSONS) -> None:
    """Lessons in one window, which is as before at the end: right and wrong predictions in turn,
    the ``first`` right or wrong."""
    before = state_of(live)
    pupil, turns = Pupil(live), cycle((first, not first))
    await pupil.open()
    for name in names:
        await pupil.walk(name, turns)
        await live.until(lambda: live.document.key == before["session"], "the session before")
        await live.idle()
    live.keys("Esc", to=pupil.pane.list)
    await live.settle()
    assert state_of(live) == before
    assert set(live.session.state.preferences.lessons) == set(names)


async def test_every_lesson_on_the_bundled_session(house: House) -> None:
    live = await house.start(sample_path())
    await walk_all(live, True)


async def test_every_lesson_on_a_long_session(house: House, tmp_path: Path) -> None:
    """With a compaction, branches and their summaries; what was predicted rightly on the bundled
    session is predicted wrongly, and the other way round."""
    live = await house.start(write_session(tmp_path / "long.jsonl", 1200, seed=3))
    await walk_all(live, False)


async def test_some_lessons_on_a_short_session(house: House, tmp_path: Path) -> None:
    """One branch and no compaction: that of branches runs on the bundled session."""
    file = write_session(tmp_path / "short.jsonl", 60, seed=5, branches=False, compactions=False)
    live = await house.start(file)
    await walk_all(live, True, ("cut", "branches"))


async def test_some_lessons_on_another_agents_session(house: House, tmp_path: Path) -> None:
    live = await house.start(rollout(tmp_path))
    await walk_all(live, True, ("tokens", "requests"))


async def test_the_map_stays_where_it_is_while_it_can_show_the_answer(house: House) -> None:
    """The entry that was pressed does not move away from the mouse but for an answer that is out
    of sight, and then stays in sight with it where both fit."""
    live = await house.start(sample_path())
    pupil, view = Pupil(live), live.window.map.view
    moved: list[bool] = []
    await pupil.open()
    for name in ("cut", "valid-cuts", "losses", "path"):
        await pupil.begin(name)
        while pupil.lessons.step is not None:
            if pupil.step.kind != "entry":
                live.click(pupil.pane.step.skip)
                await live.until(lambda: not pupil.lessons.is_asking, "the answer")
                await pupil.next()
                continue
            await pupil.predict(rightly=False)
            room = view.viewport().rect()
            before = view.row_rect(predicted := live.window.map.selected)
            wanted = view.row_rect(pupil.answer.selected)
            await pupil.show_answer()
            shown = view.row_rect(live.window.map.selected)
            assert live.window.map.selected == pupil.answer.selected
            assert room.contains(shown.toRect()), "the answer is in sight"
            stays = room.contains(wanted.toAlignedRect())
            assert (view.row_rect(predicted) == before) is stays, pupil.step.title
            if before.united(wanted).height() <= room.height():
                assert room.contains(view.row_rect(predicted).toRect()), pupil.step.title
            moved.append(not stays)
            await pupil.next()
    assert set(moved) == {False, True}, moved


async def test_a_lesson_by_the_keyboard_alone(house: House) -> None:
    """From the key that opens the panel to the one that closes it."""
    live = await house.start(sample_path())
    before = state_of(live)
    pupil = Pupil(live)
    await pupil.open()
    assert pupil.pane.list.hasFocus()
    live.keys("Home", "Down", "Down", "Down", "Down", "Down", "Return")
    await live.until(lambda: pupil.pane.runs_lesson, "the lesson")
    await live.idle()
    assert pupil.step.answer == "split_turn"
    live.keys("Space", "Return")
    await live.until(lambda: not pupil.lessons.is_asking, "the answer")
    assert pupil.pane.step.next.hasFocus()
    live.keys("Return")
    await live.until(lambda: pupil.step.answer == "turn_start", "the second step")
    await live.idle()
    view = live.window.map.view
    assert view.hasFocus()
    live.keys("Up", "Up", "Return")
    await live.until(lambda: not pupil.lessons.is_asking, "the second answer")
    live.keys("Esc")
    await live.until(lambda: not pupil.pane.runs_lesson, "the list of lessons")
    await live.idle()
    live.keys("Esc")
    await live.settle()
    assert state_of(live) == before
    assert live.session.state.preferences.lessons == {"split-turns": 1}


async def test_f4_leaves_the_lessons_again_and_f8_goes_to_the_sessions(house: House) -> None:
    """From the list and from the middle of a lesson; the window is as it was."""
    live = await house.start(sample_path())
    before = state_of(live)
    pupil = Pupil(live)
    for key in ("F4", "F8"):
        for begins in (False, True):
            await pupil.open()
            if begins:
                await pupil.begin("cut")
            live.keys(key)
            await live.until(lambda: not pupil.pane.isVisible(), f"the end of the panel by {key}")
            await live.idle()
            assert live.window.library.list.hasFocus() is (key == "F8")
            assert state_of(live) == before
            assert pupil.lessons.step is None


async def test_return_after_a_number_shows_the_answer_to_it(house: House) -> None:
    """And goes on only when it is pressed again."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("threshold")
    live.type("183616", to=pupil.pane.step.number)
    live.keys("Return", to=pupil.pane.step.number)
    await live.until(lambda: not pupil.lessons.is_asking, "the answer")
    await live.idle()
    assert pupil.step.answer == "threshold"
    assert "Right" in pupil.pane.step.verdict.text()
    live.keys("Return")
    await live.until(lambda: pupil.step.answer == "room_left", "the second step")


async def test_the_map_stays_at_the_answer_when_a_lesson_goes_on(house: House) -> None:
    """What comes next begins where the walk has ended; a step back gives nothing away."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    place = live.window.map.selected
    reached = pupil.answer.entries[0]
    described = live.window.map.model.texts.describe
    assert "from the newest up to it" in described(reached)
    live.click(pupil.pane.step.skip)
    await live.until(lambda: not pupil.lessons.is_asking, "the answer")
    await pupil.next()
    assert live.window.map.selected == reached != place
    overlay = live.window.findChild(Overlay)
    assert overlay is not None
    beside = overlay.mapFromGlobal(pupil.pane.mapToGlobal(pupil.pane.rect().topRight())).x()
    assert overlay.lit_rects()[0].left() > beside, "the frame is clear of the panel"
    assert "the marked one too" in pupil.pane.step.how.text()
    assert not pupil.pane.step.show_answer_button.isEnabled()
    live.click_entry(reached)
    await live.settle()
    assert pupil.pane.step.show_answer_button.isEnabled()
    live.click(pupil.pane.step.back)
    await live.until(lambda: pupil.step.answer == "walk_reached", "the step before")
    await live.idle()
    assert live.window.map.selected == place
    for step in range(3):
        live.click(pupil.pane.step.skip)
        await live.until(lambda: not pupil.lessons.is_asking, "the answer again")
        if step < 2:
            await pupil.next()
    assert "watch the cut" in live.words(pupil.pane.step)
    overlay, setup = live.window.findChild(Overlay), live.window.compaction.setup
    assert overlay is not None
    for part, is_quiet in ((live.window.map, False), (setup.keep, False), (setup.budget, True)):
        at = part.mapTo(live.window, part.rect().center())
        assert overlay.mask().contains(overlay.mapFrom(live.window, at)) is is_quiet, part


async def test_a_lesson_stores_nothing(house: House) -> None:
    """What is pressed on the map in a lesson moves no leaf, pins nothing and is no choice."""
    live = await house.start(sample_path())
    live.window.map.view.set_zoom(0.8)
    live.window.show_tab("audit")
    live.window.map.select(150)
    await live.idle()
    before = state_of(live)
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    live.double_click_entry(270)
    live.window.map.setFocus()
    live.keys("P", "O")
    await live.idle()
    assert pupil.lessons.is_asking, "a double click is no answer"
    live.session.state.set_settings(Settings(keep_recent_tokens=9_000))
    await live.idle()
    live.click(pupil.pane.close_button)
    await live.idle()
    assert state_of(live) == before
    await live.close()
    again = await house.start(sample_path())
    assert again.session.state.settings == before["rules"][2]  # type: ignore[index]


async def test_the_rest_of_the_window_is_quiet(house: House) -> None:
    """The mouse reaches what is lit and the panel, and nothing else."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    centre = live.window.centralWidget()
    assert centre is not None

    def reached(widget: QWidget) -> bool:
        found = centre.childAt(widget.mapTo(centre, widget.rect().center()))
        return found is widget or widget.isAncestorOf(found)

    assert reached(live.window.map.view)
    assert reached(pupil.pane.step.skip)
    assert not reached(live.window.inspector)
    assert not reached(live.window.header.search)
    await pupil.predict(True)
    await pupil.show_answer()
    live.click(pupil.pane.close_button)
    await live.idle()
    assert reached(live.window.inspector)


async def test_why_here_opens_the_step_on_that_cut(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.idle()
    made, before = prepared(live), state_of(live)
    selected = live.window.map.selected
    asks = live.window.compaction.setup.following.learn
    assert "lesson" in asks.toolTip()
    live.click(asks)
    pupil = Pupil(live)
    await live.until(lambda: pupil.pane.runs_lesson, "the lesson")
    await live.idle()
    assert pupil.step.answer == "cut_entry"
    step, view = pupil.pane.step, live.window.map.view
    assert made.reason not in live.words(step), "what was read already"
    assert pupil.pane.area.verticalScrollBar().value() == 0 and step.walk.isVisible()
    assert f"#{made.first_kept}: " in step.walk.accessibleDescription()
    assert live.window.map.selected == selected
    assert 0 < view.cut_line() < view.viewport().height()
    assert f"before #{made.first_kept}" in pupil.pane.step.where.text()
    live.keys("Esc", to=pupil.pane)
    await live.idle()
    assert live.tab == "compaction"
    assert live.window.library.isVisible() and not pupil.pane.isVisible()
    assert state_of(live) == before


async def test_the_lesson_after_the_one_that_ended_is_chosen(house: House) -> None:
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("pruning")
    while pupil.lessons.step is not None:
        if pupil.lessons.is_asking:
            live.click(pupil.pane.step.skip)
            await live.until(lambda: not pupil.lessons.is_asking, "the answer")
        await pupil.next()
    await live.until(lambda: not pupil.pane.runs_lesson, "the list")
    assert pupil.pane.list.name == "losses"


async def test_the_answer_is_asked_for_at_a_place_that_stays(house: House) -> None:
    """Under the mouse that points at the map, then at the button."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    for name in ("cut", "valid-cuts", "threshold", "split-turns"):
        await pupil.begin(name)
        view = pupil.pane.step
        place = on_screen(view.show_answer_button)
        await pupil.predict(False)
        assert on_screen(view.show_answer_button) == place, name
        assert pupil.step.kind not in ("entry", "cut") or view.chosen.isVisible()
        live.click(pupil.pane.all_lessons)
        await live.idle()


async def test_no_letter_of_a_lesson_is_another_ones_too(house: House) -> None:
    """A letter that two share acts only when it is pressed twice."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3", "Ctrl+4"):
        live.keys(tab)
        await live.idle()
        await pupil.open()
        assert not clashes(live), tab
        await pupil.begin("threshold")
        assert not clashes(live), tab
        live.click(pupil.pane.step.skip)
        await live.idle()
        assert not clashes(live), tab
        live.keys("F4")
        await live.idle()


async def test_a_lesson_with_its_session_is_written_and_opened(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    file = tmp_path / "cut.lesson"
    pupil.pane.list.select("cut")
    live.click(pupil.pane.export)
    dialog = await live.dialog(QFileDialog)
    dialog.fileSelected.emit(str(file))
    dialog.reject()
    await live.until(file.exists, "the file")
    await live.idle()
    entries = len(live.document.tree)
    await live.close()
    again = await house.start(file)
    pupil = Pupil(again)
    await again.until(lambda: pupil.pane.runs_lesson, "the lesson of the file")
    await again.idle()
    assert pupil.step.answer == "walk_reached"
    assert len(again.document.tree) == entries


async def test_a_lesson_says_that_it_runs_on_the_bundled_session(
    house: House, tmp_path: Path
) -> None:
    """The person's own session is shown again after it."""
    file = write_session(tmp_path / "s.jsonl", 60, seed=5, branches=False, compactions=False)
    live = await house.start(file)
    key = live.document.key
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("branches")
    assert live.document.key != key
    assert pupil.pane.step.where.text().startswith("Your session has no such place")
    live.keys("Esc", to=pupil.pane)
    await live.until(lambda: live.document.key == key, "the session before")
    await live.idle()


async def test_a_newcomer_begins_with_a_lesson(house: House) -> None:
    """Without a session the bundled one is opened, and stays."""
    live = await house.start()
    assert not live.has_document
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("path")
    assert pupil.pane.step.where.text().startswith("In this session")
    live.keys("Esc", "Esc", to=pupil.pane)
    await live.idle()
    assert live.has_document
    assert live.window.library.isVisible() and not pupil.pane.isVisible()


async def test_a_file_that_is_no_lesson_says_so(house: House, tmp_path: Path) -> None:
    file = tmp_path / "bad.lesson"
    file.write_text("no zip", "utf-8")
    live = await house.start(file)
    await live.until(lambda: live.notice, "the reason")
    assert "no zip" in live.notice


async def test_a_cut_of_other_sizes_is_shown_with_them(house: House) -> None:
    """The map's cut, the sliders and the answer are of the same sizes; the next step's are the
    lesson's own again."""
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    while pupil.step.answer != "cut_of_half":
        await pupil.predict(True)
        await pupil.show_answer()
        await pupil.next()
    before = prepared(live).settings.keep_recent_tokens
    await pupil.predict(True)
    await pupil.show_answer()
    now = prepared(live)
    assert now.settings.keep_recent_tokens == before // 2
    assert f"#{now.first_kept}" in pupil.pane.step.reason.text()
    await pupil.next()
    assert prepared(live).settings.keep_recent_tokens == before


async def test_what_goes_into_the_summary_can_be_told_from_the_screen(house: House) -> None:
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    while pupil.step.answer != "tokens_summarized":
        await pupil.predict(True)
        await pupil.show_answer()
        words = live.words(pupil.pane.step)
        assert words.count(f"You pointed at #{pupil.answer.entries[0]}.") == 1
        assert "is right" not in words and "Your prediction" not in words
        await pupil.next()
    shown, model = live.partition, live.window.map.model
    assert live.window.map.view.visible_rows().count(shown.path[shown.cut]) == 1
    _tokens, kept = model.sums[shown.path[shown.cut]]
    assert f"{shown.context_estimate:,} tokens" in live.words(pupil.pane.step)
    assert shown.context_estimate - kept == pupil.answer.number
    await pupil.predict(True)
    await pupil.show_answer()
    assert f"{shown.whole_before:,} to about {shown.whole_after:,}" in live.words(pupil.pane.step)

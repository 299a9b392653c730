"""Long work in the status bar, and who owns the coroutines."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ui.app_state import TaskOwner
from ui.map.navigation import NO_SUMMARY, SUMMARIZE, WITH_INSTRUCTIONS, LeavingDialog
from ui.shell.status_bar import STEPS, ProgressArea


def test_the_newest_work_is_shown_and_can_be_cancelled(app: QApplication) -> None:
    area = ProgressArea()
    assert not area.isVisible()
    first = area.begin("Importing one")
    assert area.isVisible()
    assert area.bar.maximum() == 0, "how far it is cannot be said yet"
    second = area.begin("Counting")
    assert area.label.text() == "Counting (+1)"
    second.update(30, 120)
    assert area.bar.value() == STEPS // 4
    QTest.mouseClick(area.cancel, Qt.MouseButton.LeftButton)
    assert second.cancelled
    assert not first.cancelled
    assert "cancelling" in area.label.text()
    second.end()
    assert area.label.text() == "Importing one"
    first.end()
    assert not area.isVisible()


def test_work_that_can_wait_is_paused_and_gone_on_with(app: QApplication) -> None:
    area = ProgressArea()
    paused: list[bool] = []
    cancelled: list[bool] = []
    work = area.begin("Importing", lambda: cancelled.append(True), paused.append)
    assert area.pause.accessibleName() == "Pause the running work"
    QTest.mouseClick(area.pause, Qt.MouseButton.LeftButton)
    assert area.label.text() == "Importing · paused" and paused == [True]
    assert area.pause.accessibleName() == "Go on with the running work"
    QTest.mouseClick(area.pause, Qt.MouseButton.LeftButton)
    assert paused == [True, False] and not work.paused
    QTest.mouseClick(area.cancel, Qt.MouseButton.LeftButton)
    assert cancelled == [True] and not area.pause.isVisible()
    area.begin("Counting")
    assert not area.pause.isVisible(), "it cannot wait"


def test_what_a_task_raises_is_reported_and_a_cancel_is_not() -> None:
    told: list[tuple[str, str]] = []

    async def story() -> None:
        owner = TaskOwner(lambda what, error, details: told.append((what, details)))

        async def fail() -> None:
            raise ValueError("no such thing")

        owner.start("Trying", fail())
        owner.start("Waiting", asyncio.sleep(60))
        await asyncio.sleep(0.01)
        assert owner.running == ["Waiting"]
        await owner.close()
        assert owner.running == []

    asyncio.run(story())
    assert [what for what, _ in told] == ["Trying"]
    assert "no such thing" in told[0][1]


def question(choice: int) -> LeavingDialog:
    dialog = LeavingDialog("You leave 3 entries behind.", "facts", [("m", "Model")], "m", None)  # type: ignore[arg-type]
    dialog.show()
    dialog.choices.button(choice).setChecked(True)
    return dialog


def test_the_question_shows_what_the_choice_needs(app: QApplication) -> None:
    dialog = question(NO_SUMMARY)
    assert dialog.go.text() == "Go there"
    assert not dialog.models.isVisible()
    dialog.choices.button(SUMMARIZE).setChecked(True)
    assert dialog.go.text() == "Summarize"
    assert dialog.models.isVisible()
    assert not dialog.instructions.isVisible()
    dialog.choices.button(WITH_INSTRUCTIONS).setChecked(True)
    assert dialog.instructions.isVisible()


def test_instructions_of_another_choice_are_not_sent(app: QApplication) -> None:
    dialog = question(WITH_INSTRUCTIONS)
    asked: list[tuple[str, str]] = []
    dialog.summary_chosen.connect(lambda words, model: asked.append((words, model)))
    QTest.keyClicks(dialog.instructions, "dwell on the tests")
    dialog.choices.button(SUMMARIZE).setChecked(True)
    QTest.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    assert asked == [("", "m")]
    dialog.show_failure("The model is not there.")
    dialog.choices.button(WITH_INSTRUCTIONS).setChecked(True)
    QTest.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    assert asked[-1] == ("dwell on the tests", "m")
    dialog.feed("half ")
    dialog.feed("a summary")
    assert dialog.stream.toPlainText() == "half a summary"

"""Work in turns: each step has a turn of its own, what comes between is answered."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import wait_for
from ui.widgets.steps import StepRunner


def steps(done: list[str], name: str) -> Iterator[None]:
    for number in range(3):
        done.append(f"{name}{number}")
        yield


def test_what_comes_between_is_answered_before_the_end(app: QApplication) -> None:
    done: list[str] = []
    turns = StepRunner()
    turns.start(steps(done, "a"), lambda: done.append("end"))
    assert done == ["a0"] and turns.is_running
    QTimer.singleShot(0, lambda: done.append("between"))
    wait_for(lambda: "end" in done)
    assert [one for one in done if one != "between"] == ["a0", "a1", "a2", "end"]
    assert done.index("between") < done.index("end") and not turns.is_running


def test_newer_work_takes_the_place_of_older_and_what_is_stopped_never_ends(
    app: QApplication,
) -> None:
    done: list[str] = []
    turns = StepRunner()
    turns.start(steps(done, "a"), lambda: done.append("a ended"))
    turns.start(steps(done, "b"), lambda: done.append("b ended"))
    wait_for(lambda: "b ended" in done)
    assert done == ["a0", "b0", "b1", "b2", "b ended"]
    turns.start(steps(done, "c"), lambda: done.append("c ended"))
    turns.stop()
    assert not turns.is_running and done[-1] == "c0"


class Held:
    """Something that work needs, such as a session."""


def test_nothing_of_the_work_is_held_when_it_is_done_or_given_up(app: QApplication) -> None:
    done: list[bool] = []
    turns = StepRunner()
    for gives_up in (False, True):
        held = Held()
        gone = weakref.ref(held)
        turns.start(iter([None]), partial(lambda one: done.append(one is None), held))
        del held
        if gives_up:
            turns.stop()
        else:
            wait_for(lambda: bool(done))
        assert gone() is None


def test_work_that_fails_gives_way_to_other_work(app: QApplication) -> None:
    done: list[str] = []
    turns = StepRunner()

    def failing() -> Iterator[None]:
        raise ValueError("no room")
        yield

    with pytest.raises(ValueError, match="no room"):
        turns.start(failing(), lambda: done.append("never"))
    assert not turns.is_running
    turns.start(steps(done, "b"), lambda: done.append("b ended"))
    wait_for(lambda: "b ended" in done)
    assert done == ["b0", "b1", "b2", "b ended"]

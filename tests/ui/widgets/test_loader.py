"""Work in threads: what comes back, and that nobody need be there any more when it does."""

from __future__ import annotations

import threading

from PySide6.QtCore import QThreadPool
from shiboken6 import delete

from tests.ui.waiting import Heard, settle, wait_for
from ui.widgets.loader import BackgroundJobs


def test_results_come_by_name_and_what_was_forgotten_does_not(app: object) -> None:
    jobs, gate = BackgroundJobs(), threading.Event()
    heard = Heard(jobs.done)
    jobs.run("old", gate.wait)
    jobs.forget()
    gate.set()
    jobs.run("new", lambda: 7)
    wait_for(lambda: heard.count() > 0, "the result")
    QThreadPool.globalInstance().waitForDone()
    settle()
    assert heard.calls == [["new", 7]]


def test_work_goes_on_when_its_view_is_deleted(app: object) -> None:
    started, gate, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        gate.wait()
        ended.set()

    jobs = BackgroundJobs()
    heard = Heard(jobs.done)
    send = jobs.sender_of("more")
    jobs.run("work", work)
    assert started.wait(15)
    delete(jobs)
    gate.set()
    assert ended.wait(15)
    send("late")
    QThreadPool.globalInstance().waitForDone()
    settle()
    assert heard.count() == 0

"""Garbage is collected on the window's thread alone."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ui.event_loop import LOOK_EVERY_MS, Collector


class Cycle:
    """Tells on which thread it was collected."""

    ended: list[str] = []

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        self.ended.append(threading.current_thread().name)


@pytest.fixture(autouse=True)
def enabled(app: QApplication) -> Iterator[None]:
    """As in a program without a window."""
    gc.collect()
    Cycle.ended.clear()
    gc.enable()
    yield
    gc.disable()


def litter() -> None:
    for _ in range(5000):
        Cycle()


def in_a_thread() -> None:
    thread = threading.Thread(target=litter, name="worker")
    thread.start()
    thread.join()


def test_without_it_a_worker_collects_what_it_should_not_touch() -> None:
    in_a_thread()
    assert "worker" in Cycle.ended


def test_with_it_only_the_windows_thread_collects(app: QApplication) -> None:
    collector = Collector()
    in_a_thread()
    assert Cycle.ended == []
    QTest.qWait(3 * LOOK_EVERY_MS)
    assert set(Cycle.ended) == {threading.main_thread().name}
    collector.stop()
    assert gc.isenabled()


def test_nothing_is_collected_while_it_is_paused(app: QApplication) -> None:
    collector = Collector()
    with collector.paused():
        litter()
        QTest.qWait(2 * LOOK_EVERY_MS)
        assert Cycle.ended == []
    QTest.qWait(2 * LOOK_EVERY_MS)
    assert Cycle.ended
    collector.stop()


_START = """
import gc
from explorer.cli import main
assert gc.isenabled()
assert main(["open", "--smoke"]) == 0
assert not gc.isenabled()
"""


def test_python_never_collects_by_itself_once_there_is_a_window(explorer_home: Path) -> None:
    """In the midst of the end of one of Qt's objects it would wait for a lock for ever."""
    subprocess.run(
        [sys.executable, "-c", _START],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, timeout=120, check=True,
    )  # fmt: skip

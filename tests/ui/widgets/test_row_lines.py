"""The words of rows: first what is stored, then what a thread makes of payloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import Heard, settle, wait_for
from ui.widgets.row_lines import RowLines


class Slow:
    """Stored words at once; better ones when ``go`` is set, of even entries alone."""

    def __init__(self, name: str = "made") -> None:
        self.name = name
        self.go = threading.Event()
        self.asked: list[list[int]] = []
        self.threads: set[int] = set()
        self.fails = False

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        return [f"stored {at}" for at in indices], [at for at in indices if at % 2 == 0]

    def previews(self, indices: Sequence[int]) -> list[str]:
        self.asked.append(list(indices))
        self.threads.add(threading.get_ident())
        assert threading.current_thread() is threading.main_thread() or self.go.wait(15)
        if self.fails:
            raise OSError("gone")
        return [f"{self.name} {at}" if at % 2 == 0 else f"stored {at}" for at in indices]


@pytest.fixture
def lines(app: QApplication) -> Iterator[RowLines]:
    made = RowLines()
    yield made
    QThreadPool.globalInstance().waitForDone()
    settle()
    made.deleteLater()


def test_a_row_shows_its_stored_words_until_a_thread_has_made_better_ones(lines: RowLines) -> None:
    slow, heard = Slow(), Heard(lines.arrived)
    lines.use(slow)
    lines.fetch([0, 1, 2])
    assert [lines.line(at) for at in (0, 1, 2)] == ["stored 0", "stored 1", "stored 2"]
    slow.go.set()
    wait_for(lambda: lines.line(2) == "made 2")
    assert [lines.line(at) for at in (0, 1, 2)] == ["made 0", "stored 1", "made 2"]
    assert heard.calls == [[[0, 2]]], "only what changed is painted anew"
    assert slow.asked == [[0, 2]] and threading.main_thread().ident not in slow.threads
    lines.fetch([0, 1, 2])
    settle()
    assert slow.asked == [[0, 2]], "what was made is cached"


def test_rows_near_those_in_sight_are_made_after_them(lines: RowLines) -> None:
    slow = Slow()
    slow.go.set()
    lines.use(slow)
    lines.fetch(range(20, 40), range(40, 60))
    wait_for(lambda: bool(slow.asked) and slow.asked[-1][-1] == 59)
    asked = [entry for part in slow.asked for entry in part]
    assert asked[:10] == list(range(20, 40, 2)) and set(asked[10:]) == set(range(40, 60))
    assert max(map(len, slow.asked)) <= 12, "the window has a turn between"


def test_words_of_a_session_that_was_left_are_dropped(lines: RowLines) -> None:
    first, second, heard = Slow("first"), Slow("second"), Heard(lines.arrived)
    lines.use(first)
    lines.fetch([0])
    wait_for(lambda: bool(first.asked))
    lines.use(second)
    assert lines.line(0) == "stored 0"
    first.go.set()
    second.go.set()
    wait_for(lambda: lines.line(0) != "stored 0")
    assert lines.line(0) == "second 0" and heard.count() == 1


def test_words_of_an_entry_that_changed_while_they_were_made_are_dropped(lines: RowLines) -> None:
    slow = Slow("old")
    lines.use(slow)
    lines.fetch([0, 2])
    wait_for(lambda: bool(slow.asked))
    lines.forget([0])
    slow.go.set()
    wait_for(lambda: lines.line(2) == "old 2")
    slow.name = "new"
    wait_for(lambda: lines.line(0) == "new 0")


def test_what_is_read_aloud_is_whole_at_once(lines: RowLines) -> None:
    lines.use(Slow())
    assert lines.line(4) == "stored 4"
    assert lines.whole(4) == "made 4" == lines.line(4)


def test_what_cannot_be_read_stays_as_it_is_stored(lines: RowLines) -> None:
    slow = Slow()
    slow.fails = True
    slow.go.set()
    lines.use(slow)
    lines.fetch([0])
    wait_for(lambda: bool(slow.asked))
    QThreadPool.globalInstance().waitForDone()
    settle()
    lines.fetch([0])
    settle()
    assert lines.line(0) == "stored 0" and slow.asked == [[0]]

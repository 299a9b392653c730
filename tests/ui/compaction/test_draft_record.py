"""How a draft was made: every call in words, and the fold that tells them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.models.client import Usage
from tests.ui.compaction.previews import Written
from tests.ui.waiting import settle, shown_texts
from ui.compaction.draft_record import DraftRecordView, headline, origin, step


@dataclass(frozen=True)
class Call:
    """A call to a summarizer, as it is recorded."""

    purpose: str = "history"
    why: str = "first"
    model: str = "openai/gpt-5"
    window: int = 0
    usage: Usage | None = None
    elapsed_ms: float = 1_240.0
    waited_s: float = 0.0
    problem: str = ""


def test_a_call_says_what_was_asked_why_and_of_whom() -> None:
    """C6, C7, A29, A43: windows, reminders, retries, other models, a service of one's own."""
    usage = Usage(input=13_107, output=812)
    assert step(Call(usage=usage)) == (
        "History: asked", "openai/gpt-5", "1.2 s · 13,107 in, 812 out", "",
    )  # fmt: skip
    again = replace(Call(), why="retry", waited_s=1.5, problem="The provider is busy.")
    assert step(again).what == "History: asked again after 1.5 s"
    assert step(again).problem == "The provider is busy."
    assert step(Call("history", "window", window=2)).what == "History, part 2: asked about a part"
    assert "smaller part" in step(Call(why="halved", window=3)).what
    assert "another model" in step(Call(why="next-model")).what
    assert "reminded" in step(Call("turn_prefix", "reminder")).what
    assert step(Call(model="remote/endpoint")).by == "the service of your own"


def test_the_line_of_a_folded_record_counts_what_is_unusual() -> None:
    assert headline((Call(),)) == "How it was made: 1 call"
    calls = (Call(), Call(why="retry"), Call(why="reminder"), Call(why="window", window=2))
    assert headline(calls) == "How it was made: 4 calls, 1 again, 1 reminded, in 2 parts"
    two = (Call(), Call(why="next-model", model="anthropic/claude"))
    assert headline(two, 3) == "How it was made: 2 calls, 2 models, extensions asked"


def test_what_set_it_off_is_said() -> None:
    assert origin({"trigger": "threshold"}) == "The context had grown beyond the threshold."
    assert "extension mine wrote it" in origin({"trigger": "manual", "from_extension": "mine"})
    assert origin({}) == ""


def test_the_fold_is_shut_until_something_went_wrong(app: QApplication) -> None:
    view = DraftRecordView()
    view.resize(420, 400)
    view.show_draft(Written("## Goal", attempts=(Call(),), short_summary="I fixed the retry."))
    view.show()
    settle()
    assert not view.section.expanded
    assert "1 call" in view.section.header.text()
    QTest.mouseClick(view.section.header, Qt.MouseButton.LeftButton)
    settle()
    words = shown_texts(view)
    assert "History: asked, openai/gpt-5" in words
    assert "I fixed the retry." in words
    failed = Call(problem="The answer was cut short.")
    view.show_draft(Written("x", attempts=(failed, Call(why="reminder"))))
    settle()
    assert view.section.expanded, "what went wrong is seen without asking"
    assert "The answer was cut short." in shown_texts(view)
    view.show_draft(Written("x"))
    settle()
    assert not view.isVisible(), "nothing is recorded"

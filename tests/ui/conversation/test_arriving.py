"""A conversation that grows: replies and tools as they arrive, under real events."""

from __future__ import annotations

from explorer.agent.tools.port import ToolOutcome
from explorer.agent.turn_interface import RoundStarted, ToolEnded, ToolOutput, ToolStarted
from explorer.models.client import TextDelta, ThinkingDelta, ToolCall, ToolCallReady
from tests.ui.conversation.steps import (
    click,
    point,
    show,
    talk,
    wheel,
    words_on_screen,
)
from tests.ui.conversation.view.talks import CODE, Talk, call, long, thinking
from tests.ui.waiting import settle, wait_for
from ui.conversation.conversation import Conversation
from ui.conversation.view.parts import Row

__all__ = ["talk"]

# what arrives -----------------------------------------------------------------------------------


def test_a_reply_that_arrives_is_followed_only_by_who_is_at_the_end(talk: Conversation) -> None:
    show(talk, long(100))
    talk.set_running(True)
    talk.turn_event(RoundStarted(1))
    for at in range(80):
        talk.turn_event(TextDelta(f"word {at}\n\n"))
    wait_for(lambda: any("word 79" in w for w in words_on_screen(talk)), "the words")
    assert talk.view.at_end
    wheel(talk, 3)
    top = talk.view.placed[0]
    for at in range(80, 160):
        talk.turn_event(TextDelta(f"word {at}\n\n"))
    talk.flush()
    settle()
    assert talk.view.placed[0] == top, "who reads further up is left there"
    assert "word 159" in talk.toPlainText()


def test_only_the_last_piece_is_laid_out_anew(talk: Conversation) -> None:
    show(talk, long(10))
    talk.set_running(True)
    talk.turn_event(TextDelta(f"# Long\n\n```python\n{CODE * 20}```\n\n" + "Words.\n\n" * 50))
    talk.flush()
    settle(60)
    laid = talk.view.flow.laid(talk.view.flow.count - 1)
    boxes = [laid.known_box(at) for at in range(len(laid.parts))]
    assert any(box is not None for box in boxes)
    talk.turn_event(TextDelta("The end"))
    talk.flush()
    after = [laid.known_box(at) for at in range(len(boxes) - 1)]
    assert after == boxes[:-1]


def test_code_that_grows_keeps_its_box(talk: Conversation) -> None:
    show(talk, long(10))
    talk.set_running(True)
    talk.turn_event(TextDelta("```python\nvalue = 1\n"))
    talk.flush()
    laid = talk.view.flow.laid(talk.view.flow.count - 1)
    box = laid.known_box(0)
    assert box is not None
    high = laid.height
    talk.turn_event(TextDelta("other = 2\n"))
    talk.flush()
    assert laid.known_box(0) is box
    assert laid.height > high
    assert box.text() == "value = 1\nother = 2"


def test_a_turn_with_a_tool_from_its_first_word_to_its_stored_result(talk: Conversation) -> None:
    said = Talk()
    said.user("Run it.")
    opened = show(talk, said)
    talk.set_running(True)
    one = ToolCall("c1", "bash", {"command": "make test"})
    for event in (RoundStarted(1), ThinkingDelta("I shall "), ThinkingDelta("run it."),
                  TextDelta("Here "), TextDelta("we go."), ToolCallReady(one)):  # fmt: skip
        talk.turn_event(event)
    talk.flush()
    words = talk.toPlainText()
    assert "Thinking  I shall run it." in words
    assert "Here we go." in words
    assert "bash  make test  arriving" in words
    click(talk, point(talk, "I shall run it."))
    said.reply(thinking("I shall run it."), "Here we go.", call("c1", "bash", command="make test"))
    opened.take()
    talk.refresh()
    settle()
    assert talk.toPlainText().count("Here we go.") == 1, "the stored reply takes its place"
    shown = talk.view.flow.laid(talk.view.flow.count - 1).parts
    assert isinstance(shown[0], Row)
    assert shown[0].is_open, "what was opened while it arrived stays open"
    talk.set_waiting("c1", True)
    talk.flush()
    assert "waiting for your approval" in talk.toPlainText()
    talk.turn_event(ToolStarted(one))
    talk.turn_event(ToolOutput("c1", "compiling\n"))
    talk.turn_event(ToolOutput("c1", "testing\n"))
    talk.flush()
    assert "running" in talk.toPlainText()
    assert "compiling\ntesting" in talk.toPlainText()
    talk.turn_event(ToolEnded(one, ToolOutcome("3 passed")))
    said.result("c1", "bash", "3 passed")
    opened.take()
    talk.refresh()
    assert "bash  make test  3 passed" in talk.toPlainText()
    talk.set_running(False)
    assert "bash  make test  3 passed" in talk.toPlainText()


def test_what_was_not_stored_goes_with_the_turn(talk: Conversation) -> None:
    show(talk, long(10))
    talk.set_running(True)
    talk.turn_event(TextDelta("void"))
    talk.flush()
    assert "void" in talk.toPlainText()
    talk.set_running(False)
    assert "void" not in talk.toPlainText()

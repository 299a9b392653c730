"""Words of a conversation selected, copied and found, under real events."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.ui.conversation.steps import (
    Key,
    Mod,
    box_of,
    clipboard,
    find,
    keys,
    point,
    show,
    talk,
    words_on_screen,
)
from tests.ui.conversation.view.talks import Talk, call, long, thinking
from tests.ui.waiting import Heard, settle, wait_for
from ui.conversation.conversation import Conversation

__all__ = ["talk"]

# selecting and copying --------------------------------------------------------------------------


def drag(talk: Conversation, first: QPoint, last: QPoint) -> None:
    port = talk.view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=first)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(port, first + (last - first) * share)
        settle(1)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=last)
    settle()


def test_a_selection_reaches_over_several_messages(talk: Conversation) -> None:
    said = Talk()
    said.user("First words here.")
    said.reply("Some **bold** ones.", usage={})
    said.user("The last words.")
    show(talk, said)
    start, end = find(talk, "First words"), find(talk, "The last words")
    left = box_of(talk, start)[0].left
    metrics = talk.view.flow.inks.metrics
    from_ = QPoint(
        round(left + metrics.horizontalAdvance("First ")), round(box_of(talk, start)[1].y() + 8)
    )
    to = QPoint(
        round(left + metrics.horizontalAdvance("The last")), round(box_of(talk, end)[1].y() + 8)
    )
    drag(talk, from_, to)
    keys(talk, (Key.Key_C, Mod.ControlModifier))
    assert clipboard() == "words here.\n\nSome bold ones.\n\nThe last"
    keys(talk, (Key.Key_C, Mod.ControlModifier | Mod.ShiftModifier))
    assert "Some **bold** ones." in clipboard()
    drag(talk, to, from_)
    keys(talk, Key.Key_C)
    assert clipboard() == "words here.\n\nSome bold ones.\n\nThe last", "upwards is the same"
    keys(talk, Key.Key_Escape)
    assert talk.view.selection.empty


def test_a_double_click_takes_a_word_and_all_is_selected_by_a_key(talk: Conversation) -> None:
    said = Talk()
    said.user("First words here.")
    said.reply("And `an` answer.", usage={})
    show(talk, said)
    at = point(talk, "First words")
    QTest.mouseDClick(talk.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    keys(talk, Key.Key_C)
    assert clipboard() in ("First", "words")
    keys(talk, (Key.Key_A, Mod.ControlModifier), (Key.Key_C, Mod.ControlModifier))
    assert clipboard().startswith("First words here.\n\nAnd an answer.")


def test_the_whole_conversation_is_copied_in_a_thread(talk: Conversation) -> None:
    show(talk, long(600))
    told = Heard(talk.reported)
    keys(talk, (Key.Key_A, Mod.ControlModifier), (Key.Key_C, Mod.ControlModifier))
    wait_for(lambda: told.count(), "the copy")
    assert "messages are copied as Markdown" in told.at(0)[0]
    assert clipboard().startswith("**You**\n\nQuestion 0")
    assert clipboard().count("**You**") == sum(
        e["message"]["role"] == "user" for e in long(600).entries if e["type"] == "message"
    )


# finding ----------------------------------------------------------------------------------------


def search(talk: Conversation, words: str) -> None:
    keys(talk, (Key.Key_F, Mod.ControlModifier))
    assert talk.bar.isVisible()
    talk.bar.field.clear()
    QTest.keyClicks(talk.bar.field, words)
    QTest.keyClick(talk.bar.field, Key.Key_Return)
    wait_for(lambda: talk.finding.is_over, "the end of the search")
    settle()


def test_words_are_found_in_all_messages_and_gone_through(talk: Conversation) -> None:
    show(talk, long(800))
    search(talk, "Question 402:")
    assert talk.bar.count.text() == "1 of 1"
    assert any("Question 402:" in words for words in words_on_screen(talk))
    search(talk, "queue do when")
    assert talk.bar.count.text().endswith(" of 134")
    first = talk.view.current
    QTest.keyClick(talk.bar.field, Key.Key_Return, Mod.ShiftModifier)
    assert talk.view.current != first
    QTest.keyClick(talk.bar.field, Key.Key_Return)
    assert talk.view.current == first
    search(talk, "no such words")
    assert talk.bar.count.text() == "no places"
    QTest.keyClick(talk.bar.field, Key.Key_Escape)
    settle()
    assert not talk.bar.isVisible()
    assert talk.view.query == ""


def test_words_behind_markdown_are_found_as_they_are_read(talk: Conversation) -> None:
    said = Talk()
    said.reply("It is **very** `fast` and [well *known*](https://example.org/hidden).")
    show(talk, said)
    search(talk, "very fast and well known")
    assert talk.bar.count.text() == "1 of 1"
    hit = talk.finding.hits[0]
    box, _ = box_of(talk, find(talk, "It is"))
    assert len(box.hits("very fast and well known")) == 1, "what is counted is what is marked"
    assert hit.number == 0
    search(talk, "hidden")
    assert talk.bar.count.text() == "no places"


def test_what_is_found_in_a_fold_is_opened(talk: Conversation) -> None:
    said = Talk()
    said.reply(thinking("hm\n\na needle in thought"), call("a", "bash", command="seq 90"))
    said.result("a", "bash", "\n".join(map(str, range(80))) + "\nneedle at the end")
    said.reply("nothing here")
    show(talk, said)
    search(talk, "needle")
    assert talk.bar.count.text().endswith("of 2")
    for _ in range(2):
        QTest.keyClick(talk.bar.field, Key.Key_Return)
        settle()
        assert talk.view.current is not None
        assert any("needle" in words for words in words_on_screen(talk))

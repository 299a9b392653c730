"""The conversation under real events: reading, scrolling, selecting, finding, folding, arriving."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.agent.events import RoundStarted, ToolEnded, ToolOutput, ToolStarted
from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import TextDelta, ThinkingDelta, ToolCall, ToolCallReady
from tests.ui.conversation.view.talks import CODE, Opened, Talk, call, long, rich, thinking
from tests.ui.waiting import Heard, settle, wait_for
from ui import theme
from ui.conversation.conversation import Conversation
from ui.conversation.view.parts import Code, Prose, Row
from ui.conversation.view.scroll_area import Placed

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def talk(app: QApplication) -> Conversation:
    made = Conversation()
    made.resize(700, 420)
    made.show()
    made.activateWindow()
    return made


def show(talk: Conversation, said: Talk) -> Opened:
    opened = Opened(said)
    talk.show_document(opened)
    settle()
    return opened


def find(talk: Conversation, words: str) -> Placed:
    """The part on screen that says this."""
    for placed in talk.view.placed:
        part = talk.view.flow.laid(placed.item).parts[placed.part]
        if words in part.words:
            return placed
    seen = "\n".join(words_on_screen(talk))
    raise AssertionError(f"{words!r} is not on screen, but:\n{seen}")


def words_on_screen(talk: Conversation) -> list[str]:
    flow = talk.view.flow
    return [flow.laid(p.item).parts[p.part].words for p in talk.view.placed]


def box_of(talk: Conversation, placed: Placed) -> tuple[Any, QPointF]:
    laid = talk.view.flow.laid(placed.item)
    box = laid.box(placed.part, talk.view.flow.pictures)
    return box, QPointF(0, placed.top + laid.gap(placed.part))


def point(talk: Conversation, words: str, inside: QRectF | None = None) -> QPoint:
    """A point of the part that says this: the middle of a rectangle in it, or of its first line."""
    box, origin = box_of(talk, find(talk, words))
    rect = inside or QRectF(box.left + 2, 1, 40, 16)
    return (origin + rect.center()).toPoint()


def click(talk: Conversation, at: QPoint) -> None:
    QTest.mouseClick(talk.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle()


def wheel(talk: Conversation, steps: int) -> None:
    port = talk.view.viewport()
    middle = QPointF(port.rect().center())
    event = QWheelEvent(
        middle, port.mapToGlobal(middle), QPoint(), QPoint(0, steps * 120),
        Qt.MouseButton.NoButton, Mod.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(port, event)
    settle()


def keys(talk: Conversation, *strokes: Any) -> None:
    for stroke in strokes:
        key, modifier = stroke if isinstance(stroke, tuple) else (stroke, Mod.NoModifier)
        QTest.keyClick(talk.view, key, modifier)
    settle()


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


# the whole path -----------------------------------------------------------------------------------


def test_five_thousand_messages_open_at_their_end_and_few_are_read(talk: Conversation) -> None:
    opened = show(talk, long(5000))
    view = talk.view
    assert view.flow.count > 2900
    last = opened.talk.entries[-1]["message"]["content"][0]["text"]
    assert any(last[:30] in words for words in words_on_screen(talk))
    assert len(set(opened.payloads.read)) < 150, "only what is near is read"
    keys(talk, Key.Key_Home)
    assert "Question 0" in words_on_screen(talk)[0]
    assert view.verticalScrollBar().value() == 0
    keys(talk, Key.Key_End)
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_what_is_read_does_not_jump_when_heights_above_are_corrected(talk: Conversation) -> None:
    show(talk, long(2000))
    bar = talk.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    settle(30)
    for _ in range(60):
        before = {(p.item, p.part): p.top for p in talk.view.placed}
        wheel(talk, 1)
        after = {(p.item, p.part): p.top for p in talk.view.placed}
        both = before.keys() & after.keys()
        assert both
        moved = {round(after[at] - before[at], 3) for at in both}
        assert len(moved) == 1, "all that stays in sight moves by the same distance"
        assert 0 < moved.pop() < 200


def test_scrolled_by_hand_from_the_end_to_the_start_and_back(talk: Conversation) -> None:
    show(talk, long(90))
    bar = talk.view.verticalScrollBar()
    seen: list[int] = []
    for _ in range(3000):
        if bar.value() == 0:
            break
        seen += [p.item for p in talk.view.placed]
        wheel(talk, 2)
    assert bar.value() == 0
    assert set(seen) | {p.item for p in talk.view.placed} == set(range(talk.view.flow.count))
    for _ in range(3000):
        if talk.view.at_end:
            break
        wheel(talk, -2)
    assert bar.value() == bar.maximum()


def test_the_button_leads_back_to_the_end(talk: Conversation) -> None:
    show(talk, long(300))
    assert not talk.end_button.isVisible()
    wheel(talk, 3)
    assert talk.end_button.isVisible()
    QTest.mouseClick(talk.end_button, Qt.MouseButton.LeftButton)
    settle()
    assert talk.view.at_end
    assert not talk.end_button.isVisible()


def test_another_width_or_theme_keeps_the_place(talk: Conversation, app: QApplication) -> None:
    show(talk, long(400))
    talk.view.scroll_to(100, 0, share=0.0)
    settle()
    assert talk.view.placed[0].item == 100
    talk.resize(380, 500)
    settle(10)
    assert talk.view.placed[0].item == 100
    assert talk.view.flow.inks.narrow
    try:
        theme.set_text_scale(2)
        theme.set_theme("dark", app)
        settle(10)
        assert talk.view.placed[0].item == 100
        assert talk.view.flow.inks.now.is_dark
    finally:
        theme.set_text_scale(1)


def test_an_entry_that_cannot_be_read_is_told_in_its_place(talk: Conversation) -> None:
    opened = Opened(long(20))
    entry = opened.payloads.entry

    def broken(index: int) -> Any:
        if index == 5:
            raise ValueError("damaged")
        return entry(index)

    opened.payloads.entry = broken
    talk.show_document(opened)
    settle()
    keys(talk, Key.Key_Home)
    words = talk.toPlainText()
    assert "#5 could not be read (ValueError)" in words
    assert "Question 0" in words


def test_a_large_entry_is_read_in_a_thread(talk: Conversation) -> None:
    said = Talk()
    said.user("Look at this:\n" + "word " * 80_000)
    show(talk, said)
    wait_for(lambda: "inspector" in talk.toPlainText(), "the large message")
    assert "Look at this:" in talk.toPlainText()


# untrusted text -------------------------------------------------------------------------------


def test_text_that_looks_like_markup_stays_text_and_loads_nothing(talk: Conversation) -> None:
    said = Talk()
    said.user("<img src='file:///etc/hostname'> ![x](file:///etc/hostname) <b>bold</b>")
    show(talk, said)
    box, _ = box_of(talk, find(talk, "<img"))
    assert "<b>bold</b>" in box.text()
    assert box.document.loadResource(3, "file:///etc/hostname").isEmpty()


def test_a_link_opens_nothing_but_shows_its_address(talk: Conversation) -> None:
    said = Talk()
    said.reply("[see](https://example.org/a?b=1)")
    show(talk, said)
    click(talk, point(talk, "[see]", QRectF(box_of(talk, find(talk, "[see]"))[0].left, 1, 16, 14)))
    assert talk.address.isVisible()
    assert talk.address.address == "https://example.org/a?b=1"


def test_only_a_file_of_our_own_making_can_be_opened(talk: Conversation) -> None:
    said = Talk()
    said.reply(call("a", "bash", command="make"))
    said.result("a", "bash", "cut", details={"fullOutputPath": "/data/outputs/a.txt"})
    written: set[str] = set()
    talk.file_requested.connect(lambda path: talk.offer_file(path, path in written))
    show(talk, said)
    click(talk, point(talk, "make"))
    click(talk, point(talk, "Whole output"))
    assert talk.address.address == "/data/outputs/a.txt"
    assert not talk.address._open.isVisible()
    talk.address.hide()
    written.add("/data/outputs/a.txt")
    settle()
    click(talk, point(talk, "Whole output"))
    assert talk.address._open.isVisible()
    assert talk.address.address == "file:///data/outputs/a.txt"


# folds and calls ------------------------------------------------------------------------------


def test_a_click_opens_a_call_and_the_line_stays_under_the_mouse(talk: Conversation) -> None:
    show(talk, rich())
    at = point(talk, "for i in $(seq 10)")
    top = find(talk, "for i in $(seq 10)").top
    click(talk, at)
    assert abs(find(talk, "for i in $(seq 10)").top - top) < 1
    assert any("10 passed" in words and "code" in words for words in words_on_screen(talk))
    click(talk, at)
    assert not any("code: " in words for words in words_on_screen(talk))


def test_keys_go_from_part_to_part_and_open_what_is_folded(talk: Conversation) -> None:
    show(talk, rich())
    talk.view.setFocus()
    keys(talk, (Key.Key_Home, Mod.ControlModifier))
    view = talk.view
    names = []
    for _ in range(4):
        keys(talk, Key.Key_J)
        assert view.focused is not None
        item = view.flow.item_of(view.focused[0])
        names.append(view.flow.laid(item).parts[view.flow.laid(item).places[view.focused[1]]].words)
    thought = next(name for name in names if name.startswith("Thinking"))
    assert "folded" in thought
    while not view.accessibleDescription().startswith("Thinking"):
        keys(talk, Key.Key_K)
    keys(talk, Key.Key_Return)
    assert "opened" in view.accessibleDescription()
    keys(talk, Key.Key_J)
    assert "Let me look at the test first." in view.accessibleDescription()
    keys(talk, Key.Key_Left)
    assert "folded" in view.accessibleDescription()
    keys(talk, Key.Key_Right)
    assert "opened" in view.accessibleDescription()


def test_the_button_on_code_copies_all_of_its_pieces(talk: Conversation) -> None:
    said = Talk()
    lines = "\n".join(f"value_{at} = {at}" for at in range(100))
    said.reply(f"```python\n{lines}\n```")
    show(talk, said)
    keys(talk, Key.Key_Home)
    box, _ = box_of(talk, find(talk, "value_0"))
    click(talk, point(talk, "value_0", box.zones()[0].rect))
    assert clipboard() == lines


# to the map and back ----------------------------------------------------------------------------


def test_a_name_leads_to_the_entry_and_an_entry_is_revealed(talk: Conversation) -> None:
    show(talk, rich())
    asked = Heard(talk.entry_requested)
    row = find(talk, "for i in $(seq 10)")
    click(talk, QPoint(theme.S16 + 4, round(row.top + row.height / 2)))
    assert asked.at(0) == [14], "a call leads to its result"
    assert talk.reveal(3)
    settle()
    assert talk.view.marked == 1
    assert talk.view.flow.items.heads[find(talk, "grep").item] == 1
    talk.view.setFocus()
    keys(talk, Key.Key_M)
    assert asked.at(1) == [3]
    assert not talk.reveal(99)


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


# for everybody ------------------------------------------------------------------------------------


def test_parts_on_screen_are_there_for_screen_readers(talk: Conversation) -> None:
    show(talk, rich())
    QAccessible.setActive(True)
    try:
        access = QAccessible.queryAccessibleInterface(talk.view)
        assert access.role() == QAccessible.Role.List
        assert access.childCount() == len(talk.view.placed)
        names = [access.child(at).text(QAccessible.Text.Name) for at in range(access.childCount())]
        assert any(name.startswith("bash for i in $(seq 10)") for name in names)
        assert any(name.startswith("Agent: Ten clean runs") for name in names)
        last = access.child(access.childCount() - 1)
        assert not last.rect().isEmpty()
        talk.view.setFocus()
        keys(talk, Key.Key_K)
        focused = access.focusChild()
        assert focused is not None
        assert focused.state().focused
    finally:
        QAccessible.setActive(False)


def test_an_empty_conversation_says_what_to_do(talk: Conversation) -> None:
    talk.set_placeholder("Open a session to talk to the agent about it.")
    show(talk, Talk())
    assert talk._hint.isVisible()
    for width in (700, 340, 900):
        talk.resize(width, 420)
        settle()
        assert talk._hint.width() > width - 60
        assert talk._hint.height() < 3 * talk._hint.fontMetrics().lineSpacing()
    show(talk, long(5))
    assert not talk._hint.isVisible()
    talk.show_document(None)
    assert talk.view.flow.count == 0


def test_kinds_of_parts_in_a_rich_conversation(talk: Conversation) -> None:
    show(talk, rich())
    kinds = {type(p) for at in range(talk.view.flow.count) for p in talk.view.flow.laid(at).parts}
    assert {Prose, Code, Row} <= kinds


def test_a_compaction_tells_its_sizes_as_they_are_counted_now(talk: Conversation) -> None:
    """As the map does, which is told of new counts as well."""
    said = Talk()
    said.user("word " * 400)
    said.add("compaction", summary="All was said.", firstKeptEntryId="", tokensBefore=9)
    opened = show(talk, said)
    find(talk, "All was said.")
    opened.weights = [2_000, 1_000]
    talk.recount()
    settle()
    (told,) = [one for one in words_on_screen(talk) if "All was said." in one]
    assert "about 2.0k → about 1.0k" in told
    placed = find(talk, "All was said.")
    assert talk.view.flow.laid(placed.item).known_box(placed.part) is not None, "it is painted"

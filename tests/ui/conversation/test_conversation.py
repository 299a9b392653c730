"""The conversation under real events: reading, scrolling, folding, and what it shows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.conversation.steps import (
    Key,
    Mod,
    box_of,
    click,
    clipboard,
    find,
    keys,
    point,
    show,
    talk,
    wheel,
    words_on_screen,
)
from tests.ui.conversation.view.talks import Opened, Talk, call, long, rich
from tests.ui.waiting import Heard, settle, wait_for
from ui import theme
from ui.conversation.conversation import Conversation
from ui.conversation.view.parts import Code, Prose, Row

__all__ = ["talk"]

# the whole path -----------------------------------------------------------------------------------


def test_five_thousand_messages_open_at_their_end_and_few_are_read(talk: Conversation) -> None:
    opened = show(talk, long(5000))
    view = talk.view
    assert view.flow.count > 2900
    last = opened.talk.entries[-1]["message"]["content"][0]["text"]
    assert any(last[:30] in words for words in words_on_screen(talk))
    assert len(set(opened.entries.read)) < 150, "only what is near is read"
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
    entry = opened.entries.entry

    def broken(index: int) -> Any:
        if index == 5:
            raise ValueError("damaged")
        return entry(index)

    opened.entries.entry = broken
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
    opened.tokens.weights = [2_000, 1_000]
    talk.recount()
    settle()
    (told,) = [one for one in words_on_screen(talk) if "All was said." in one]
    assert "about 2k → about 1k" in told
    placed = find(talk, "All was said.")
    assert talk.view.flow.laid(placed.item).known_box(placed.part) is not None, "it is painted"

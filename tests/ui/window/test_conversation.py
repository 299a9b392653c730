"""Conversation and map lead to each other; keys and the menu work in the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from tests.models.server import Answer, ChatServer
from tests.ui.conversation.steps import words_on_screen
from tests.ui.conversation.view.talks import rich
from tests.ui.window.automatic import ROOM, answered, say
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import commit, draft
from ui.widgets.figures import short


async def test_an_entry_is_shown_in_the_conversation_and_back(house: House, tmp_path: Path) -> None:
    live = await house.start(rich().write(tmp_path / "talk.jsonl"))
    view = live.window.agent.conversation.view
    live.click_entry(4)
    live.keys("Shift+F9")
    await live.settle()
    assert view.hasFocus()
    assert view.marked == 4
    assert view.accessibleDescription().startswith("edit src/retry.py")
    live.keys("K", "M")
    await live.settle()
    assert live.window.map.selected == 3, "the call above, by its result"
    assert live.window.entry.index == 3


async def test_the_next_reply_tells_what_a_compaction_left(
    house: House, provider: ChatServer
) -> None:
    """Before it the size goes by the reports before. The mark in the conversation is laid out by
    then, and no count of a tokenizer that comes later has it written anew."""
    provider.plan(Answer(text="Yes.", usage=ROOM), model="gpt-4o-mini")
    live = await house.start(sample_path(), size=(1440, 1200))
    live.window.agent.setMinimumHeight(500)
    live.document.tokens.weights = None
    await draft(live)
    entry = await commit(live)
    talk = live.window.agent.conversation

    def sizes() -> str:
        shown = [words for words in words_on_screen(talk) if " → " in words and "k" in words]
        assert len(shown) == 1, shown
        return shown[0]

    recorded = short(live.document.tree.columns.compactions[entry].tokens_before)
    assert " → about " in sizes()
    say(live, "And now?")
    await answered(live)
    assert f"{recorded} → {short(ROOM['total_tokens'])}" in sizes()


async def test_what_is_not_on_the_path_is_not_in_the_conversation(
    house: House, tmp_path: Path
) -> None:
    talk = rich()
    talk.entries.append(talk.entries[-1] | {"id": "other", "parentId": "e0000001"})
    live = await house.start(talk.write(tmp_path / "talk.jsonl"))
    elsewhere = next(
        at for at in range(17) if at not in live.document.tree.path(live.document.leaf)
    )
    live.click_entry(elsewhere)
    live.keys("Shift+F9")
    await live.settle()
    assert "not on the active path" in live.said


async def test_find_is_the_conversations_own_while_it_has_the_keyboard(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(rich().write(tmp_path / "talk.jsonl"))
    talk = live.window.agent.conversation
    live.keys("F9")
    assert talk.view.hasFocus()
    live.keys("Ctrl+F")
    assert talk.bar.field.hasFocus()
    live.type("never retried")
    await live.until(lambda: talk.finding.is_over and len(talk.finding.hits), "what is found")
    assert talk.bar.count.text().endswith("of 3")
    live.keys("Esc")
    assert talk.view.hasFocus()
    live.keys("/")
    await live.settle()
    assert live.window.header.search.isAncestorOf(live.receiver()), "the slash is the window's"
    live.keys("Esc")
    live.keys("F9", "Esc")
    assert live.window.agent.composer.hasFocus()


async def test_the_menu_copies_a_message(house: House, tmp_path: Path) -> None:
    live = await house.start(rich().write(tmp_path / "talk.jsonl"))
    view = live.window.agent.conversation.view
    live.keys("F9")
    place = QPoint(view.flow.inks.left + 10, round(view.placed[-1].top) - 8)
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place)
    )
    QApplication.sendEvent(view.viewport(), event)
    await live.settle()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    wanted = next(a for a in menu.actions() if "message as Markdown" in a.text().replace("&", ""))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(wanted).center())
    await live.settle()
    assert QGuiApplication.clipboard().text().startswith("**Agent**\n\nTen clean runs.")


async def test_the_whole_conversation_is_copied_by_a_command(house: House, tmp_path: Path) -> None:
    live = await house.start(rich().write(tmp_path / "talk.jsonl"))
    live.session.actions["copy_conversation"].trigger()
    await live.until(lambda: "copied as Markdown" in live.said, "the copy")
    text = QGuiApplication.clipboard().text()
    assert text.startswith("**You**\n\nThe retry test fails about one run in five.")
    assert "```python\nimport asyncio" in text
    assert "**Compacted**" in text

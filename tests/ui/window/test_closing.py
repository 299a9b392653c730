"""Closing at any moment: what runs is stopped, what was acknowledged is stored."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from explorer.session.kinds import Flag, Kind
from explorer.settings.paths import preferences_path
from tests.generated import write_session
from tests.models.server import ChatServer, Stall
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import ask_to_leave, choose, open_sample
from ui.map.navigation import SUMMARIZE


async def test_closing_while_a_draft_runs(house: House, server: ChatServer) -> None:
    server.plan(Stall(after=1, text="Half of a summary"))
    live = await house.start(sample_path())
    entries, key = len(live.document.tree), live.document.key
    live.keys("Ctrl+Shift+K")
    await live.until(server.started.is_set, "the answer")
    assert await live.close() == 0
    assert server.gone.wait(5), "the call has ended"
    again = await house.start()
    assert again.document.key == key
    assert len(again.document.tree) == entries
    assert [draft.status for draft in again.document.shared.store.drafts(key)] == ["cancelled"]


async def test_closing_while_the_agent_answers(house: House, server: ChatServer) -> None:
    """The question is stored, and the half reply with it, marked as stopped."""
    server.plan(Stall(after=1, text="I would begin with "))
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    live.keys("F7")
    live.type("Where would you begin?\n")
    said = live.window.agent.conversation
    await live.until(lambda: "I would begin" in said.toPlainText(), "the first words")
    assert await live.close() == 0
    again = await house.start()
    tree = again.document.tree
    assert len(tree) == entries + 3, "change of model, question, half reply"
    assert tree.kind(entries + 1) is Kind.USER
    assert tree.columns.flags[entries + 2] & Flag.ABORTED
    assert "I would begin with" in str(again.document.payloads.shown.entry(entries + 2))
    assert again.document.leaf == entries + 2


async def test_what_waited_for_the_agent_is_in_the_box_when_it_is_opened_again(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=1, text="I would begin with "))
    live = await house.start(sample_path())
    live.keys("F7")
    live.type("Where would you begin?\n")
    await live.until(server.started.is_set, "the answer")
    live.type("And where then?\n")
    live.type("Hm")
    assert await live.close() == 0
    again = await house.start()
    assert again.window.agent.composer.toPlainText() == "And where then?\n\nHm"


async def test_closing_while_a_branch_summary_streams(house: House, server: ChatServer) -> None:
    server.plan(Stall(after=1, text="Half of a summary"))
    live = await house.start(sample_path())
    leaf = live.document.leaf
    dialog = await ask_to_leave(live, 252)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: dialog.stream.toPlainText(), "the text")
    assert await live.close() == 0
    again = await house.start()
    assert again.document.leaf == leaf
    assert again.document.shared.store.drafts(again.document.key)[-1].status == "cancelled"


async def test_closing_while_a_file_is_imported(house: House, tmp_path: Path) -> None:
    file = write_session(tmp_path / "large.jsonl", 30_000)
    live = await house.start()
    live.drop(file)
    progress = live.window.progress
    await live.until(lambda: progress.isVisible() and progress.bar.value() > 0, "the progress")
    assert await live.close() == 0
    again = await house.start()
    assert again.window.library.model.rowCount() == 0, "half an import is no session"


async def test_closing_while_tokens_are_counted(house: House, tmp_path: Path) -> None:
    live = await house.start()
    live.drop(write_session(tmp_path / "some.jsonl", 4_000))
    await live.until(lambda: live.has_document, "the session")
    assert await live.close() == 0


async def test_quitting_by_the_keyboard(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+Q")
    await live.until(live.task.done, "the end")
    assert await live.close() == 0


async def test_a_window_closed_in_its_first_moments_ends(house: House) -> None:
    live = await house.start()
    live.window.close()
    live.window.close()
    assert await live.close() == 0


async def test_the_layout_is_remembered(house: House) -> None:
    """Panes as wide as they were dragged, and the tab that was shown."""
    live = await house.start()
    await open_sample(live)
    handle = live.window.whole.handle(1)
    before = live.window.whole.sizes()
    start = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 9):
        QTest.mouseMove(handle, start - QPoint(10 * step, 0))
        await live.settle(1)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start)
    await live.settle()
    sizes = live.window.whole.sizes()
    assert sizes[1] > before[1]
    live.keys("Ctrl+2")
    live.choose(live.window.header.profile, "pi")
    live.window.header.profile.activated.emit(live.window.header.profile.currentIndex())
    await live.idle()
    assert live.session.state.profile.name == "pi"
    await live.close()
    again = await house.start()
    assert again.window.whole.sizes() == sizes
    assert again.tab == "context"
    assert again.window.header.profile_name == "pi"
    assert again.session.state.profile.name == "pi"


async def test_settings_that_cannot_be_read_are_told_and_the_defaults_used(house: House) -> None:
    live = await house.start()
    await live.close()
    preferences_path().write_text('{"theme": "purple", "scale": 4000')
    again = await house.start()
    assert "settings" in again.notice
    assert again.bench_is_open
    await again.close()
    assert json.loads(preferences_path().read_text())["scale"] == 100

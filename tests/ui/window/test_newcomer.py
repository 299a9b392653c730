"""What a newcomer does with the bundled session, from the first key to the second start."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QPoint

from explorer.session.entries import BranchSummary, CompactionSummary
from explorer.session.kinds import Kind
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow
from tests.ui.window.steps import (
    choose,
    choose_file,
    commit,
    draft,
    open_sample,
    prepared,
    split_a_turn,
)
from ui.compaction.request_window import RequestPage, RequestWindow
from ui.map.navigation import SUMMARIZE, LeavingDialog

INSTRUCTION = "Keep every rule about 409 in my own words."


async def test_the_whole_walk_by_keyboard(house: House, tmp_path: Path) -> None:
    """Search, step back with a summary, cut inside a turn, compact, undo, export, start again.

    No mouse event is sent, and no widget is given the focus by the test.
    """
    live = await house.start()
    await open_sample(live)
    error = await find_the_error(live)
    before_it = await leave_with_a_summary(live, error)
    await cut_inside_a_turn(live)
    await see_the_exact_request(live)
    compaction = await compact_with_an_edited_line(live)
    await look_at_the_context(live, compaction)
    await undo(live, compaction)
    await export(live, tmp_path / "out.jsonl", compaction)
    leaf, tab, profile = live.document.leaf, live.tab, live.session.state.profile
    settings = live.session.state.settings
    assert await live.close() == 0

    again = await house.start()
    await again.until(lambda: again.has_document, "the session of last time")
    await again.idle()
    assert again.document.leaf == leaf
    assert again.window.map.selected == leaf
    assert again.tab == tab
    assert again.session.state.profile == profile
    assert again.session.state.settings == settings
    kinds = again.document.tree.columns.kind
    assert kinds[compaction] == Kind.COMPACTION, "what was undone is still in the log"
    assert again.document.tree.columns.parent[before_it] >= 0


async def find_the_error(live: RunningWindow) -> int:
    """``/`` searches; Enter goes to the first hit and on to the next, Escape back to the map."""
    assert live.window.map.view.hasFocus()
    live.keys("/")
    search = live.window.header.search
    assert search.box.hasFocus()
    live.type("failed")
    await live.until(lambda: " / " in search.count.text(), "the hits")
    first = live.window.map.selected
    assert "failed" in str(live.document.payloads.shown.entry(first)).casefold()
    total = int(search.count.text().rpartition("/")[2])
    assert total > 3
    live.keys("Return", "Return", "Return")
    await live.idle()
    assert live.window.map.selected > first
    assert search.count.text() == f"3 / {total}"
    live.keys("Shift+Return", "Shift+Return")
    assert live.window.map.selected == first
    live.keys("Shift+Return")
    assert search.count.text() == f"{total} / {total}", "round to the last one"
    await live.idle()
    last = live.window.map.selected
    assert "failed" in str(live.document.payloads.shown.entry(last)).casefold()
    live.keys("Esc")
    assert live.window.map.view.hasFocus()
    assert live.window.entry.index == last, "the entry found is shown"
    return last


async def leave_with_a_summary(live: RunningWindow, entry: int) -> int:
    """Go to the entry before one; the branch that is left is summarized, edited and stored."""
    tree, leaf = live.document.tree, live.document.leaf
    live.keys("Left")
    target = live.window.map.selected
    assert target == tree.columns.parent[entry]
    while tree.kind(target) in (Kind.USER, Kind.CUSTOM_MESSAGE):
        live.keys("Left")
        target = live.window.map.selected
    live.keys("Return")
    dialog = await live.dialog(LeavingDialog)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    assert live.document.leaf == leaf, "the leaf waits until the summary is accepted (A37)"
    assert dialog.summary.hasFocus()
    live.keys("Ctrl+End")
    live.type("\nRemember: the clock was not to blame.")
    await live.tab_to(dialog.store)
    live.keys("Space")
    await live.until(lambda: live.document.leaf != leaf, "the new leaf")
    await live.back()
    entry_there = live.document.leaf
    stored = live.document.payloads.shown.entry(entry_there)
    assert isinstance(stored.body, BranchSummary)
    assert stored.summary.endswith("Remember: the clock was not to blame.")
    assert stored.body.from_id == tree.columns.ids[leaf], "where the branch was left (A35)"
    assert tree.columns.parent[entry_there] == target, "stored where one went to (A34)"
    assert live.window.map.selected == entry_there
    assert entry_there in live.document.context().messages
    return entry_there


async def cut_inside_a_turn(live: RunningWindow) -> None:
    """The slider of what is kept, by arrow keys; the sentence says where the cut falls."""
    live.keys("Ctrl+3")
    assert live.tab == "compaction"
    live.keys("Alt+K")
    setup = live.window.compaction.setup
    if setup.keep.box.hasFocus():
        live.keys("Shift+Tab")
    preparation = await split_a_turn(live)
    await live.settle()
    assert "inside turn" in setup.why.accessibleName()
    cut_entry = live.partition.path[preparation.cut]
    assert f"#{cut_entry}" in setup.why.accessibleName()
    assert live.window.map.view.cut_now() == preparation.cut, "the map has the same cut"


async def see_the_exact_request(live: RunningWindow) -> None:
    """Every request carries the instruction, the one for the split turn too (A20, E9)."""
    setup = live.window.compaction.setup
    await live.tab_to(setup.instructions)
    live.type(INSTRUCTION)
    await live.tab_to(setup.request)
    live.keys("Space")
    window = await live.dialog(RequestWindow)
    sent = live.document.compaction.requests(live.partition, INSTRUCTION)
    await live.until(lambda: window.tabs.count() == len(sent), "the requests")
    shown = [window.tabs.widget(number) for number in range(len(sent))]
    pages = [page for page in shown if isinstance(page, RequestPage)]
    assert [page.request for page in pages] == sent, "exactly what is sent"
    assert "turn_prefix" in [page.request.purpose for page in pages]
    for page in pages:
        assert INSTRUCTION in page.request.prompt
        await live.until(lambda page=page: not page.prompt.is_loading, "the text")
        assert INSTRUCTION in page.prompt.toPlainText(), "and it is shown"
    live.keys("Esc")
    await live.until(lambda: not window.isVisible(), "the end of the request window")
    await live.back()


async def compact_with_an_edited_line(live: RunningWindow) -> int:
    entries, leaf = len(live.document.tree), live.document.leaf
    first_kept = live.document.tree.columns.ids[prepared(live).first_kept]
    await draft(live)
    editor = live.window.compaction.draft.editor
    assert editor.hasFocus()
    assert len(live.document.tree) == entries, "a draft changes nothing"
    live.keys("Ctrl+Home")
    live.type("A 409 is final.\n")
    live.mnemonic("Commit")
    await live.until(lambda: len(live.document.tree) == entries + 1, "the compaction")
    await live.idle()
    compaction = live.document.leaf
    stored = live.document.payloads.shown.entry(compaction)
    assert isinstance(stored.body, CompactionSummary)
    assert stored.summary.startswith("A 409 is final.\n")
    assert stored.body.first_kept_id == first_kept
    assert live.document.tree.columns.parent[compaction] == leaf
    assert "Compacted" in live.words(live.window.compaction)
    return compaction


async def look_at_the_context(live: RunningWindow, compaction: int) -> None:
    """The context after is the summary and what was kept; before, it was more (A7)."""
    live.keys("Ctrl+2")
    await live.settle()
    after = live.window.context.model.rowCount()
    assert live.document.context().messages[0] == compaction
    assert f"#{compaction}" in live.window.context.title.text()
    live.keys("F6", "Up")
    await live.settle()
    assert live.window.map.selected == live.document.tree.columns.parent[compaction]
    before = live.window.context.model.rowCount()
    assert before > after
    assert f"compaction #{compaction}" not in live.words(live.window.context)


async def undo(live: RunningWindow, compaction: int) -> None:
    """Undo moves the leaf before the compaction; the entry stays (the log only grows)."""
    entries = len(live.document.tree)
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf != compaction, "the undo")
    await live.idle()
    assert live.document.leaf == live.document.tree.columns.parent[compaction]
    assert len(live.document.tree) == entries
    assert "taken back" in live.words(live.window.compaction)


async def export(live: RunningWindow, target: Path, compaction: int) -> None:
    live.keys("Ctrl+S")
    await choose_file(live, target)
    await live.until(target.exists, "the file")
    await live.idle()
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    ids = {line.get("id") for line in lines}
    assert live.document.tree.columns.ids[compaction] in ids
    assert str(target) in live.said


async def test_the_walk_by_mouse(house: House) -> None:
    """The same with the mouse: click, double click, buttons."""
    live = await house.start()
    live.press_button("Look at an example")
    await live.until(lambda: live.session.tour.callout.isVisible(), "the first callout")
    live.press_button("Skip")
    await live.idle()
    tree, leaf = live.document.tree, live.document.leaf
    live.click_entry(270)
    await live.settle()
    assert live.window.map.selected == live.window.entry.index == 270
    live.double_click_entry(252)
    dialog = await live.dialog(LeavingDialog)
    live.click(dialog.choices.button(SUMMARIZE), QPoint(12, 12))
    live.click(dialog.go)
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    live.press_button("Store and go there", dialog)
    await live.until(lambda: live.document.leaf != leaf, "the new leaf")
    await live.back()
    assert tree.columns.parent[live.document.leaf] == 252
    live.click(live.window.inspector.tabBar(), live.window.inspector.tabBar().tabRect(2).center())
    assert live.tab == "compaction"
    live.press_button("Summarize", live.window.compaction)
    panel = live.window.compaction
    await live.until(lambda: panel.draft.drafts(), "the draft")
    compaction = await commit(live)
    assert tree.kind(compaction) is Kind.COMPACTION
    live.press_button("Undo", panel)
    await live.until(lambda: live.document.leaf != compaction, "the undo")
    await live.idle()
    assert live.document.leaf == tree.columns.parent[compaction]


async def test_going_to_a_message_of_the_person_puts_it_into_the_box(house: House) -> None:
    """Its parent becomes the leaf, and its text waits in the composer to be written anew (A33)."""
    live = await house.start()
    await open_sample(live)
    asked = next(
        at
        for at in range(len(live.document.tree) - 1, 0, -1)
        if live.document.tree.kind(at) is Kind.USER
    )
    live.double_click_entry(asked)
    await live.dialog(LeavingDialog)
    live.keys("Return")
    parent = live.document.tree.columns.parent[asked]
    await live.until(lambda: live.document.leaf == parent, "the parent as leaf")
    await live.back()
    assert live.session.navigation.dialog is None
    composer = live.window.agent.composer
    assert composer.hasFocus()
    assert "run the retry tests ten times" in composer.toPlainText()

"""A commit that is pressed in the moment in which the session moves on."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu

from explorer.services.changes import Change, EntriesAppended
from explorer.session.kinds import Kind
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import ask_to_leave, draft

TARGET = 252


async def draft_of(live: RunningWindow, entry: int) -> None:
    """Make a draft of a compaction at an entry that is not the leaf, then go to that entry."""
    surface = live.window.map.view
    surface.menu_requested.emit(entry, surface.mapToGlobal(surface.rect().center()))
    menu = live.window.findChildren(QMenu)[-1]
    next(one for one in menu.actions() if one.text() == "Preview a compaction here").trigger()
    menu.close()
    await live.back()
    assert live.partition.preparation.leaf == entry
    await draft(live)
    await ask_to_leave(live, entry)
    live.keys("Return")
    await live.until(lambda: live.document.leaf == entry, "the leaf at the entry")
    await live.back()
    live.keys("Ctrl+3")


async def test_a_commit_is_refused_when_the_leaf_moves_before_it_is_stored(house: House) -> None:
    live = await house.start(sample_path())
    await draft_of(live, TARGET)
    panel = live.window.compaction
    assert live.button("Commit", panel).isVisible(), "the draft is of the leaf"
    bench = live.session.state.bench
    assert bench is not None

    def press(change: Change) -> None:
        """The entry is stored, and becomes the leaf right after this."""
        if isinstance(change, EntriesAppended):
            forget()
            live.press_button("Commit", panel)

    forget = bench.subscribe(press)
    await live.document.edits.set_label(5, "meanwhile")
    moved = live.document.leaf
    assert moved != TARGET
    await live.until(panel.notice.isVisible, "the reason")
    await live.idle()
    assert "moved" in live.words(panel.notice)
    assert live.document.leaf == moved
    kinds = [live.document.tree.kind(at) for at in range(moved, len(live.document.tree))]
    assert Kind.COMPACTION not in kinds

"""Where a compaction is previewed: at the leaf, or at the entry that a person points at."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path
from ui.widgets.entry_table import ENTRY
from ui.widgets.labels import ClickLabel


async def point_up(live: RunningWindow, by: int = 60) -> int:
    """Select an entry of the active path that is so many rows above the leaf."""
    live.window.map.setFocus()
    for _ in range(by):
        live.keys("Up")
    await live.settle()
    entry = live.window.map.selected
    assert entry in live.document.tree.path(live.document.leaf)[:-1]
    return entry


def place(live: RunningWindow) -> ClickLabel:
    return live.window.compaction.setup.following.place


async def test_a_preview_at_the_leaf_offers_the_entry_that_is_pointed_at(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+K")
    leaf = live.document.leaf
    assert place(live).accessibleName() == f"At the leaf, #{leaf}"
    entry = await point_up(live)
    live.keys("Ctrl+K")
    await live.settle()
    words = f"At the leaf, #{leaf}; preview at #{entry} instead"
    assert place(live).accessibleName() == words
    await live.tab_to(place(live))
    live.keys("Return")
    await live.settle()
    assert live.partition.preparation.leaf == entry
    assert live.document.leaf == leaf, "the leaf stays"
    words = f"Previewed at #{entry}; at the leaf, #{leaf}, instead"
    assert place(live).accessibleName() == words
    assert place(live).hasFocus()
    live.keys("Return")
    await live.settle()
    assert live.partition.preparation.leaf == leaf


async def test_a_preview_at_the_selected_entry_has_a_key(house: House) -> None:
    live = await house.start(sample_path())
    leaf, entry = live.document.leaf, await point_up(live)
    live.keys("Ctrl+Alt+E")
    await live.settle()
    assert live.tab == "compaction"
    assert (live.partition.preparation.leaf, live.document.leaf) == (entry, leaf)
    assert live.window.map.selected == entry
    live.keys("Ctrl+L", "Ctrl+Alt+E")
    await live.settle()
    assert live.partition.preparation.leaf == leaf
    assert live.window.compaction.at is None, "it follows the leaf again"


async def test_a_key_leads_to_the_instructions(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+I")
    await live.until(live.window.compaction.setup.instructions.hasFocus, "the instructions")
    live.type("the port")
    assert live.window.compaction.instructions() == "the port"
    menu = live.session.actions["instructions"]
    assert menu.text().replace("&", "") == "Write instructions"


async def test_tab_through_the_panel_chooses_nothing_and_shows_where_it_is(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    setup = live.window.compaction.setup
    await live.settle(20)
    chosen = setup.table.currentIndex().row()
    assert setup.table.currentIndex().data(ENTRY) == live.document.leaf
    words = setup.entry_why.words.text()
    setup.keep.track.setFocus()
    stops = []
    for key, last in (("Tab", setup.model), ("Shift+Tab", setup.keep.track)):
        while not last.hasFocus():
            before = live.window.grab().toImage()
            live.keys(key)
            await live.settle()
            stop = QApplication.focusWidget()
            assert stop is not None and setup.isAncestorOf(stop)
            stops.append(stop)
            where = on_screen(stop)
            await live.settle()
            shown = live.window.grab().toImage()
            assert shown.copy(where) != before.copy(where), (key, stop.accessibleName())
            assert setup.entry_why.words.text() == words
            assert setup.table.currentIndex().row() == chosen
            assert len(stops) < 60
    assert stops.count(setup.why) > 2, "each link, in both directions"
    assert setup.table in stops


async def test_a_list_without_a_chosen_row_is_entered_without_choosing_one(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    setup = live.window.compaction.setup
    await live.settle(20)
    elsewhere = next(
        entry for entry in range(len(live.document.tree))
        if entry not in live.document.tree.path(live.document.leaf)
    )  # fmt: skip
    live.click_entry(elsewhere)
    words = setup.entry_why.words.text()
    assert "not on the path" in words
    await live.tab_to(setup.table)
    assert not setup.table.currentIndex().isValid()
    assert setup.entry_why.words.text() == words
    top = setup.table.indexAt(QPoint(0, 0)).row()
    live.keys("Down")
    assert setup.table.currentIndex().row() in (top, top + 1), "the first in sight"

"""A team's library in the window: listed, filtered and searched, opened to be read, gone on from,
annotated, published into and withdrawn from."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox, QToolButton

from explorer.services.team_sessions import FIRST_KEY
from explorer.session.kinds import Kind
from explorer.store import StoreError
from explorer.store.postgres import TeamLibrary
from tests.formats.claude_lines import SESSION as CLAUDE
from tests.team.cluster import Cluster
from tests.ui.window.house import House
from tests.ui.window.library_steps import SAMPLE, at_title, popup, shows, titles
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.team_steps import (
    KEY,
    SEEN_S,
    at_team,
    lists,
    opened_page,
    publish_file,
    session_file,
    with_team,
)
from ui.library.needed import WORST
from ui.library.page import LibraryPage
from ui.shell.actions import CHANGES
from ui.team.notes import TeamNotes
from ui.team.publish_dialog import PublishDialog

LibraryOf = Callable[[str], TeamLibrary]
assert CLAUDE
LONG_S = 240
"""Processes begin slowly where others are busy."""


async def test_without_a_team_library_nothing_of_it_is_shown(house: House) -> None:
    live = await house.start(sample_path())
    page = await opened_page(live)
    assert page.filters.libraries.isHidden() and not page.publish_action.isVisible()
    assert not page.withdraw_action.isVisible()
    assert page.table.isColumnHidden(page.table.rows.column("Published by"))
    assert not page.table.isColumnHidden(page.table.rows.column("Cost"))


async def test_a_team_library_is_listed_filtered_and_searched_with_the_same_table(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    first = publish_file(library_of("ada"), session_file(tmp_path, "one", 6))
    publish_file(library_of("ben"), session_file(tmp_path, "two"))
    library_of("ben").add_note(first, "solved", kind="label")
    library_of("ben").add_note(first, "see line 3")
    live = await with_team(house, cluster.address(team_database, "rea"), sample_path())
    page = await at_team(live)
    await lists(live, page, "session one — ben: see line 3", "session two")
    by, hidden = page.table.rows.column("Published by"), page.table.isColumnHidden
    assert sorted(cells[by] for cells in page.table.cells()) == ["ada", "ben"]
    assert hidden(page.table.rows.column("Cost")) and not hidden(by)
    assert not page.archive_action.isVisible() and not page.filters.places.button(2).isVisible()
    await shows(live, page, 2)
    assert not page.totals.spent.isVisible() and not page.totals.bars.isVisible()
    page.filters.line.setFocus()
    live.type("ada")
    await lists(live, page, "session one — ben: see line 3")
    live.keys("Ctrl+A", "Delete")
    await live.until(lambda: len(titles(page)) == 2, "all of them")
    live.type("number 5")
    live.keys("Ctrl+Return")
    await live.until(lambda: page.shows_hits and page.hits.table.rows.rowCount() == 1, "the hit")
    assert page.hits.table.current.line == "line number 5"
    publish_file(library_of("ben"), session_file(tmp_path, "three"))
    began = time.monotonic()
    live.keys("Esc", "Alt+R")
    await live.until(lambda: "session three" in titles(page), "what another publishes", SEEN_S)
    assert time.monotonic() - began < SEEN_S
    live.choose(page.filters.libraries, "")
    await lists(live, page, SAMPLE)
    assert page.totals.spent.isVisible() and page.archive_action.isVisible()
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    assert [one.session.key for one in page.table.chosen] == [first], "of the same number"
    live.choose(page.filters.libraries, "acme")
    await live.until(lambda: len(titles(page)) == 3, "the team's sessions")
    assert page.chosen.text() == "Nothing selected" and not page.withdraw_action.isEnabled()


async def test_what_was_needed_again_in_a_team_library_opens_its_sessions(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    publish_file(library_of("ben"), session_file(tmp_path, "one", 6))
    key = publish_file(library_of("ada"), sample_path())
    live = await with_team(house, cluster.address(team_database, "rea"))
    page = await at_team(live)
    await live.until(lambda: len(titles(page)) == 2, "the sessions")
    await live.until(lambda: page.totals.needed.isEnabled(), "the sums")
    live.click(page.totals.needed)
    done = "1 session with a compaction worked out, each on its active path"
    await live.until(lambda: page.needed.words.text() == done, "all of it", LONG_S)
    assert [cells[:3] for cells in page.needed.table.cells()] == [["pi", "1", "2"]]
    live.keys("Escape", to=page.needed.table)
    live.click(page.totals.needed)
    await live.until(lambda: page.needed.words.text() == done, "it again")
    assert page.needed.stop_link.isHidden(), "without working it out again"
    live.choose(page.needed.view, WORST)
    wanted = page.needed.worst.rows.at(0).row
    assert (wanted["library"], wanted["session"]) == ("acme", key)
    page.needed.worst.setFocus()
    live.keys("Home", "Return", to=page.needed.worst)
    await live.until(
        lambda: live.has_document and live.window.map.selected == wanted["compaction"],
        "the compaction",
    )
    assert live.document.key >= FIRST_KEY


async def opened_sample(
    house: House, address: str, ada: TeamLibrary, person: str = "rea"
) -> tuple[RunningWindow, int]:
    """The bundled session of the team, opened by somebody who has no session."""
    key = publish_file(ada, sample_path())
    live = await with_team(house, address)
    page = await at_team(live)
    await live.until(lambda: len(titles(page)) == 1, "the session")
    page.table.setFocus()
    live.keys("Home", "Return", to=page.table)
    await live.until(lambda: live.has_document, "the session")
    live.window.activateWindow()
    await live.until(live.window.isActiveWindow, "the window")
    await live.idle()
    return live, key


async def test_a_session_of_a_team_is_read_and_nothing_can_be_changed(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf
) -> None:
    live, _ = await opened_sample(house, cluster.address(team_database, "rea"), library_of("ada"))
    document, window = live.document, live.window
    assert document.key >= FIRST_KEY and len(document.tree) == 282
    assert "published by ada" in live.words(window.agent)
    assert not window.agent.composer.isVisible() and window.saved.text() == "read only"
    leaf = document.leaf
    registry = live.session.actions
    for name in CHANGES:
        assert not registry[name].isEnabled(), name
        assert "only read here" in registry[name].toolTip(), name
    window.map.setFocus()
    live.keys("Up", "Up", "Return", "P", "Ctrl+B", "Ctrl+G")
    await live.idle()
    assert document.leaf == leaf and len(document.tree) == 282
    assert "only read here" in live.said
    live.click_entry(window.map.selected)
    live.keys("Ctrl+3")
    await live.until(lambda: window.compaction.partition is not None, "the preview")
    assert not window.compaction.setup.summarize.isEnabled()
    assert "only read here" in window.compaction.setup.summarize.toolTip()
    live.keys("Ctrl+4")
    await live.until(lambda: "again" in live.words(window.audit), "the audit")
    with pytest.raises(StoreError, match="only read here"):
        await document.edits.set_label(3, "no")
    with pytest.raises(StoreError, match="only read here"):
        await document.writer.move_leaf(3)
    assert live.session.state.bench is not None
    assert live.session.state.bench.sessions() == [], "the own library has nothing of it"


async def test_the_menu_of_an_entry_says_what_is_refused(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf
) -> None:
    live, _ = await opened_sample(house, cluster.address(team_database, "rea"), library_of("ada"))
    window = live.window
    window.map.setFocus()
    window.map.menu_requested.emit(
        window.map.selected, window.map.mapToGlobal(window.rect().center())
    )
    menu = await popup(live, QMenu)
    found = {action.text(): action for action in menu.actions()}
    for refused in ("Go here", "Pin", "Fork to a new session…", "Label…"):
        assert not found[refused].isEnabled() and "only read" in found[refused].toolTip()
    assert found["Show the context here"].isEnabled() and menu.toolTipsVisible()
    menu.close()


async def test_going_on_copies_it_into_the_own_library_once(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf
) -> None:
    address = cluster.address(team_database, "rea")
    live, key = await opened_sample(house, address, library_of("ada"))
    live.window.map.setFocus()
    live.keys("Up")
    chosen = live.window.map.selected
    live.press_button("Go on from here")
    await live.until(lambda: live.has_document and not live.document.read_only, "the copy")
    await live.idle()
    own = live.document
    assert live.window.map.selected == chosen and len(own.tree) == 282
    assert live.window.agent.composer.isVisible()
    assert live.session.actions["label"].isEnabled()
    assert "only read" not in live.session.actions["label"].toolTip()
    assert not any(one.isVisible() for one in live.window.findChildren(TeamNotes))
    await own.edits.set_label(3, "mine")
    assert own.tree.labels()[3] == "mine"
    assert len(library_of("rea").records(key, 0, 281)) == 282
    live.session.team.open("acme", key)
    await live.until(lambda: bool(live.document.read_only), "the team's again")
    await live.idle()
    live.press_button("Go on from here")
    await live.until(lambda: live.document is not own and not live.document.read_only, "the copy")
    assert live.document.key == own.key, "there is one copy of it"


async def test_notes_and_labels_stand_at_entries_and_are_seen_by_others_at_once(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf
) -> None:
    live, key = await opened_sample(house, cluster.address(team_database, "rea"), library_of("ada"))
    live.keys("Ctrl+1")
    await live.settle()
    document, at = live.document, live.window.map.selected
    entry_id = document.tree.columns.ids[at]
    (view,) = [one for one in live.window.entry.findChildren(TeamNotes) if one.isVisible()]
    live.click(view.box)
    live.type("it was the cache\n")
    await live.until(lambda: [one.words.text() for one in view.lines] == ["it was the cache"],
                     "the note", SEEN_S)  # fmt: skip
    ben = library_of("ben")
    (note,) = ben.notes(key)
    assert (note.author, note.entry_id, note.kind) == ("rea", entry_id, "note")
    assert view.box.text() == ""
    ben.add_note(key, "solved", entry_id, "label")
    await live.until(lambda: len(view.lines) == 2, "what another writes", SEEN_S)
    assert "ben" in view.lines[1].who.text() and view.lines[1].words.property("keycap")
    live.type("kept")
    live.press_button("As label", view)
    await live.until(lambda: len(view.lines) == 3, "the label", SEEN_S)
    assert [one.kind for one in ben.notes(key)] == ["note", "label", "label"]
    live.window.map.setFocus()
    live.keys("Up")
    await live.until(lambda: not view.lines and view.isVisible(), "no note at another entry")
    live.keys("Down")
    await live.until(lambda: len(view.lines) == 3, "the notes at the entry")
    crosses = [cross for line in view.lines for cross in line.findChildren(QToolButton)]
    assert len(crosses) == 2, "only one's own are taken away"
    live.click(crosses[0])
    await live.until(lambda: len(view.lines) == 2, "one less", SEEN_S)
    assert [one.text for one in ben.notes(key)] == ["solved", "kept"]


async def test_a_note_on_a_finding_names_its_entry_and_the_finding(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf
) -> None:
    live, key = await opened_sample(house, cluster.address(team_database, "rea"), library_of("ada"))
    page = live.window.audit.findings
    first = live.document.tree.columns.kind.index(Kind.COMPACTION)
    live.session.fidelity.look_at_entry(first)
    await live.until(
        lambda: page.isVisible() and page.has_findings and page.current is not None, "a finding"
    )
    finding = page.current
    assert finding is not None
    (view,) = [one for one in page.findChildren(TeamNotes) if one.isVisible()]
    live.click(view.box)
    live.type("we say this in AGENTS.md\n")
    await live.until(lambda: len(view.lines) == 1, "the note", SEEN_S)
    (note,) = library_of("ben").notes(key)
    assert note.finding == finding.id
    assert note.entry_id == live.document.tree.columns.ids[finding.fact.last]
    assert not any(button.isVisible() for button in page.detail.buttons.values())
    assert not page.recall.isEnabled() and "only read" in page.recall.toolTip()


async def test_what_goes_is_shown_first_and_goes_when_the_person_says_so(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    live = await with_team(house, cluster.address(team_database, "ada"))
    live.drop(session_file(tmp_path, "one", 4, KEY), session_file(tmp_path, "two"))
    await live.until(lambda: live.has_document, "the sessions")
    await live.idle()
    page = await opened_page(live)
    await lists(live, page, "session one", "session two")
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    live.press_button("Publish…", page)
    dialog = await live.dialog(PublishDialog)
    await live.until(dialog.publish.isEnabled, "what would go")
    masked = {one.session.title: dict(one.plan.masked) for one in dialog.going if one.plan}
    assert masked == {"session one": {"Anthropic key": 1}, "session two": {}}
    dialog.table.setFocus()
    live.keys("Home", to=dialog.table)
    while dialog.table.current.session.title != "session one":
        live.keys("Down", to=dialog.table)
    assert "1 Anthropic key, in #4" in live.words(dialog)
    assert "Publish 2 sessions" in dialog.publish.text().replace("&", "")
    ben = library_of("ben")
    assert ben.sessions() == [], "nothing goes unasked"
    live.click(dialog.publish)
    await live.until(lambda: "2 sessions published" in live.words(dialog), "the end")
    assert {one.title for one in ben.sessions()} == {"session one", "session two"}
    assert KEY not in "".join(one.raw for row in ben.sessions()
                              for one in ben.records(row.key, 0, 9))  # fmt: skip
    live.click(dialog.leave)
    page.activateWindow()
    live.press_button("Publish…", page)
    again = await live.dialog(PublishDialog)
    await live.until(lambda: "there already" in live.words(again), "that it is there")
    assert not again.publish.isEnabled()
    live.keys("Esc", to=again)


async def test_only_ones_own_is_withdrawn(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    publish_file(library_of("ada"), session_file(tmp_path, "one"))
    publish_file(library_of("ben"), session_file(tmp_path, "two"))
    live = await with_team(house, cluster.address(team_database, "ada"))
    page = await at_team(live)
    await lists(live, page, "session one", "session two")
    await at_title(live, page, "session two")
    await live.settle()
    assert not page.withdraw_action.isEnabled()
    assert "Published by ben" in live.button("Withdraw…", page).toolTip()
    await at_title(live, page, "session one")
    await live.settle()
    live.press_button("Withdraw…", page)
    box = await live.dialog(QMessageBox)
    live.press_button("Withdraw", box)
    await lists(live, page, "session two")
    assert [one.title for one in library_of("ben").sessions()] == ["session two"]
    await annotated(live, page)
    await live.until(
        lambda: titles(page) == ["session two — ada: for everyone"], "the note on the session"
    )


async def annotated(live: RunningWindow, page: LibraryPage) -> None:
    """Write a note on the first session of the page."""
    page.activateWindow()
    await live.until(page.isActiveWindow, "the page")
    page.table.setFocus()
    live.keys("Ctrl+A", "F2", to=page.table)
    dialog = await live.dialog(QInputDialog)
    live.type("for everyone")
    live.keys("Return")
    await live.until(lambda: not dialog.isVisible(), "the end of the dialog")

"""Libraries of teams added and removed in the window, with what is checked; and what a steward may
do in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QMessageBox

from explorer.settings.libraries import libraries_path, read_libraries
from explorer.store.postgres import VERSION, TeamLibrary
from tests.team.cluster import Cluster
from tests.ui.window.house import House
from tests.ui.window.library_steps import SAMPLE, at_title
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.team_steps import (
    at_team,
    lists,
    opened_page,
    publish_file,
    session_file,
    with_team,
)
from ui.library.page import LibraryPage
from ui.team.libraries_dialog import LibrariesDialog

LibraryOf = Callable[[str], TeamLibrary]


async def managing(live: RunningWindow, page: LibraryPage) -> LibrariesDialog:
    live.click(page.filters.teams)
    return await live.dialog(LibrariesDialog)


async def tried(live: RunningWindow, dialog: LibrariesDialog, name: str, address: str) -> str:
    """Write a name and an address, and what is said of them."""
    for line, text in ((dialog.name, name), (dialog.address, address)):
        line.setFocus()
        line.selectAll()
        live.type(text, to=line)
    live.keys("Return", to=dialog.address)
    await live.until(lambda: dialog.words.text() and not live.busy(), "what is said")
    return dialog.words.text()


async def test_a_library_is_checked_added_shown_and_removed(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    publish_file(library_of("ben"), session_file(tmp_path, "one"))
    live = await house.start(sample_path())
    page = await opened_page(live)
    dialog = await managing(live, page)
    assert not dialog.add.isEnabled() and not dialog.remove.isEnabled()
    address = cluster.address(team_database, "ada")
    said = await tried(live, dialog, "acme", address)
    assert said == (
        "acme was added. Its server knows you as ada, publisher; it asked for no password."
    )
    assert dialog.name.text() == "" and [cells[0] for cells in dialog.table.cells()] == ["acme"]
    assert read_libraries().libraries["acme"].address == address
    assert "is there already" in await tried(live, dialog, "acme", address)
    assert dialog.address.text() == address, "what was written stays where it failed"
    live.click(dialog.close_button)
    page.activateWindow()
    live.choose(page.filters.libraries, "acme")
    await lists(live, page, "session one")

    dialog = await managing(live, page)
    live.click(dialog.remove)
    live.press_button("Remove", await live.dialog(QMessageBox))
    await live.until(lambda: not dialog.table.cells(), "that it is gone")
    await lists(live, page, SAMPLE)
    assert page.team == "" and page.filters.libraries.isHidden()
    assert not read_libraries().libraries
    assert len(library_of("ben").sessions()) == 1, "its server is left as it is"
    live.keys("Esc", to=dialog)


async def test_what_is_wrong_with_a_library_is_said_and_nothing_is_added(
    house: House, cluster: Cluster, team_database: str
) -> None:
    live = await house.start(sample_path())
    dialog = await managing(live, await opened_page(live))
    ada = cluster.address(team_database, "ada")
    secret = ada.replace("ada@", "ada:hunter2@")
    for name, address, words in (
        ("A name", ada, "is no name"),
        ("acme", "sqlite:///x", "begins with postgresql://"),
        ("acme", secret, "The address holds a password"),
        ("acme", ada.replace(str(cluster.port), "1"), "the server was not reached"),
        ("acme", cluster.address(team_database, "nobody"), 'role "nobody" does not exist'),
        ("acme", cluster.address(team_database, "out"), "GRANT session_explorer_reader TO out"),
        ("acme", cluster.address(cluster.database(), "ada"), "holds no sessions yet"),
    ):
        said = await tried(live, dialog, name, address)
        assert said.startswith("Not added. ") and words in said and "hunter2" not in said
    newer = "UPDATE session_explorer.library SET value = %s"
    cluster.sql(newer, team_database, values=(str(VERSION + 1),))
    said = await tried(live, dialog, "acme", ada)
    assert "a newer Session Explorer made it" in said
    assert not dialog.table.cells() and not libraries_path().exists()


async def test_a_steward_withdraws_what_others_published(
    house: House, cluster: Cluster, team_database: str, library_of: LibraryOf, tmp_path: Path
) -> None:
    for number in (1, 2):
        publish_file(library_of("ben"), session_file(tmp_path, f"n{number}"))
    live = await with_team(house, cluster.address(team_database, "stu"))
    page = await at_team(live)
    await lists(live, page, "session n1", "session n2")
    await at_title(live, page, "session n2")
    await live.settle()
    live.press_button("Withdraw…", page)
    box = await live.dialog(QMessageBox)
    assert "published by ben" in box.text() and "as a steward" in box.informativeText()
    live.press_button("Withdraw", box)
    await lists(live, page, "session n1")
    assert [one.title for one in library_of("ben").sessions()] == ["session n1"]

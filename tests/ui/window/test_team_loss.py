"""The server of a team's library is lost while the window lists, audits, opens or publishes: it is
said within two seconds, nothing acknowledged is lost, and the own library goes on."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from explorer.store.postgres import TeamLibrary
from tests.team.cluster import Cluster
from tests.ui.window.house import House
from tests.ui.window.library_steps import SAMPLE, titles
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.team_steps import (
    LOST_S,
    at_team,
    lists,
    opened_page,
    publish_file,
    session_file,
    with_team,
)
from ui.library.page import LibraryPage
from ui.team.publish_dialog import PublishDialog

SESSIONS = 12
LONG_S = 240
"""Processes begin slowly where others are busy."""


async def own_library_works(live: RunningWindow, page: LibraryPage) -> None:
    """Its sessions are listed."""
    page.activateWindow()
    live.choose(page.filters.libraries, "")
    await live.until(lambda: SAMPLE in titles(page), "the own sessions", LOST_S)


async def test_lost_while_it_is_listed(
    house: House, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    publish_file(team, session_file(tmp_path, "one"))
    live = await with_team(house, address, sample_path())
    page = await at_team(live)
    await lists(live, page, "session one")
    mortal.kill()
    await live.until(page.notice.isVisible, "that it is lost", LOST_S)
    assert "The server of acme is not reached" in live.words(page.notice)
    assert titles(page) == ["session one"], "what was read stays in sight"
    await own_library_works(live, page)
    live.choose(page.filters.libraries, "acme")
    await live.until(page.notice.isVisible, "that it is lost", LOST_S)
    team.close()
    mortal.start()
    again = TeamLibrary.open("acme", address)
    publish_file(again, session_file(tmp_path, "two"))
    again.close()
    await lists(live, page, "session one", "session two")
    assert not page.notice.isVisible()


async def test_lost_while_it_is_worked_out_what_was_needed_again(
    house: House, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    first, rest = sample_path().read_text("utf-8").split("\n", 1)
    for number in range(SESSIONS):
        copy = tmp_path / f"{number}.jsonl"
        header = {**json.loads(first), "id": f"copy-{number}"}
        copy.write_text(f"{json.dumps(header)}\n{rest}", "utf-8")
        publish_file(team, copy)
    team.close()
    live = await with_team(house, address)
    page = await at_team(live)
    await live.until(lambda: len(titles(page)) == SESSIONS, "the sessions")
    await live.until(lambda: page.totals.needed.isEnabled(), "the sums")
    live.click(page.totals.needed)
    panel = page.needed
    await live.until(lambda: panel.table.cells(), "the first of them", LONG_S)
    mortal.kill()
    await live.until(lambda: panel.go_on_link.isVisible(), "its end", LONG_S)
    assert "The server of acme is not reached" in live.words(page.notice)
    await live.until(lambda: "could not" not in panel.words.text(), "none that failed by itself")
    assert f"of {SESSIONS} sessions" in panel.words.text()
    assert int(panel.table.cells()[0][1]) >= 1, "what was worked out stays"
    mortal.start()
    await live.until(lambda: not page.notice.isVisible(), "the server again")
    live.click(panel.go_on_link)
    await live.until(lambda: panel.table.cells()[0][1] == str(SESSIONS), "the rest of them", LONG_S)


async def test_not_there_at_the_start_and_there_when_asked_again(
    house: House, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    publish_file(team, session_file(tmp_path, "one"))
    team.close()
    live = await with_team(house, address, sample_path())
    mortal.kill()
    page = await at_team(live)
    await live.until(lambda: page.stack.currentWidget() is page.lost, "that it is lost", LOST_S)
    assert "acme cannot be read" in live.words(page.lost)
    await own_library_works(live, page)
    mortal.start()
    live.choose(page.filters.libraries, "acme")
    live.press_button("Try again", page) if page.lost.isVisible() else None
    await lists(live, page, "session one")


async def test_lost_while_a_session_is_opened(
    house: House, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    publish_file(team, session_file(tmp_path, "one", 4000))
    team.close()
    live = await with_team(house, address, sample_path())
    page = await at_team(live)
    await lists(live, page, "session one")
    page.table.setFocus()
    mortal.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        live.keys("Home", "Return", to=page.table)
        await live.until(live.window.notices.isVisible, "that it is lost", LOST_S)
        assert time.monotonic() - began < LOST_S
    finally:
        mortal.signal(signal.SIGCONT)
    assert "The server of acme is not reached" in live.notice
    assert not live.document.read_only and len(live.document.tree) == 282
    await live.document.edits.set_label(3, "the own library goes on")
    live.window.activateWindow()
    live.press_button("Try again")
    await live.until(lambda: live.document.read_only, "the session")
    assert len(live.document.tree) == 4000


async def test_lost_while_sessions_are_published(
    house: House, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    live = await with_team(house, address)
    live.drop(*(session_file(tmp_path, f"s{at}", 300) for at in range(SESSIONS)))
    await live.until(lambda: live.has_document, "the sessions")
    await live.idle()
    page = await opened_page(live)
    await live.until(lambda: page.table.rows.rowCount() == SESSIONS, "all of them")
    page.table.setFocus()
    live.keys("Ctrl+A", to=page.table)
    live.press_button("Publish…", page)
    dialog = await live.dialog(PublishDialog)
    await live.until(dialog.publish.isEnabled, "what would go")
    live.click(dialog.publish)
    await live.until(lambda: any(one.is_there for one in dialog.going), "the first of them")
    mortal.kill()
    await live.until(dialog.notice.isVisible, "that it is lost", LOST_S)
    there = {one.session.session_id for one in dialog.going if one.is_there}
    assert 0 < len(there) < SESSIONS
    words = live.words(dialog.notice)
    assert "The server of acme is not reached" in words
    assert f"{len(there)} of {SESSIONS} sessions were published and stay" in words
    mortal.start()
    team = TeamLibrary.open("acme", address)
    assert there <= {one.session_id for one in team.sessions()}, "acknowledged, and not there"
    live.press_button("Try again", dialog.notice)
    await live.until(lambda: not dialog.left, "the others")
    assert len(team.sessions()) == SESSIONS
    team.close()
    live.keys("Esc", to=dialog)
    await live.idle()

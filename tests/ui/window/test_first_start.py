"""The first start: sessions of agents are looked for once the person agrees, and imported."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.settings.paths import settings_path
from tests import homes
from tests.formats import opencode_store as opencode
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow
from ui.library import discovery
from ui.library.found import FoundDialog
from ui.welcome.page import MINE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with six sessions of four agents, and searches that begin at once."""
    made = homes.usual_home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(discovery, "START_S", 0.0)
    yield made


def ids(live: RunningWindow) -> set[str]:
    bench = live.session.state.bench
    assert bench is not None
    return {row.session_id for row in bench.sessions()}


async def agree(live: RunningWindow) -> FoundDialog:
    """Press the button of the welcome page, one key from its first one."""
    await live.tab_to(live.window.welcome.mine, most=2)
    live.keys("Return")
    return await live.dialog(FoundDialog)


async def test_nothing_is_read_before_the_person_agrees(house: House, home: Path) -> None:
    with homes.reads_below(home) as read:
        live = await house.start()
        assert live.button(MINE).isVisible()
        assert "never changed" in live.words() and "leaves the computer" in live.words()
        await live.settle(100)
        await live.close()
    assert read == []
    assert not settings_path().exists()


async def test_one_press_finds_and_one_more_imports_all(house: House, home: Path) -> None:
    live = await house.start()
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    dialog = await agree(live)
    assert "6 sessions of 4 agents" in dialog.summary.text()
    rows = {(cells[0], cells[1]): cells[2] for cells in dialog.projects.cells()}
    assert rows == {("Claude Code", "quay"): "1", ("Codex CLI", "pier"): "1",
                    ("opencode", "lab"): "2", ("pi", "quay"): "2"}  # fmt: skip
    assert dialog.take_all.text() == "Import all 6" and not dialog.take.isEnabled()
    live.click(dialog.take_all)
    await live.until(lambda: len(ids(live)) == 6, "all sessions")
    await live.until(lambda: live.has_document, "the newest session, opened")
    await live.back()
    assert live.document.title == "About ses-b"
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before
    await live.close()
    again = await house.start()
    assert again.has_document
    again.keys("Ctrl+W")
    await again.until(again.window.welcome.isVisible, "the welcome page")
    found = "2 opencode, 2 pi, 1 Claude Code, 1 Codex CLI. All are imported."
    await again.until(lambda: found in again.words(), "what was found")


async def test_ticked_projects_alone_are_imported_then_and_later(house: House, home: Path) -> None:
    live = await house.start()
    dialog = await agree(live)
    dialog.projects.setFocus()
    for at, (agent, *_) in enumerate(dialog.projects.cells()):
        if agent == "pi":
            dialog.projects.setCurrentIndex(dialog.projects.rows.index(at, 0))
            live.keys("Space")
    assert dialog.take.text() == "Import 2"
    dialog.list.setFocus()
    live.keys("Home")
    dialog.filter.setFocus()
    live.type("quay-1")
    await live.settle()
    assert dialog.take.text() == "Import 1", "what is not seen is not imported"
    assert dialog.take_all.text() == "Import all 1 shown"
    live.click(dialog.take)
    await live.until(lambda: ids(live) == {"quay-1"}, "the one session")
    await live.back()
    await live.close()
    homes.pi_session(home, "fresh", "/home/dev/quay", age=None)
    again = await house.start()
    await again.until(lambda: "fresh" in ids(again), "the session that is new since")
    assert ids(again) == {"quay-1", "fresh"}, "what was left out stays out"


async def test_new_and_changed_sessions_come_in_while_the_window_is_open(
    house: House, home: Path
) -> None:
    live = await house.start()
    live.click((await agree(live)).take_all)
    await live.until(lambda: len(ids(live)) == 6, "all sessions")
    await live.back()
    # One in a folder that was not there, one in a database.
    homes.pi_session(home, "fresh", "/home/dev/new-place", age=None)
    await live.until(lambda: "fresh" in ids(live), "the new session")
    grown = homes.pi_session(home, "quay-1", "/home/dev/quay", entries=9, age=None)
    bench = live.session.state.bench
    assert bench is not None

    def entries() -> int:
        return next(row.entries for row in bench.sessions() if row.path == str(grown))

    await live.until(lambda: entries() == 9, "the entries that were added")
    database = home / ".local/share/opencode/opencode.db"
    with sqlite3.connect(database) as db:
        opencode.insert(db, opencode.session("ses-c", opencode.user("c-m", 0, "hi"), at=10**9))
    db.close()
    os.utime(database)
    await live.until(lambda: "ses-c" in ids(live), "the session of the database")


async def test_the_setting_turns_it_off(house: House, home: Path) -> None:
    live = await house.start()
    dialog = await agree(live)
    assert dialog.keep_up.isChecked()
    dialog.keep_up.setFocus()
    live.keys("Space")
    live.click(dialog.take_all)
    await live.until(lambda: len(ids(live)) == 6, "all sessions")
    await live.back()
    assert live.session.state.live.get("sessions.find") is False
    await live.close()
    homes.pi_session(home, "fresh", "/home/dev/quay", age=None)
    with homes.reads_below(home / ".pi/agent/sessions/--home-dev-quay--/fresh.jsonl") as read:
        again = await house.start()
        await again.settle(100)
    assert read == [] and "fresh" not in ids(again)


async def test_a_look_without_consent_lasts_for_that_look(house: House, home: Path) -> None:
    live = await house.start()
    live.session.actions["find"].trigger()
    dialog = await live.dialog(FoundDialog)
    assert not dialog.keep_up.isChecked()
    live.keys("Esc")
    await live.back()
    assert live.session.state.live.get("sessions.find") is None
    assert live.button(MINE).isVisible()


async def test_an_import_is_paused_cancelled_and_gone_on_with(house: House, home: Path) -> None:
    for at in range(150):
        homes.pi_session(home, f"more-{at}", "/home/dev/more", entries=30)
    live = await house.start()
    dialog = await agree(live)
    progress = live.window.progress
    live.click(dialog.take_all)
    await live.until(lambda: progress.pause.isVisible(), "the progress")
    live.click(progress.pause)
    assert "paused" in progress.label.text()
    await live.settle(60)
    some = len(ids(live))
    await live.settle(60)
    assert len(ids(live)) == some < 156
    live.click(progress.pause)
    await live.until(lambda: len(ids(live)) > some, "more sessions")
    await live.until(lambda: progress.pause.isVisible(), "the import in front")
    live.click(progress.cancel)
    await live.until(lambda: not live.busy(), "the end")
    done = len(ids(live))
    assert some < done < 156 and "are left" in live.said
    await live.settle(200)
    assert len(ids(live)) == done
    live.press_button("Find", live.window.library)
    dialog = await live.dialog(FoundDialog)
    assert dialog.take_all.text() == f"Import all {156 - done}"
    live.click(dialog.take_all)
    await live.until(lambda: len(ids(live)) == 156, "the rest")


async def test_what_cannot_be_imported_is_named(house: House, home: Path) -> None:
    bad = home / ".claude/projects/-w/bad.jsonl"
    bad.parent.mkdir()
    bad.write_bytes(b'{"type":"user","sessionId":"x"\n' + b"\x00" * 100)
    live = await house.start()
    live.click((await agree(live)).take_all)
    await live.until(lambda: len(ids(live)) == 6, "all the others")
    await live.until(lambda: live.notice, "the notice")
    assert str(bad) in live.notice

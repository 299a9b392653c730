"""What comes from outside: files dropped and damaged, other programs, a database that is broken."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from explorer.settings.paths import database_path, ensure, resource_path
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import choose_file, open_sample
from ui.library.found import FoundDialog

OTHER_PROGRAM = """
import asyncio, sys
from pathlib import Path
from explorer.models.client import ModelClient
from explorer.session.entries import UserMessage, text_content
from explorer.store import Store
from explorer.workbench import Workbench

async def work():
    store = Store.open(Path(sys.argv[1]))
    client = ModelClient()
    document = await Workbench(store, client).open(int(sys.argv[2]))
    await document.writer.append(UserMessage(text_content("said elsewhere")), document.leaf)
    await document.edits.set_label(5, "from afar")
    client.close()
    store.close()

asyncio.run(work())
"""


async def other_program(*arguments: str) -> None:
    """Run a program of its own on the same database."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", OTHER_PROGRAM, *arguments],
        env=os.environ | {"PYTHONPATH": str(resource_path().parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def session_titles(live: RunningWindow) -> list[str]:
    model = live.window.library.model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


async def test_what_another_program_appends_appears(house: House) -> None:
    """Entries and labels of another process are on the map without anything being done here."""
    live = await house.start(sample_path())
    entries, rows = len(live.document.tree), live.window.map.model.rows.count
    await other_program(str(database_path()), str(live.document.key))
    await live.until(lambda: len(live.document.tree) == entries + 2, "the foreign entries")
    await live.idle()
    assert live.window.map.model.rows.count == rows + 2
    assert live.document.tree.labels()[5] == "from afar"
    assert live.window.entries.text() == f"{entries + 2:,} entries"
    live.click_entry(entries)
    await live.settle()
    assert "said elsewhere" in live.words(live.window.entry)


async def test_dropped_files_are_imported_and_the_last_is_opened(
    house: House, tmp_path: Path
) -> None:
    live = await house.start()
    files = [write_session(tmp_path / f"{seed}.jsonl", 60, seed=seed) for seed in (5, 6)]
    live.drop(*files)
    await live.until(lambda: live.has_document, "a session")
    await live.idle()
    assert len(session_titles(live)) == 3, "a heading and two sessions"
    assert live.document.row.path == str(files[1])
    assert not live.notice
    live.drop(files[1])
    await live.idle()
    assert len(session_titles(live)) == 3, "the same file is the same session"
    assert "up to date" in live.said


async def test_import_by_the_dialog(house: House, tmp_path: Path) -> None:
    live = await house.start()
    file = write_session(tmp_path / "chosen.jsonl", 50)
    live.keys("Ctrl+O")
    await choose_file(live, file)
    await live.until(lambda: live.has_document, "the session")
    await live.idle()
    assert len(live.document.tree) == 50


async def test_a_damaged_file_opens_as_far_as_it_goes(house: House, tmp_path: Path) -> None:
    """What could not be read is named; the rest opens."""
    lines = sample_path().read_bytes().splitlines(keepends=True)
    file = tmp_path / "half.jsonl"
    file.write_bytes(b"".join(lines[:60]) + b'{"type":"message","id":"x\n' + lines[60][:90])
    live = await house.start()
    live.drop(file)
    await live.until(lambda: live.notice, "the notice")
    await live.idle()
    assert live.has_document
    assert len(live.document.tree) == 59
    notice = live.window.notices.notice
    assert notice is not None
    assert notice.level == "warning"
    assert "half.jsonl" in notice.what
    assert "line 61" in notice.details
    assert "kept aside" in notice.safe
    live.press_button("Details", live.window.notices)
    await live.settle()
    live.window.notices.setFocus()
    live.keys("Esc")
    assert not live.notice


async def test_a_file_that_is_no_session_is_refused(house: House, tmp_path: Path) -> None:
    live = await house.start()
    file = tmp_path / "shopping.jsonl"
    file.write_text("milk\nbread\n")
    live.drop(file, tmp_path / "gone.jsonl")
    await live.until(lambda: live.notice, "the notice")
    await live.idle()
    notice = live.window.notices.notice
    assert notice is not None
    assert notice.level == "error"
    assert "shopping.jsonl" in notice.what
    assert "gone.jsonl" in notice.details
    assert not live.has_document
    assert session_titles(live) == []


async def test_an_import_that_is_cancelled_keeps_nothing(house: House, tmp_path: Path) -> None:
    file = write_session(tmp_path / "large.jsonl", 30_000)
    live = await house.start()
    live.drop(file)
    progress = live.window.progress
    await live.until(lambda: progress.isVisible() and progress.bar.value() > 0, "the progress")
    assert "large.jsonl" in progress.label.text()
    live.click(progress.cancel)
    await live.until(lambda: not progress.isVisible(), "the end of the import")
    await live.idle()
    assert "cancelled" in live.said
    assert session_titles(live) == []
    assert not live.has_document


async def test_sessions_on_this_computer_are_found(house: House) -> None:
    """Nothing is imported unasked; what is ticked is."""
    place = Path(os.environ["HOME"]) / ".pi/agent/sessions/--home-sam-src-queue--"
    place.mkdir(parents=True, exist_ok=True)
    files = [write_session(place / f"{seed}.jsonl", 40, seed=seed) for seed in (21, 22)]
    try:
        live = await house.start()
        live.session.actions["find"].trigger()
        dialog = await live.dialog(FoundDialog)
        assert dialog.list.rows.rowCount() == 2
        assert not dialog.take.isEnabled()
        dialog.filter.setFocus()
        live.type("22.jsonl")
        await live.settle()
        dialog.list.setFocus()
        assert dialog.list.rows.rowCount() == 1
        live.keys("Space")
        await live.settle()
        assert dialog.take.text() == "Import 1"
        live.click(dialog.take)
        await live.until(lambda: live.has_document, "the session")
        await live.back()
        assert live.document.row.path == str(files[1])
        assert len(session_titles(live)) == 2
    finally:
        for file in files:
            file.unlink()


def damage(database: Path) -> str:
    """Cut the end off a database, as a full disk does; the digest of what is left."""
    data = database.read_bytes()
    left = data[: len(data) * 9 // 10]
    database.write_bytes(left)
    return hashlib.sha256(left).hexdigest()


async def test_a_damaged_database_is_told_left_alone_and_salvaged(house: House) -> None:
    """The file is untouched; what can still be read is copied beside it on request."""
    live = await house.start()
    await open_sample(live)
    await live.close()
    digest = damage(database_path())
    again = await house.start()
    notice = again.window.notices.notice
    assert notice is not None
    assert notice.level == "error"
    assert str(database_path()) in notice.what
    assert "left as it is" in notice.safe
    assert not again.has_document
    registry = again.session.actions
    for name in ("import", "find", "sample", "search"):
        assert not registry[name].isEnabled(), f"{name} can do nothing without a database"
    assert not again.window.welcome.example.isVisible(), "it could not be opened"
    again.press_button("Copy what can be read", again.window.notices)
    await again.idle()
    copies = list(database_path().parent.glob("*salvaged*"))
    assert copies, again.words(again.window.notices)
    assert str(copies[0].parent) in again.notice
    assert hashlib.sha256(database_path().read_bytes()).hexdigest() == digest
    assert await again.close() == 1


async def test_a_database_of_another_program_is_not_touched(house: House) -> None:
    ensure(database_path().parent)
    database_path().write_bytes(b"SQLite format 3\0" + b"\x07" * 9_000)
    before = database_path().read_bytes()
    live = await house.start()
    assert str(database_path()) in live.notice
    assert "another program" in live.notice
    assert await live.close() == 1
    assert database_path().read_bytes() == before


async def test_a_session_is_renamed_labelled_and_removed(house: House) -> None:
    """Each by its dialog; the file that it came from stays."""
    live = await house.start(sample_path())
    live.session.actions["rename"].trigger()
    await live.dialog()
    live.keys("Ctrl+A")
    live.type("Found it\n")
    await live.until(lambda: live.document.title == "Found it", "the name")
    await live.back()
    assert "Found it" in live.window.header.title.text()
    assert "Found it" in session_titles(live)
    live.click_entry(260)
    live.keys("F6", "Ctrl+B")
    await live.dialog()
    live.type("look here\n")
    await live.until(lambda: live.document.tree.labels().get(260) == "look here", "the label")
    await live.back()
    assert live.window.entry.header.label.text() == "look here"
    key = live.document.key
    live.window.library.trash_requested.emit(key)
    await live.until(lambda: not live.has_document, "the removal")
    await live.idle()
    assert session_titles(live) == []
    assert sample_path().exists()
    await live.until(live.window.welcome.isVisible, "the welcome page")


async def test_exporting_to_where_nothing_can_be_written_says_so(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    target = tmp_path / "no-such-folder" / "out.jsonl"
    await live.session.sessions.export_now(live.document.key, target, "original")
    assert str(target) in live.notice
    assert not target.exists()


async def test_search_in_all_sessions_opens_the_one_with_the_hit(
    house: House, tmp_path: Path
) -> None:
    """The list of hits is worked by keys: Down into it, Enter opens the session at the entry."""
    live = await house.start()
    live.drop(write_session(tmp_path / "other.jsonl", 80), sample_path())
    await live.until(lambda: live.has_document, "the sessions")
    await live.idle()
    sample = live.document.key
    live.keys("F8", "Down", "Return")
    await live.until(lambda: live.document.key != sample, "the other session")
    await live.idle()
    live.keys("/")
    live.type("uplink")
    await live.until(lambda: live.window.header.search.count.text() == "no hit", "no hit here")
    live.click(live.window.header.search.everywhere)
    results = live.window.header.search.results
    await live.until(lambda: results.isVisible() and results.table.rows.rowCount() > 1, "the hits")
    assert "Fix the flaky retry test" in results.table.rows.rows[0].session
    live.window.header.search.box.setFocus()
    live.keys("Down")
    assert results.table.hasFocus()
    live.keys("Down", "Return")
    await live.until(lambda: live.document.key == sample, "the session with the hit")
    await live.idle()
    assert "uplink" in str(live.document.payloads.shown.entry(live.window.map.selected)).casefold()
    live.keys("/")
    live.type("kangaroo")
    await live.until(lambda: results.caption.isVisible(), "the words for nothing")
    live.keys("Esc")
    assert not results.isVisible()


async def test_the_file_dialog_is_left_by_escape(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+O")
    dialog = await live.dialog(QFileDialog)
    live.keys("Esc")
    await live.until(lambda: not _is_shown(dialog), "the end of the dialog")
    await live.back()
    assert live.has_document


def _is_shown(dialog: QFileDialog) -> bool:
    try:
        return dialog.isVisible()
    except RuntimeError:
        return False

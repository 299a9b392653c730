"""Profiles in the running window: read, copied, changed, shared, taken away."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QLineEdit, QMessageBox

from explorer.compaction.profile import PROFILES
from explorer.settings.paths import ensure, settings_path
from explorer.settings.profile_files import ProfileFiles, read_file
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path, visible
from ui.profiles.dialog import ProfilesDialog


async def opened(live: RunningWindow) -> ProfilesDialog:
    """The dialog, opened by its action."""
    live.session.actions["profiles"].trigger()
    return await live.dialog(ProfilesDialog)


async def copied(live: RunningWindow, dialog: ProfilesDialog, name: str, title: str) -> None:
    """A profile of one's own, by the button and the words typed."""
    dialog.select(name)
    live.press_button("Copy", dialog)
    asking = await live.dialog(QInputDialog)
    box = visible(asking, QLineEdit)[0]
    box.selectAll()
    live.type(title + "\n", to=box)
    await live.until(lambda: title in titles(dialog), "the copy")


def titles(dialog: ProfilesDialog) -> list[str]:
    return [row.text for row in dialog.list.rows.rows]


async def test_the_five_say_what_they_stand_for_and_cannot_be_changed(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    for name, profile in PROFILES.items():
        dialog.select(name)
        await live.settle(1)
        assert dialog.page.title.text() == profile.title
        assert "stays as it is" in dialog.page.state.text()
        assert len(dialog.page.about.toPlainText()) > 200, "where its numbers come from"
        row = dialog.page.rules.row("keep_recent_tokens")
        assert row.field is None or not row.field.isVisible()
        assert f"{profile.keep_recent_tokens:,} tokens" in row.value_text.text()
        assert not dialog.delete.isVisible() and not dialog.rename.isVisible()
    live.keys("Esc", to=dialog)
    await live.back()


async def test_a_copy_is_changed_and_the_preview_follows_at_once(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    await copied(live, dialog, "omp", "Mine")
    live.press_button("Use here", dialog)
    await live.settle()
    assert live.session.state.profile.name == "mine"
    assert "✓ Mine" in titles(dialog)
    assert live.window.compaction.setup.profile.currentData() == "mine"
    before = live.partition.cut
    row = dialog.page.rules.row("keep_recent_tokens")
    assert row.field is not None
    row.field.setFocus()
    row.field.selectAll()
    live.type("4000\n", to=row.field)
    await live.until(lambda: live.partition.cut > before, "the other cut")
    assert live.session.state.settings.keep_recent_tokens == 4_000
    assert ProfileFiles().shelf().user_profiles["mine"].profile.keep_recent_tokens == 4_000
    choice = dialog.page.rules.row("boundary").choice
    assert choice is not None
    live.choose(choice, "corrected")
    await live.until(lambda: live.session.state.profile.boundary == "corrected", "the rule")
    live.keys("Esc", to=dialog)
    await live.back()


async def test_what_cannot_be_is_said_and_not_taken(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    await copied(live, dialog, "explorer", "Mine")
    row = dialog.page.rules.row("keep_recent_tokens")
    assert row.field is not None
    row.field.setFocus()
    row.field.selectAll()
    live.type("many\n", to=row.field)
    await live.settle()
    assert "whole number" in row.problem.text() and row.problem.isVisible()
    assert ProfileFiles().shelf().user_profiles["mine"].profile.keep_recent_tokens == 20_000
    row.field.selectAll()
    live.type("7,500\n", to=row.field)
    await live.settle()
    assert not row.problem.isVisible()
    assert ProfileFiles().shelf().user_profiles["mine"].profile.keep_recent_tokens == 7_500
    live.keys("Esc", to=dialog)
    await live.back()


async def test_a_profile_is_renamed_and_taken_away(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    await copied(live, dialog, "pi", "Mine")
    live.press_button("Use here", dialog)
    live.press_button("Rename", dialog)
    asking = await live.dialog(QInputDialog)
    box = visible(asking, QLineEdit)[0]
    box.selectAll()
    live.type("For long sessions\n", to=box)
    await live.until(lambda: "✓ For long sessions" in titles(dialog), "the name")
    assert live.session.state.profile.title == "For long sessions"
    assert list(ProfileFiles().shelf().user_profiles) == ["for-long-sessions"]
    live.press_button("Delete", dialog)
    box_asked = await live.dialog(QMessageBox)
    live.press_button("Delete", box_asked)
    await live.until(lambda: not ProfileFiles().shelf().user_profiles, "its end")
    assert live.session.state.profile.name == "pi", "what it started from goes on"
    live.keys("Esc", to=dialog)
    await live.back()


async def test_a_profile_goes_to_a_file_and_comes_back(house: House, tmp_path: Path) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    await copied(live, dialog, "copilot", "Mine")
    file = tmp_path / "shared.json"
    live.press_button("Export", dialog)
    await name_file(live, file)
    await live.until(file.exists, "the file")
    assert read_file(file).profile.title == "Mine"
    live.press_button("Import", dialog)
    await name_file(live, file)
    await live.until(
        lambda: "mine-2" in ProfileFiles().shelf().user_profiles, "the second of the name"
    )
    data = json.loads(file.read_text())
    data["profile"] |= {"name": "from-mara", "title": "Mara's", "keep_rounds": 4}
    file.write_text(json.dumps(data))
    drop(dialog, file)
    await live.until(lambda: "Mara's" in titles(dialog), "the dropped one")
    assert dialog.page.title.text() == "Mara's"
    assert ProfileFiles().shelf().user_profiles["from-mara"].profile.keep_rounds == 4
    file.write_text('{"kind": "something else"}')
    drop(dialog, file)
    await live.settle()
    assert dialog.notice.notice is not None and str(file) in dialog.notice.notice.what
    live.keys("Esc", to=dialog)
    await live.back()


async def name_file(live: RunningWindow, path: Path) -> None:
    """Type a path into the file dialog that is open, and press Enter."""
    asking = await live.dialog(QFileDialog)
    line = asking.findChild(QLineEdit, "fileNameEdit")
    assert line is not None
    line.setFocus()
    line.selectAll()
    live.type(str(path), to=line)
    live.keys("Return", to=line)
    await live.until(lambda: not asking.isVisible(), "the end of the file dialog")


def drop(dialog: ProfilesDialog, file: Path) -> None:
    """Drop a file on the dialog, as a file manager does."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    at, copy = dialog.rect().center(), Qt.DropAction.CopyAction
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, copy, data, left, none)
    QApplication.sendEvent(dialog, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(dialog, QDropEvent(QPointF(at), copy, data, left, none))


async def test_settings_are_no_change_of_a_profile(house: House) -> None:
    """Changed is what the session changed; taken back it is as the settings have it."""
    ensure(settings_path().parent)
    settings_path().write_text('{"compaction.contextWindow": 150000}', encoding="utf-8")
    live = await house.start(sample_path())
    panel = live.window.compaction
    live.keys("Ctrl+3")
    assert panel.setup.rules.text() == "Ru&les ▸"
    live.click(panel.setup.rules)
    await live.settle()
    assert panel.rules.title.text() == "Explorer" and not panel.rules.reset.isVisible()
    choice = panel.rules.rules.row("oversized_tail").choice
    assert choice is not None
    live.choose(choice, "first-cut")
    await live.until(lambda: live.session.state.profile.oversized_tail == "first-cut", "the rule")
    assert panel.rules.title.text() == "Explorer (changed)"
    live.click(panel.rules.reset)
    await live.until(lambda: live.session.state.profile.oversized_tail != "first-cut", "the rule")
    assert panel.rules.title.text() == "Explorer" and not live.session.state.chosen.rules
    assert panel.setup.rules.text() == "Ru&les ▸"
    assert live.session.state.settings.context_window == 150_000


async def test_the_rules_of_a_session_are_kept_as_a_profile(house: House) -> None:
    live = await house.start(sample_path())
    panel = live.window.compaction
    live.keys("Ctrl+3")
    live.click(panel.setup.rules)
    await live.settle()
    choice = panel.rules.rules.row("oversized_tail").choice
    assert choice is not None
    live.choose(choice, "first-cut")
    await live.until(lambda: live.session.state.profile.oversized_tail == "first-cut", "the rule")
    assert "(changed)" in panel.rules.title.text()
    live.press_button("Keep as your own", panel.rules)
    asking = await live.dialog(QInputDialog)
    box = visible(asking, QLineEdit)[0]
    box.selectAll()
    live.type("Kept\n", to=box)
    await live.until(lambda: live.session.state.profile.name == "kept", "the profile")
    assert ProfileFiles().shelf().user_profiles["kept"].profile.oversized_tail == "first-cut"
    assert panel.rules.title.text() == "Kept"

"""The settings in the window: by keys and the mouse, over real files that others write too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QScrollArea

from explorer.extensions.manager import TrustStore
from explorer.settings.paths import ensure, settings_path
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.settings.dialog import (
    SettingRow,
    SettingsDialog,
)
from ui.shell.command_palette import (
    CommandPalette,
)

KEEP, RESERVE = "compaction.keepRecentTokens", "compaction.reserveTokens"


async def opened(live: RunningWindow) -> SettingsDialog:
    live.keys("Ctrl+,")
    return await live.dialog(SettingsDialog)


async def row(live: RunningWindow, dialog: SettingsDialog, name: str) -> SettingRow:
    """The row of a setting, searched by its name and scrolled into sight."""
    dialog.search.setFocus()
    live.keys("Ctrl+A")
    live.type(name)
    await live.settle()
    found = dialog.rows[name]
    assert found.isVisible()
    for area in dialog.findChildren(QScrollArea):
        area.ensureWidgetVisible(found.field)
    return found


def written() -> dict[str, object]:
    return json.loads(settings_path().read_text(encoding="utf-8"))


def by_another_process(path: Path, text: str) -> None:
    program = "import os, sys; p = sys.argv[1]; open(p + '~', 'w').write(sys.argv[2]); "
    program += "os.replace(p + '~', p)"
    ensure(path.parent)
    subprocess.run([sys.executable, "-c", program, str(path), text], check=True)


async def enter(live: RunningWindow, found: SettingRow, text: str) -> None:
    """Click into a row's box and type, ended by Return."""
    live.click(found.field.focusProxy())
    live.keys("Ctrl+A")
    live.type(f"{text}\n" if text else "")
    await live.settle()


async def test_a_size_is_changed_and_holds_at_once(house: House) -> None:
    """A12: written at once, and the open tab's default follows without a restart."""
    live = await house.start(sample_path())
    live.keys("Ctrl+K")
    keep = live.window.compaction.setup.keep
    assert keep.value() == 20_000
    dialog = await opened(live)
    keeping = await row(live, dialog, KEEP)
    assert (keeping.badge.text(), keeping.reset.isVisible()) == ("Profile", False)
    await enter(live, keeping, "12,000")
    assert written() == {"compaction": {"keepRecentTokens": 12_000}}
    assert keep.value() == 12_000
    assert live.partition.preparation.settings.keep_recent_tokens == 12_000
    assert keeping.badge.text() == "Global"
    live.click(keeping.reset)
    await live.settle()
    assert written() == {"compaction": {}}
    assert (keep.value(), keeping.badge.text()) == (20_000, "Profile")


async def test_what_the_session_chose_stays_and_can_be_given_up(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+K")
    setup = live.window.compaction.setup
    setup.keep.track.setFocus()
    live.keys("Left")
    await live.settle()
    chosen = setup.keep.value()
    assert chosen != 20_000
    dialog = await opened(live)
    keeping = await row(live, dialog, KEEP)
    assert keeping.badge.text() == "This session"
    await enter(live, keeping, "9000")
    assert setup.keep.value() == chosen
    assert "Global says 9000" in keeping.note.text()
    live.click(keeping.forget)
    await live.settle()
    assert (setup.keep.value(), keeping.badge.text()) == (9_000, "Global")
    reserving = await row(live, dialog, RESERVE)
    await enter(live, reserving, "5000")
    assert setup.reserve.value() == 5_000
    assert await live.close() == 0
    again = await house.start()
    assert again.window.compaction.setup.keep.value() == 9_000


async def test_another_program_changes_the_file(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+K")
    setup = live.window.compaction.setup
    by_another_process(settings_path(), '{"compaction": {"keepRecentTokens": 7000}}')
    await live.until(lambda: setup.keep.value() == 7_000, "the new value")
    by_another_process(
        settings_path(), '{\n "compaction": {\n  "keepRecentTokens": -1,\n  "reserveTokens": 99}}'
    )
    await live.until(lambda: setup.reserve.value() == 99, "the other new value")
    assert setup.keep.value() == 7_000, "the last good one holds"
    assert "cannot be used" in live.notice
    live.press_button("Settings", live.window.notices)
    dialog = await live.dialog(SettingsDialog)
    keeping = await row(live, dialog, KEEP)
    assert "line 3" in keeping.problem.text()
    assert "7000 stays" in keeping.problem.text()
    by_another_process(settings_path(), '{"a": 1, ')
    await live.until(lambda: "column" in dialog.problems.text(), "the problem of the file")
    assert setup.keep.value() == 7_000
    await enter(live, keeping, "1")
    assert "nothing was written" in dialog.problems.text()
    assert settings_path().read_text() == '{"a": 1, '
    live.press_button("Copy path", dialog)
    assert QGuiApplication.clipboard().text() == str(settings_path())


async def test_what_is_typed_wrongly_is_not_taken(house: House) -> None:
    """A46: the gap between a share and a number of tokens among it."""
    live = await house.start(sample_path())
    dialog = await opened(live)
    threshold = await row(live, dialog, "chat.advanced.summarizeAgentConversationHistoryThreshold")
    assert "No effect with" in threshold.note.text()
    await enter(live, threshold, "42")
    assert "neither a share" in threshold.problem.text()
    assert not settings_path().exists()
    live.keys("Escape")
    await live.settle()
    assert dialog.isVisible(), "Escape takes back what was typed first"
    assert not threshold.problem.isVisible()
    await enter(live, threshold, "0.5")
    assert list(written().values()) == [0.5]
    live.keys("Escape")
    await live.back()


async def test_switches_choices_and_lists(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    enabled = await row(live, dialog, "compaction.enabled")
    live.click(enabled.field.focusProxy(), QPoint(10, 10))
    assert written() == {"compaction": {"enabled": False}}
    assert not live.session.state.profile.enabled
    profile = await row(live, dialog, "compaction.profile")
    live.choose(profile.field.focusProxy(), "omp")  # type: ignore[arg-type]
    await live.settle()
    assert live.session.state.profile.name == "omp"
    assert not live.session.state.profile.enabled, "over any profile"
    tools = await row(live, dialog, "pruning.protectedTools")
    await enter(live, tools, "bash, grep")
    assert live.session.state.profile.pruning.protected_tools == ("bash", "grep")
    models = await row(live, dialog, "compaction.model")
    await enter(live, models, "nonsense")
    assert "Not taken" in models.problem.text()
    await enter(live, models, "offline/extractive, my/own")
    assert live.session.state.summary_models() == ("offline/extractive", "my/own")
    live.press_button("Models", models)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "offline/demo" in [action.text() for action in menu.actions()]
    live.keys("Escape")
    await live.until(lambda: QApplication.activePopupWidget() is None, "the menu's end")
    assert dialog.isVisible()
    dialog.activateWindow()
    await live.until(dialog.isActiveWindow, "the dialog's activation")
    agent = await row(live, dialog, "agent.model")
    await enter(live, agent, "my/agent")
    assert live.window.agent.models.currentData() == "my/agent"


async def test_the_switch_of_a_session_is_a_choice_of_its_own(house: House) -> None:
    """A12: at run time, for one session, over the settings."""
    live = await house.start(sample_path())
    switch = live.window.agent.automatic_switch
    live.click(switch, QPoint(10, switch.height() // 2))
    assert not switch.isChecked()
    dialog = await opened(live)
    enabled = await row(live, dialog, "compaction.enabled")
    assert enabled.badge.text() == "This session"
    live.click(enabled.forget)
    await live.settle()
    assert enabled.badge.text() == "Profile"
    assert switch.isChecked()
    live.click(enabled.field.focusProxy(), QPoint(10, 10))
    await live.settle()
    assert not switch.isChecked()


async def test_the_projects_settings_and_trust(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    session = write_session(tmp_path / "one.jsonl", 40)
    lines = session.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0]) | {"cwd": str(folder)}
    session.write_text("".join([json.dumps(header) + "\n", *lines[1:]]), encoding="utf-8")
    live = await house.start(session)
    dialog = await opened(live)
    keeping = await row(live, dialog, KEEP)
    await enter(live, keeping, "4000")
    assert dialog.in_project.isEnabled() and not dialog.no_project.text()
    live.keys("Alt+P")
    await live.until(lambda: dialog.level == "project", "the project's level")
    await enter(live, keeping, "3000")
    assert keeping.badge.text() == "Project"
    assert "Global says 4000" in keeping.note.text()
    assert live.session.state.settings.keep_recent_tokens == 3_000
    file = folder / ".session-explorer" / "settings.json"
    assert json.loads(file.read_text()) == {"compaction": {"keepRecentTokens": 3_000}}
    models = await row(live, dialog, "compaction.model")
    assert not models.field.isEnabled()
    assert "trusted" in models.note.text()
    TrustStore().trust(folder)
    await live.until(models.field.isEnabled, "the trust")
    await enter(live, models, "a/b")
    assert live.session.state.summary_models() == ("a/b",)


async def test_why_no_project_can_be_chosen_stands_beside_it(house: House) -> None:
    live = await house.start()
    dialog = await opened(live)
    assert not dialog.in_project.isEnabled()
    assert "Open a session" in dialog.no_project.text() and dialog.no_project.isVisible()
    live.keys("Escape")
    await live.back()
    live.drop(sample_path())
    await live.until(lambda: live.has_document, "the session")
    await live.idle()
    dialog = await opened(live)
    folder = live.document.header.cwd
    why = dialog.no_project.text()
    assert folder and folder in why and "not on this computer" in why
    assert dialog.in_project.toolTip() == why == dialog.in_project.accessibleDescription()


async def test_by_keyboard_alone_and_searched(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    assert dialog.search.hasFocus()
    live.type("protected tools")
    await live.settle()
    shown = [name for name, found in dialog.rows.items() if found.isVisible()]
    assert shown == ["pruning.protectedTools"]
    await live.tab_to(dialog.rows["pruning.protectedTools"].field.focusProxy())
    dialog.search.setFocus()
    live.type(" nothing at all")
    await live.settle()
    assert dialog.none.isVisible()
    live.keys("Escape")
    assert dialog.isVisible()
    assert dialog.search.text() == ""
    for found in dialog.rows.values():
        control = found.field.focusProxy()
        assert control.accessibleName() == found.key.title
        assert control.accessibleDescription()
    live.keys("Escape")
    await live.back()
    live.keys("Ctrl+Shift+P")
    await live.dialog(CommandPalette)
    live.type("settings\n")
    await live.dialog(SettingsDialog)


async def test_a_decision_reads_what_was_written_a_moment_ago(house: House) -> None:
    """A12, E18: at the next check, before any watch could notice. A43, A54: whom to ask."""
    live = await house.start(sample_path())
    automatic = live.session.agent.automatic
    assert automatic.rules(live.document).enabled
    values = {
        "compaction.enabled": False, "compaction.autoContinue": True, RESERVE: 321,
        "compaction.model": ["a/one", "a/two"], "compaction.servedModels": ["a/*"],
    }  # fmt: skip
    ensure(settings_path().parent)
    settings_path().write_text(json.dumps(values), encoding="utf-8")
    rules = automatic.rules(live.document)
    assert (rules.enabled, rules.auto_continue, rules.settings.reserve_tokens) == (False, True, 321)
    assert rules.summary_models is not None
    assert rules.summary_models("a/agent") == ("a/one", "a/two")
    assert rules.summary_models("b/agent") == ("b/agent",)


async def test_off_leaving_a_branch_asks_nothing(house: House) -> None:
    """A37: gated by ``branchSummary.enabled``."""
    ensure(settings_path().parent)
    settings_path().write_text('{"branchSummary.enabled": false}', encoding="utf-8")
    live = await house.start(sample_path())
    before = live.document.leaf
    live.click_entry(252)
    live.keys("Ctrl+G")
    await live.until(lambda: live.document.leaf != before, "the move")
    await live.idle()
    assert live.active is live.window


async def test_a_service_for_summaries_is_offered_while_it_is_named(house: House) -> None:
    """A29: named in the settings, it is the one to ask; taken out, it is gone."""
    live = await house.start(sample_path())
    box = live.window.compaction.setup.outcome_part.model
    by_another_process(
        settings_path(), '{"compaction.remoteEndpoint": "http://127.0.0.1:9/summarize"}'
    )
    await live.until(lambda: box.currentData() == "remote/endpoint", "the service")
    assert live.session.state.summary_models()[0] == "remote/endpoint"
    by_another_process(settings_path(), "{}")
    await live.until(lambda: box.findData("remote/endpoint") < 0, "the service to go")
    by_another_process(settings_path(), '{"compaction.remoteEndpoint": "http://example.com/s"}')
    await live.until(lambda: "cannot be used" in live.notice, "why not")


async def test_what_the_agent_is_always_allowed_is_listed_added_and_removed(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    found = await row(live, dialog, "agent.allow")
    assert "Nothing is allowed" in live.words(found)
    await enter(live, found, "anything at all")
    assert "neither" in live.words(found), "what is no pattern is told"
    await enter(live, found, "bash(pytest *)")
    await enter(live, found, "edit(src/**)")
    assert written()["agent"] == {"allow": ["bash(pytest *)", "edit(src/**)"]}
    assert "bash(pytest *)" in live.words(found)
    live.press_button("Remove", found)
    await live.settle()
    assert written()["agent"] == {"allow": ["edit(src/**)"]}
    live.press_button("Remove", found)
    await live.settle()
    assert not written().get("agent")
    assert "Nothing is allowed" in live.words(found)

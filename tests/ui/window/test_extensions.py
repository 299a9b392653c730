"""The page of extensions in the real window: listed, failed with a line, installed, trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.extensions.manager import PROJECT_FOLDER, TrustStore, user_folder
from tests.extensions.making import conversation, handler, write
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import ask_to_leave, draft
from ui.extensions.dialog import ExtensionsDialog
from ui.map.navigation import (
    SUMMARIZE,
    LeavingDialog,
)

GOOD = handler("session_compact", "return None")
BEFORE = "session_before_compact"


async def opened(live: RunningWindow) -> ExtensionsDialog:
    """Open the dialog as the menu does, and wait until it lists."""
    live.session.actions["extensions"].trigger()
    dialog = await live.dialog(ExtensionsDialog)
    await live.until(lambda: dialog.about.text(), "the list")
    await live.settle()
    return dialog


def rows(dialog: ExtensionsDialog) -> list[str]:
    return [row.spoken for row in dialog.list.rows.rows if row.name]


def notice(dialog: ExtensionsDialog) -> str:
    return dialog.notice.notice.what if dialog.notice.notice is not None else ""


async def test_an_example_is_installed_and_listed(house: House) -> None:
    live = await house.start(sample_path())
    shown = await opened(live)
    assert rows(shown) == [] and "0 extensions loaded" in shown.about.text()
    live.press_button("Install example", shown)
    await live.until(lambda: rows(shown), "the example")
    assert rows(shown) == ["keep_user_messages, yours, loaded"]
    assert (user_folder() / "keep_user_messages.py").is_file()
    assert "Handles session_before_compact" in shown.details.toPlainText()
    live.press_button("Install example", shown)
    await live.until(lambda: "is there already" in notice(shown), "the refusal")
    live.keys("Esc")
    await live.until(lambda: live.session.extensions.dialog is None, "the end of the page")
    await live.back()


async def test_b15_one_that_fails_is_told_with_its_line_and_reloaded(house: House) -> None:
    file = write(user_folder(), "broken", "x = 1\nimport nothing_of_that_name\n")
    write(user_folder(), "good", GOOD)
    live = await house.start(sample_path())
    await live.until(lambda: live.window.notices.isVisible(), "the notice")
    reported = live.window.notices.notice
    assert reported is not None and f"{file}, line 2" in reported.what
    shown = await opened(live)
    first, second = rows(shown)
    assert first.startswith("broken, yours, not loaded: ") and "line 2" in first
    assert second == "good, yours, loaded"
    assert f"{file}, line 2" in shown.details.toPlainText()
    write(user_folder(), "broken", GOOD)
    live.press_button("Reload", shown)
    await live.until(lambda: "Loaded again." in notice(shown), "the reload")
    assert rows(shown) == ["broken, yours, loaded", "good, yours, loaded"]
    live.keys("Esc")
    await live.back()


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Path]:
    """A session file, and the project that it worked in with an extension of its own."""
    folder = tmp_path / "project"
    write(folder / PROJECT_FOLDER, "own", handler(BEFORE, "event.cancel('By the project')"))
    file = conversation(tmp_path)
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "cwd": str(folder)})
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file, folder


async def test_trust_is_asked_twice_given_and_taken_back(
    house: House, project: tuple[Path, Path]
) -> None:
    file, folder = project
    live = await house.start(file)
    await live.until(lambda: live.window.notices.isVisible(), "the notice")
    assert not TrustStore().is_trusted(folder)
    shown = await opened(live)
    assert rows(shown) == [] and "own.py" in shown.trust.text.text()
    live.press_button("Trust this project…", shown)
    assert "can do whatever you can do" in shown.trust.text.text()
    assert str(folder) in shown.trust.title.text() and shown.trust.cancel.hasFocus()
    live.keys("Space")
    await live.settle()
    assert shown.trust.ask.isVisible() and not TrustStore().is_trusted(folder)
    live.press_button("Trust this project…", shown)
    live.press_button("Yes, run its extensions", shown)
    await live.until(lambda: rows(shown), "its extensions")
    assert rows(shown) == ["own, this project, loaded"]
    assert TrustStore().folders() == [str(folder)]
    live.press_button("Stop trusting it", shown)
    await live.until(lambda: not rows(shown), "the end of the trust")
    assert TrustStore().folders() == []
    live.keys("Esc")
    await live.back()


async def test_a38_a_cancel_is_told_in_the_panel(house: House) -> None:
    write(user_folder(), "guard", handler(BEFORE, "event.cancel('Not at night.')"))
    live = await house.start(sample_path())
    size = len(live.document.tree)
    live.keys("Ctrl+Shift+K")
    strip = live.window.compaction.notice
    await live.until(lambda: strip.isVisible() and strip.notice is not None, "the reason")
    assert strip.notice is not None
    assert strip.notice.what == "Cancelled by the extension guard: Not at night."
    assert len(live.document.tree) == size


async def test_what_extensions_did_is_seen_on_the_draft(house: House) -> None:
    write(user_folder(), "adds", handler("session.compacting", "event.add_context('SHOP-1')"))
    write(user_folder(), "fails", handler("session_request", "raise ValueError('no')"))
    live = await house.start(sample_path())
    await draft(live)
    did = live.window.compaction.draft.did
    assert did.isVisible() and did.section.expanded
    assert "1 acted" in did.section.header.text() and "failed" in did.section.header.text()
    assert any("1 line of context" in line for line in did.lines())
    assert any("ValueError: no" in line and "line 7" in line for line in did.lines())


async def test_a41_a_summary_that_an_extension_asks_for_is_proposed(house: House) -> None:
    """The person who wanted none is asked once more, and decides."""
    write(user_folder(), "asks", handler("session_before_tree", "event.set_summarize(True)"))
    live = await house.start(sample_path())
    before = live.document.leaf
    await ask_to_leave(live, 252)
    live.keys("Return")
    await live.until(
        lambda: (
            (d := live.session.navigation.dialog) is not None
            and "The extension asks asks for a summary" in d.question.text()
        ),
        "the proposal",
    )
    dialog = live.session.navigation.dialog
    assert isinstance(dialog, LeavingDialog)
    assert dialog.choices.checkedId() == SUMMARIZE and live.document.leaf == before
    dialog.choices.button(0).click()
    live.keys("Return")
    await live.until(lambda: live.document.leaf != before, "the move")
    await live.back()


async def test_a41_a_cancelled_navigation_is_told(house: House) -> None:
    write(user_folder(), "stay", handler("session_before_tree", "event.cancel('Stay here.')"))
    live = await house.start(sample_path())
    before = live.document.leaf
    await ask_to_leave(live, 252)
    live.keys("Return")
    await live.until(lambda: live.window.notices.isVisible(), "the notice")
    reported = live.window.notices.notice
    assert reported is not None
    assert reported.what == "Cancelled by the extension stay: Stay here."
    assert live.document.leaf == before

"""The question about the branch that is left behind: nothing happens until it is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMessageBox

from tests.models.server import Answer, ChatServer, Stall
from tests.models.summaries import GOOD
from tests.services.changed_session import ASKED, HERE, LEFT, changed_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import ask_to_leave, choose
from ui.branching.changed_files import DifferencesDialog
from ui.map.navigation import NO_SUMMARY, SUMMARIZE, WITH_INSTRUCTIONS, LeavingDialog

TARGET = 252


async def gone(live: RunningWindow, dialog: LeavingDialog) -> None:
    await live.until(lambda: live.session.navigation.dialog is None, "the end of the question")
    await live.back()


def unchanged(live: RunningWindow) -> tuple[int, int]:
    return len(live.document.tree), live.document.leaf


async def test_escape_on_the_question_leaves_the_leaf(house: House) -> None:
    """A37, first page."""
    live = await house.start(sample_path())
    before = unchanged(live)
    dialog = await ask_to_leave(live, TARGET)
    left = live.document.tree.path(live.document.leaf)
    behind = len(left) - 1 - left.position(TARGET)
    assert f"{behind:,} entries" in dialog.question.text()
    live.keys("Esc")
    await gone(live, dialog)
    assert unchanged(live) == before


async def test_escape_while_the_summary_streams_leaves_the_leaf(
    house: House, server: ChatServer
) -> None:
    """A37, second page: the call is ended too."""
    server.plan(Stall(after=1, text="Half of a summary"))
    live = await house.start(sample_path())
    before = unchanged(live)
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: "Half" in dialog.stream.toPlainText(), "the text")
    live.keys("Esc")
    await gone(live, dialog)
    await live.until(server.gone.is_set, "the end of the call")
    assert unchanged(live) == before
    assert live.document.shared.store.drafts(live.document.key)[-1].status == "cancelled"


async def test_escape_on_the_finished_summary_leaves_the_leaf(house: House) -> None:
    """A37, third page."""
    live = await house.start(sample_path())
    before = unchanged(live)
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    live.type("My own words. ")
    live.keys("Esc")
    await gone(live, dialog)
    assert unchanged(live) == before


async def test_a37_a_profile_that_always_summarizes_asks_nothing(house: House) -> None:
    """The summary is made at once, and still shown before it is stored; Escape leaves the leaf."""
    live = await house.start(sample_path())
    before = unchanged(live)
    live.session.state.set_rules(replace(live.session.state.profile, branch_summaries="on"))
    dialog = await ask_to_leave(live, TARGET)
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    live.keys("Esc")
    await gone(live, dialog)
    assert unchanged(live) == before


async def test_a37_a_profile_without_branch_summaries_only_goes(house: House) -> None:
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    live.session.state.set_rules(replace(live.session.state.profile, branch_summaries="off"))
    live.click_entry(TARGET)
    live.window.map.setFocus()
    live.keys("Return")
    await live.until(lambda: live.document.leaf == TARGET, "the leaf")
    assert live.session.navigation.dialog is None
    assert len(live.document.tree) == entries


async def test_going_without_a_summary_moves_the_leaf_only(house: House) -> None:
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    dialog = await ask_to_leave(live, TARGET)
    assert dialog.choices.checkedId() == NO_SUMMARY
    live.keys("Return")
    await gone(live, dialog)
    assert (len(live.document.tree), live.document.leaf) == (entries, TARGET)
    assert live.window.leaf.text() == f"leaf #{TARGET}"


async def test_instructions_reach_the_request_of_the_branch(
    house: House, server: ChatServer
) -> None:
    """The words that were typed are in what is sent (A31)."""
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+I", WITH_INSTRUCTIONS)
    assert dialog.instructions.hasFocus()
    live.type("Name the tests that were added.")
    await live.tab_to(dialog.go)
    live.keys("Space")
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    sent = "\n".join(str(message["content"]) for message in server.requests[-1]["messages"])
    assert "Name the tests that were added." in sent
    assert "Make the retry test reliable." in dialog.summary.toPlainText()
    live.keys("Esc")
    await gone(live, dialog)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Answer(text="  "), "empty"), (Answer(text="Half", finish="length"), "length")],
)
async def test_a_summary_that_is_no_good_goes_back_to_the_question(
    house: House, server: ChatServer, answer: Answer, reason: str
) -> None:
    """B12 for branches: the reason is told, and the leaf has not moved."""
    server.plan(answer)
    live = await house.start(sample_path())
    before = unchanged(live)
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: "has not moved" in dialog.question.text(), "the reason")
    assert reason in dialog.question.text().casefold()
    assert dialog.pages.currentIndex() == 0
    live.keys("Esc")
    await gone(live, dialog)
    assert unchanged(live) == before


async def test_an_empty_summary_is_not_stored(house: House) -> None:
    live = await house.start(sample_path())
    before = unchanged(live)
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+S", SUMMARIZE)
    live.keys("Return")
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    live.keys("Ctrl+A", "Del")
    live.press_button("Store and go there", dialog)
    await live.settle()
    assert "empty summary" in dialog.outcome.text().casefold()
    assert dialog.isVisible()
    live.keys("Esc")
    await gone(live, dialog)
    assert unchanged(live) == before


async def test_the_leaf_itself_is_nowhere_to_go(house: House) -> None:
    live = await house.start(sample_path())
    live.window.map.setFocus()
    live.keys("Return")
    await live.idle()
    assert live.session.navigation.dialog is None
    assert "leaf already" in live.said


async def test_the_menu_of_an_entry_leads_where_the_keys_lead(house: House) -> None:
    live = await house.start(sample_path())
    live.click_entry(260)
    live.window.map.setFocus()
    live.keys("Menu")
    surface = live.window.map.view
    surface.menu_requested.emit(260, surface.mapToGlobal(QPoint(20, 20)))
    menu = live.window.findChild(QMenu, options=_direct())
    assert menu is not None
    titles = [action.text() for action in menu.actions() if action.text()]
    assert titles[:3] == ["Go here", "Show the context here", "Preview a compaction here"]
    _action(menu, "Show the context here").trigger()
    await live.settle()
    assert live.tab == "context"
    assert "#260" in live.window.context.title.text()
    _action(menu, "Preview a compaction here").trigger()
    await live.settle()
    assert live.tab == "compaction"
    assert live.partition.preparation.leaf == 260
    menu.close()
    await live.settle()


def _action(menu: QMenu, text: str) -> QAction:
    return next(action for action in menu.actions() if action.text() == text)


def _direct() -> object:
    from PySide6.QtCore import Qt

    return Qt.FindChildOption.FindDirectChildrenOnly


async def test_files_that_the_branch_changed_are_named_and_restored(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(changed_session(tmp_path / "work", in_git=True))
    calc = tmp_path / "work" / "calc.py"
    dialog = await ask_to_leave(live, ASKED)
    await live.until(dialog.files.isVisible, "the line about files")
    words = "changed stays changed: calc.py"
    assert dialog.files.words.text() == f"1 file that this branch {words}"
    live.press_button("What it changed", dialog)
    shown = await live.dialog(DifferencesDialog)
    assert "+ a + b" in live.words(shown)
    live.keys("Esc")
    await live.until(lambda: not shown.isVisible(), "the end of the differences")
    live.press_button("Go there", dialog)
    await gone(live, dialog)
    assert calc.read_text(encoding="utf-8") == HERE
    strip = live.session.navigation.files.strip
    await live.until(strip.isVisible, "the line in the conversation")
    assert strip.words.text() == f"1 file that the branch you left {words}"
    live.press_button("Restore…", strip)
    question = await live.dialog(QMessageBox)
    live.press_button("Restore", question)
    await live.until(lambda: calc.read_text(encoding="utf-8") == LEFT, "the file as committed")
    await live.until(lambda: not strip.isVisible(), "the end of the line")
    assert "Restored as committed last: calc.py" in live.notice


async def test_nothing_is_said_of_files_that_are_not_here(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await ask_to_leave(live, TARGET)
    live.keys("Return")
    await gone(live, dialog)
    await live.idle()
    assert not live.session.navigation.files.strip.isVisible()


async def test_how_to_come_back_is_said_after_going(house: House) -> None:
    live = await house.start(sample_path())
    before = live.document.leaf
    await ask_to_leave(live, TARGET)
    live.keys("Return")
    await live.until(lambda: live.document.leaf == TARGET, "the leaf")
    await live.until(lambda: f"was #{before}: Enter on that entry" in live.said, "the way back")
    await live.idle()


async def test_what_the_offline_summarizer_cannot_follow_is_said_in_its_summary(
    house: House,
) -> None:
    live = await house.start(sample_path())
    dialog = await ask_to_leave(live, TARGET)
    await choose(live, dialog, "Alt+I", WITH_INSTRUCTIONS)
    assert not dialog.note.isVisible()
    live.type("Write it in Latin.")
    assert "picks lines" in dialog.note.text() and dialog.note.isVisible()
    live.keys("Ctrl+Return", to=dialog.instructions)
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    assert "cannot follow this instruction: “Write it in Latin.”" in dialog.summary.toPlainText()
    live.keys("Esc")
    await gone(live, dialog)

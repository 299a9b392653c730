"""The agent asks before it changes a file or runs a command; no stray key answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from explorer.session.kinds import Kind
from explorer.settings.paths import settings_path
from tests.models.server import Answer, ChatServer
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.test_looks import clashes
from ui.conversation.approval_card import ApprovalCard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "todo-api"
    (made / "src").mkdir(parents=True)
    (made / "src/retry.py").write_text("def wait(attempt):\n    return 2**attempt\n")
    return made


def calls(*made: tuple[str, dict[str, str]]) -> Answer:
    """A reply that calls tools: (name, arguments) each."""
    told = tuple((f"c{at}", name, json.dumps(args)) for at, (name, args) in enumerate(made))
    return Answer(text="", tool_calls=told, finish="tool_calls")


TOUCH = ("bash", {"command": "touch made-by-command"})


async def started(house: House, folder: Path) -> RunningWindow:
    live = await house.start(sample_path())
    live.session.agent.folder.choose(str(folder))
    return live


def card(live: RunningWindow) -> ApprovalCard:
    return live.window.agent.card


async def asked(live: RunningWindow, text: str = "Go on.") -> ApprovalCard:
    """Send a message and wait for the question that it leads to."""
    live.keys("F7")
    live.type(f"{text}\n")
    await live.until(lambda: card(live).isVisible(), "the question")
    return card(live)


async def over(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


def result(live: RunningWindow) -> str:
    """The newest tool result, as it was stored."""
    tree = live.document.tree
    found = [at for at in range(len(tree)) if tree.kind(at) is Kind.TOOL_RESULT]
    return str(live.document.payloads.shown.entry(found[-1]))


async def test_enter_allows_once_but_only_after_a_moment(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    assert question.hasFocus(), "the box was empty, so the card has the keyboard"
    assert "touch made-by-command" in live.words(question)
    assert str(folder) in live.words(question)
    live.keys("Return")
    await live.settle()
    assert question.isVisible()
    assert not (folder / "made-by-command").exists(), "a stray Enter approves nothing"
    await live.until(lambda: question.is_armed, "the moment")
    live.keys("Return")
    await live.until((folder / "made-by-command").exists, "the command")
    await live.until(lambda: question.isVisible() and not question.is_armed, "the second question")
    live.keys("Return")
    await live.settle()
    assert question.isVisible(), "the second question has its own moment"
    await live.until(lambda: question.is_armed, "the moment")
    live.keys("4")
    await over(live)
    assert "did not allow it" in result(live)
    assert live.window.agent.composer.hasFocus(), "the keyboard is back in the box"


async def test_words_that_are_being_typed_stay_in_the_box(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    live.keys("F7")
    live.type("Go on.\n")
    live.type("wait, 1")
    await live.until(lambda: card(live).isVisible(), "the question")
    await live.until(lambda: card(live).is_armed, "the moment")
    assert live.window.agent.composer.hasFocus(), "half a message keeps the keyboard"
    live.type("4 1")
    assert live.window.agent.composer.toPlainText() == "wait, 14 1"
    assert card(live).isVisible()
    live.mnemonic("Deny", card(live))
    await over(live)
    assert not (folder / "made-by-command").exists()
    assert live.window.agent.composer.toPlainText() == "wait, 14 1"


async def test_typing_over_a_new_question_goes_into_the_box(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    live.type("1st of all")
    assert live.window.agent.composer.toPlainText() == "1st of all"
    assert question.isVisible()
    live.keys("Esc")
    await over(live)
    assert not (folder / "made-by-command").exists()


async def test_escape_on_the_card_stops_the_turn(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH))
    live = await started(house, folder)
    question = await asked(live)
    live.keys("Esc", to=question)
    await over(live)
    assert not question.isVisible()
    assert not (folder / "made-by-command").exists()
    assert live.window.agent.bar.go_on.isVisible(), "a stopped turn can be gone on with"


async def test_a_change_shows_its_diff_and_a_no_carries_a_note(
    house: House, server: ChatServer, folder: Path
) -> None:
    edit = {"path": "src/retry.py", "oldText": "2**attempt", "newText": "3**attempt"}
    read = ("read", {"path": "src/retry.py"})
    server.plan(calls(read), calls(("edit", edit)), Answer(text="As you like."))
    live = await started(house, folder)
    question = await asked(live)
    assert "src/retry.py" in live.words(question)
    assert "+     return 3**attempt" in live.words(question)
    live.click(question.note)
    live.type("the hub may slow us down\n")
    await over(live)
    assert "the hub may slow us down" in result(live)
    assert "2**attempt" in (folder / "src/retry.py").read_text()


async def test_always_is_kept_in_the_settings_with_the_pattern_as_it_was_changed(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), calls(("bash", {"command": "touch another"})), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    question.pattern.setFocus()
    question.pattern.selectAll()
    live.type("touch anything")
    live.press_button("Always", question)
    assert "neither" in live.words(question), "what is no pattern is told"
    assert not (folder / "made-by-command").exists()
    question.pattern.selectAll()
    live.type("bash(touch *)")
    live.press_button("Always", question)
    await over(live)
    assert (folder / "another").exists(), "the second command is not asked about"
    assert "bash(touch *)" in settings_path().read_text()


async def test_this_session_ends_with_the_session(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    live.press_button("This session", question)
    await over(live)
    await live.close()
    server.plan(calls(TOUCH), Answer(text="Done."))
    again = await house.start()
    assert again.session.agent.folder.chosen == str(folder)
    await asked(again)
    again.keys("Esc", to=card(again))
    await over(again)


async def test_read_only_offers_nothing_that_changes_and_is_kept(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(Answer(text="I can only look."))
    live = await started(house, folder)
    live.choose(live.window.agent.bar.mode, "read-only")
    live.keys("F7")
    live.type("Change it.\n")
    await over(live)
    offered = {tool["function"]["name"] for tool in server.requests[-1]["tools"]}
    assert offered == {"read", "ls", "find", "grep"}
    await live.close()
    again = await house.start()
    assert again.window.agent.bar.mode.currentData() == "read-only"


async def test_allow_all_is_asked_back_once_and_ends_with_the_session(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    mode = live.window.agent.bar.mode
    mode.setFocus()
    live.keys("Down", "Down")
    box = await live.dialog(QMessageBox)
    assert "can do whatever you can do" in box.informativeText()
    live.keys("Esc")
    await live.back()
    assert mode.currentData() == "read-only", "nothing was changed"
    mode.setFocus()
    live.keys("Down")
    await live.dialog(QMessageBox)
    live.mnemonic("Allow all")
    await live.back()
    assert mode.currentData() == "yes"
    live.keys("F7")
    live.type("Go on.\n")
    await over(live)
    assert (folder / "made-by-command").exists()
    await live.close()
    again = await house.start()
    assert again.window.agent.bar.mode.currentData() == "ask"


async def test_the_card_has_letters_of_its_own_and_is_reached_by_a_key(
    house: House, server: ChatServer, folder: Path
) -> None:
    server.plan(calls(TOUCH), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        live.keys(tab)
        await live.settle()
        assert not clashes(live), tab
    live.window.map.setFocus()
    live.keys("Shift+F7")
    assert question.hasFocus()
    assert question.accessibleName() == "The agent asks: Run a command"
    await live.tab_to(question.buttons["deny"])
    await live.until(lambda: question.is_armed, "the moment")
    live.keys("Return")
    await over(live)
    assert "did not allow it" in result(live)


async def test_allow_all_does_not_answer_for_what_outlives_the_session(
    house: House, server: ChatServer, folder: Path
) -> None:
    hook = ("write", {"path": ".git/hooks/pre-commit", "content": "evil\n"})
    server.plan(calls(hook), Answer(text="Done."))
    live = await started(house, folder)
    question = await asked(live)
    mode = live.window.agent.bar.mode
    mode.setFocus()
    live.keys("End")
    await live.dialog(QMessageBox)
    live.mnemonic("Allow all")
    await live.until(lambda: mode.currentData() == "yes", "the mode")
    live.window.activateWindow()
    await live.until(live.window.isActiveWindow, "the window's activation")
    await live.settle()
    assert question.isVisible(), "only an answer to this question allows it"
    live.window.map.setFocus()
    live.keys("Shift+F7")
    await live.tab_to(question.buttons["deny"])
    await live.until(lambda: question.is_armed, "the moment")
    live.keys("Return")
    await over(live)
    assert not (folder / ".git" / "hooks" / "pre-commit").exists()

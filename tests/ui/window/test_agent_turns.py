"""The agent works in the session itself: its entries are the map's, and it can be stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLineEdit

from explorer.models import reply_guard
from explorer.session.kinds import Flag, Kind
from tests.models.server import Answer, ChatServer, HttpFailure, Stall
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import ask_to_leave
from ui.branching.agent_stop import StopAgentDialog


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder for the agent; see ``work_in``."""
    folder = tmp_path / "todo-api"
    (folder / "src").mkdir(parents=True)
    (folder / "src/retry.py").write_text("def backoff(attempt):\n    return 2**attempt\n")
    (folder / "README.md").write_text("# todo-api\n")
    return folder


def work_in(live: RunningWindow, folder: Path) -> None:
    """Choose the agent's folder, as the dialog and the menu do."""
    live.session.agent.folder.choose(str(folder))


async def say(live: RunningWindow, text: str) -> None:
    live.keys("F7")
    assert live.window.agent.composer.hasFocus()
    live.type(f"{text}\n")


async def answered(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


async def test_a_turn_with_a_tool_grows_the_map_by_real_entries(
    house: House, workspace: Path
) -> None:
    """Question, call, result and answer are entries; selection and gauge follow the leaf."""
    live = await house.start(sample_path())
    work_in(live, workspace)
    tree, entries = live.document.tree, len(live.document.tree)
    rows = live.window.map.model.rows.count
    filled = live.window.header.gauge.accessibleDescription()
    await say(live, "Read src/retry.py")
    await answered(live)
    new = list(range(entries, len(tree)))
    kinds = [tree.kind(at) for at in new]
    assert kinds[:2] == [Kind.MODEL_CHANGE, Kind.USER]
    assert kinds[-1] is Kind.ASSISTANT
    assert Kind.TOOL_RESULT in kinds
    assert "2**attempt" in str([live.document.payloads.shown.entry(at) for at in new])
    assert live.window.map.model.rows.count == rows + len(new)
    assert live.document.leaf == live.window.map.selected == new[-1]
    assert live.window.entry.index == new[-1]
    assert live.window.leaf.text() == f"leaf #{new[-1]}"
    assert live.window.agent.composer.toPlainText() == ""
    assert "Read src/retry.py" in live.window.agent.conversation.toPlainText()
    now = live.window.header.gauge.accessibleDescription()
    assert now != filled
    assert not now.startswith("0 of"), "a reply without usage does not empty the context (E7)"


async def test_the_selection_stays_where_the_person_looks(house: House, workspace: Path) -> None:
    live = await house.start(sample_path())
    work_in(live, workspace)
    live.click_entry(270)
    await say(live, "What is in this folder?")
    await answered(live)
    assert live.document.leaf > 281
    assert live.window.map.selected == 270


async def test_stopping_keeps_what_had_arrived(house: House, server: ChatServer) -> None:
    """Esc in the message box ends the call; the half reply is kept and marked."""
    server.plan(Stall(after=2, text="I would begin with "))
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    await say(live, "Where would you begin?")
    said = live.window.agent.conversation
    await live.until(lambda: "I would begin" in said.toPlainText(), "the first words")
    assert live.window.agent.stop.isVisible()
    assert not live.window.agent.send.isVisible()
    live.keys("Esc")
    await answered(live)
    await live.until(server.gone.is_set, "the end of the call")
    assert len(live.document.tree) == entries + 3, "change of model, question, half reply"
    reply = live.document.leaf
    assert live.document.tree.columns.flags[reply] & Flag.ABORTED
    assert "I would begin" in str(live.document.payloads.shown.entry(reply))
    assert live.window.agent.send.isVisible()
    assert "kept" in live.said
    server.plan(Answer(text="With the clock."))
    await say(live, "Go on.")
    await answered(live)
    assert "With the clock." in said.toPlainText()
    sent = json.dumps(server.requests[-1]["messages"])
    assert "Where would you begin?" in sent
    assert "I would begin with " not in sent, "a stopped reply is not sent again"


async def test_a_silence_is_shown_while_it_lasts_and_what_arrived_before_it(
    house: House, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_guard, "FIRST_SILENCE_S", 0.3)
    server.plan(Stall(after=1, text="Let me see. "))
    live = await house.start(sample_path())
    await say(live, "Look around.")
    shown = live.window.agent.conversation
    await live.until(lambda: "ends after 300 s" in shown.toPlainText(), "the words of the silence")
    assert "No byte for " in shown.toPlainText() and "Let" in shown.toPlainText()
    live.keys("F7", "Esc")
    await answered(live)
    assert "No byte for " not in shown.toPlainText()


async def test_the_leaf_stays_while_the_agent_answers(house: House, server: ChatServer) -> None:
    server.plan(Stall(after=1, text="Let me see. "))
    live = await house.start(sample_path())
    await say(live, "Look around.")
    await live.until(server.started.is_set, "the answer")
    await live.settle()
    leaf = live.document.leaf
    live.click_entry(252)
    live.window.map.setFocus()
    live.keys("Return")
    await live.dialog(StopAgentDialog)
    live.keys("Esc")
    await live.until(
        lambda: live.session.navigation.agent_stop.dialog is None, "the question's end"
    )
    live.window.activateWindow()
    await live.until(live.window.isActiveWindow, "the window's activation")
    assert live.session.navigation.dialog is None
    live.keys("Ctrl+Z")
    await live.settle()
    assert live.document.leaf == leaf
    live.keys("F7", "Esc")
    await answered(live)


async def test_a_failed_answer_is_told_and_the_question_is_kept(
    house: House, server: ChatServer
) -> None:
    server.plan(HttpFailure(401, "Incorrect API key provided"))
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    await say(live, "Are you there?")
    await answered(live)
    assert live.notice
    assert live.document.tree.kind(entries + 1) is Kind.USER
    assert live.document.tree.columns.flags[live.document.leaf] & Flag.ERROR
    server.plan(Answer(text="Yes."))
    live.window.notices.dismiss()
    await say(live, "And now?")
    await answered(live)
    assert "Yes." in live.window.agent.conversation.toPlainText()


async def test_what_was_not_sent_waits_with_its_session(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("F7")
    live.type("Half a thought")
    live.keys("Shift+Return")
    live.type("on two lines")
    await live.close()
    again = await house.start()
    assert again.window.agent.composer.toPlainText() == "Half a thought\non two lines"


async def test_earlier_messages_come_back_with_up(house: House, workspace: Path) -> None:
    live = await house.start(sample_path())
    work_in(live, workspace)
    await say(live, "What is in this folder?")
    await answered(live)
    live.keys("F7", "Up")
    assert live.window.agent.composer.toPlainText() == "What is in this folder?"
    live.keys("Up")
    assert "run the retry tests ten times" in live.window.agent.composer.toPlainText()
    live.keys("Down", "Down")
    assert live.window.agent.composer.toPlainText() == ""


async def test_going_back_and_asking_anew_makes_a_branch(house: House, workspace: Path) -> None:
    """The old branch stays; the new turn hangs where one went to."""
    live = await house.start(sample_path())
    work_in(live, workspace)
    tree, old = live.document.tree, live.document.leaf
    branches = len(tree.leaves())
    await ask_to_leave(live, 252)
    live.keys("Return")
    await live.until(lambda: live.document.leaf == 252, "the new leaf")
    await live.back()
    await say(live, "What is in this folder?")
    await answered(live)
    assert len(tree.leaves()) == branches + 1
    assert tree.common_ancestor(old, live.document.leaf) == 252


async def test_a_folder_is_chosen_in_a_dialog(house: House, tmp_path: Path) -> None:
    live = await house.start(sample_path())
    folder = tmp_path / "chosen"
    folder.mkdir()
    live.press_button("Choose folder", live.window.agent)
    dialog = await live.dialog(QFileDialog)
    line = dialog.findChild(QLineEdit, "fileNameEdit")
    assert line is not None
    line.selectAll()
    live.type(str(folder), to=line)
    live.keys("Return", to=line)
    await live.until(lambda: live.window.agent.workspace.text() == "Folder: chosen", "the folder")
    await live.back()
    await live.close()
    again = await house.start()
    assert again.window.agent.workspace.text() == "Folder: chosen"


async def test_what_was_spent_is_in_the_status_bar_with_all_figures_in_its_tip(
    house: House, server: ChatServer
) -> None:
    """Session, branch and turn; a reply adds to all three."""
    live = await house.start(sample_path())
    spent = live.window.spent
    await live.until(lambda: "This branch:" in spent.toolTip(), "the sums")
    before, tip = spent.text(), spent.toolTip()
    assert before.startswith("≥$"), "the session has failed calls, which told nothing"
    assert spent.isVisible()
    assert "Cost: inferred. As recorded, without" in tip
    usage = {"prompt_tokens": 900_000, "completion_tokens": 100_000, "total_tokens": 1_000_000}
    server.plan(Answer(text="Yes.", usage=usage))
    await say(live, "Are you there?")
    await answered(live)
    turn = "The last turn: 1,000,000 tokens in 1 call"
    await live.until(lambda: turn in spent.toolTip(), "the new sum")
    assert spent.text() != before

"""Branching with the agent: stop and go, a message anew, a fork, two branches side by side."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage

from explorer.session.entries import ImageBlock, TextBlock, UserMessage, images_of
from explorer.session.kinds import Flag, Kind
from tests.models.server import Answer, ChatServer, Stall
from tests.store.sources import chain, message, write_file
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft
from ui.branching.agent_stop import StopAgentDialog
from ui.branching.difference import (
    DifferenceWindow,
)
from ui.branching.fork import (
    ForkDialog,
)
from ui.branching.runs import (
    RunsDialog,
    RunsWindow,
)
from ui.branching.turns_table import cell_at
from ui.map.navigation import (
    LeavingDialog,
)

TARGET = 252


async def say(live: RunningWindow, text: str) -> None:
    live.keys("F7")
    live.type(f"{text}\n")


async def answered(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


async def working(live: RunningWindow, server: ChatServer) -> None:
    """The agent is in the middle of an answer that does not end."""
    server.plan(Stall(after=2, text="I would begin with "))
    await say(live, "Where do we begin?")
    shown = live.window.agent.conversation
    await live.until(lambda: "I would begin" in shown.toPlainText(), "the first words")


async def asked(live: RunningWindow, target: int) -> StopAgentDialog:
    live.click_entry(target)
    live.window.map.setFocus()
    live.keys("Return")
    return await live.dialog(StopAgentDialog)


# going while the agent works ---------------------------------------------------------------------


async def test_going_while_the_agent_works_asks_stops_and_goes(
    house: House, server: ChatServer
) -> None:
    """What had arrived is kept and marked; then comes the ordinary question about the branch."""
    live = await house.start(sample_path())
    before = len(live.document.tree)
    await working(live, server)
    dialog = await asked(live, TARGET)
    assert dialog.question.text() == "The agent (openai/gpt-4o-mini) is answering."
    assert dialog.stay.hasFocus(), "Enter does not stop anything"
    live.mnemonic("Stop it and go there", dialog)
    leaving = await live.dialog(LeavingDialog)
    await live.until(server.gone.is_set, "the end of the call")
    tree = live.document.tree
    kinds = [tree.kind(at) for at in range(before, len(tree))]
    assert kinds[-2:] == [Kind.USER, Kind.ASSISTANT]
    assert tree.columns.flags[len(tree) - 1] & Flag.ABORTED
    assert live.document.leaf == len(tree) - 1, "the leaf moves when the question is answered"
    assert not live.session.agent.running
    live.keys("Return", to=leaving.go)
    await live.until(lambda: live.document.leaf == TARGET, "the leaf")
    await live.back()
    assert "I would begin" in str(live.document.payloads.shown.entry(len(tree) - 1))


async def test_staying_leaves_the_agent_at_its_work(house: House, server: ChatServer) -> None:
    live = await house.start(sample_path())
    await working(live, server)
    dialog = await asked(live, TARGET)
    live.keys("Return")
    await live.until(lambda: not dialog.isVisible(), "the end of the question")
    assert live.session.agent.running
    live.session.agent.stop()
    await answered(live)


async def test_a_turn_that_ends_by_itself_leaves_nothing_to_stop(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    await working(live, server)
    dialog = await asked(live, TARGET)
    live.session.agent.stop()
    await answered(live)
    assert dialog.question.text() == "The agent is done."
    live.press_button("Go there", dialog)
    await live.dialog(LeavingDialog)
    live.keys("Esc")
    await live.idle()


# a message anew ----------------------------------------------------------------------------------


def last_message(live: RunningWindow) -> int:
    return live.session.navigation.message_of(live.document.leaf)


async def test_a_message_written_anew_becomes_a_branch_beside_the_first(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer("First."), Answer("Second."))
    live = await house.start(sample_path())
    await say(live, "Say what you see.")
    await answered(live)
    tree, first, leaf = live.document.tree, last_message(live), live.document.leaf
    live.click_entry(leaf)
    live.window.map.setFocus()
    live.keys("Ctrl+E")
    strip = live.session.navigation.new_version.strip
    await live.until(strip.isVisible, "the line above the box")
    await live.idle()
    composer = live.window.agent.composer
    assert (composer.toPlainText(), composer.hasFocus()) == ("Say what you see.", True)
    assert f"#{first}" in strip.words.text()
    assert live.document.leaf == tree.columns.parent[first]
    live.type(" In one line.\n")
    await answered(live)
    second = last_message(live)
    assert tree.columns.parent[second] == tree.columns.parent[first]
    assert "Say what you see. In one line." in str(live.document.payloads.shown.entry(second))
    assert not strip.isVisible()
    sent = json.dumps(server.requests[-1]["messages"])
    assert "First." not in sent
    assert sent.count("Say what you see.") == 1


async def test_cancelling_brings_back_the_leaf_and_what_was_in_the_box(house: House) -> None:
    live = await house.start(sample_path())
    leaf, entries = live.document.leaf, len(live.document.tree)
    live.keys("F7")
    live.type("Half a thought")
    live.click_entry(leaf)
    live.keys("Ctrl+E")
    strip = live.session.navigation.new_version.strip
    await live.until(strip.isVisible, "the line above the box")
    await live.idle()
    assert live.document.leaf != leaf
    await live.tab_to(strip.cancel_button, key="Shift+Tab")
    live.keys("Return")
    await live.until(lambda: live.document.leaf == leaf, "the leaf")
    await live.idle()
    assert live.window.agent.composer.toPlainText() == "Half a thought"
    assert (len(live.document.tree), strip.isVisible()) == (entries, False)


async def test_pictures_of_a_message_come_into_the_box_and_are_sent_again(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer("A red square."))
    live = await house.start(sample_path())
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    data = base64.b64encode(bytes(buffer.data().data())).decode()
    message = UserMessage((TextBlock("What is this?"), ImageBlock("image/png", data)))
    await live.document.writer.append(message, live.document.leaf)
    await live.idle()
    live.click_entry(live.document.leaf)
    live.keys("Ctrl+E")
    await live.until(lambda: live.window.agent.chips.attachments, "the picture")
    await live.idle()
    live.type("\n", to=live.window.agent.composer)
    await answered(live)
    again = live.document.payloads.shown.entry(last_message(live))
    assert images_of(again.content) == images_of(message.content)


async def test_what_is_written_anew_survives_closing_the_window(house: House) -> None:
    live = await house.start(sample_path())
    leaf = live.document.leaf
    live.click_entry(leaf)
    live.keys("Ctrl+E")
    await live.until(live.session.navigation.new_version.strip.isVisible, "the line")
    await live.idle()
    entry, words = live.session.navigation.new_version.entry, live.window.agent.composer
    text = words.toPlainText()
    await live.close()
    again = await house.start(None)
    strip = again.session.navigation.new_version.strip
    await again.until(strip.isVisible, "the line, again")
    await again.idle()
    assert again.session.navigation.new_version.entry == entry
    assert again.window.agent.composer.toPlainText() == text
    again.click(strip.cancel_button)
    await again.until(lambda: again.document.leaf == leaf, "the leaf")
    await again.idle()


async def test_a_message_is_edited_from_inspector_and_conversation(house: House) -> None:
    live = await house.start(sample_path())
    leaf, strip = live.document.leaf, live.session.navigation.new_version.strip
    message = last_message(live)
    live.click_entry(message)
    await live.idle()
    assert live.window.entry.header.edit.isVisible()
    live.click(live.window.entry.header.edit)
    await live.until(strip.isVisible, "the line")
    await live.idle()
    live.click(strip.cancel_button)
    await live.until(lambda: live.document.leaf == leaf, "the leaf")
    await live.idle()
    live.click_entry(leaf)
    await live.idle()
    assert not live.window.entry.header.edit.isVisible(), "only what a person said is edited"
    live.click_entry(252)
    view = live.window.agent.conversation.view
    view.setFocus()
    await live.until(lambda: view.focused is not None, "a focused message")
    live.keys("Ctrl+E")
    await live.until(strip.isVisible, "the line, again")
    await live.idle()
    assert live.session.navigation.new_version.entry == message, "not that of the map"


# forks -------------------------------------------------------------------------------------------


async def test_a_fork_is_opened_says_its_origin_and_leads_back(house: House) -> None:
    live = await house.start(sample_path())
    origin, title = live.document.key, live.document.title
    live.click_entry(TARGET)
    live.window.map.setFocus()
    live.keys("Ctrl+Shift+B")
    dialog = await live.dialog(ForkDialog)
    path = len(live.document.tree.path(TARGET))
    assert f"{path} entries" in dialog.choices.button(0).text()
    live.mnemonic("Fork", dialog)
    await live.until(lambda: live.document.key != origin, "the fork")
    await live.idle()
    assert live.document.title == f"{title} (fork)"
    assert f"“{title}” at #{TARGET}" in live.notice
    assert f"fork of “{title}”" in live.window.header.facts.text()
    live.press_button("Back to its origin", live.window.notices)
    await live.until(lambda: live.document.key == origin, "the origin")
    await live.idle()
    assert live.window.map.selected == TARGET


async def test_all_branches_are_forked_by_keyboard(house: House) -> None:
    live = await house.start(sample_path())
    origin, entries = live.document.key, len(live.document.tree)
    live.window.map.setFocus()
    live.keys("Ctrl+Shift+B")
    dialog = await live.dialog(ForkDialog)
    live.mnemonic("All branches", dialog)
    await live.until(lambda: dialog.choices.checkedId() == 1, "the choice")
    dialog.name.setFocus()
    dialog.name.selectAll()
    live.type("Everything anew\n")
    await live.until(lambda: live.document.key != origin, "the fork")
    await live.idle()
    assert live.document.title == "Everything anew"
    assert len(live.document.tree) == entries + 1


async def test_escape_forks_nothing(house: House) -> None:
    live = await house.start(sample_path())
    assert live.session.state.bench is not None
    live.keys("Ctrl+Shift+B")
    await live.dialog(ForkDialog)
    live.keys("Esc")
    await live.until(lambda: live.session.forks.dialog is None, "the end of the dialog")
    await live.idle()
    assert len(live.session.state.bench.sessions()) == 1


# comparing ---------------------------------------------------------------------------------------


def other_leaf(live: RunningWindow) -> int:
    tree = live.document.tree
    return next(end for end in tree.leaves() if end != live.document.leaf)


async def compared(live: RunningWindow, entry: int) -> DifferenceWindow:
    live.click_entry(entry)
    live.window.map.setFocus()
    live.keys("Ctrl+D")
    shown = live.session.differences
    await live.until(lambda: shown.window is not None and shown.window.found, "the comparison")
    await live.settle()
    assert shown.window is not None
    return shown.window


async def test_a_branch_is_compared_with_the_active_path(house: House) -> None:
    live = await house.start(sample_path())
    leaf, other = live.document.leaf, other_leaf(live)
    window = await compared(live, other)
    found, tree = window.found, live.document.tree
    assert found is not None
    assert (found.left.leaf, found.right.leaf) == (leaf, other)
    assert f"#{tree.common_ancestor(leaf, other)}" in window.title.text()
    assert window.figures.values["Turns"][0].text() == f"{len(found.left.turns)}"
    live.keys("Alt+T", to=window)
    await live.until(window.turns.isVisible, "the messages")
    window.turns.setFocus()
    live.keys("Return")
    message = cell_at(window.turns.currentIndex()).message
    assert live.window.map.selected == message.entry
    live.press_button("Copy as Markdown", window)
    assert QGuiApplication.clipboard().text().startswith("# Two branches from #")
    live.keys("Esc", to=window)
    await live.idle()


async def test_going_on_with_the_other_branch_asks_as_ever(house: House) -> None:
    live = await house.start(sample_path())
    other = other_leaf(live)
    window = await compared(live, other)
    live.click(window.go_right)
    leaving = await live.dialog(LeavingDialog)
    live.keys("Return", to=leaving.go)
    await live.until(lambda: live.document.leaf == other, "the leaf")
    await live.idle()


async def test_the_window_of_a_comparison_goes_with_its_session(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    await compared(live, other_leaf(live))
    live.session.state.show(None)
    await live.idle()
    assert live.session.differences.window is None


# side by side ------------------------------------------------------------------------------------

OTHER = "openai/gpt-4o"


async def asking(live: RunningWindow, text: str) -> RunsWindow:
    """Ask the model of the window and another one, by keyboard."""
    live.keys("F7")
    live.type(text)
    live.keys("Ctrl+Shift+E")
    dialog = await live.dialog(RunsDialog)
    assert dialog.words.toPlainText() == text
    box = dialog.rows[1][0]
    box.setCurrentIndex(box.findData(OTHER))
    box.activated.emit(box.currentIndex())
    dialog.words.setFocus()
    live.keys("Ctrl+Return")
    await live.until(lambda: live.session.runs.window is not None, "the columns")
    window = live.session.runs.window
    assert window is not None
    return window


async def test_two_models_answer_side_by_side_and_one_is_gone_on_with(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer("By waiting longer."), model="gpt-4o-mini")
    server.plan(Answer("By waiting less."), model="gpt-4o")
    live = await house.start(sample_path())
    leaf = live.document.leaf
    window = await asking(live, "How would you fix it?")
    assert live.window.agent.composer.toPlainText() == ""
    await live.until(lambda: window.is_over, "both answers")
    await live.idle()
    shown = [column.stream.text() for column in window.columns]
    assert shown == ["By waiting longer.", "By waiting less."]
    assert live.document.leaf == leaf
    live.press_button("Compare", window)
    compared = live.session.differences
    await live.until(lambda: compared.window is not None and compared.window.found, "the window")
    assert compared.window is not None
    await live.settle()
    assert compared.window.right_answer.marked == ["less"]
    compared.window.close()
    live.click(window.columns[1].go)
    await live.until(lambda: live.document.leaf == window.runs.runs[1].leaf, "the leaf")
    await live.idle()
    assert "By waiting less." in str(live.document.payloads.shown.entry(live.document.leaf))
    ends = live.document.tree.leaves()
    assert window.runs.runs[0].leaf in ends, "the other stays as a branch"


async def test_one_of_two_is_stopped_alone_and_keeps_what_had_arrived(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=2, text="I would begin with "), model="gpt-4o-mini")
    server.plan(Stall(after=2, text="My first step is "), model="gpt-4o")
    live = await house.start(sample_path())
    window = await asking(live, "How would you fix it?")
    first, second = window.columns
    await live.until(lambda: "I would" in first.stream.text(), "the first words of one")
    await live.until(lambda: "My first" in second.stream.text(), "the first words of the other")
    live.click(first.stop)
    await live.until(lambda: first.run.is_over, "the end of one")
    assert not second.run.is_over
    assert live.session.agent.running
    live.window.agent.stop_requested.emit()
    await live.until(lambda: window.is_over, "the end of both")
    await live.idle()
    flags = live.document.tree.columns.flags
    assert all(flags[run.leaf] & Flag.ABORTED for run in window.runs.runs)
    assert not live.session.agent.running


async def test_a_closed_window_of_runs_tells_when_they_are_done(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=1, text="Well, "), model="gpt-4o-mini")
    server.plan(Answer("Done."), model="gpt-4o")
    live = await house.start(sample_path())
    window = await asking(live, "How would you fix it?")
    await live.until(lambda: window.columns[1].run.is_over, "the quick one")
    window.close()
    assert live.session.agent.running
    live.window.activateWindow()
    await live.until(live.window.isActiveWindow, "the window's activation")
    live.keys("Ctrl+Shift+E")
    await live.until(window.isVisible, "the columns again")
    window.close()
    window.runs.stop()
    await live.until(lambda: window.is_over, "the end")
    await live.idle()
    assert live.notice == "2 models have answered side by side."
    live.press_button("Show them", live.window.notices)
    await live.until(window.isVisible, "the columns")


async def test_closing_everything_keeps_what_both_had_said(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=2, text="I would begin with "))
    live = await house.start(sample_path())
    window = await asking(live, "How would you fix it?")
    for column in window.columns:
        await live.until(lambda c=column: "I would" in c.stream.text(), "the first words")
    leaf = live.document.leaf
    await live.close()
    again = await house.start(None)
    tree = again.document.tree
    ends = tree.leaves()[-2:]
    assert all(tree.columns.flags[end] & Flag.ABORTED for end in ends)
    assert [tree.common_ancestor(end, leaf) for end in ends] == [leaf, leaf]
    assert again.document.leaf == leaf


async def test_rows_of_models_are_added_and_removed(house: House, server: ChatServer) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+Shift+E")
    dialog = await live.dialog(RunsDialog)
    assert not dialog.run.isEnabled(), "there is nothing to ask yet"
    live.type("Which?")
    assert dialog.run.isEnabled()
    live.press_button("Add a model", dialog)
    assert len(dialog.rows) == 3
    assert dialog.rows[2][0].accessibleName() == "Model 3"
    live.click(dialog.rows[0][2])
    assert [box.accessibleName() for box, _, _ in dialog.rows] == ["Model 1", "Model 2"]
    assert not dialog.rows[0][2].isEnabled(), "two are the fewest"
    live.keys("Esc")
    await live.until(lambda: live.session.runs.dialog is None, "the end of the dialog")
    await live.idle()


async def test_branches_of_compactions_say_what_they_free(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await draft(live)
    made = await commit(live)
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf != made, "the undo")
    await live.idle()
    await draft(live)
    await commit(live)
    window = await compared(live, made)
    words, found = live.words(window), window.found
    assert found is not None
    fold = live.window.map.model.fold(made)
    assert fold is not None and fold.sizes.after is not None
    assert found.right.freed == fold.sizes.before - fold.sizes.after, "as on the map"
    assert words.count("tokens less, by its compaction") == 2
    assert words.count("the session did not go on after it") == 2


async def test_the_header_counts_no_compaction_that_was_undone(
    house: House, tmp_path: Path
) -> None:
    compaction = {
        "type": "compaction", "id": "c", "parentId": "e1", "summary": "All.",
        "firstKeptEntryId": "e1", "tokensBefore": 9, "timestamp": "2026-01-02T03:04:06.000Z",
    }  # fmt: skip
    path = write_file(tmp_path / "undone.jsonl", [*chain(2), compaction, message(2, "e1", "on")])
    live = await house.start(session=path)
    await live.until(lambda: live.has_document, "the session")
    await live.idle()
    assert "4 entries · 1 branch" in live.window.header.facts.text()
    await live.document.writer.move_leaf(2)
    await live.idle()
    assert "4 entries · 2 branches" in live.window.header.facts.text()

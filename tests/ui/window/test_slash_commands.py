"""Commands typed into the message box: what they do, and that what is none goes nowhere."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog

from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.conversation.slash_commands import (
    CommandCall,
    CommandMistake,
    CommandsPage,
    SlashCommand,
    SlashCommands,
    TypedMessage,
)


def commands() -> SlashCommands:
    return SlashCommands([
        SlashCommand("compact", "[instructions]", "Compact.", lambda _text: None),
        SlashCommand("name", "TEXT", "Name.", lambda _text: None),
        SlashCommand("undo", "", "Undo.", lambda _text: None),
    ])  # fmt: skip


def test_what_is_typed_is_a_command_a_message_or_a_mistake() -> None:
    known = commands()
    meant = known.read("  /compact keep the ports\nand the hosts ")
    assert isinstance(meant, CommandCall)
    assert (meant.command.name, meant.argument) == ("compact", "keep the ports\nand the hosts")
    assert known.read("//compact is a word") == TypedMessage("/compact is a word")
    assert known.read("/etc/hosts is wrong") == TypedMessage("/etc/hosts is wrong")
    assert known.read("use /compact here") == TypedMessage("use /compact here")
    unknown = known.read("/compakt now")
    assert isinstance(unknown, CommandMistake)
    assert "no command /compakt" in unknown.reason
    assert isinstance(known.read("/name"), CommandMistake), "it needs its argument"
    assert isinstance(known.read("/undo it all"), CommandMistake), "it takes none"
    assert [command.name for command in known.matching("o")] == ["compact", "undo"]


async def typed(live: RunningWindow, line: str) -> None:
    live.keys("F7")
    live.type(f"{line}\n")
    await live.settle()
    await live.idle()


async def test_an_unknown_command_is_told_and_sends_nothing(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    await typed(live, "/compakt now")
    assert "no command /compakt" in live.said
    assert live.window.agent.composer.toPlainText() == "/compakt now", "it can be put right"
    assert len(live.document.tree) == entries
    assert not server.requests
    server.plan(Answer(text="A word."))
    live.window.agent.composer.clear()
    await typed(live, "//compakt is what?")
    await live.until(lambda: not live.session.agent.running, "the answer")
    assert server.requests[-1]["messages"][-1]["content"][0]["text"] == "/compakt is what?"


async def test_a_command_is_completed_by_its_first_letters(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("F7")
    live.type("/na")
    completion = live.window.agent.completion
    assert completion.lines == ["/name TEXT"]
    live.keys("Tab")
    assert live.window.agent.composer.toPlainText() == "/name "
    live.type("Clocks and hubs\n")
    await live.until(lambda: live.document.title == "Clocks and hubs", "the name")
    live.type("/")
    assert len(completion.lines) >= 11
    live.keys("Down", "Down", "Esc")
    assert not completion.is_open
    assert live.window.agent.composer.toPlainText() == "/", "Esc closes the list alone"
    live.type("he")
    assert not completion.is_open, "what was closed stays closed for this word"


async def test_labels_models_and_the_map_are_reached_from_the_box(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    await typed(live, "/label before the clock")
    await live.until(lambda: live.document.tree.kind(len(live.document.tree) - 1) is Kind.LABEL, "")
    live.keys("F7")
    live.type("/model gpt-4o-mini")
    assert "openai/gpt-4o-mini" in live.window.agent.completion.lines
    live.type("\n\n")
    await live.settle()
    assert live.window.agent.model == "openai/gpt-4o-mini"
    await typed(live, "/model nobody-knows-this")
    assert "No model" in live.said
    live.window.agent.composer.clear()
    await typed(live, "/thinking high")
    assert "not known" in live.said, "this model does not think"
    live.window.agent.composer.clear()
    await typed(live, "/tree")
    await live.until(
        lambda: live.window.map.isAncestorOf(live.app.focusWidget() or live.window), "the map"
    )


async def test_a_session_is_written_where_the_command_says_and_nothing_is_overwritten(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    await typed(live, "/export out.jsonl")
    assert "none is chosen" in live.said
    live.session.agent.folder.choose(str(tmp_path))
    live.window.agent.composer.clear()
    await typed(live, "/export out.jsonl")
    await live.until(lambda: (tmp_path / "out.jsonl").exists(), "the file")
    await live.idle()
    before = (tmp_path / "out.jsonl").read_bytes()
    await typed(live, "/export out.jsonl")
    assert "there already" in live.said
    assert (tmp_path / "out.jsonl").read_bytes() == before


async def test_the_page_of_commands_lists_them_all(house: House) -> None:
    live = await house.start(sample_path())
    await typed(live, "/help")
    page = await live.dialog(CommandsPage)
    assert isinstance(page, QDialog)
    for command in live.session.agent.commands:
        assert command.usage in live.words(page)
    live.keys("Esc")
    await live.back()


async def test_a_profile_is_chosen_from_the_box(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("F7")
    live.type("/profile om")
    assert "omp" in live.window.agent.completion.lines
    live.type("\n\n")
    await live.settle()
    assert live.session.state.profile.name == "omp" == live.window.header.profile_name
    await typed(live, "/profile nobody")
    assert "There is no profile nobody" in live.said

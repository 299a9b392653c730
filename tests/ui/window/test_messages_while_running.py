"""What a person says while the agent works, what comes back, and how it is gone on with."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer, HttpFailure, Stall
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.widgets.labels import LinkButton


def spoken(live: RunningWindow, first: int) -> list[str]:
    """Texts of the person's messages from an entry on."""
    tree = live.document.tree
    found = [at for at in range(first, len(tree)) if tree.kind(at) is Kind.USER]
    return [live.document.payloads.shown.entry(at).text for at in found]


async def say(live: RunningWindow, text: str) -> None:
    live.keys("F7")
    live.type(f"{text}\n")
    await live.settle()


async def over(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


def look() -> Answer:
    return Answer(text="", tool_calls=(("c1", "ls", "{}"),), finish="tool_calls")


async def test_enter_steers_alt_enter_waits_and_each_can_be_taken_back(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=2, text="Let me see. "))
    live = await house.start(sample_path())
    pane, entries = live.window.agent, len(live.document.tree)
    await say(live, "Look around.")
    await live.until(server.started.is_set, "the answer")
    live.type("Leave the tests alone.\n")
    live.type("Then run them.")
    live.keys("Alt+Return")
    live.type("And a third.\n")
    assert pane.queue.lines == [
        "Next: Leave the tests alone.",
        "Then: Then run them.",
        "Next: And a third.",
    ]
    assert pane.composer.toPlainText() == ""
    back = pane.queue.findChildren(LinkButton)
    live.click(next(b for b in back if "third" in b.accessibleName()))
    assert pane.composer.toPlainText() == "And a third."
    assert len(pane.queue.lines) == 2
    live.keys("Esc")
    await over(live)
    assert not pane.queue.isVisible()
    assert pane.composer.toPlainText() == (
        "Leave the tests alone.\n\nThen run them.\n\nAnd a third."
    ), "what waited is in the box again"
    assert spoken(live, entries) == ["Look around."]


async def test_what_waits_goes_into_the_turn_and_after_it(
    house: House, server: ChatServer, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    live.session.agent.folder.choose(str(tmp_path))
    entries = len(live.document.tree)
    server.plan(
        Answer(text="Slowly, slowly. " * 8, tool_calls=look().tool_calls,
               finish="tool_calls", pieces=24, per_second=40),
        Answer(text="So I leave them alone."), Answer(text="They ran."),
    )  # fmt: skip
    await say(live, "Look around.")
    await live.until(server.started.is_set, "the answer")
    live.type("Leave the tests alone.\n")
    live.type("Then run them.")
    live.keys("Alt+Return")
    await over(live)
    assert spoken(live, entries) == ["Look around.", "Leave the tests alone.", "Then run them."]
    assert "They ran." in live.window.agent.conversation.toPlainText()
    assert not live.window.agent.queue.isVisible()
    live.keys("F7", "Up", "Up")
    assert live.window.agent.composer.toPlainText() == "Leave the tests alone."


async def test_a_stopped_answer_is_continued_by_the_button_and_a_whole_one_is_not(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=2, text="I would begin "), Answer(text="with the clock."))
    live = await house.start(sample_path())
    button = live.window.agent.bar.go_on
    assert not button.isVisible(), "the bundled session ends with an answer"
    await say(live, "Where would you begin?")
    said = live.window.agent.conversation
    await live.until(lambda: "I would begin" in said.toPlainText(), "the first words")
    live.keys("Esc")
    await over(live)
    entries = len(live.document.tree)
    assert "was stopped" in button.toolTip()
    live.click(button)
    await live.until(lambda: live.session.agent.running, "the turn")
    await over(live)
    assert spoken(live, entries) == [], "no message was added"
    assert "with the clock." in said.toPlainText()
    assert not button.isVisible()
    await say(live, "/continue")
    assert "nothing to continue" in live.said


async def test_a_failed_turn_is_offered_again_when_its_session_is_opened(
    house: House, server: ChatServer
) -> None:
    server.plan(HttpFailure(401, "Incorrect API key provided"))
    live = await house.start(sample_path())
    await say(live, "Are you there?")
    await over(live)
    assert live.window.agent.bar.go_on.isVisible()
    await live.close()
    server.plan(Answer(text="Now I am."))
    again = await house.start()
    await again.until(again.window.agent.bar.go_on.isVisible, "the offer")
    await say(again, "/continue")
    await over(again)
    assert "Now I am." in again.window.agent.conversation.toPlainText()


def copy_picture() -> None:
    image = QImage(60, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("#b5541c"))
    QApplication.clipboard().setImage(image)


async def test_a_pasted_picture_is_sent_and_refused_for_a_model_that_takes_none(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    pane = live.window.agent
    live.session.agent.choose_model("openai/gpt-3.5-turbo")
    live.keys("F7")
    copy_picture()
    live.keys("Ctrl+V")
    await live.until(lambda: pane.chips.attachments, "the picture")
    assert "takes no pictures" in live.words(pane.chips)
    await say(live, "What is this?")
    assert "takes no pictures" in live.notice
    assert not server.requests
    assert pane.composer.toPlainText() == "What is this?"
    live.session.agent.choose_model("openai/gpt-4o-mini")
    assert "takes no pictures" not in live.words(pane.chips)
    server.plan(Answer(text="A colour."))
    live.keys("F7", "Return")
    await over(live)
    parts = server.requests[-1]["messages"][-1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"]
    assert not pane.chips.attachments
    copy_picture()
    live.keys("F7", "Ctrl+V")
    await live.until(lambda: pane.chips.attachments, "the picture")
    await live.tab_to(pane.chips.chips[0], key="Shift+Tab")
    live.keys("Delete")
    assert not pane.chips.attachments
    assert pane.composer.hasFocus()


async def test_files_of_the_folder_are_mentioned_and_others_are_refused(
    house: House, tmp_path: Path
) -> None:
    folder = tmp_path / "todo-api"
    (folder / "src").mkdir(parents=True)
    for name in ("src/retry.py", "src/my hub.py", ".gitignore", "secret.log"):
        (folder / name).write_text("*.log\n")
    (tmp_path / "elsewhere.txt").write_text("x")
    live = await house.start(sample_path())
    composer, completion = live.window.agent.composer, live.window.agent.completion
    live.session.agent.attachments.take_files([str(tmp_path / "elsewhere.txt")])
    assert "No folder is chosen" in live.notice
    live.session.agent.folder.choose(str(folder))
    live.session.agent.attachments.take_files([str(tmp_path / "elsewhere.txt")])
    assert "outside of" in live.notice
    assert composer.toPlainText() == ""
    live.keys("F7")
    live.type("see @hub")
    await live.until(lambda: completion.lines == ["src/my hub.py"], "the file")
    live.keys("Return")
    assert composer.toPlainText() == 'see @"src/my hub.py" '
    live.type("and @")
    await live.until(lambda: "src/retry.py" in completion.lines, "the files")
    assert "secret.log" not in completion.lines, "what the project ignores is not offered"
    live.keys("Esc")
    live.session.agent.attachments.take_files([str(folder / "src/retry.py")])
    assert composer.toPlainText().endswith("@src/retry.py ")


async def test_commands_work_while_the_agent_does(house: House, server: ChatServer) -> None:
    server.plan(Stall(after=1, text="Let me see. "))
    live = await house.start(sample_path())
    await say(live, "Look around.")
    await live.until(server.started.is_set, "the answer")
    await say(live, "/name While it works")
    await live.until(lambda: live.document.title == "While it works", "the name")
    await say(live, "/continue")
    assert "still at work" in live.said
    live.window.agent.composer.clear()
    live.keys("Esc")
    await over(live)
    assert json.dumps(server.requests[-1]["messages"]).count("While it works") == 0

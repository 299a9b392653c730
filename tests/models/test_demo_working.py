"""The demonstration agent with the real tools: what it creates, changes, runs, and its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.models.client import ChatMessage, ToolCall
from explorer.models.offline.demo_request import (
    TEST_COMMAND,
    Create,
    Look,
    Replace,
    RunCommand,
    Step,
    limits_in,
    steps_in,
)
from tests.models.sandboxes import Talk, make

NOTES = "alpha\nbeta alpha\nalpha\ngamma\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "project", {"notes.txt": NOTES, "src/a.py": "limit = 3\n"})


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("create a file notes.md with `hello`", Create("notes.md", "hello\n")),
        ("Create an empty file src/x.py", Create("src/x.py", "")),
        ("write 'one line' to out/log.txt", Create("out/log.txt", "one line\n")),
        ("make a new file a.py with the content:\n```python\nx = 1\ny = 2\n```",
         Create("a.py", "x = 1\ny = 2\n")),
        ("replace `3` by `5` in src/a.py", Replace("src/a.py", "3", "5")),
        ("in src/a.py rename limit to most", Replace("src/a.py", "limit", "most")),
        ("change \"a b\" to \"c d\" in notes.txt", Replace("notes.txt", "a b", "c d")),
        ("run `make check`", RunCommand("make check")),
        ("Please run python3 -V.", RunCommand("python3 -V")),
        ("run the tests", RunCommand(TEST_COMMAND)),
        ("do the tests pass?", RunCommand(TEST_COMMAND)),
        ("why do the tests fail? run `pytest -x`", RunCommand("pytest -x")),
    ],
)  # fmt: skip
def test_words_lead_to_steps(words: str, step: Step) -> None:
    assert steps_in(words) == [step]


def test_several_steps_are_taken_one_by_one() -> None:
    words = "Create a.txt with `x and then y`, then replace `x` by `z` in a.txt and read a.txt"
    found = steps_in(words)
    assert [type(step) for step in found] == [Create, Replace, Look]
    assert found[0] == Create("a.txt", "x and then y\n")


def test_a_file_is_created_changed_and_read(root: Path) -> None:
    talk = Talk(root)
    said = talk.say("Create hi.txt with `hello there`, then replace `there` by `world` in hi.txt "
                    "and then read hi.txt")  # fmt: skip
    assert (root / "hi.txt").read_text() == "hello world\n"
    assert talk.called == ["write", "read", "edit", "read"]
    assert "hello world" in said
    assert len(talk.thoughts) == len(talk.rounds), "it tells what it thinks with each move"


def test_every_place_of_a_text_is_replaced(root: Path) -> None:
    said = Talk(root).say("replace `alpha` by `omega` in notes.txt")
    assert (root / "notes.txt").read_text() == NOTES.replace("alpha", "omega")
    assert "3 places" in said


def test_a_name_is_replaced_as_a_whole_word(root: Path) -> None:
    make(root, {"b.py": "value = values[0]\nprint(value)\n"})
    Talk(root).say("in b.py rename value to amount")
    assert (root / "b.py").read_text() == "amount = values[0]\nprint(amount)\n"


def test_what_is_not_there_is_not_replaced(root: Path) -> None:
    said = Talk(root).say("replace `delta` by `omega` in notes.txt, then read src/a.py")
    assert "does not hold `delta`" in said
    assert "1 step left" in said
    assert (root / "notes.txt").read_text() == NOTES


def test_things_to_look_at_are_looked_at_together(root: Path) -> None:
    talk = Talk(root)
    said = talk.say("read notes.txt, then read src/a.py and list the files in src")
    assert [[call.name for call in calls] for calls in talk.rounds] == [["read", "read", "ls"]]
    assert "gamma" in said and "limit = 3" in said and "src holds 1 file" in said


def test_a_command_is_run_and_its_status_told(root: Path) -> None:
    assert "hello" in Talk(root).say("run `echo hello`")
    said = Talk(root).say("run `echo oh; exit 3`")
    assert "ended with status 3" in said and "oh" in said


def test_places_whose_lines_are_part_of_others_are_replaced_at_once(root: Path) -> None:
    make(root, {"c.txt": "xab ab\nab\nab!\nxab\n"})
    said = Talk(root).say("replace `ab` by `cd` in c.txt")
    assert (root / "c.txt").read_text() == "xab cd\ncd\ncd!\nxab\n"
    assert "3 places" in said
    make(root, {"d.txt": "b a\nxa\na\nxa\n"})
    Talk(root).say("replace `xa` by `y` in d.txt")
    assert (root / "d.txt").read_text() == "b a\ny\na\ny\n"


def test_a_repair_is_not_tried_and_it_says_what_shows_one(root: Path) -> None:
    talk = Talk(root)
    assert "Watch a scripted run" in talk.say("Please fix the failing test")
    assert not talk.rounds


@pytest.mark.parametrize(
    "words",
    [
        "Don't change any files. Replace `alpha` by `omega` in notes.txt.",
        "replace `alpha` by `omega` in notes.txt. Never touch notes.txt!",
        "This is read-only: replace `alpha` by `omega` in notes.txt",
    ],
)
def test_limits_that_it_understands_are_kept(root: Path, words: str) -> None:
    talk = Talk(root)
    said = talk.say(words)
    assert said.startswith("I did not do that, since you said")
    assert not talk.rounds
    assert (root / "notes.txt").read_text() == NOTES


def test_a_limit_holds_for_later_messages(root: Path) -> None:
    talk = Talk(root)
    talk.say("Please do not run any commands here.")
    assert "do not run any commands" in talk.say("run `touch made`")
    assert not (root / "made").exists()


def test_limits_name_what_they_are_about() -> None:
    limits = limits_in(["Never change src/core/. The rest is free.", "don't edit the tests"])
    assert limits.against_change("src/core/a.py") == "Never change src/core/."
    assert limits.against_change("src/b.py") == ""
    assert limits.against_change("tests/test_b.py") == "don't edit the tests"


def test_nothing_is_changed_where_nobody_allows_it(root: Path) -> None:
    assert "nothing was done" in Talk(root, mode="ask").say("create x.txt with `y`")
    assert not (root / "x.txt").exists()
    said = Talk(root, mode="read-only").say("create x.txt with `y`")
    assert said == "That needs the tool write, which is not offered in this conversation."


def test_it_goes_on_where_it_was_interrupted(root: Path) -> None:
    """What was done stands in the conversation, so nothing is done twice."""
    talk = Talk(root)
    call = ToolCall("demo_x", "write", {"path": "a.txt", "content": "one\n"})
    talk.messages = [
        ChatMessage("user", "create a.txt with `one`, then create b.txt with `two`"),
        ChatMessage("assistant", "Writing a.txt.", (call,)),
        ChatMessage("tool", "Wrote a.txt.", tool_call_id="demo_x"),
    ]
    talk.say("go on")
    assert talk.called == ["write"]
    assert not (root / "a.txt").exists() and (root / "b.txt").read_text() == "two\n"


def test_told_to_go_on_when_all_is_done_it_says_so(root: Path) -> None:
    talk = Talk(root)
    talk.say("create a.txt with `one`")
    assert talk.say("continue") == "Nothing is left to do."
    assert talk.called == ["write"]

"""Who says the texts of an entry."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.facts.entry_texts import Speaker, texts_of
from explorer.session.entries import (
    AssistantMessage,
    Body,
    BranchSummary,
    CompactionSummary,
    Entry,
    FileMention,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    ShellMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)


def test_what_nobody_typed_is_no_wish_of_the_user() -> None:
    said = text_content("Never push to main.")
    typed, generated = (
        list(texts_of(Entry.of(UserMessage(said, synthetic=synthetic))))
        for synthetic in (False, True)
    )
    assert [one.speaker for one in typed] == [Speaker.USER]
    assert [one.speaker for one in generated] == [Speaker.ASIDE]


def said(*bodies: Body) -> list[tuple[str, str, int, str]]:
    return [
        (one.speaker.name, one.text, one.block, one.argument)
        for body in bodies
        for one in texts_of(Entry.of(body))
    ]


def called(name: str, **arguments: Any) -> list[tuple[str, str, str]]:
    reply = AssistantMessage((ToolCallBlock("c", name, arguments),))
    return [(speaker, text, argument) for speaker, text, _, argument in said(reply)]


def test_each_body_has_its_speaker_and_blocks_their_number() -> None:
    image = ImageBlock("image/png", "AA")
    blocks = (TextBlock("one"), image, TextBlock(""), TextBlock("two"))
    assert said(
        CompactionSummary("kept"), BranchSummary("left"), BranchSummary(""),
        UserMessage(blocks), NoteMessage(blocks[:2]), FilesMessage((FileMention("a", "x"),) * 2),
    ) == [
        ("SUMMARY", "kept", 0, ""), ("SUMMARY", "left", 0, ""),
        ("USER", "one", 0, ""), ("USER", "two", 3, ""), ("ASIDE", "one", 0, ""),
        ("ASIDE", "a\nx", 0, ""), ("ASIDE", "a\nx", 1, ""),
    ]  # fmt: skip
    assert said(
        AssistantMessage((ThinkingBlock("hm"), TextBlock("yes"), TextBlock(""), image))
    ) == [("ASIDE", "hm", 0, ""), ("ASSISTANT", "yes", 1, "")]
    assert said(
        ToolResultMessage("c", "bash", blocks[:1]), ToolResultMessage("c", "Grep", blocks[:1]),
        ToolResultMessage("c", "read", blocks[:1]), ToolResultMessage("c", "Task", blocks[:1]),
        ToolResultMessage("c", "read", blocks[:1], True),
    ) == [
        ("RESULT", "one", 0, ""), ("SHOWN", "one", 0, ""), ("SHOWN", "one", 0, ""),
        ("SHOWN", "one", 0, ""), ("ERROR", "one", 0, ""),
    ]  # fmt: skip
    assert said(
        ShellMessage("make", "done", exit_code=0), ShellMessage("x = 1", "no", "python", 2),
        ShellMessage("", "", exit_code=1), ShellMessage("", "out"),
    ) == [
        ("COMMAND", "make", 0, "command"), ("RESULT", "done", 0, ""),
        ("COMMAND", "x = 1", 0, "code"), ("ERROR", "no", 0, ""), ("RESULT", "out", 0, ""),
    ]  # fmt: skip


def test_arguments_of_a_call_are_commands_paths_and_the_rest() -> None:
    assert called("bash", command="ls -l", timeout=5) == [
        ("COMMAND", "ls -l", "command"), ("ASIDE", "5", "timeout"),
    ]  # fmt: skip
    assert called("shell", cmd=["git", "log", 3], script="x", commands=[]) == [
        ("COMMAND", "git log", "cmd"), ("COMMAND", "x", "script"), ("COMMAND", "", "commands"),
    ]  # fmt: skip
    assert called("str_replace_editor", command="view", path="a.py") == [
        ("ASIDE", "view", "command"), ("PATH", "a.py", "path"),
    ]  # fmt: skip
    assert called("edit", path="a.py", oldText="x", newText="") == [
        ("PATH", "a.py", "path"), ("ASIDE", "x", "oldText"),
    ]  # fmt: skip
    assert called("odd", file_path="b", filePath="c", url="https://d", title="e") == [
        ("PATH", "b", "file_path"), ("PATH", "c", "filePath"), ("PATH", "https://d", "url"),
        ("ASIDE", "e", "title"),
    ]  # fmt: skip
    assert called("read", path="a.py", other=["a.py", {"b": 1.5, "c": [True, None, ""]}]) == [
        ("PATH", "a.py", "path"), ("PATH", "a.py", "other"), ("ASIDE", "1.5", "other"),
    ]  # fmt: skip


@pytest.mark.parametrize(("depth", "found"), [(8, ["x"]), (9, [])])
def test_arguments_are_read_eight_levels_deep(depth: int, found: list[str]) -> None:
    value: object = "x"
    for at in range(depth):
        value = [value] if at % 2 else {"k": value}
    assert [text for _, text, _ in called("odd", data=value)] == found

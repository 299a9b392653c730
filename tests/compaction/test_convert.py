"""Entries as a model is sent them (A5, A6), and as a summarizer reads them (A21)."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.compaction.messages import entry_to_llm, message_to_llm, serialize, serialize_message
from explorer.compaction.profile import Profile
from explorer.formats.pi.entries import read_entry, read_message
from explorer.session.entries import TextBlock, UserMessage
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import EXPLORER, PI, model_message

TEMPLATES = load_templates()
WRAPPED = (
    "The conversation history before this point was compacted into the following summary:\n\n"
    "<summary>\n## Goal\nports\n</summary>"
)


def said(entry: dict[str, Any]) -> str:
    """The one text of the user message that an entry becomes."""
    message = entry_to_llm(read_entry(entry), TEMPLATES)
    assert isinstance(message, UserMessage)
    (block,) = message.content
    assert isinstance(block, TextBlock)
    return block.text


def test_a6_a_compaction_becomes_a_user_message_in_pis_wrapper() -> None:
    assert said({"type": "compaction", "summary": "## Goal\nports"}) == WRAPPED
    role = {"role": "compactionSummary", "summary": "## Goal\nports"}
    assert said({"type": "message", "message": role}) == WRAPPED


def test_a6_a_branch_summary_becomes_a_user_message_in_its_wrapper() -> None:
    expected = TEMPLATES.branch_message("what was tried")
    assert "<summary>\nwhat was tried\n</summary>" in expected
    assert said({"type": "branch_summary", "summary": "what was tried"}) == expected
    role = {"role": "branchSummary", "summary": "what was tried"}
    assert said({"type": "message", "message": role}) == expected


def test_b2_an_empty_branch_summary_is_not_sent() -> None:
    assert entry_to_llm(read_entry({"type": "branch_summary", "summary": ""}), TEMPLATES) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "custom_message", "content": "mind the port"},
        {"type": "message", "message": {"role": "custom", "content": "mind the port"}},
        {"type": "message", "message": {"role": "hookMessage", "content": "mind the port"}},
    ],
)
def test_a5_custom_messages_are_user_messages(entry: dict[str, Any]) -> None:
    assert said(entry) == "mind the port"


def test_a6_a_command_tells_what_ran_what_it_said_and_how_it_ended() -> None:
    run = {"role": "bashExecution", "command": "make", "output": "no rule", "exitCode": 2}
    text = said({"type": "message", "message": run})
    assert "make" in text and "no rule" in text and "exited with code 2" in text
    assert message_to_llm(read_message({**run, "excludeFromContext": True}), TEMPLATES) is None
    silent = said({"type": "message", "message": {**run, "output": "", "cancelled": True}})
    assert "(no output)" in silent and "cancelled" in silent
    cut = {**run, "truncated": True, "fullOutputPath": "/tmp/all.txt"}
    assert "/tmp/all.txt" in said({"type": "message", "message": cut})
    assert "/tmp/all.txt" not in said({"type": "message", "message": {**cut, "truncated": False}})


def test_a6_python_and_mentioned_files_of_oh_my_pi() -> None:
    python = {"role": "pythonExecution", "code": "print(8431)", "output": "8431"}
    text = said({"type": "message", "message": python})
    assert "print(8431)" in text and text.count("8431") == 2
    assert message_to_llm(read_message({**python, "excludeFromContext": True}), TEMPLATES) is None
    files = [{"path": "a.py", "content": "x = 1"}, {"path": "b.py", "content": "y = 2"}]
    text = said({"type": "message", "message": {"role": "fileMention", "files": files}})
    assert [part in text for part in ("a.py", "x = 1", "b.py", "y = 2")] == [True] * 4


@pytest.mark.parametrize("entry_type", ["label", "custom", "session_info", "model_change", "new"])
def test_a4_metadata_is_never_sent(entry_type: str) -> None:
    entry = {"type": entry_type, "content": "not for models", "summary": "neither"}
    assert entry_to_llm(read_entry(entry), TEMPLATES) is None


MESSAGES = [(at, model_message(message)) for at, message in (
    (3, {"role": "user", "content": "What is foo?"}),
    (
        4,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two files."},
                {"type": "text", "text": "I look."},
                {"type": "toolCall", "name": "read", "arguments": {"path": "foo.ts"}},
                {
                    "type": "toolCall",
                    "name": "edit",
                    "arguments": {"path": "bar.ts", "line": 7, "all": True, "to": ["a", None]},
                },
            ],
        },
    ),
    (5, {"role": "toolResult", "content": [{"type": "text", "text": "export const foo"}]}),
)]  # fmt: skip


@pytest.mark.parametrize("profile", [EXPLORER, PI], ids=lambda p: p.name)
def test_a21_a_conversation_in_the_markers_that_summarizers_know(profile: Profile) -> None:
    whole = serialize(MESSAGES, profile)
    assert whole.text == (
        "[User]: What is foo?\n\n"
        "[Assistant thinking]: Two files.\n\n"
        "[Assistant]: I look.\n\n"
        '[Assistant tool calls]: read(path="foo.ts"); '
        'edit(path="bar.ts", line=7, all=true, to=["a",null])\n\n'
        "[Tool result]: export const foo"
    )
    assert [span.entry for span in whole.spans] == [3, 4, 5]
    for span, (_, message) in zip(whole.spans, MESSAGES, strict=True):
        assert whole.text[span.start : span.end] == serialize_message(message, profile)

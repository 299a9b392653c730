"""Facts about Aider's chat histories."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from explorer.session.entries import (
    AssistantMessage,
    CustomData,
    Entry,
    ModelChange,
    ShellMessage,
    UserMessage,
)
from tests.formats.agents.reading import Reading


def check(folder: Path, facts: dict[str, Any]) -> None:
    for name, expected in facts["files"].items():
        _check_file(Reading(folder / name), folder / name, expected)


def _check_file(reading: Reading, path: Path, facts: dict[str, Any]) -> None:
    """What is typed at Aider are prompts and commands, which the facts do not part."""
    text = path.read_text("utf-8")
    assert "\n".join(one.raw.partition('\n{"sessionExplorer"')[0] for one in reading.records) == (
        text.removesuffix("\n")
    )
    typed = [
        one.body.command if isinstance(one.body, ShellMessage) else one.text
        for one in reading.entries
        if isinstance(one.body, UserMessage | ShellMessage)
    ]
    assert len(typed) == facts["messages"].get("user", 0)
    for own, fact in zip(typed, facts["user_texts"], strict=True):
        lines = "\n".join(line.strip() for line in fact.split("\n"))
        assert "\n".join(line.strip() for line in own.split("\n")).startswith(lines.strip())
    starts = [one for one in reading.entries if _is_start(one)]
    assert len(starts) == facts["chats"]
    assert sum(one.parent < 0 for one in reading.records) >= facts["chats"]
    split = _split(text)
    # Aider's parser forgets output at the very end of the file.
    ends = (split, split[:-1] if split[-1:] == ["tool"] else split)
    assert facts["messages"] in [Counter(one) for one in ends]
    lines = [line for one in reading.entries for line in one.recorded["lines"]]
    hashes = sum(line.startswith("# ") for line in lines)
    assert hashes == facts["lines_hash_space_dropped"]
    assert sum(line.startswith("> Tokens:") for line in lines) == facts["token_lines"]
    used = sum(one.usage is not None for one in reading.replies)
    assert used <= facts["token_lines"]
    replies = [
        one
        for one in reading.entries
        if isinstance(one.body, AssistantMessage)
        and any(_is_reply(line) for line in one.recorded["lines"])
    ]
    assert len(replies) == facts["messages"].get("assistant", 0)
    printed = sum(_is_printed(one) for one in reading.entries)
    # The line of a reply's tokens is in its record, what is printed besides in an entry of its own.
    tool = facts["messages"].get("tool", 0)
    assert tool - used <= printed <= tool + 1
    models = {one.body.model for one in reading.entries if isinstance(one.body, ModelChange)}
    assert sorted(models) == facts["models"]


def _is_reply(line: str) -> bool:
    """Whether Aider's parser takes a line of a reply for one."""
    return bool(line.strip()) and not line.startswith(("# ", "> "))


def _is_printed(entry: Entry) -> bool:
    is_data = isinstance(entry.body, CustomData) and not _is_start(entry)
    return is_data or isinstance(entry.body, ModelChange)


def _is_start(entry: Entry) -> bool:
    return isinstance(entry.body, CustomData) and entry.body.name == "aider chat started"


def _split(text: str) -> list[str]:
    """The kinds of messages, as ``definitions.json`` has them."""
    found: list[str] = []
    run, is_blank = "", True
    for line in [*text.splitlines(), "\0"]:
        if line.startswith("# "):
            continue
        kind = (
            "tool" if line.startswith("> ") else "user" if line.startswith("#### ") else "assistant"
        )
        if kind != run or line == "\0":
            if run and not is_blank:
                found.append(run)
            run, is_blank = kind, True
        is_blank = is_blank and not line.strip("# >\n")
    return found

"""Entries in few words."""

from __future__ import annotations

from typing import Any

from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Entry,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)


def user(text: str) -> Entry:
    """A user's message."""
    return Entry.of(UserMessage(text_content(text)))


def assistant(text: str, *calls: ToolCallBlock) -> Entry:
    """A reply with its calls."""
    return Entry.of(AssistantMessage((*text_content(text), *calls)))


def call(name: str, **arguments: Any) -> ToolCallBlock:
    """A tool call of a reply."""
    return ToolCallBlock("c", name, arguments)


def result(text: str, *, error: bool = False) -> Entry:
    """A tool result."""
    return Entry.of(ToolResultMessage("", "", text_content(text), error))


def compaction(summary: str) -> Entry:
    """A compaction entry, as far as its words go."""
    return Entry.of(CompactionSummary(summary))


def conversation() -> list[Entry]:
    """A short session with something of everything."""
    return [
        user(
            "The importer in src/load/orders.py is slow: 14 s for 1,500 rows. Find out why. "
            "Never write to the production database. Use at most 5 workers."
        ),
        assistant(
            "Profiling first.", call("bash", command="python -m cProfile -o out.prof run.py")
        ),
        result("Traceback (most recent call last):\nModuleNotFoundError: No module named 'orjson'"),
        assistant(
            "orjson is missing, I'll pin orjson==3.10.12. We'll commit in batches because one "
            "transaction holds all rows. See https://docs.example.org/batches#size.",
            call("edit", path="src/load/orders.py", oldText="a", newText="b"),
        ),
        result("Applied."),
        assistant("Committed as 4f2a91c. Next: add a test for the empty file."),
        user("Make that 8 workers. Please write the test now. What about the CSV export?"),
    ]

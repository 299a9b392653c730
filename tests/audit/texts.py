"""Entries in few words."""

from __future__ import annotations

from typing import Any


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return _message("user", [{"type": "text", "text": text}])


def assistant(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    """A reply with its calls."""
    return _message("assistant", [{"type": "text", "text": text}, *calls])


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of a reply."""
    return {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}


def result(text: str, *, error: bool = False) -> dict[str, Any]:
    """A tool result."""
    entry = _message("toolResult", [{"type": "text", "text": text}])
    entry["message"]["isError"] = error
    return entry


def compaction(summary: str) -> dict[str, Any]:
    """A compaction entry, as far as its words go."""
    return {"type": "compaction", "summary": summary}


def conversation() -> list[dict[str, Any]]:
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


def _message(role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}}

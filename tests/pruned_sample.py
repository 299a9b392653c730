"""A session with much tool output, some of it out of date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT_TOKENS = 8_000
_CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("bash", {"command": "make test"}, "FAILED tests/test_sync.py::test_push_waits - TimeoutError"),
    ("read", {"path": "src/sync/push.py"}, "import asyncio"),
    ("grep", {"pattern": "retry"}, "src/sync/push.py:14: def retry(push):"),
    ("bash", {"command": "make test"}, "FAILED tests/test_sync.py::test_push_waits - TimeoutError"),
    ("edit", {"path": "src/sync/push.py"}, "Edited src/sync/push.py"),
    ("read", {"path": "src/sync/hub.py"}, "class Hub:"),
    ("bash", {"command": "git log --stat"}, "commit 4f1c2a9"),
    ("read", {"path": "src/sync/push.py"}, "import asyncio"),
    ("bash", {"command": "make test"}, "122 passed in 3.07s"),
    ("bash", {"command": "make lint"}, "All checks passed!"),
    ("bash", {"command": "git diff"}, "diff --git a/src/sync/push.py b/src/sync/push.py"),
    ("bash", {"command": "make docs"}, "build succeeded."),
)


def write_much_output(path: Path, tokens: int = RESULT_TOKENS) -> Path:
    """Write the session: a question, twelve calls with results of so many tokens, an answer."""
    head = {"type": "session", "version": 3, "id": "much-output", "cwd": "/home/sam/src/queue"}
    entries: list[dict[str, Any]] = [
        head | {"timestamp": "2026-03-02T09:00:00.000Z"},
        _message("e0", None, 0, {"role": "user", "content": "Why does the push wait for ever?"}),
    ]
    for at, (tool, arguments, first) in enumerate(_CALLS):
        call = {"type": "toolCall", "id": f"c{at}", "name": tool, "arguments": arguments}
        reply = {
            "role": "assistant", "content": [call], "stopReason": "toolUse", "provider": "p",
            "model": "m", "usage": {"totalTokens": (at + 1) * tokens},
        }  # fmt: skip
        text = first + "\n" + "line of output\n" * (tokens * 4 // 15)
        result = {
            "role": "toolResult", "toolCallId": f"c{at}", "toolName": tool,
            "content": [{"type": "text", "text": text}], "isError": first.startswith("FAILED"),
        }  # fmt: skip
        entries.append(_message(f"e{2 * at + 1}", f"e{2 * at}", 2 * at + 1, reply))
        entries.append(_message(f"e{2 * at + 2}", f"e{2 * at + 1}", 2 * at + 2, result))
    answer = {
        "role": "assistant", "content": [{"type": "text", "text": "It awaited itself."}],
        "stopReason": "stop", "provider": "p", "model": "m",
        "usage": {"totalTokens": len(_CALLS) * tokens + 500},
    }  # fmt: skip
    entries.append(_message("end", f"e{2 * len(_CALLS)}", 50, answer))
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def _message(
    entry_id: str, parent: str | None, minute: int, message: dict[str, Any]
) -> dict[str, Any]:
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": f"2026-03-02T09:{minute:02d}:00.000Z",
        "message": message,
    }

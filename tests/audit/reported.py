"""A session with planted losses and hostile words, as a file that any of the tests can open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.audit.report import Report
from explorer.services.audit_report import written
from tests.store.sources import message, write_file

HOSTILE = "</title><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"
"""Would run, and fetch, wherever it were taken for HTML."""
HOSTILE_NAME = f"{HOSTILE} \u202etxt.exe | `x` \x07"
HOSTILE_CONSTRAINT = f"Never open {HOSTILE} in a browser."
LIMIT = "Never write to the production database."
FIRST, SECOND = 10, 17
"""Its compactions: the first loses the limit and changes a figure; the second starts after what
the first one kept, so that those entries are in nothing."""


def entries() -> list[dict[str, Any]]:
    """A chain with two compactions; each reply tells its usage and its cost."""
    found: list[dict[str, Any]] = []

    def add(entry: dict[str, Any]) -> None:
        name = f"e{len(found)}"
        above = found[-1]["id"] if found else None
        clock = f"2026-01-02T03:{len(found):02d}:00.000Z"
        found.append(entry | {"id": name, "parentId": above, "timestamp": clock})

    def user(text: str) -> None:
        add(message(0, None, text))

    def reply(text: str, *calls: dict[str, Any]) -> None:
        entry = message(0, None, "", "assistant")
        content: list[dict[str, Any]] = [{"type": "text", "text": text}, *calls]
        usage = {"input": 100, "output": 10, "totalTokens": 110, "cost": {"total": 0.25}}
        entry["message"] |= {"content": content, "usage": usage, "stopReason": "stop"}
        add(entry)

    user(f"Make src/load/orders.py faster. {LIMIT} It must answer within 250 ms.")
    call = {
        "type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "src/load/orders.py"}
    }  # fmt: skip
    reply("I look at it. We decided to use batches of 500 rows.", call)
    entry = message(0, None, "", "toolResult")
    done = [{"type": "text", "text": "Successfully replaced text in src/load/orders.py"}]
    entry["message"] |= {"toolCallId": "c1", "toolName": "edit", "content": done, "isError": False}
    add(entry)
    user(HOSTILE_CONSTRAINT)
    reply("Understood. See https://docs.example.org/batches for how. " + "More words. " * 40)
    user("Run `pytest tests/load -q` and tell me what fails.")
    reply("ValueError: row 17 has no price. " + "It failed in the loader. " * 40)
    user("Write the price as 0 there, and keep going.")
    reply("Done: rows without a price get 0.")
    user("Also write docs/prices.md.")
    add({
        "type": "compaction", "firstKeptEntryId": "e9", "tokensBefore": 1234,
        "summary": "## Goal\nMake src/load/orders.py faster.\n\n## Progress\n- It must answer "
        f"within 900 ms.\n- {HOSTILE}\n",
    })  # fmt: skip
    reply("docs/prices.md is written.")
    user("Deploy it to staging-7 with `make deploy`.")
    reply("It is deployed.")
    user("Now measure it again.")
    reply("The loader takes 180 ms.")
    user("Good.")
    add({
        "type": "compaction", "firstKeptEntryId": "e16", "tokensBefore": 900,
        "summary": "## Goal\nMake it faster.\n\n## Progress\n- The loader takes 180 ms.\n",
    })  # fmt: skip
    user("What is left?")
    return found


def write_losing(path: Path) -> Path:
    """The session as a file of pi, called by a hostile name."""
    found = entries()
    last = found[-1]
    found.append({
        "type": "session_info", "id": "e99", "parentId": last["id"], "name": HOSTILE_NAME,
        "timestamp": "2026-01-02T04:00:00.000Z",
    })  # fmt: skip
    return write_file(path, found)


def html(report: Report) -> str:
    """The report in HTML, by the templates that come along."""
    return written(report, "html")


def markdown(report: Report) -> str:
    """The report in Markdown, by the templates that come along."""
    return written(report, "md")

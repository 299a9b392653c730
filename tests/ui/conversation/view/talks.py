"""Conversations made up for tests, pictures and benchmarks, as session files and opened."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter

from explorer.formats.pi.entries import read_entry
from explorer.models.catalogue import no_listed_cost
from explorer.services.privacy import Privacy
from explorer.services.session_tokens import TokenCounts
from explorer.session.context import ContextCache, PathContext
from explorer.session.describe import describe
from explorer.session.entries import Entry
from explorer.session.tree import SessionTree

START_MS = 1_772_440_000_000

CODE = """import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    \"\"\"How long to wait before try number ``attempt``.\"\"\"

    base: float = 0.5
    most: float = 30.0

    def seconds(self, attempt: int) -> float:
        return min(self.most, self.base * 2**attempt)


async def pause(wake: asyncio.Event, seconds: float) -> bool:
    # An event, not the clock: a test can set it.
    try:
        await asyncio.wait_for(wake.wait(), seconds)
    except TimeoutError:
        return False
    return True
"""

ANSWER = f"""The race is in the **backoff**, not in the test. `pause` slept on the clock, so a slow
machine woke up after the server had already answered.

## What I changed

1. `pause` waits on an event; the clock is only its limit.
2. A `409` is never retried, *whatever the header says*.
3. The [retry rules](https://example.org/retry?rules=1) are in one table now:

| status | retried | waits |
|---|---|---|
| 429 | yes | `Retry-After`, at most 30 s |
| 503 | yes | 0.5 s, doubled |
| 409 | **no** | |

```python
{CODE}```

> The hub may slow us down, never speed us up.

Ten clean runs. Shall I do the same for `sync.py`?
"""


def picture(width: int = 320, height: int = 120) -> str:
    """A small PNG in base64."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    fill = QLinearGradient(0, 0, width, height)
    fill.setColorAt(0, QColor("#2458c5"))
    fill.setColorAt(1, QColor("#0f746c"))
    painter.fillRect(image.rect(), fill)
    painter.setPen(Qt.GlobalColor.white)
    painter.drawText(image.rect(), int(Qt.AlignmentFlag.AlignCenter.value), "12 runs, 0 failed")
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return base64.b64encode(bytes(data.data())).decode()


class Talk:
    """Entries of one path, in pi's form."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, type_: str, **fields: Any) -> int:
        at = len(self.entries)
        parent = self.entries[-1]["id"] if self.entries else None
        stamp = self.entries[-1]["timestamp"] + 20_000 if self.entries else START_MS
        known = {"type": type_, "id": f"e{at:07d}", "parentId": parent, "timestamp": stamp}
        self.entries.append(known | fields)
        return at

    def message(self, role: str, *content: Mapping[str, Any] | str, **fields: Any) -> int:
        blocks = [{"type": "text", "text": c} if isinstance(c, str) else dict(c) for c in content]
        return self.add("message", message={"role": role, "content": blocks, **fields})

    def user(self, *content: Mapping[str, Any] | str) -> int:
        return self.message("user", *content)

    def reply(self, *content: Mapping[str, Any] | str, **fields: Any) -> int:
        usage = {
            "input": 1204, "output": 612, "cacheRead": 20_480, "cacheWrite": 0,
            "totalTokens": 22_296, "cost": {"total": 0.0184},
        }  # fmt: skip
        known = {"provider": "openai", "model": "gpt-5.1", "usage": usage, "stopReason": "stop"}
        return self.message("assistant", *content, **known | fields)

    def result(self, call: str, tool: str, text: str, took_s: float = 0.0, **fields: Any) -> int:
        known = {"toolCallId": call, "toolName": tool, "isError": False}
        before = self.entries[-1]["timestamp"] if self.entries else START_MS
        at = self.message("toolResult", text, **known | fields)
        self.entries[at]["timestamp"] = before + round(took_s * 1000)
        return at

    def write(self, path: Path) -> Path:
        """As a session file of pi."""
        header = {"type": "session", "version": 3, "id": "talk", "timestamp": START_MS,
                  "cwd": "/home/ana/todo-api"}  # fmt: skip
        lines = [json.dumps(entry, ensure_ascii=False) for entry in (header, *self.entries)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


def thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text}


def call(identifier: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": identifier, "name": name, "arguments": arguments}


def image(**size: int) -> dict[str, Any]:
    return {"type": "image", "data": picture(**size), "mimeType": "image/png"}


def rich() -> Talk:
    """A conversation that has everything in it."""
    talk = Talk()
    talk.user("The retry test fails about one run in five. Find out why, please.\n\n"
              "- no new dependency\n- a `409` is never retried")  # fmt: skip
    talk.reply(
        thinking("Let me look at the test first.\n\nIt may be the clock, or the server's port."),
        "I'll look at the test and the retry helper first.",
        call("c1", "read", path="tests/test_retry.py"),
        call("c2", "grep", pattern="sleep\\(", path="src"),
        stopReason="toolUse",
    )
    talk.result("c1", "read", "\n".join(f"line {at} of the test" for at in range(148)))
    talk.result("c2", "grep", "src/retry.py:41: await asyncio.sleep(seconds)")
    old = "    await asyncio.sleep(seconds)\n    return True\n"
    new = "    try:\n        await asyncio.wait_for(wake.wait(), seconds)\n" \
          "    except TimeoutError:\n        return False\n    return True\n"  # fmt: skip
    talk.reply(call("c3", "edit", path="src/retry.py", oldText=old, newText=new),
               stopReason="toolUse")  # fmt: skip
    talk.result("c3", "edit", "Successfully replaced text in src/retry.py.")
    talk.reply(call("c4", "bash", command="pytest -q -k retry"), stopReason="toolUse")
    talk.result("c4", "bash", "F.........\n\nE   assert 3 == 2\n\n1 failed, 9 passed in 0.52s",
                took_s=0.6, isError=True, details={"exitCode": 1})  # fmt: skip
    kept = talk.add(
        "compaction", summary="## Goal\nThe retry test must not flake.\n\n## Progress\n- the race "
        "is in `pause`", firstKeptEntryId="e0000006", tokensBefore=184_200,
    )  # fmt: skip
    assert kept
    talk.add("model_change", provider="openai", modelId="gpt-5.1")
    talk.user("Never retry on 409, whatever the header says. This is what I saw:", image())
    talk.reply(ANSWER)
    talk.user("Run the retry tests ten times and tell me whether it still flakes.")
    talk.reply(call("c5", "bash", command="for i in $(seq 10); do pytest -q -k retry; done"),
               stopReason="toolUse")  # fmt: skip
    talk.result("c5", "bash", "\n".join(["10 passed in 0.41s"] * 10), took_s=4.1)
    talk.reply("Ten clean runs. The race is gone: the backoff now waits on the event instead of "
               "the clock, and 409 is never retried.")  # fmt: skip
    return talk


def long(messages: int) -> Talk:
    """So many messages of everyday size."""
    talk = Talk()
    while (at := len(talk.entries)) < messages:
        kind = at % 6
        if kind == 0:
            talk.user(f"Question {at}: what does the queue do when it is full?")
        elif kind == 1:
            talk.reply(f"Let me look ({at}).", call(f"k{at}", "read", path=f"src/queue_{at}.py"),
                       stopReason="toolUse")  # fmt: skip
        elif kind == 2:
            talk.result(f"k{at - 1}", "read", "\n".join(f"line {n}" for n in range(40)))
        elif kind == 3:
            talk.reply(call(f"k{at}", "bash", command="pytest -q"), stopReason="toolUse")
        elif kind == 4:
            talk.result(f"k{at - 1}", "bash", f"{at} passed in 0.4s")
        else:
            words = f"It **waits** until `get` was called ({at}). " * (1 + at % 7)
            talk.reply(f"{words}\n\n- one point\n- another one with `code`\n\n{words}")
    return talk


class Payloads:
    """The entries in memory, and which of them were read."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self._entries = entries
        self.read: list[int] = []

    def raw(self, index: int) -> str:
        return json.dumps(self._entries[index], ensure_ascii=False)

    def size(self, index: int) -> int:
        return len(self.raw(index))

    def entry(self, index: int) -> Entry:
        self.read.append(index)
        return read_entry(self._entries[index])

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        return [self.entry(at) for at in indices]

    def previews(self, indices: Sequence[int]) -> list[str]:
        return [describe(read_entry(self._entries[at])).preview for at in indices]


class Opened:
    """A talk as an opened session, as much of one as the conversation needs."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.key = 0
        self.tree = SessionTree()
        self.entries: Any = Payloads(talk.entries)
        self.payloads = SimpleNamespace(stored=self.entries, shown=self.entries)
        self.shared = SimpleNamespace(privacy=Privacy())
        # It counts as an opened session does; its agent records what its calls cost.
        self._contexts = ContextCache()
        self.tokens: Any = TokenCounts(self, self._contexts, self.entries, None, None)
        self.usage = SimpleNamespace(listed_cost=no_listed_cost)
        self.read_only = ""
        self.writer = self
        self.leaf = -1
        self.is_own = False
        """Whether this program recorded the talk."""
        self.take()

    def take(self) -> None:
        """What was added to the talk becomes entries; the leaf goes along."""
        for at in range(len(self.tree), len(self.talk.entries)):
            entry = self.talk.entries[at]
            parent = self.tree.index_of(entry["parentId"]) if entry["parentId"] else -1
            self.tree.append(
                entry["id"], parent, describe(read_entry(entry)), len(json.dumps(entry)) // 4
            )
            self.leaf = at

    def context(self, at: int | None = None) -> PathContext:
        return self._contexts.at(self.tree, self.leaf if at is None else at)

    def made_here(self, index: int) -> bool:
        return self.is_own

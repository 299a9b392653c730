"""Sessions of any size, made up: turns with tool calls, branches, compactions, labels.

The same arguments give the same file. About 1.5 KB per entry, written as it is made.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, BinaryIO

import orjson

START = datetime(2026, 3, 2, 8, 30, tzinfo=UTC).timestamp()
MODELS = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.1"))
TOOLS = ("read", "bash", "edit", "grep", "read", "write", "bash", "read")
COMPACT_AT = 160_000
"""Tokens of context at which a compaction is written."""
TURNS_PER_BRANCH = 24
"""On average; the leaf goes back by up to this many turns."""

_WORDS = (
    "retry queue the of a to in when test cache session parser fails value path write token branch"
    " returns await buffer it this that only after before lock index row summary limit second file"
    " naïve größer 日本 because should not must reads closes timeout handler result error string"
)
_CODE = (
    "    if row is None:\n        return default\n",
    "    for key, value in sorted(found.items()):\n        total += value\n",
    "def load(path: Path) -> list[Row]:\n    with path.open() as file:\n",
    "  2026-03-02 08:31:07 INFO worker-3 took 118 ms, 4 rows, status 200\n",
    "src/store/queue.py:118: error: Incompatible types in assignment\n",
    "PASSED tests/test_queue.py::test_order_is_kept[3-asc]\n",
)


def write_session(
    path: str | os.PathLike[str],
    entries: int,
    *,
    seed: int = 1,
    branches: bool = True,
    compactions: bool = True,
) -> Path:
    """Write a pi session (version 3) with exactly so many entries below its header."""
    place = Path(path)
    with place.open("wb", buffering=1 << 20) as file:
        _Writer(file, entries, seed, branches, compactions).write()
    return place


def write_large_result(path: str | os.PathLike[str], size: int) -> Path:
    """Write a short session whose fourth entry is a tool result of about ``size`` bytes."""
    place = Path(path)
    with place.open("wb") as file:
        writer = _Writer(file, 3, 5, False, False)
        writer.write()
        writer.entries = 6
        text = writer.long_text(size)
        message = {
            "role": "toolResult",
            "toolCallId": "call_0",
            "toolName": "bash",
            "content": [{"type": "text", "text": text}],
            "isError": False,
        }
        writer.add("message", message=message)
        writer.turn()
    return place


class _Writer:
    """Where the writing is in the session."""

    def __init__(
        self, file: BinaryIO, entries: int, seed: int, branches: bool, compactions: bool
    ) -> None:
        self.entries = entries
        self._file = file
        self._random = Random(seed)
        self._branches = branches
        self._compactions = compactions
        self._written = 0
        self._calls = 0
        self._salt = seed * 7919
        self._leaf: str | None = None
        self._seconds = START
        self._context = 6_000
        # (entry before the turn, the turn's first entry, context then): of the active path.
        self._turns: list[tuple[str | None, str, int]] = []
        self._since_compaction = 0
        self._prose, self._code = self._materials()

    def _materials(self) -> tuple[str, str]:
        """A long stretch of prose and one of output, from which texts are cut."""
        words = self._random.choices(_WORDS.split(), k=12_000)
        for at in range(11, len(words), 12):
            words[at] += self._random.choice((".", ",", ".\n", ";", ".\n\n"))
        return " ".join(words), "".join(self._random.choices(_CODE, k=1_600))

    def write(self) -> None:
        header = {
            "type": "session",
            "version": 3,
            "id": f"019c{self._salt:08x}-generated",
            "timestamp": self._stamp(),
            "cwd": "/home/sam/src/queue",
        }
        self._file.write(orjson.dumps(header) + b"\n")
        provider, model = MODELS[0]
        self.add("model_change", provider=provider, modelId=model)
        self.add("thinking_level_change", thinkingLevel="medium")
        while self._written < self.entries:
            self._step()

    def _step(self) -> None:
        random = self._random
        if self._compactions and self._context > COMPACT_AT and len(self._turns) > 4:
            self._compact()
        if self._branches and len(self._turns) > 3 and random.random() < 1 / TURNS_PER_BRANCH:
            self._branch()
        self.turn()
        if self._turns and random.random() < 0.02:
            target = random.choice(self._turns[-6:])[1]
            self.add("label", targetId=target, label=random.choice(("good", "try again", "bug")))

    # entries -----------------------------------------------------------------------------------

    def add(self, kind: str, **fields: Any) -> str:
        """Write an entry below the last one, unless there are enough; its id."""
        if self._written >= self.entries:
            return self._leaf or ""
        # An odd factor meets every number of 32 bits once.
        entry_id = f"{(self._written + self._salt) * 2654435761 & 0xFFFFFFFF:08x}"
        entry = {"type": kind, "id": entry_id, "parentId": self._leaf, "timestamp": self._stamp()}
        self._file.write(orjson.dumps(entry | fields) + b"\n")
        self._leaf = entry_id
        self._written += 1
        return entry_id

    def turn(self) -> None:
        """A question, replies with tool calls and their results, and an answer."""
        random = self._random
        before, context = self._leaf, self._context
        first = self.add("message", message=self._user())
        self._turns.append((before, first, context))
        for _ in range(random.randrange(1, 7)):
            calls = [self._call() for _ in range(random.choice((1, 1, 1, 2, 3)))]
            self.add("message", message=self._assistant(calls))
            for call in calls:
                self.add("message", message=self._result(call))
        self.add("message", message=self._assistant([]))

    def _branch(self) -> None:
        """Go back to before one of the last turns that no compaction lies after."""
        back = min(self._random.randrange(1, TURNS_PER_BRANCH), len(self._turns) - 1)
        abandoned = self._leaf
        before, _, context = self._turns[-back]
        if before is None:
            return
        del self._turns[-back:]
        self._leaf, self._context = before, context
        if self._random.random() < 0.5:
            summary = "## Goal\n" + self._text(900)
            self.add("branch_summary", fromId=abandoned, summary=summary)

    def _compact(self) -> None:
        kept = self._turns[-3]
        self.add(
            "compaction",
            summary="## Goal\n" + self._text(2_500) + "\n\n## Next Steps\n1. " + self._text(300),
            firstKeptEntryId=kept[1],
            tokensBefore=self._context,
            details={"readFiles": [self._path()], "modifiedFiles": [self._path()]},
        )
        self._context = 6_000 + self._context - kept[2]
        # Branches do not leave from before a compaction.
        self._turns.clear()

    # messages ----------------------------------------------------------------------------------

    def _user(self) -> dict[str, Any]:
        content = [{"type": "text", "text": self._text(self._random.randrange(40, 700))}]
        return {"role": "user", "content": content, "timestamp": int(self._seconds * 1000)}

    def _assistant(self, calls: list[dict[str, Any]]) -> dict[str, Any]:
        random = self._random
        content: list[dict[str, Any]] = []
        if random.random() < 0.6:
            content.append({"type": "thinking", "thinking": self._text(random.randrange(80, 900))})
        if not calls or random.random() < 0.5:
            content.append({"type": "text", "text": self._text(random.randrange(60, 1_500))})
        output = 40 + sum(len(str(block)) for block in content) // 4
        provider, model = MODELS[self._written // 4_000 % 2]
        return {
            "role": "assistant",
            "content": content + calls,
            "api": "messages",
            "provider": provider,
            "model": model,
            "usage": self._usage(output),
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": int(self._seconds * 1000),
        }

    def _usage(self, output: int) -> dict[str, Any]:
        self._context += output
        read = self._context * 9 // 10
        return {
            "input": self._context - read - output,
            "output": output,
            "cacheRead": read,
            "cacheWrite": 0,
            "totalTokens": self._context,
            "cost": {"input": 0.0003, "output": 0.0021, "total": 0.0024},
        }

    def _call(self) -> dict[str, Any]:
        random, name = self._random, self._random.choice(TOOLS)
        self._calls += 1
        arguments: dict[str, Any] = {"path": self._path()}
        if name == "bash":
            arguments = {"command": f"python -m pytest -q {self._path()} -k {self._text(20)!r}"}
        elif name == "edit":
            arguments |= {"oldText": self._output(120), "newText": self._output(240)}
        elif name == "write":
            arguments |= {"content": self._output(random.randrange(200, 3_000))}
        return {
            "type": "toolCall",
            "id": f"call_{self._calls}",
            "name": name,
            "arguments": arguments,
        }

    def _result(self, call: dict[str, Any]) -> dict[str, Any]:
        random = self._random
        # Many short results and a few of tens of kilobytes, as in real sessions.
        size = int(min(30_000, random.paretovariate(1.0) * 240))
        self._context += size // 4
        return {
            "role": "toolResult",
            "toolCallId": call["id"],
            "toolName": call["name"],
            "content": [{"type": "text", "text": self._output(size)}],
            "isError": random.random() < 0.04,
            "timestamp": int(self._seconds * 1000),
        }

    # words -------------------------------------------------------------------------------------

    def _stamp(self) -> str:
        self._seconds += 0.4 + self._random.random() * 9
        moment = datetime.fromtimestamp(self._seconds, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _path(self) -> str:
        return f"src/queue/part_{self._random.randrange(60)}.py"

    def _text(self, size: int) -> str:
        start = self._random.randrange(len(self._prose) - size)
        return self._prose[start : start + size].strip()

    def _output(self, size: int) -> str:
        start = self._random.randrange(len(self._code) - size)
        return self._code[start : start + size]

    def long_text(self, size: int) -> str:
        """Output of any length."""
        return (self._code * (size // len(self._code) + 1))[:size]

"""Sessions in which an agent reads, runs and edits, made entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.audit.needed_again import Need, NeededAgain, needed_again
from explorer.audit.repeats import NeedKind
from explorer.session.describe import describe
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Entry,
    PutBack,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.session.tree import SessionTree
from explorer.tokens.estimate import estimate_entry

FILE = "".join(f"line {at} of the file = {at * at}\n" for at in range(1, 41))
LONG = "\n".join(f"line {at} of the long file is {at * at}" for at in range(1, 201))
OTHER = "\n".join(f"another line {at} that differs, {at * 3}" for at in range(1, 61))
TESTED = "ok example.org/w/a 0.2s\nok example.org/w/b 0.4s, and nothing else to be told"


class AgentWork:
    """Every method appends below the last entry and returns the index of the entry that shows
    what was done."""

    def __init__(self) -> None:
        self.tree = SessionTree()
        self.entries: list[Entry] = []
        self._calls = 0

    def add(self, body: Any) -> int:
        entry = Entry.of(body, f"e{len(self.entries)}")
        above = len(self.entries) - 1
        self.tree.append(entry.id, above, describe(entry), estimate_entry(entry))
        self.entries.append(entry)
        return above + 1

    def call(self, tool: str, text: str, *, error: bool = False, **arguments: Any) -> int:
        """A call and its result, whose entry is returned."""
        call_id = self.ask(tool, **arguments)
        return self.add(ToolResultMessage(call_id, tool, text_content(text), is_error=error))

    def ask(self, tool: str, **arguments: Any) -> str:
        """A call without a result; its id."""
        call_id = f"c{self._calls}"
        self._calls += 1
        self.add(AssistantMessage((ToolCallBlock(call_id, tool, arguments),)))
        return call_id

    def read(self, path: str = "/w/a.py", first: int = 1, count: int = 0, of: str = FILE) -> int:
        lines = of.split("\n")[first - 1 :]
        more: dict[str, Any] = {"offset": first, "limit": count} if count else {}
        text = "\n".join(lines[:count] if count else lines)
        return self.call("read", text, path=path, **more)

    def run(self, command: str, output: str, *, error: bool = False) -> int:
        return self.call("bash", output, error=error, command=command)

    def edit(self, old: str, new: str, path: str = "/w/a.py") -> int:
        """The entry of the call."""
        return self.call("edit", "Successfully replaced text.", path=path, oldText=old,
                         newText=new) - 1  # fmt: skip

    def user(self, text: str, *, synthetic: bool = False) -> int:
        return self.add(UserMessage(text_content(text), synthetic=synthetic))

    def reply(self, text: str = "Done.") -> int:
        return self.add(AssistantMessage(text_content(text)))

    def compact(self, kept: int = -1, put_back: PutBack | None = None) -> int:
        name = self.entries[kept].id if kept >= 0 else ""
        summary = CompactionSummary("## Goal\nGo on.", first_kept_id=name, put_back=put_back)
        return self.add(summary)

    def found(self) -> NeededAgain:
        def read(indices: Sequence[int]) -> list[Entry]:
            return [self.entries[index] for index in indices]

        return needed_again(self.tree, len(self.entries) - 1, read)

    def needs(self) -> list[tuple[NeedKind, int, int]]:
        """What was needed again: kind, the entry before and the entry after."""
        return [(need.kind, need.repeat.before, need.repeat.after) for need in self.found().needs]

    def need(self) -> Need:
        """The only thing that was needed again."""
        (need,) = self.found().needs
        return need

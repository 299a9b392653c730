"""Sessions made by hand, entry by entry, with texts of known size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.preparation import Preparation, PreparationRefusal, prepare
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.formats.pi.entries import read_entry, read_message
from explorer.session.describe import describe
from explorer.session.entries import Entry, ModelMessage
from explorer.session.tree import SessionTree
from explorer.tokens.estimate import estimate_entry

EXPLORER = PROFILES["explorer"]
PI = PROFILES["pi"]


def words(tokens: int) -> str:
    """A text of so many tokens by the estimate."""
    return "word" * tokens


def model_message(message: dict[str, Any]) -> ModelMessage:
    """A message in pi's JSON that is sent as it is."""
    read = read_message(message)
    assert isinstance(read, ModelMessage)
    return read


class Session:
    """A session under construction. Every method appends below the last entry (or ``under``) and
    returns the new entry's index."""

    def __init__(self) -> None:
        self.tree = SessionTree()
        self.entries: list[dict[str, Any]] = []
        self.leaf = -1

    def add(self, entry: dict[str, Any], under: int | None = None) -> int:
        parent = self.leaf if under is None else under
        name = f"e{len(self.entries)}"
        self.leaf = self.tree.append(
            name, parent, describe(read_entry(entry)), estimate_entry(read_entry(entry))
        )
        self.entries.append({"id": name, **entry})
        return self.leaf

    def message(self, under: int | None = None, **message: Any) -> int:
        return self.add({"type": "message", "message": message}, under)

    def user(self, tokens: int = 1, text: str | None = None, under: int | None = None) -> int:
        said = words(tokens) if text is None else text
        return self.message(under, role="user", content=said)

    def reply(
        self,
        tokens: int = 1,
        *,
        text: str | None = None,
        calls: Sequence[tuple[str, str]] = (),
        usage: int = 0,
        stop: str = "stop",
        model: str = "",
    ) -> int:
        content: list[dict[str, Any]] = [
            {"type": "text", "text": words(tokens) if text is None else text}
        ]
        for at, (name, path) in enumerate(calls):
            call = f"c{len(self.entries)}.{at}"
            arguments = {"path": path}
            content.append({"type": "toolCall", "id": call, "name": name, "arguments": arguments})
        message: dict[str, Any] = {"role": "assistant", "content": content, "stopReason": stop}
        if usage:
            message["usage"] = {"totalTokens": usage}
        if model:
            message["provider"], _, message["model"] = model.partition("/")
        return self.message(**message)

    def result(
        self, tokens: int = 1, *, text: str | None = None, call: str = "", error: bool = False
    ) -> int:
        said = words(tokens) if text is None else text
        content = [{"type": "text", "text": said}]
        return self.message(role="toolResult", toolCallId=call, content=content, isError=error)

    def called(self, name: str, path: str, *, error: bool = False) -> int:
        """A reply that calls a file tool, and its result."""
        reply = self.reply(calls=[(name, path)])
        self.result(call=f"c{reply}.0", error=error)
        return reply

    def bash(self, tokens: int = 1, *, excluded: bool = False) -> int:
        return self.message(
            role="bashExecution",
            command="make",
            output=words(tokens - 1),
            exitCode=0,
            excludeFromContext=excluded,
        )

    def note(self, tokens: int = 1, *, shown: bool = True) -> int:
        return self.add({"type": "custom_message", "content": words(tokens), "display": shown})

    def metadata(self) -> int:
        return self.add({"type": "model_change", "provider": "p", "modelId": "m"})

    def compaction(
        self,
        kept: int,
        summary: str = "summary",
        *,
        read: Sequence[str] = (),
        modified: Sequence[str] = (),
        by_extension: bool = False,
    ) -> int:
        details = {"readFiles": list(read), "modifiedFiles": list(modified)}
        return self.add(
            {
                "type": "compaction",
                "summary": summary,
                "firstKeptEntryId": f"e{kept}",
                "tokensBefore": 1,
                "details": details,
                "fromHook": by_extension,
            }
        )

    def branch_summary(
        self, summary: str = "branch", *, modified: Sequence[str] = (), by_extension: bool = False
    ) -> int:
        details = {"readFiles": [], "modifiedFiles": list(modified)}
        return self.add(
            {
                "type": "branch_summary",
                "fromId": "e0",
                "summary": summary,
                "details": details,
                "fromHook": by_extension,
            }
        )

    def read(self, indices: Sequence[int]) -> list[Entry]:
        return [read_entry(self.entries[index]) for index in indices]

    def prepare(
        self, keep: int, profile: Profile = EXPLORER, **more: Any
    ) -> Preparation | PreparationRefusal:
        leaf = more.pop("leaf", self.leaf)
        settings = Settings(keep_recent_tokens=keep, **more.pop("settings", {}))
        return prepare(self.tree, leaf, profile, settings, **more)

    def prepared(self, keep: int, profile: Profile = EXPLORER, **more: Any) -> Preparation:
        found = self.prepare(keep, profile, **more)
        assert isinstance(found, Preparation), found.reason
        return found

    def refused(self, keep: int, profile: Profile = EXPLORER, **more: Any) -> PreparationRefusal:
        found = self.prepare(keep, profile, **more)
        assert isinstance(found, PreparationRefusal)
        return found

    def partition(self, keep: int, profile: Profile = EXPLORER, **more: Any) -> Partition:
        return partition(self.prepare(keep, profile, **more))


def with_verdict(parts: Partition, verdict: Verdict) -> list[int]:
    """The entries of a partition with a verdict."""
    return [parts.path[at] for at, value in enumerate(parts.verdicts) if value == verdict]

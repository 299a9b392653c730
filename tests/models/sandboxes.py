"""An offline model at work with the real tools in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from explorer.agent.approval import ApprovalMode, Approvals
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Event,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
)
from explorer.models.offline.demo import answer

MOST_ROUNDS = 40


@dataclass
class Talk:
    """A conversation with the demonstration agent, whose tools really run."""

    root: Path
    mode: ApprovalMode = "yes"
    messages: list[ChatMessage] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    rounds: list[tuple[ToolCall, ...]] = field(default_factory=list)

    def say(self, text: str) -> str:
        """Everything that follows from a message; the text of the last reply."""
        self.messages.append(ChatMessage("user", text))
        return asyncio.run(self._work())

    async def _work(self) -> str:
        outputs = self.root.parent / "outputs"
        tools = WorkspaceTools(Workspace(self.root), Approvals(self.mode), outputs)
        for _ in range(MOST_ROUNDS):
            events: list[Event] = []
            request = ModelRequest("offline/demo", tuple(self.messages), tools=tools.specs())
            answer(request, events.append, lambda: False)
            said = "".join(event.text for event in events if isinstance(event, TextDelta))
            self.thoughts += [event.text for event in events if isinstance(event, ThinkingDelta)]
            calls = tuple(event.call for event in events if isinstance(event, ToolCallReady))
            self.messages.append(ChatMessage("assistant", said, calls))
            if not calls:
                return said
            self.rounds.append(calls)
            for call in calls:
                outcome = await tools.run(call, CancelToken(), lambda _text: None)
                self.messages.append(ChatMessage("tool", outcome.text, tool_call_id=call.id))
        raise AssertionError("it went on for ever")

    @property
    def called(self) -> list[str]:
        """The tools that were called, in order."""
        return [call.name for calls in self.rounds for call in calls]


def make(root: Path, files: dict[str, str]) -> Path:
    """A folder with files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def texts(root: Path, names: Sequence[str]) -> dict[str, str]:
    """What stands in files."""
    return {name: (root / name).read_text(encoding="utf-8") for name in names}

"""What a request tells of where the work stands: the question, what was done since, the limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.models.offline.demo.limits import Limits, limits_in
from explorer.models.offline.pieces import IsCancelled
from explorer.models.request import ChatMessage, ModelRequest, ToolCall, ToolSpec

_SUMMARY = re.compile(
    r"^\s*(?:The conversation history before this point was compacted"
    r"|Notes on a branch of this conversation|<conversation-summary>|<summary>)"
)
_GO_ON = re.compile(
    r"^\s*(?:please\s+)?(?:continue|go\s+on|carry\s+on|go\s+ahead|proceed|keep\s+going|resume)"
    r"(?:\s+please)?[\s.!]*$|^\s*The conversation was compacted a moment ago",
    re.IGNORECASE,
)
_GOAL = re.compile(r"^#+\s*(?:Original Request|Goal|Primary Request)[^\n]*\n+(.+?)(?:\n\n|\n#|$)",
                   re.MULTILINE | re.DOTALL | re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Round:
    """Calls of one reply and what they gave."""

    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a piece of work is decided by."""

    question: str
    earlier: tuple[ChatMessage, ...]
    """What was said before the question."""
    rounds: tuple[Round, ...]
    """What was done since the question."""
    is_over: bool
    """An answer without calls was given to the question already: nothing but going on is asked."""
    offered: Mapping[str, ToolSpec]
    limits: Limits
    cancelled: IsCancelled


def situation_of(request: ModelRequest, cancelled: IsCancelled) -> Situation:
    """Read a request."""
    messages = request.messages
    at = _question_at(messages)
    question = _question(messages[at]) if at >= 0 else ""
    after = messages[at + 1 :]
    asked_on = any(message.role == "user" for message in after)
    said = [m.text for m in messages if m.role == "user"]
    offered = {tool.name: tool for tool in request.tools}
    return Situation(
        question,
        messages[: max(0, at)],
        tuple(_rounds(after)),
        asked_on and _was_answered(after),
        {} if request.tool_choice == "none" else offered,
        limits_in(said),
        cancelled,
    )


def asks_to_go_on(text: str) -> bool:
    """Whether a message asks for nothing but to go on."""
    return _GO_ON.search(text) is not None


def _question_at(messages: Sequence[ChatMessage]) -> int:
    """The last message of the person that says what to do, rather than to go on with it."""
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    for at in reversed(users):
        if not asks_to_go_on(messages[at].text):
            return at
    return users[-1] if users else -1


def _question(message: ChatMessage) -> str:
    text = message.text.strip()
    if _SUMMARY.match(text):
        # The question itself was summarized: what is told of it stands for it.
        goal = _GOAL.search(text)
        return goal.group(1).strip().removeprefix("- ") if goal else ""
    return text


def _was_answered(after: Sequence[ChatMessage]) -> bool:
    """Whether a reply without calls came after the question."""
    return any(m.role == "assistant" and not m.tool_calls and m.text.strip() for m in after)


def _rounds(after: Sequence[ChatMessage]) -> list[Round]:
    results = {m.tool_call_id: m.text for m in after if m.role == "tool"}
    return [
        Round(message.tool_calls, tuple(results.get(call.id, "") for call in message.tool_calls))
        for message in after
        if message.role == "assistant" and message.tool_calls
    ]

"""Takes a summary request apart: conversation, earlier summary, context, instructions (A22)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from explorer.models.offline.extractive.blocks import Block, speech_blocks
from explorer.models.offline.extractive.statement import Speaker
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import estimate_text

_VERY_LONG = 1_000_000
_TAGGED = ("previous-summary", "additional-context")
# "Additional focus: ...", "Pay special attention to this:" and what follows, to the end.
_FOCUS_LINE = re.compile(
    r"^[^\n:]*\b(?:focus|attention|instructions?|guidance|emphasi[sz]e|concentrate)\b[^\n:]{0,60}"
    r":[ \t*_]*\n?(?P<text>\S.*)\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FOCUS_TAG = re.compile(
    r"<(focus|custom-instructions|user-instructions|instructions)>(.*?)</\1>", re.DOTALL
)
_FOCUS_ON = re.compile(r"^[ \t]*(?:please\s+)?focus\s+on\s+(?P<text>.+)$", re.I | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Material:
    """The parts of a request. `spoken` holds a conversation given as messages, not as text."""

    conversation: str
    previous: str
    context: str
    instructions: str
    focus: str
    spoken: tuple[Block, ...] = ()

    @property
    def tokens(self) -> int:
        """An estimate of all the text that the summary stands for; a rough one where it is
        very long."""
        parts = (self.conversation, self.previous, *(b.text for b in self.spoken))
        return sum(
            estimate_text(part) if len(part) < _VERY_LONG else len(part) // 4 for part in parts
        )


def read_request(request: ModelRequest) -> Material:
    """The material of a request; a request without tags is read message by message."""
    texts = [m.text for m in request.messages if m.role == "user"]
    whole = texts[-1] if texts else ""
    tagged = next((t for t in texts if "<conversation>" in t), None)
    if tagged is not None:
        whole = "\n\n".join(texts) if len(texts) > 1 else tagged
        conversation, rest = _cut(whole, "conversation")
        spoken: tuple[Block, ...] = ()
    else:
        conversation, rest = "", whole
        spoken = tuple(_spoken(request.messages))
    parts = dict.fromkeys(_TAGGED, "")
    for tag in _TAGGED:
        parts[tag], rest = _cut(rest, tag)
    return Material(
        conversation,
        parts["previous-summary"],
        parts["additional-context"],
        rest,
        _focus(rest, parts["additional-context"]),
        spoken,
    )


def _cut(text: str, tag: str) -> tuple[str, str]:
    """The inside of the first `<tag>` element at the start of a line, and the text without it."""
    opening = re.compile(rf"<{tag}>[ \t]*\n?")
    start = 0 if text.startswith(f"<{tag}>") else text.find(f"\n<{tag}>") + 1
    found = opening.match(text, start)
    if found is None:
        return "", text
    # From the end: what closes it stands near there, and a long text is not searched through.
    end = text.rfind(f"\n</{tag}>", found.end() - 1)
    if end < 0:
        loose = text.find(f"</{tag}>", found.end())
        if loose < 0:
            return text[found.end() :], text[:start]
        return text[found.end() : loose], text[:start] + text[loose + len(tag) + 3 :]
    inside = text[found.end() : end]
    return inside.strip("\n"), text[:start] + text[end + len(tag) + 4 :]


def _spoken(messages: tuple[ChatMessage, ...]) -> list[Block]:
    speakers = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT, "tool": Speaker.RESULT}
    last_user = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    blocks: list[Block] = []
    for index, message in enumerate(messages):
        if index == last_user or message.role not in speakers:
            continue
        if message.text.strip():
            blocks.extend(speech_blocks(speakers[message.role], message.text))
        for call in message.tool_calls:
            arguments = ", ".join(f"{k}={_json(v)}" for k, v in call.arguments.items())
            blocks.append(Block(Speaker.CALL, f"{call.name}({arguments})"))
    return blocks


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _focus(instructions: str, context: str) -> str:
    found = [context]
    found += [match.group("text") for match in _FOCUS_LINE.finditer(instructions)]
    found += [match.group(2) for match in _FOCUS_TAG.finditer(instructions)]
    found += [match.group("text") for match in _FOCUS_ON.finditer(instructions)]
    return "\n".join(part for part in found if part.strip())

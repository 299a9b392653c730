"""What is asked of a model, as plain frozen data that a draft can record and replay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

from msgspec import Struct

from explorer.session.partly_compared import PartlyCompared

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
ThinkingLevel = Literal["off", "minimal", "low", "medium", "high"]

THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high")
"""From none to the most."""


def as_level(value: object) -> ThinkingLevel | None:
    """The level that a text names; None for any other value. pi's ``xhigh`` is ``high`` here."""
    if value in ("xhigh", "max"):
        return "high"
    return next((level for level in THINKING_LEVELS if level == value), None)


class TextPart(Struct, frozen=True):
    """A piece of text in a message."""

    text: str


class ImagePart(Struct, frozen=True):
    """A picture in a message, base64 without a data-URL prefix."""

    mime: str
    data_base64: str


ContentPart = TextPart | ImagePart


class ToolCall(Struct, frozen=True):
    """A tool that the model wants run. `arguments` is the decoded JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] = {}
    problem: str = ""
    """What is wrong with the arguments that came, as a sentence for the model; such a call cannot
    be run, and its `arguments` are empty."""
    raw: str = ""
    """The arguments as they came, where they have a problem."""


class ToolSpec(Struct, frozen=True):
    """A tool offered to the model. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any] = {}


class ThinkingPart(Struct, frozen=True):
    """Thinking that an assistant message brings along, with the provider's signature of it."""

    text: str
    signature: str = ""
    redacted: bool = False
    """The provider shows nothing of it: the signature is all there is."""


class ChatMessage(PartlyCompared, frozen=True):
    """One message. `tool_call_id` names the call that a `tool` message answers."""

    UNCOMPARED = frozenset({"source"})

    role: Role
    content: str | tuple[ContentPart, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingPart | None = None
    more_thinking: tuple[ThinkingPart, ...] = ()
    """What was thought after that, in separately signed pieces."""
    source: int = -1
    """The entry that it came from, by index; -1 for words that no entry holds."""

    @property
    def text(self) -> str:
        """The text of the message, its parts joined by a blank line; pictures left out."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join(part.text for part in self.content if isinstance(part, TextPart))


class ModelRequest(PartlyCompared, frozen=True):
    """Everything that decides a model's answer.

    `max_output_tokens` counts tokens of the answer; `thinking` is a level name
    (minimal, low, medium, high) or None; `tool_choice` is auto, none or required.
    """

    UNCOMPARED = frozenset({"of"})

    model: str
    messages: tuple[ChatMessage, ...]
    max_output_tokens: int | None = None
    temperature: float | None = None
    thinking: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str | None = None
    endpoint: str | None = None
    """The address that ``remote/endpoint`` stands for in this request; None: as configured."""
    of: str = ""
    """What of a session it holds, for people: ``12 entries to be summarized``. Not recorded."""

    def to_json(self) -> dict[str, Any]:
        """The request as a JSON object (dictionaries, lists and plain values)."""
        return {
            "model": self.model,
            "messages": [_message_to_json(message) for message in self.messages],
            "max_output_tokens": self.max_output_tokens,
            "temperature": self.temperature,
            "thinking": self.thinking,
            "tools": [
                {"name": t.name, "description": t.description, "parameters": t.parameters}
                for t in self.tools
            ],
            "tool_choice": self.tool_choice,
            **({"endpoint": self.endpoint} if self.endpoint else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | str) -> ModelRequest:
        """The request that `to_json` recorded, given as an object or as its JSON text.

        Raises ValueError naming the field that does not fit.
        """
        data = json.loads(value) if isinstance(value, str) else value
        if not isinstance(data, Mapping):
            raise ValueError("a recorded model request must be a JSON object")
        try:
            return cls(
                model=str(data["model"]),
                messages=tuple(_message_from_json(m) for m in data["messages"]),
                max_output_tokens=data.get("max_output_tokens"),
                temperature=data.get("temperature"),
                thinking=data.get("thinking"),
                tools=tuple(
                    ToolSpec(t["name"], t.get("description", ""), dict(t.get("parameters", {})))
                    for t in data.get("tools") or ()
                ),
                tool_choice=data.get("tool_choice"),
                endpoint=data.get("endpoint"),
            )
        except KeyError as missing:
            raise ValueError(f"a recorded model request lacks the field {missing}") from missing


def _message_to_json(message: ChatMessage) -> dict[str, Any]:
    content: str | list[dict[str, str]]
    if isinstance(message.content, str):
        content = message.content
    else:
        content = [
            {"type": "text", "text": part.text}
            if isinstance(part, TextPart)
            else {"type": "image", "mime": part.mime, "data": part.data_base64}
            for part in message.content
        ]
    recorded: dict[str, Any] = {
        "role": message.role,
        "content": content,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
    }
    if message.thinking is not None:
        recorded["thinking"] = _thinking_to_json(message.thinking)
    if message.more_thinking:
        recorded["more_thinking"] = [_thinking_to_json(part) for part in message.more_thinking]
    return recorded


def _thinking_to_json(part: ThinkingPart) -> dict[str, Any]:
    redacted = {"redacted": True} if part.redacted else {}
    return {"text": part.text, "signature": part.signature, **redacted}


def _thinking_from_json(data: Mapping[str, Any]) -> ThinkingPart:
    return ThinkingPart(data["text"], data.get("signature", ""), bool(data.get("redacted")))


def _message_from_json(data: Mapping[str, Any]) -> ChatMessage:
    role = data["role"]
    if role not in ROLES:
        raise ValueError(f"a recorded message has the unknown role {role!r}")
    content = data["content"]
    return ChatMessage(
        role=cast(Role, role),
        content=content if isinstance(content, str) else tuple(map(_part_from_json, content)),
        tool_calls=tuple(
            ToolCall(c["id"], c["name"], dict(c.get("arguments", {})))
            for c in data.get("tool_calls") or ()
        ),
        tool_call_id=data.get("tool_call_id"),
        thinking=None
        if (thinking := data.get("thinking")) is None
        else _thinking_from_json(thinking),
        more_thinking=tuple(_thinking_from_json(each) for each in data.get("more_thinking") or ()),
    )


def _part_from_json(data: Mapping[str, Any]) -> ContentPart:
    if data["type"] == "text":
        return TextPart(data["text"])
    if data["type"] == "image":
        return ImagePart(data["mime"], data["data"])
    raise ValueError(f"a recorded message part has the unknown type {data['type']!r}")

"""The recorded request is the request: a draft can be replayed exactly."""

from __future__ import annotations

import json

import pytest

from explorer.models.client import (
    ChatMessage,
    ImagePart,
    ModelRequest,
    TextPart,
    ToolCall,
    ToolSpec,
)

FULL = ModelRequest(
    model="openai/x",
    messages=(
        ChatMessage("system", "be brief"),
        ChatMessage("user", (TextPart("look"), ImagePart("image/png", "AAAA"))),
        ChatMessage("assistant", "", (ToolCall("c1", "read", {"path": "a.py", "n": [1, None]}),)),
        ChatMessage("tool", "text of a", tool_call_id="c1"),
    ),
    max_output_tokens=12,
    temperature=0.0,
    thinking="low",
    tools=(ToolSpec("read", "reads", {"type": "object", "properties": {"path": {}}}),),
    tool_choice="none",
)


def test_round_trip_through_json_text() -> None:
    assert ModelRequest.from_json(json.dumps(FULL.to_json())) == FULL
    assert ModelRequest.from_json(FULL.to_json()) == FULL


def test_defaults_round_trip() -> None:
    small = ModelRequest("offline/demo", (ChatMessage("user", "hi"),))
    assert ModelRequest.from_json(json.dumps(small.to_json())) == small


def test_a_request_cannot_be_changed_after_it_was_recorded() -> None:
    with pytest.raises(AttributeError):
        FULL.model = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("recorded", "named"),
    [
        ({"messages": []}, "model"),
        ({"model": "x", "messages": [{"role": "king", "content": ""}]}, "king"),
        ({"model": "x", "messages": [{"role": "user", "content": [{"type": "film"}]}]}, "film"),
    ],
)
def test_a_damaged_record_names_what_does_not_fit(recorded: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ModelRequest.from_json(recorded)


def test_a_list_is_no_request() -> None:
    with pytest.raises(ValueError, match="JSON object"):
        ModelRequest.from_json("[]")

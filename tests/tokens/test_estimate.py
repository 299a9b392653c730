"""The estimate of messages and entries (B6, B8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry, read_message
from explorer.tokens.estimate import estimate_entry, estimate_message, js_json, utf16_units

IMAGE = {"type": "image", "data": "x" * 9000, "mimeType": "image/png"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


MESSAGES: list[tuple[dict[str, Any], int]] = [
    ({"role": "user", "content": "12345"}, 2),
    ({"role": "user", "content": [text("1234"), text("5")]}, 2),
    ({"role": "user", "content": [IMAGE]}, 0),
    ({"role": "toolResult", "content": [text("abcd"), IMAGE]}, 1201),
    ({"role": "custom", "content": "abcd"}, 1),
    ({"role": "custom", "content": [IMAGE]}, 1200),
    ({"role": "bashExecution", "command": "ls", "output": "a\nb"}, 2),
    ({"role": "branchSummary", "summary": "12345678"}, 2),
    ({"role": "compactionSummary", "summary": "123456789"}, 3),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "1234"},
                text("12"),
                {"type": "toolCall", "name": "read", "arguments": {"limit": 1.0}},
            ],
        },
        (4 + 2 + 4 + len('{"limit":1}') + 3) // 4,
    ),
    ({"role": "user", "content": "\U0001f680" * 4}, 2),
    ({"role": "user", "content": None}, 0),
    ({"role": "assistant", "content": [None, {"type": "toolCall"}, 7]}, 0),
    ({}, 0),
]


@pytest.mark.parametrize(("message", "tokens"), MESSAGES)
def test_b6_b8_tokens_of_messages(message: dict[str, Any], tokens: int) -> None:
    assert estimate_message(read_message(message)) == tokens


def test_entries_count_their_message_content_or_summary() -> None:
    assert (
        estimate_entry(
            read_entry({"type": "message", "message": {"role": "user", "content": "abcd"}})
        )
        == 1
    )
    assert estimate_entry(read_entry({"type": "custom_message", "content": "abcde"})) == 2
    assert estimate_entry(read_entry({"type": "compaction", "summary": "abcdefgh"})) == 2
    assert estimate_entry(read_entry({"type": "branch_summary", "summary": "a"})) == 1
    assert estimate_entry(read_entry({"type": "model_change", "modelId": "a-long-name"})) == 0
    assert estimate_entry(read_entry({"type": "message"})) == 0


ARGUMENTS = st.dictionaries(
    st.text(max_size=5),
    st.text(max_size=10) | st.booleans() | st.none() | st.floats(allow_nan=False) | st.integers(),
    max_size=5,
)


@given(ARGUMENTS)
def test_arguments_count_as_javascripts_json_whatever_they_hold(arguments: dict[str, Any]) -> None:
    call = {"type": "toolCall", "name": "", "arguments": arguments}
    units = utf16_units(js_json(arguments))
    assert estimate_message(read_message({"role": "assistant", "content": [call]})) == -(
        -units // 4
    )

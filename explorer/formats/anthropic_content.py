"""Content blocks and usage as Anthropic's API writes them, which several agents store unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.formats.json_fields import text_field
from explorer.session.entries import (
    Block,
    Content,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    UnknownBlock,
)
from explorer.session.json_values import token_count

# JSON objects are asked for as ``dict``: asking for any mapping takes ten times as long.


def read_content(value: Any) -> Content:
    """The blocks of a message: a text, or a list of blocks. What is no block is carried."""
    if isinstance(value, str):
        return (TextBlock(value),) if value else ()
    if not isinstance(value, list):
        return () if value is None else (UnknownBlock("", value),)
    return tuple(map(read_block, value))


def read_block(value: Any) -> Block:
    """One block; of a kind that is not known, or without what its kind needs, it is carried."""
    if isinstance(value, str):
        return TextBlock(value)
    if not isinstance(value, dict):
        return UnknownBlock("", value)
    kind = value.get("type")
    match kind:
        case "text" if isinstance(value.get("text"), str):
            return TextBlock(value["text"])
        case "thinking" if isinstance(value.get("thinking"), str):
            return ThinkingBlock(value["thinking"], text_field(value, "signature"))
        case "redacted_thinking":
            return ThinkingBlock("", text_field(value, "data"), redacted=True)
        case "tool_use" if isinstance(value.get("name"), str):
            return ToolCallBlock(text_field(value, "id"), value["name"], value.get("input"))
        case "image":
            return _image(value)
    return UnknownBlock(kind if isinstance(kind, str) else "", dict(value))


def _image(value: Mapping[str, Any]) -> Block:
    source = value.get("source")
    if not isinstance(source, dict):
        return UnknownBlock("image", dict(value))
    # A picture at an address has no data of its own.
    return ImageBlock(text_field(source, "media_type"), text_field(source, "data"))


def read_usage(value: Any) -> TokenUsage | None:
    """What a reply used, in tokens; None where nothing is recorded."""
    if not isinstance(value, dict):
        return None
    output = token_count(value.get("output_tokens"))
    prompt = token_count(value.get("input_tokens"))
    read = token_count(value.get("cache_read_input_tokens"))
    written = token_count(value.get("cache_creation_input_tokens"))
    parts = value.get("cache_creation")
    hour = token_count(parts.get("ephemeral_1h_input_tokens")) if isinstance(parts, dict) else 0
    return TokenUsage(
        prompt, output, read, written, prompt + output + read + written,
        cache_write_1h=min(hour, written),
    )  # fmt: skip

"""The estimate of tokens that every agent of the family uses: UTF-16 units divided by four (B8).

It runs on every entry of an import, so it looks only at what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from explorer.tokens.javascript import js_json, utf16_units

__all__ = [
    "IMAGE_TOKENS",
    "IMAGE_UNITS",
    "estimate_entry",
    "estimate_message",
    "estimate_text",
    "js_json",
    "json_units",
    "utf16_units",
]

# Numbers are all in which JavaScript's writer differs from a fast one: fractions, exponents and
# what is beyond its integers. In compact JSON a number follows one of three characters.
_NUMBER_OF_ITS_OWN = re.compile(rb"(?:^|[:,\[])-?\d+(?:[.eE]|(?<=\d{16}))")
_SEARCHED = 4096
"""Bytes up to which looking for such numbers is quicker than writing it all anew."""
_TEXT = frozenset({str})

IMAGE_UNITS = 4800
"""UTF-16 units that an image in a tool result or custom message counts as (B6)."""

IMAGE_TOKENS = IMAGE_UNITS // 4
"""Tokens of an image where images are counted."""


def estimate_text(text: str) -> int:
    """Tokens of a text: UTF-16 units divided by four, rounded up."""
    return (utf16_units(text) + 3) // 4


def estimate_message(message: Mapping[str, Any]) -> int:
    """Tokens of a message of any role; unknown shapes count 0 and nothing is raised (B6, B8)."""
    role = message.get("role")
    if role == "assistant":
        units = _reply_units(message.get("content"))
    elif role == "toolResult" or role == "custom" or role == "hookMessage":
        units = _content_units(message.get("content"), IMAGE_UNITS)
    elif role == "bashExecution":
        units = _units(message.get("command")) + _units(message.get("output"))
    elif role == "branchSummary" or role == "compactionSummary":
        units = _units(message.get("summary"))
    elif role == "pythonExecution":
        units = _units(message.get("code")) + _units(message.get("output"))
    elif role == "fileMention":
        units = _mention_units(message.get("files"))
    else:
        units = _content_units(message.get("content"), 0)
    return (units + 3) // 4


def estimate_entry(entry: Mapping[str, Any]) -> int:
    """Tokens of an entry: of its message, its content or its summary; metadata counts 0."""
    entry_type = entry.get("type")
    if entry_type == "message":
        message = entry.get("message")
        return estimate_message(message) if isinstance(message, dict) else 0
    if entry_type == "custom_message":
        return (_content_units(entry.get("content"), IMAGE_UNITS) + 3) // 4
    if entry_type == "compaction" or entry_type == "branch_summary":
        return (_units(entry.get("summary")) + 3) // 4
    return 0


def _units(text: object) -> int:
    if not isinstance(text, str):
        return 0
    return len(text) if text.isascii() else utf16_units(text)


def _content_units(content: object, image_units: int) -> int:
    if isinstance(content, str):
        return utf16_units(content)
    units = 0
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                block_type = block.get("type")
                if block_type == "text":
                    units += _units(block.get("text"))
                elif block_type == "image":
                    units += image_units
    return units


def _reply_units(content: object) -> int:
    if not isinstance(content, list):
        return _units(content)
    units = 0
    for block in content:
        if not isinstance(block, dict):
            continue
        block_type = block.get("type")
        if block_type == "text":
            units += _units(block.get("text"))
        elif block_type == "thinking":
            units += _units(block.get("thinking"))
        elif block_type == "toolCall":
            units += _units(block.get("name"))
            if "arguments" in block:
                units += json_units(block["arguments"])
    return units


def json_units(value: object) -> int:
    """UTF-16 units of a value as JavaScript writes it."""
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # halves of surrogate pairs, integers over 64 bits, depth
        return utf16_units(js_json(value))
    only_texts = type(value) is dict and _TEXT.issuperset(map(type, value.values()))
    if not only_texts and (len(written) > _SEARCHED or _NUMBER_OF_ITS_OWN.search(written)):
        return utf16_units(js_json(value))
    return len(written) if written.isascii() else utf16_units(written.decode())


def _mention_units(files: object) -> int:
    if not isinstance(files, list):
        return 0
    return sum(
        _units(item.get("path")) + _units(item.get("content"))
        for item in files
        if isinstance(item, dict)
    )

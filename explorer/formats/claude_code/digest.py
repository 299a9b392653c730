"""The facts of a record in the shapes that nearly all have, straight from its JSON: what reading a
large file hangs on.

Whatever looks different in any way is left to ``describe`` and ``estimate_entry``, which say what
is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

from explorer.formats.claude_code.fields import PLACEHOLDER_MODEL, is_inserted
from explorer.formats.claude_code.records import provider_of, reply_usage
from explorer.session.describe import Facts, error_mark, result_flags
from explorer.session.file_tools import FileOp, file_ops
from explorer.session.json_values import time_ms
from explorer.session.kinds import Flag, Kind
from explorer.session.text import PREVIEW_UNITS, call_title, cut_line, first_line, prompt_line
from explorer.tokens.estimate import json_units, utf16_units

_TEXT, _THINKING, _CALL, _ERROR = (
    int(one) for one in (Flag.HAS_TEXT, Flag.HAS_THINKING, Flag.HAS_TOOL_CALL, Flag.ERROR)
)
_STOPS = (None, "end_turn", "tool_use", "stop_sequence")
"""Reasons to stop of which no flag tells."""


def digest_reply(values: Sequence[dict[str, Any]]) -> tuple[Facts, int] | None:
    """The facts and the estimate of a reply's records; None where they are not as most are."""
    first = values[0]
    model = first["message"].get("model")
    if type(model) is not str or model == PLACEHOLDER_MODEL or not model:
        return None
    text = thinking = calls = ""
    ops: list[FileOp] = []
    flags = units = 0
    for value in values:
        message = value["message"]
        reason = message.get("stop_reason")
        if "isApiErrorMessage" in value or "isAbortedMidStream" in value or reason not in _STOPS:
            return None
        for block in message["content"]:
            kind = block["type"]
            if kind == "text":
                part = block["text"]
                units += utf16_units(part)
                text = text or first_line(part)
            elif kind == "thinking":
                part = block["thinking"]
                units += utf16_units(part)
                flags |= _THINKING
                thinking = thinking or part.lstrip()
            elif kind == "tool_use":
                name, given, call = block["name"], block["input"], block["id"]
                if given is None or type(call) is not str:
                    return None
                units += utf16_units(name) + json_units(given)
                flags |= _CALL
                if not text and len(calls) < PREVIEW_UNITS:
                    calls += (" · " if calls else "") + call_title(name, given)
                ops += file_ops(name, given, call)
            else:
                return None
    preview = text or cut_line(calls) or first_line(thinking)
    if not preview:
        return None
    usage = reply_usage(values)
    facts = Facts(
        Kind.ASSISTANT,
        flags | _TEXT if text else flags,
        time_ms(first.get("timestamp")),
        usage.context if usage is not None else -1,
        intern(f"{provider_of(first['message'])}/{model}"),
        preview,
        0,
        tuple(ops),
    )
    return facts, (units + 3) // 4


def digest_result(value: Mapping[str, Any], tools: Mapping[str, str]) -> tuple[Facts, int] | None:
    """The facts and the estimate of a tool result's record; None where it is not as most are.
    ``tools``: names by call."""
    (result,) = value["message"]["content"]
    call, text = result["tool_use_id"], result["content"]
    if type(text) is list:
        (block,) = text
        text = block["text"] if block["type"] == "text" else None
    if type(text) is not str or type(call) is not str:
        return None
    is_error = result.get("is_error") is True
    facts = Facts(
        Kind.TOOL_RESULT,
        _TEXT | (_ERROR if is_error else result_flags(text)),
        time_ms(value.get("timestamp")),
        -1,
        "",
        first_line(text),
        0,
        call_id=call,
        tool=tools.get(call, ""),
        error=error_mark(text) if is_error else 0,
    )
    return facts, (utf16_units(text) + 3) // 4


def digest_prompt(value: Mapping[str, Any]) -> tuple[Facts, int] | None:
    """The facts and the estimate of what somebody typed; None where it is not as most is."""
    text = value["message"]["content"]
    if type(text) is list:
        (block,) = text
        text = block["text"] if block["type"] == "text" else None
    if type(text) is not str or "origin" in value or "isVisibleInTranscriptOnly" in value:
        return None
    preview = prompt_line(text)
    if not preview or is_inserted(text):
        return None
    facts = Facts(Kind.USER, _TEXT, time_ms(value.get("timestamp")), -1, "", preview, 0)
    return facts, (utf16_units(text) + 3) // 4

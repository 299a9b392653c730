"""Records of Claude Code described straight from their JSON say what ``describe`` and the estimate
say of their typed entry."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.formats.claude_code.fields import message_of, results_in
from explorer.formats.claude_code.records import body_of, digest_reply, digest_result, placed_entry
from explorer.formats.jsonl import BadLine, parse
from explorer.session.describe import describe
from explorer.tokens.estimate import estimate_entry
from tests.formats.claude_lines import Lines
from tests.formats.test_agents import SESSIONS
from tests.formats.test_mutated_files import renamed

Values = list[dict[str, Any]]
TOOLS = {"c1": "Read", "c2": "Bash"}
_DETAILED = {"type": "tool_use", "id": "c2", "name": "Edit"}


def _variety() -> list[Values]:
    """Records of replies and results, those of one entry together."""
    lines = Lines()
    lines.reply("a1", "m1", "One line\nand another", ("c1", "Read"), ("c2", "Bash"))
    lines.reply("a2", "msg_vrtx_2", "  \n", ("c1", "Read"), stop_reason="tool_use")
    lines.reply("a3", "msg_bdrk_3", "größer 日本 \U0001f600", stop_reason="max_tokens")
    lines.reply("a4", "m4", ("c" * 9, "x" * 300), stop_reason=None)
    lines.reply("a5", "m5", "API Error", model="<synthetic>")
    lines.reply("a6", "m6", "", stop_reason="stop_sequence", usage=None)
    thinking = {"type": "thinking", "thinking": "\n Let me see\nmore", "signature": "q"}
    for number, given_input in enumerate(
        ({"file_path": "/a/b.py", "old_string": "1", "new_string": "2"}, {"command": "ls -l"},
         {"n": 1.50, "m": [1e30, {"deep": None}]}, {}, None, "text", {"file_path": 7})
    ):  # fmt: skip
        block = {**_DETAILED, "input": given_input}
        lines.reply(f"b{number}", f"n{number}", content=[thinking, block])
    lines.reply("b8", "n8", content=[thinking, {"type": "image", "source": {}}])
    blank = {"type": "thinking", "thinking": " \n", "signature": ""}
    lines.reply("b9", "n9", content=[blank, thinking])
    for number, content in enumerate(
        ("done", "", "no matches found", "File created successfully at: /a", "x\0 y  z",
         [{"type": "text", "text": " two\nlines"}], [{"type": "text", "text": "a"}] * 2, [],
         [{"type": "image", "source": {"type": "base64", "data": "aa"}}], None, "日" * 300)
    ):  # fmt: skip
        lines.result(f"r{number}", f"c{number}", content)
        message = {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": content, "is_error": True}
            ],
        }
        lines.node("user", f"e{number}", message=message)
    alone = [[one] for one in lines.records]
    streamed = copy.deepcopy(lines.records[:2])
    streamed[0]["message"]["stop_reason"] = None
    return [*alone, streamed, lines.records[6:9]]


def _check(values: Sequence[dict[str, Any]], tools: Mapping[str, str]) -> bool:
    """Compare with the long way round; whether the short one took the records."""
    first = values[0]
    try:
        if first.get("type") == "assistant":
            found = digest_reply(values)
        elif len(results_in(message_of(first).get("content"))) == 1:
            found = digest_result(first, tools)
        else:
            return False
    except (KeyError, TypeError, AttributeError, ValueError):
        return False  # As where it is used: left to the long way.
    if found is None:
        return False
    entry = placed_entry(values, body_of(values, tools=tools), "", None)
    assert found == (describe(entry), estimate_entry(entry)), values
    return True


def test_what_is_read_straight_is_what_the_long_way_says() -> None:
    taken = [_check(values, TOOLS) for values in _variety()]
    assert sum(taken) >= 20 and not all(taken)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_variety()), st.integers(0, 2**32), st.integers(1, 4))
def test_changed_records_too(values: Values, seed: int, changes: int) -> None:
    random, changed = Random(seed), copy.deepcopy(values)
    for _ in range(changes):
        renamed(random.choice(changed), random)
    if all(one.get("type") == values[0]["type"] for one in changed):
        _check(changed, TOOLS)


def test_the_records_of_real_sessions_too() -> None:
    files = sorted((SESSIONS / "claude").rglob("*.jsonl")) if SESSIONS.is_dir() else []
    if not files:
        pytest.skip(f"{SESSIONS} is not there")
    taken = sum(_check_file(path) for path in files)
    assert taken > 100


def _check_file(path: Path) -> int:
    """How many records of a file the short way took; those of a reply together."""
    replies: dict[str, Values] = {}
    groups: list[Values] = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = parse(line)
        except BadLine:
            continue
        if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
            continue
        name = str(message_of(value).get("id"))
        if value["type"] == "assistant" and name in replies:
            replies[name].append(value)
            continue
        groups.append([value])
        if value["type"] == "assistant":
            replies[name] = groups[-1]
    return sum(_check(values, TOOLS) for values in groups)

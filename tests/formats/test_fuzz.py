"""Any bytes at all: nothing crashes, and every line is kept somewhere."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer.formats.adapter import FormatError
from explorer.formats.pi.export import export_session
from explorer.formats.registry import open_source
from explorer.session.columns import ColumnBuilder
from tests.formats.files import accounted, dumps, header, in_file_order, read

IDS = st.sampled_from([*"abcdefghijklmnop", "", "\ud800"])
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | IDS
    | st.sampled_from(["message", "compaction", "user", "assistant", "text", "toolCall", "blob:x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "path", "0", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
ROLES = ["user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"]
ROLES += ["pythonExecution", "fileMention", "branchSummary", "compactionSummary", "system", "odd"]
MESSAGE_KEYS = ["content", "stopReason", "usage", "model", "provider", "command", "exitCode"]
MESSAGE_KEYS += ["toolCallId", "isError", "display", "timestamp", "files", "summary", "cancelled"]
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "toolCall", "image"]) | ODD},
    optional=dict.fromkeys(("text", "thinking", "name", "id", "arguments"), ODD),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(ROLES) | ODD, "content": st.lists(BLOCK, max_size=3) | ODD},
    optional={key: ODD for key in MESSAGE_KEYS if key != "content"},
)
TYPES = ["message", "compaction", "branch_summary", "custom_message", "custom", "label", "session"]
TYPES += ["session_info", "model_change", "thinking_level_change", "reset_boundary", "title", "odd"]
ENTRY_KEYS = ["timestamp", "summary", "shortSummary", "firstKeptEntryId", "firstKeptEntryIndex"]
ENTRY_KEYS += ["tokensBefore", "details", "fromId", "fromHook", "content", "label", "targetId"]
ENTRY_KEYS += ["name", "model", "modelId", "provider", "thinkingLevel", "version", "pad", "title"]
ENTRY = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | ODD},
    optional={"id": IDS | ODD, "parentId": IDS | ODD, "message": MESSAGE | ODD}
    | dict.fromkeys(ENTRY_KEYS, ODD),
)
SOUND = st.fixed_dictionaries(
    {
        "type": st.just("message"),
        "id": IDS,
        "parentId": st.none() | IDS,
        "message": MESSAGE,
    }
)


def _encode(value: Any) -> bytes:
    return json.dumps(value).encode()


LINE = (
    st.builds(_encode, SOUND)
    | st.builds(_encode, SOUND)
    | st.builds(_encode, SOUND)
    | st.builds(_encode, ENTRY)
    | st.builds(_encode, ODD)
    | st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b""))
    | st.builds(lambda value, at: _encode(value)[:at], SOUND, st.integers(0, 60))
    | st.just(b"")
)
HEADS = [b"", dumps(header()), dumps(header(version=1)), b"\xef\xbb\xbf"]


def _check(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "s.jsonl")
        path.write_bytes(content)
        try:
            source, records = read(path)
        except FormatError as error:
            assert error.line >= 1 and error.reason
            return
        expected = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        lines = expected[: len(expected) - (not expected[-1])]
        assert accounted(source, records) == lines
        _check_usable(records)
        out = Path(directory, "out.jsonl")
        kept = in_file_order(source, records)
        export_session(kept, source.header, out)
        written = out.read_bytes().split(b"\n")[:-1]
        assert written[0 if source.header.raw else 1 :] == lines
        export_session(kept, source.header, out, "pi-v3")
        if records:
            assert len(read(out)[1]) == len(records)


def _check_usable(records: Sequence[Any]) -> None:
    """What was understood goes into columns, and its texts into a database."""
    builder = ColumnBuilder()
    texts: list[str] = []
    for record in records:
        builder.append(record.entry_id, record.parent, record.facts, record.estimate)
        texts += [record.entry_id, record.raw, record.facts.preview, record.facts.model]
        texts += [op.path for op in record.facts.ops]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE kept (text TEXT)")
    database.executemany("INSERT INTO kept VALUES (?)", [(text,) for text in texts])
    database.close()


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(HEADS), st.lists(LINE, min_size=2, max_size=20), st.sampled_from([b"\n", b""])
)
@example(HEADS[1], [_encode({"type": "custom", "id": "a", "parentId": [], "customType": {}})], b"")
def test_any_lines_are_read_or_kept(head: bytes, lines: list[bytes], end: bytes) -> None:
    _check(b"\n".join([head, *lines]) + end)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    _check(content)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_changed_byte_costs_no_more_than_its_line(data: st.DataObject) -> None:
    lines = [dumps(header())] + [
        _encode({"type": "message", "id": f"e{at}", "parentId": f"e{at - 1}" if at else None})
        for at in range(6)
    ]
    content = bytearray(b"\n".join(lines) + b"\n")
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255))
    _check(bytes(content))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "s.jsonl")
        path.write_bytes(content)
        found = sum(len(batch) for batch in open_source(path).batches())
    assert found >= 4

"""Facts about sessions of Gemini CLI."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from explorer.session.context import context_at
from explorer.session.entries import CompactionSummary, CustomData
from explorer.session.kinds import Kind
from tests.formats.agents.reading import Reading, record_lines


def check(folder: Path, facts: dict[str, Any]) -> None:
    """``records`` and ``malformed`` count lines, and ``raw`` what kinds of lines there are: they
    describe the file."""
    for name, expected in facts["files"].items():
        path = folder / name
        _check_file(Reading(path), path, expected)


def _check_file(reading: Reading, path: Path, facts: dict[str, Any]) -> None:
    assert reading.adapter.name == "gemini"
    final = _final(path)
    assert {"messages": len(final), **Counter(final.values())} == facts["final"]
    _check_path(reading, final)
    assert reading.call_ids >= {one.call_id for one in reading.results}
    assert len(reading.call_ids) == facts["tool_calls"]
    assert len({one.call_id for one in reading.results}) == facts["tool_calls_with_result"]
    assert len(reading.results) == facts["tool_calls_with_result"], "a result counts once"
    failed = sum(
        count for status, count in facts["tool_status"].items() if status in ("error", "cancelled")
    )
    assert sum(one.is_error for one in reading.results) == failed
    assert reading.models == facts["models"]
    assert reading.output_tokens == facts["output_tokens"]
    lines = record_lines(path)
    _check_compactions(reading, facts["compressions"], lines)
    rewinds = [
        (record.line, entry.body.data["removed"])
        for record, entry in zip(reading.records, reading.entries, strict=True)
        if isinstance(entry.body, CustomData) and entry.body.name == "rewind"
    ]
    assert rewinds == [(lines[one["line"]], one["removed"]) for one in facts["rewinds"]]
    copies = {
        one["id"]
        for value in _values(path)
        for one in (value.get("$set") or {}).get("messages") or ()
        if one["id"].endswith("_response")
    }
    assert len(copies) == facts["response_copies"]
    assert not copies & {one.entry_id for one in reading.records}


def _check_path(reading: Reading, final: dict[str, str]) -> None:
    """All messages that the loader has in the end are what the agent goes on with. Those that only
    send results back are the results of the replies before."""
    leaf = reading.report.leaf if reading.report.leaf is not None else len(reading.records) - 1
    context = context_at(reading.tree, leaf)
    path = [reading.records[at].entry_id.split("@")[0] for at in context.path]
    sent = {reading.records[at].entry_id.split("@")[0] for at in context.messages}
    asides = b"\n".join(one.raw for one in reading.report.asides).decode()
    for name, kind in final.items():
        if kind == "user" and name not in path:
            assert name.endswith("_response") or f'"id":"{name}"' in asides.replace('": "', '":"')
            continue
        assert name in path
        assert kind not in ("user", "gemini") or name in sent


def _check_compactions(reading: Reading, facts: list[dict[str, Any]], lines: list[int]) -> None:
    found = [
        (at, entry.body)
        for at, entry in enumerate(reading.entries)
        if isinstance(entry.body, CompactionSummary)
    ]
    assert len(found) == len(facts)
    for (at, body), fact in zip(found, facts, strict=True):
        assert reading.records[at].line == lines[fact["line"]]
        assert len(body.summary) == fact["summary_length"]
        assert (body.trigger or None, body.tokens_before or None) == (
            fact["trigger"], fact["tokens_before"],
        )  # fmt: skip
        assert body.certainty == "inferred" and reading.report.problems
        assert bool(body.first_kept_id) == bool(fact["kept"])
        context = context_at(reading.tree, at)
        kinds = [reading.tree.kind(one) for one in context.messages[1:]]
        replies = sum(kind in (Kind.USER, Kind.ASSISTANT) for kind in kinds)
        runs = sum(
            kind is Kind.TOOL_RESULT and before is not kind
            for before, kind in zip([None, *kinds], kinds, strict=False)
        )
        assert replies + runs == fact["kept"], "results of one reply are one message of Gemini's"


def _values(path: Path) -> list[dict[str, Any]]:
    text = path.read_text("utf-8-sig")
    try:
        whole = json.loads(text)
    except ValueError:
        found = []
        for line in text.split("\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return [one for one in found if isinstance(one, dict)]
    return list(whole["messages"])


def _final(path: Path) -> dict[str, str]:
    """Types of the messages that are left, by id, as ``definitions.json`` says it."""
    final: dict[str, str] = {}
    for value in _values(path):
        if "$rewindTo" in value:
            names = list(final)
            at = names.index(value["$rewindTo"]) if value["$rewindTo"] in final else 0
            for name in names[at:]:
                del final[name]
        elif "messages" in (value.get("$set") or {}):
            final = {one["id"]: one["type"] for one in value["$set"]["messages"]}
        elif "id" in value:
            final[value["id"]] = value["type"]
    return final

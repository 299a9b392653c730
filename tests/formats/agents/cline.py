"""Facts about sessions of Cline 3."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from explorer.formats.cline import CLINE
from explorer.session.context import context_at
from explorer.session.entries import (
    CompactionSummary,
    NoteMessage,
    ToolResultMessage,
    UserMessage,
)
from tests.formats.agents.reading import Reading


def check(folder: Path, facts: dict[str, Any]) -> None:
    """The files are named without their folder."""
    agents: Counter[str] = Counter()
    started = 0
    for name, expected in facts["files"].items():
        (path,) = folder.rglob(name)
        reading = Reading(path)
        check_counts(reading, expected)
        assert reading.header.session_id == expected["session_id"]
        assert (reading.header.relation == "subagent") == (expected["agent"] == "subagent")
        agents[expected["agent"]] += 1
        if expected["agent"] == "lead":
            related = CLINE.related(path)
            started += len(related)
            for one in related:
                assert Reading(one.path).header.parent_session == expected["session_id"]
        check_compactions(reading, expected.get("compactions", []))
    assert agents["subagent"] == started == facts["subagent_sessions"]


def check_counts(reading: Reading, facts: dict[str, Any]) -> None:
    """What Cline and Roo Code are both asked."""
    made = sum(one.entry_id.startswith("compaction-") for one in reading.records)
    assert len({one.line for one in reading.records}) - made == facts["messages"]
    assert len(_user_lines(reading)) == facts["user_messages"]
    assert len(reading.replies) == facts["assistant_messages"]
    results = {one.call_id for one in reading.results}
    assert (len(reading.call_ids), len(results)) == (facts["tool_calls"], facts["tool_results"])
    assert len(results - reading.call_ids) == facts["orphan_results"]
    if "calls_without_result" in facts:
        assert len(reading.call_ids - results) == facts["calls_without_result"]
    if "models" in facts:
        assert reading.models == facts["models"]
    assert reading.output_tokens == facts["output_tokens"]


def _user_lines(reading: Reading) -> set[int]:
    """Messages in the user's place that send no results: prompts, and what the program says."""
    lines: dict[int, set[type]] = {}
    for record, entry in zip(reading.records, reading.entries, strict=True):
        lines.setdefault(record.line, set()).add(type(entry.body))
    others = {ToolResultMessage, CompactionSummary}
    users = {UserMessage, NoteMessage}
    return {line for line, kinds in lines.items() if kinds & users and not kinds & others}


def check_compactions(reading: Reading, facts: list[dict[str, Any]]) -> None:
    """Of the compaction file, of which there is one at most."""
    assert len(reading.compactions) == len(facts)
    for fact in facts:
        (at,) = (at for at, one in enumerate(reading.entries) if one.summary)
        entry = reading.entries[at]
        body = reading.compactions[0]
        assert (body.tokens_before, body.certainty) == (fact["tokens_before"], "exact")
        # The text that is sent has a heading, which the fact leaves out.
        assert len(entry.recorded["metadata"]["summary"]) == fact["summary_length"]
        assert body.summary.endswith(entry.recorded["metadata"]["summary"])
        context = context_at(reading.tree, at)
        assert len({reading.records[one].line for one in context.messages[1:]}) == fact["kept"]
        assert (
            len({reading.records[one].line for one in context.path}) - 1
            == (fact["source_message_count"])
        )
        assert fact["messages"] == fact["kept"] + 1

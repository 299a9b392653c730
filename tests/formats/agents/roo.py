"""Facts about tasks of Roo Code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.session.context import context_at
from explorer.session.entries import CompactionSummary
from tests.formats.agents.cline import check_counts
from tests.formats.agents.reading import Reading


def check(folder: Path, facts: dict[str, Any]) -> None:
    """``user_messages`` counts messages of the person without results of tools; a summary that is
    written as the user is none."""
    for name, expected in facts["tasks"].items():
        reading = Reading(folder / name / "api_conversation_history.json")
        assert (reading.adapter.name, reading.header.session_id) == ("roo", name)
        check_counts(reading, expected)
        marked = {"condenseParent": "condensed", "truncationParent": "hidden"}
        for field, fact in marked.items():
            lines = {
                record.line
                for record, entry in zip(reading.records, reading.entries, strict=True)
                if field in entry.recorded or field in entry.recorded.get("lines", [{}])[0]
            }
            assert len(lines) == expected[fact]
        _check_context(reading)
        _check_compactions(reading, expected["compactions"])


def _check_context(reading: Reading) -> None:
    """What is replaced is not sent at the end."""
    leaf = reading.report.leaf if reading.report.leaf is not None else len(reading.records) - 1
    for at in context_at(reading.tree, leaf).messages:
        recorded = reading.entries[at].recorded
        first = recorded.get("lines", [recorded])[0]
        assert "condenseParent" not in first and "truncationParent" not in first


def _check_compactions(reading: Reading, facts: list[dict[str, Any]]) -> None:
    found = [
        (entry.body, entry.recorded)
        for entry in reading.entries
        if isinstance(entry.body, CompactionSummary)
    ]
    assert len(found) == len(facts)
    for (body, recorded), fact in zip(found, facts, strict=True):
        assert body.tokens_before == (fact.get("tokens_before") or 0)
        assert body.tokens_after == fact.get("tokens_after")
        shown = recorded.get("lines", [recorded])[-1]
        assert shown["say"] == fact["kind"]
        if fact.get("summary_length"):
            summary = shown["contextCondense"]["summary"]
            assert len(summary) == fact["summary_length"] and body.summary.endswith(summary)

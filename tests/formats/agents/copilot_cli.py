"""What is known of a session file of GitHub Copilot CLI without an importer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.session.entries import CompactionSummary, ShellMessage, UserMessage
from tests.formats.agents.reading import Reading, record_lines

_ADDED = {"part", "sessionExplorer"}


def check(folder: Path, facts: dict[str, Any]) -> None:
    """Ask each file of the set. Not asked: ``linear`` says how lines name each other, which the
    tree does not follow."""
    for name, known in facts["files"].items():
        _check_file(folder / name, known)


def _check_file(path: Path, known: dict[str, Any]) -> None:
    main = Reading(path)
    assert main.adapter.name == "copilot-cli"
    agents = [Reading(path, one.session_id) for one in main.adapter.related(path)]
    every = [main, *agents]
    lines = [json.loads(one) for one in _lines(main)]
    assert len(lines) == known["records"], "every record is kept with the session"
    assert Counter(one["type"] for one in lines if "type" in one) == known["types"]
    written = [one for one in main.lines().elements() if one.strip()]
    assert len(written) - len(lines) - _added(main) == known["malformed"]
    ids = Counter(one["id"] for one in lines if isinstance(one.get("id"), str))
    assert sum(ids.values()) - len(ids) == known["duplicate_ids"]
    _check_messages(every, known)
    _check_calls(every, known)
    _check_compactions(every, known, record_lines(path))
    named = {one["agentId"] for one in lines if one.get("agentId")}
    assert len(named) == known["subagents"]
    assert named <= {one.header.session_id for one in agents}, "a session of its own each"
    for one in agents:
        assert one.header.relation == "subagent" and one.header.parent_call
        assert one.header.parent_session
    assert sorted({model for one in every for model in one.models}) == known["models"]
    again = [event for each in every for event in _repeated(each, "assistant.message")]
    output = sum(one["data"].get("outputTokens") or 0 for one in again)
    assert sum(one.output_tokens for one in every) + output == known["output_tokens"]


def _check_messages(every: list[Reading], known: dict[str, Any]) -> None:
    """An event without ``agentId`` may be a sub-agent's in old versions: then it names the call
    that started it, and is in a session of its own all the same."""
    main = every[0]
    users = [one for each in every for one in each.entries if isinstance(one.body, UserMessage)]
    again = [event for each in every for event in _repeated(each, "user.message")]
    assert len(users) + len(again) == known["user_events"]
    sourced = [one for one in users if one.recorded["data"].get("source")]
    assert all(isinstance(one.body, UserMessage) and one.body.synthetic for one in sourced)
    typed = [one for one in users if one not in sourced and "agentId" not in one.recorded]
    again = [one for one in again if not (one["data"].get("source") or one.get("agentId"))]
    assert len(typed) + len(again) == known["user_messages"]
    replies = [event for reading in every for event in _of(reading, "assistant.message")]
    by_agents = [one for one in replies if one.get("agentId")]
    assert len(replies) - len(by_agents) == known["assistant_messages"]
    assert len(by_agents) == known["agent_assistant_messages"]
    assert not any(one.get("agentId") for one in _of(main, "assistant.message"))


def _check_calls(every: list[Reading], known: dict[str, Any]) -> None:
    requested = set().union(*(reading.call_ids for reading in every))
    assert len(requested) == known["requested_calls"]
    ends = [event for reading in every for event in _of(reading, "tool.execution_complete")]
    ids = {one["data"].get("toolCallId") for one in ends}
    assert len(ids) == known["tool_results"]
    failed = [one for reading in every for one in reading.results if one.is_error]
    by_person = [one for reading in every for _, one in reading.bodies(ShellMessage)]
    errors = len(failed) + sum(bool(one.exit_code) for one in by_person)
    again = [event for each in every for event in _repeated(each, "tool.execution_complete")]
    errors += sum(one["data"].get("success") is False for one in again)
    assert errors == known["failed_results"]
    started = {
        one["data"].get("toolCallId")
        for one in map(json.loads, _lines(every[0]))
        if one.get("type") == "tool.execution_start"
    }
    assert len(started) == known["tool_calls"]
    assert len(ids - started) == known["orphan_results"]
    assert len(started - ids) == known["calls_without_result"]


def _check_compactions(every: list[Reading], known: dict[str, Any], lines: list[int]) -> None:
    found = [
        (reading, at, entry)
        for reading in every
        for at, entry in enumerate(reading.entries)
        if isinstance(entry.body, CompactionSummary)
        if entry.recorded["type"] == "session.compaction_complete"
    ]
    found.sort(key=lambda one: one[0].records[one[1]].line)
    wanted = [one for one in known["compactions"] if one["success"]]
    assert len(found) == len(wanted)
    for (reading, at, entry), fact in zip(found, wanted, strict=True):
        body, data = entry.body, entry.recorded["data"]
        assert isinstance(body, CompactionSummary)
        assert reading.records[at].line == lines[fact["line"]]
        assert len(body.summary) == fact["summary_length"]
        assert body.tokens_before == fact["tokens_before"]
        assert body.tokens_after == fact["tokens_after"]
        assert data.get("preCompactionMessagesLength") == fact["messages_before"]
        assert data.get("checkpointNumber") == fact["checkpoint"]
        assert data.get("trigger") == fact["trigger"]
        assert body.certainty == ("inferred" if fact["summary_length"] else "unreadable")


def _lines(reading: Reading) -> Iterator[str]:
    """The lines of the file that are objects, without what this program adds to records."""
    for line, value in _values(reading):
        if isinstance(value, dict) and not value.keys() & _ADDED:
            yield line


def _added(reading: Reading) -> int:
    """Lines of records that are not the file's."""
    values = [value for _, value in _values(reading) if isinstance(value, dict)]
    return sum(1 for value in values if value.keys() & _ADDED)


def _values(reading: Reading) -> Iterator[tuple[str, Any]]:
    for line in reading.lines().elements():
        try:
            yield line, json.loads(line)
        except ValueError:
            continue


def _events(reading: Reading) -> Iterator[dict[str, Any]]:
    for one in reading.entries:
        yield from one.recorded.get("lines", [one.recorded])


def _of(reading: Reading, kind: str) -> list[dict[str, Any]]:
    found = [one for one in _events(reading) if one.get("type") == kind]
    return found + _repeated(reading, kind)


def _repeated(reading: Reading, kind: str) -> list[dict[str, Any]]:
    """Events of a type that the file has twice, and the tree once."""
    asides = [one.raw for one in reading.report.asides if one.reason == "the same event once more"]
    return [event for event in map(json.loads, asides) if event.get("type") == kind]

"""What is known of Codex's rollouts, asked of our reading.

Facts stand by file; opening any file of a paginated thread reads all of it, so that what a file
holds is counted over the entries whose lines are of it. Not asked: ``malformed``, ``types`` of
lines that are no entries, ``spawns`` and the compactions' ``line`` (line numbers run on over the
files of a thread); ``replacement`` is asked of the record's details.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from explorer.formats.codex.files import is_id
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    CustomData,
    Entry,
    ImageBlock,
    ModelChange,
    NoteMessage,
    TextBlock,
    ToolResultMessage,
    UserMessage,
)
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading

SERVER_TOOLS = ("web_search", "image_generation")


def _payload(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return (value.get("payload") if isinstance(value, dict) else None) or {}


def _last_count(line: str) -> dict[str, Any]:
    payload = _payload(line)
    found: dict[str, Any] = payload.get("usage") or payload["info"]["last_token_usage"]
    return found


class FilePart:
    """What a reading has of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reading = Reading(path)
        self.lines = {one for one in path.read_text("utf-8").split("\n") if one.strip()}
        self.at = [at for at in range(len(self.reading.records)) if self._is_here(at)]
        self.entries = [self.reading.entries[at] for at in self.at]
        infos = (_payload(one).get("info") for one in self.lines)
        self.counted = [one["last_token_usage"] for one in infos if one]

    def _is_here(self, at: int) -> bool:
        first = self.reading.records[at].raw.split("\n")[0]
        # A turn's context is quoted in part: its line was kept aside, under the same number.
        return first in self.lines or self._aside(at) in self.lines

    def _aside(self, at: int) -> str:
        number = self.reading.records[at].line
        found = (one.raw.decode() for one in self.reading.report.asides if one.line == number)
        return next(found, "")

    def bodies(self, kind: type) -> list[Any]:
        return [one.body for one in self.entries if isinstance(one.body, kind)]

    def recorded(self) -> Iterator[Mapping[str, Any]]:
        """The lines of all entries."""
        for entry in self.entries:
            yield from entry.recorded.get("lines", [entry.recorded])


def check(folder: Path, facts: dict[str, Any]) -> None:
    for name, expected in facts["files"].items():
        (path,) = folder.rglob(name)
        part = FilePart(path)
        check_header(part, expected)
        check_words(part, expected)
        check_tools(part, expected)
        check_compactions(part, expected)
        check_history(part, expected)
        check_all_lines(part)
    for thread, expected in facts.get("threads", {}).items():
        check_thread(folder, thread, expected)


def check_header(part: FilePart, facts: dict[str, Any]) -> None:
    header = part.reading.header
    if facts["session_id"] is not None:
        assert header.session_id == facts["session_id"]
        command = ["codex", "resume", header.session_id] if is_id(header.session_id) else []
        assert list(part.reading.adapter.resume(header)) == command
    assert header.agent_version == (facts["cli_version"] or "")
    metas = facts["session_metas"]
    is_copy = len(metas) > 1 and metas[1][0] == 1 and not metas[1][2]
    source = facts["source"]
    is_agent = isinstance(source, dict) and "subagent" in source
    if is_agent or facts["parent_thread_id"]:
        is_compactor = is_agent and source["subagent"] == "compact"
        assert header.relation == ("compactor" if is_compactor else "subagent")
        kind = source["subagent"] if is_agent else {}
        spawn = kind.get("thread_spawn") or {} if isinstance(kind, dict) else {}
        named = (facts["parent_thread_id"], spawn.get("parent_thread_id"), facts["forked_from_id"])
        assert header.parent_session == next(filter(None, named), "")
    elif facts["forked_from_id"] or is_copy:
        origin = facts["forked_from_id"] or metas[1][1]
        assert (header.relation, header.parent_session) == ("fork", origin)
    else:
        assert (header.relation, header.parent_session) == ("", "")
    inherited = [bool(one.facts.flags & Flag.INHERITED) for one in part.reading.records]
    of_file = [inherited[at] for at in part.at]
    if is_copy:
        assert of_file == sorted(of_file, reverse=True), "first the copy, then its own"
        assert all(of_file[:1])
    else:
        assert not any(of_file)


def check_words(part: FilePart, facts: dict[str, Any]) -> None:
    prompts = part.bodies(UserMessage)
    assert len(prompts) == facts["user_messages"]
    if facts.get("history", {}).get("mode") != "paginated":
        at = part.reading.report.leaf
        assert at is not None
        path = set(part.reading.tree.path(at)) if at >= 0 else set()
        live = [one for one in part.at if one in path]
        users = [one for one in live if isinstance(part.reading.entries[one].body, UserMessage)]
        assert len(users) == facts["user_messages_effective"]
    items = [one["payload"] for one in part.recorded() if one["type"] == "response_item"]
    answers = [one for one in items if (one["type"], one.get("role")) == ("message", "assistant")]
    # The answer to a request for a summary is part of the compaction's entry.
    assert len(answers) == facts["assistant_messages"]
    assert sum(one["type"] == "reasoning" for one in items) == facts["reasoning_items"]
    for body in part.bodies(AssistantMessage):
        texts = [block.text for block in body.content if isinstance(block, TextBlock)]
        assert len(texts) == len(set(texts)), "an event that repeats an item is no block"
    aborted = [one for one in part.bodies(AssistantMessage) if one.stop_reason == "aborted"]
    assert len(aborted) == facts["aborted"]
    rollbacks = [one for one in part.bodies(CustomData) if one.name == "thread_rolled_back"]
    assert [one.data["num_turns"] for one in rollbacks] == facts["rollbacks"]
    starts = [one for one in part.reading.report.asides if one.reason == "the start of a turn"]
    assert sum(one.raw.decode() in part.lines for one in starts) == facts["turns"]


def check_tools(part: FilePart, facts: dict[str, Any]) -> None:
    calls = [call for one in part.entries for call in one.calls]
    of_file = {one.id for one in calls if one.name not in SERVER_TOOLS}
    results = {one.call_id for one in part.bodies(ToolResultMessage)}
    assert len(of_file) == facts["tool_calls"]
    assert len(results) == facts["tool_results"]
    assert len(results - of_file) == facts["orphan_results"]
    assert len(of_file - results) == facts["calls_without_result"]
    searches = [one for one in calls if one.name == "web_search"]
    assert len(searches) == facts["web_searches"]
    # Pictures are counted in the items of messages: not in results, generated ones, or where only
    # an event names one.
    images = [
        block
        for one in part.entries
        if isinstance(one.body, UserMessage | AssistantMessage | NoteMessage)
        and has_message_item(one)
        for block in one.content
        if isinstance(block, ImageBlock)
    ]
    assert len(images) == facts["images"]


def has_message_item(entry: Entry) -> bool:
    lines = entry.recorded.get("lines", [entry.recorded])
    kinds = {one["payload"]["type"] for one in lines if one.get("type") == "response_item"}
    return "message" in kinds and "image_generation_call" not in kinds


def check_compactions(part: FilePart, facts: dict[str, Any]) -> None:
    compactions: list[CompactionSummary] = part.bodies(CompactionSummary)
    assert len(compactions) == len(facts["compactions"])
    for one, expected in zip(compactions, facts["compactions"], strict=True):
        details = one.details or {}
        assert one.trigger == (expected["trigger"] or "")
        if expected["tokens_before"] is not None:  # A base may say it where the file does not.
            assert one.tokens_before == expected["tokens_before"]
        assert one.tokens_after == expected["tokens_after"]
        if expected["readable"]:
            assert len(one.summary) == expected["summary_length"]
            assert one.certainty != "unreadable"
        else:  # It may stand in plain words among what is repeated.
            assert bool(one.summary) == (one.certainty != "unreadable")
        assert details.get("window_number") == expected["window_number"]
        assert details.get("window_id") == expected["window_id"]
        kinds = {
            name.removesuffix("/None"): count for name, count in expected["replacement"].items()
        }
        assert details.get("replacement", {}) == kinds
        assert one.first_kept_id == ""
    check_counts(part, facts)


def check_counts(part: FilePart, facts: dict[str, Any]) -> None:
    """Each request counts once: all that the totals grew is some reply's or compaction's, but what
    no record names, such as what a base had used."""
    used = [one for one in part.entries if one.usage is not None and not is_uncounted(part, one)]
    output = sum(one.usage.output for one in used if one.usage is not None)
    unnamed, is_growing = unnamed_output(part.path)
    of_totals = [
        one.usage.output
        for one in used
        if one.usage is not None and '"token_' not in json.dumps(one.recorded)
    ]
    loose = [
        count["output_tokens"]
        for one in part.reading.report.asides
        if one.reason == "a count of tokens without a reply" and one.raw.decode() in part.lines
        if (count := _last_count(one.raw.decode())) in part.counted
    ]
    if is_growing:
        assert output + unnamed - sum(of_totals) + sum(loose) == (facts["output_tokens"] or 0)
    models = {one.model for one in part.bodies(AssistantMessage) if one.model}
    changes = [one for _, one in part.reading.bodies(ModelChange)]
    chosen = {one.model.rpartition("/")[2] for one in changes if isinstance(one, ModelChange)}
    assert models <= set(facts["models"]) <= chosen


def is_uncounted(part: FilePart, entry: Entry) -> bool:
    """Whether a record of its own says what an entry took, and the count behind it is missing."""
    lines = entry.recorded.get("lines", [entry.recorded])
    records = [one["payload"]["usage"] for one in lines if one["type"] == "token_usage_record"]
    return bool(records) and records[-1] not in part.counted


def unnamed_output(path: Path) -> tuple[int, bool]:
    """By how much the totals grew beyond the counts of the requests; and whether they only grew."""
    before: dict[str, int] = {}
    unnamed, is_growing = 0, True
    for line in path.read_text("utf-8").split("\n"):
        payload = _payload(line)
        info = payload.get("info") if payload.get("type") == "token_count" else None
        if not info or info["total_token_usage"] == before:
            continue
        grown = info["total_token_usage"]["output_tokens"] - before.get("output_tokens", 0)
        is_growing = is_growing and grown >= 0
        unnamed += grown - info["last_token_usage"]["output_tokens"]
        before = info["total_token_usage"]
    return unnamed, is_growing


def check_history(part: FilePart, facts: dict[str, Any]) -> None:
    history = facts.get("history", {})
    if history.get("mode") != "paginated":
        assert list(part.reading.source.files) == [str(part.path)]
        return
    assert part.reading.header.version == 1
    inherited = [one for one in part.reading.records if one.facts.flags & Flag.INHERITED]
    base = history["history_base"]
    if base and history.get("base_ok"):
        assert len(part.reading.source.files) > 1
        is_fork = part.reading.header.relation == "fork"
        assert bool(inherited) == is_fork
        assert not [one for one in part.reading.report.problems if "missing" in one.reason]


def check_thread(folder: Path, thread: str, facts: dict[str, Any]) -> None:
    """Any file of a thread opens all of it, at its newest segment."""
    files = [one for one in folder.rglob("*.jsonl") if thread in one.name]
    assert facts["newest_segment"] in [one.name for one in files]
    seen = set()
    for path in files:
        reading = Reading(path)
        assert reading.header.session_id == thread
        leaf = reading.report.leaf
        assert leaf is not None
        users = [
            reading.entries[at].text
            for at in reading.tree.path(leaf)
            if isinstance(reading.entries[at].body, UserMessage)
        ]
        assert users == facts["user_messages"]
        seen.add(tuple((one.entry_id, one.raw, one.parent) for one in reading.records))
        assert {Path(one).name for one in reading.source.files} >= {one.name for one in files}
    assert len(seen) == 1, "whichever file is opened"


def check_all_lines(part: FilePart) -> None:
    lines = part.reading.lines()
    there = Counter(part.path.read_text("utf-8").split("\n"))
    assert not {one for one in there if one.strip()} - set(lines)
    numbers = [one.line for one in part.reading.report.asides]
    assert len(numbers) == len(set(numbers))
    for record, entry in zip(part.reading.records, part.reading.entries, strict=True):
        assert record.facts.kind == entry.kind, "what is read again is what was read"

"""What is known of Claude Code's session files without any importer.

The facts count records of a whole file; agents whose records stand among the session's are sessions
of their own here, so that they are read too and counted together. Not asked, because they describe
the file and not the conversation: ``branch_points_raw`` (parallel calls and progress inflate it),
``null_roots`` and ``leaves`` (progress records are no entries), ``session_ids``, ``types``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    CustomData,
    Entry,
    ImageBlock,
    ShellMessage,
    UserMessage,
)
from explorer.session.kinds import Flag, Kind
from tests.formats.agents.reading import Reading, record_lines

_NOT_TYPED = (
    "<command-name>", "<command-message>", "<local-command-", "<bash-", "<task-notification",
    "<system-reminder>", "[Request interrupted", "Caveat:",
)  # fmt: skip
_SPOKEN = {Kind.USER, Kind.ASSISTANT, Kind.COMPACTION, Kind.BASH_EXECUTION}


class _File:
    """A session file with all conversations in it."""

    def __init__(self, path: Path) -> None:
        self.main = Reading(path)
        self.lines = record_lines(path)
        nested = [one for one in self.main.adapter.related(path) if one.path == path]
        self.readings = [self.main, *(Reading(path, one.session_id) for one in nested)]
        self.progress = self._asides("progress of a tool or hook")

    def _asides(self, reason: str) -> list[dict[str, Any]]:
        return [
            orjson.loads(one.raw) for one in self.main.report.asides if one.reason == reason
        ]  # fmt: skip

    @property
    def entries(self) -> Iterator[tuple[Entry, list[dict[str, Any]]]]:
        """All entries with the records that they came from, each record once."""
        for reading in self.readings:
            for record, entry in zip(reading.records, reading.entries, strict=True):
                lines = entry.recorded.get("lines")
                values = lines if isinstance(lines, list) else [dict(entry.recorded)]
                yield entry, [] if "#" in record.entry_id else values

    @property
    def values(self) -> list[dict[str, Any]]:
        """The records of all entries."""
        return [value for _, values in self.entries for value in values]


def _message(value: dict[str, Any]) -> dict[str, Any]:
    message = value.get("message")
    return message if isinstance(message, dict) else {}


def _blocks(value: dict[str, Any]) -> list[dict[str, Any]]:
    content = _message(value).get("content")
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _is_user_message(value: dict[str, Any]) -> bool:
    return (
        value.get("type") == "user"
        and not value.get("isMeta")
        and not value.get("isCompactSummary")
        and not any(one.get("type") == "tool_result" for one in _blocks(value))
    )


def _first_text(value: dict[str, Any]) -> str:
    content = _message(value).get("content")
    if isinstance(content, str):
        return content
    return next((str(one.get("text")) for one in _blocks(value) if one.get("type") == "text"), "")


def check(folder: Path, facts: dict[str, Any]) -> None:
    """Everything that is known of a set."""
    files = {name: _File(folder / name) for name in facts["files"]}
    for name, known in facts["files"].items():
        file = files[name]
        assert file.main.adapter.name == "claude-code"
        _check_records(file, known)
        _check_messages(file, known)
        _check_tools(file, known)
        _check_tree(file, known)
        _check_compactions(file, known)
        for one in known["microcompactions"]:
            _check_microcompaction(file, one)
    relations = Counter(one.main.header.relation for one in files.values())
    assert relations["subagent"] == facts["subagent_sessions"]
    assert relations["compactor"] == facts["compaction_agent_files"]
    _check_relations(folder, files)


def _check_records(file: _File, known: dict[str, Any]) -> None:
    values = file.values
    assert sum(isinstance(one.get("uuid"), str) for one in values + file.progress) == known["nodes"]
    reasons = Counter(one.reason for one in file.main.report.asides)
    assert reasons["the id exists already; the first one counts"] == known["duplicate_uuids"]
    assert reasons["cannot be read"] == known["malformed"]
    main_lines = sum(
        one.raw.count("\n") + 1 for one in file.main.records if "#" not in one.entry_id
    )
    notes = sum('\n{"sessionExplorer"' in one.raw for one in file.main.records)
    asides = len(file.main.report.asides) - known["malformed"]
    assert main_lines - notes + asides == known["records"]
    sides = sum(one.get("isSidechain") is True for one in values + file.progress)
    assert sides == known["sidechain_nodes"]
    if known["versions"]:
        assert file.main.header.agent_version in known["versions"]


def _check_messages(file: _File, known: dict[str, Any]) -> None:
    typed = [value for value in file.values if _is_user_message(value)]
    assert len(typed) == known["user_messages"]
    prompts = [one for one in typed if not _first_text(one).lstrip().startswith(_NOT_TYPED)]
    assert len(prompts) == known["user_prompts"]
    for entry, values in file.entries:
        if any(map(_is_user_message, values)):
            assert isinstance(entry.body, UserMessage | ShellMessage)
        # A notice of the program is no prompt, whatever it begins with.
        if any(
            one in prompts and one.get("origin") != {"kind": "task-notification"} for one in values
        ):
            assert isinstance(entry.body, UserMessage) and not entry.body.synthetic
    _check_replies(file, known)
    asked = [one for one, values in file.entries if values and "message" in values[0]]
    images = sum(isinstance(block, ImageBlock) for one in asked for block in one.content)
    assert images == known["images"]


def _check_replies(file: _File, known: dict[str, Any]) -> None:
    replies = [
        (one.body, values) for one, values in file.entries if isinstance(one.body, AssistantMessage)
    ]  # fmt: skip
    assert sum(len(values) for _, values in replies) == known["assistant_records"]
    inserted = [
        (body, values)
        for body, values in replies
        if _message(values[0]).get("model") == "<synthetic>"
        or values[0].get("isApiErrorMessage") is True
    ]
    assert sum(len(values) for _, values in inserted) == known["synthetic_or_error_records"]
    assert all(body.failed and not body.model for body, _ in inserted)
    by_id: dict[str, tuple[AssistantMessage, list[dict[str, Any]]]] = {}
    for body, values in replies:
        if any(values is each for _, each in inserted):
            continue
        # All replies without an id count as one.
        identity = str(_message(values[0]).get("id"))
        assert identity == "None" or identity not in by_id, "one reply is one entry"
        by_id[identity] = body, by_id.get(identity, (body, []))[1] + values
    assert len(by_id) == known["assistant_messages"]
    models = {body.model for body, _ in replies if body.model}
    assert sorted(models) == known["models"]
    largest = {
        name: max((_message(one).get("usage") or {}).get("output_tokens") or 0 for one in values)
        for name, (_, values) in by_id.items()
    }
    assert sum(largest.values()) == known["output_tokens"]
    for name, (body, values) in by_id.items():
        is_final = any(_message(one).get("stop_reason") for one in values)
        if body.usage is not None:
            assert body.usage.is_partial is not is_final and body.usage.output == largest[name]
        else:
            assert not largest[name], "only what is not recorded is left out"


def _check_tools(file: _File, known: dict[str, Any]) -> None:
    calls = {call.id: call.name for one, _ in file.entries for call in one.calls}
    results = [one for reading in file.readings for one in reading.results]
    answered = {one.call_id for one in results}
    assert len(calls) == known["tool_calls"]
    assert len(answered) == known["tool_results"]
    assert len(answered - calls.keys()) == known["orphan_results"]
    assert len(calls.keys() - answered) == known["calls_without_result"]
    assert sum(one.is_error for one in results) == known["tool_errors"]
    assert sum(name in ("Task", "Agent") for name in calls.values()) == known["agent_calls"]
    assert all(one.tool == calls[one.call_id] for one in results if calls.get(one.call_id))


def _check_tree(file: _File, known: dict[str, Any]) -> None:
    entry_of: dict[str, tuple[Reading, int]] = {}
    children: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for reading in file.readings:
        for at, entry in enumerate(reading.entries):
            lines = entry.recorded.get("lines")
            for value in lines if isinstance(lines, list) else [entry.recorded]:
                entry_of.setdefault(str(value.get("uuid")), (reading, at))
                if (
                    value.get("type") in ("user", "assistant")
                    and "#" not in reading.records[at].entry_id
                ):
                    children[str(value.get("parentUuid"))].append(value)
        _check_branches(reading)
    children.pop("None", None)
    rewinds = [
        below for below in children.values() if len(below) > 1 and any(map(_is_user_message, below))
    ]
    # The record that was gone back to may not be in the file.
    missing = sum(below[0]["parentUuid"] not in entry_of for below in rewinds)
    assert len(rewinds) - missing <= known["rewind_points"] <= len(rewinds)
    for below in rewinds:
        places = [entry_of[str(one["uuid"])] for one in below]
        spoken = {at for reading, at in places if reading.entries[at].kind in _SPOKEN}
        reading = places[0][0]
        for at in spoken:
            assert not any(other != at and other in reading.tree.path(at) for other in spoken)
    if known["missing_parents"]:
        words = " ".join(one.reason for one in file.main.report.problems)
        assert any(one in words for one in ("inferred", "begins in the middle", "not JSON"))
    if known["last_prompt_leaf_in_file"]:
        marks = [
            (one.line, value["leafUuid"])
            for one in file.main.report.asides
            if b'"last-prompt"' in one.raw and one.line in file.lines
            if (value := orjson.loads(one.raw)).get("leafUuid")
        ]
        line, name = marks[-1]
        reading, at = entry_of.get(name, (None, 0))
        goes_on = any(one.line > line for one in file.main.records)
        if reading is file.main and not goes_on:
            leaf = file.main.report.leaf
            assert leaf is not None and at in file.main.tree.path(leaf)


def _check_branches(reading: Reading) -> None:
    """Only where a conversation goes on in two ways is a branch."""
    spoken = [entry.kind in _SPOKEN for entry in reading.entries]
    below: dict[int, list[int]] = defaultdict(list)
    for at in range(len(spoken) - 1, -1, -1):
        above = reading.records[at].parent
        below[above].append(at)
        if above >= 0:
            spoken[above] = spoken[above] or spoken[at]
    assert all(
        spoken[one] for at, each in below.items() if at >= 0 and len(each) > 1 for one in each
    )


def _check_compactions(file: _File, known: dict[str, Any]) -> None:
    found: dict[int, tuple[Reading, int, CompactionSummary]] = {}
    for reading in file.readings:
        for at, body in reading.bodies(CompactionSummary):
            assert isinstance(body, CompactionSummary)
            found[reading.records[at].line] = reading, at, body
    aside = {one.line for one in file.main.report.asides}
    for one in known["compactions"]:
        if file.lines[one["line"]] in aside:
            continue  # Its id exists already.
        reading, at, body = found[file.lines[one["line"]]]
        assert (body.trigger, body.tokens_before) == (
            one["trigger"] or "",
            one["tokens_before"] or 0,
        )
        assert body.tokens_after == one["tokens_after"]
        assert len(body.summary) == (one["summary_length"] or 0)
        # What it kept may have been cut off with the beginning of the file.
        is_cut = bool(one["kept_exact"]) and not one["kept_in_file"]
        if one["summary_length"]:
            assert body.certainty == ("inferred" if is_cut else "exact")
        else:
            assert body.certainty == "unreadable"
        above = reading.tree.path(at)
        if one["kept_in_file"]:
            first = reading.tree.index_of(body.first_kept_id) if body.first_kept_id else -1
            recorded = reading.entries[at].recorded
            boundary = recorded.get("lines", [recorded])[0]
            heads = boundary["compactMetadata"]["preservedMessages"]["uuids"]
            copies = [place for place, each in enumerate(reading.records) if each.entry_id in heads]
            assert first in above or all(place > at for place in copies)
        elif not one["kept_exact"]:
            assert not body.first_kept_id
        lines = {record.line: place for place, record in enumerate(reading.records)}
        for number in (one["tail_children"] or []) + (one["anchor_children"] or []):
            if (line := file.lines[number]) in lines:
                assert at in reading.tree.path(lines[line]), "what follows belongs after it"


def _check_microcompaction(file: _File, known: dict[str, Any]) -> None:
    (reading, at) = next(
        (reading, at)
        for reading in file.readings
        for at, record in enumerate(reading.records)
        if record.line == file.lines[known["line"]]
    )
    entry = reading.entries[at]
    assert isinstance(entry.body, CustomData) and entry.body.name == PRUNE_TYPE
    facts = entry.recorded["microcompactMetadata"]
    assert (facts.get("trigger"), facts.get("preTokens")) == (
        known["trigger"],
        known["tokens_before"],
    )
    assert entry.body.data["saved"] == (known["tokens_saved"] or 0)
    named = [
        one
        for one in facts["compactedToolIds"]
        if one in {each.call_id for each in reading.results}
    ]
    assert len(facts["compactedToolIds"]) == known["tools"]
    assert len(entry.body.data["results"]) == len(named)


def _check_relations(folder: Path, files: dict[str, _File]) -> None:
    by_session = {one.main.header.session_id: one for one in files.values()}
    for name, file in files.items():
        header = file.main.header
        copies = [bool(one.facts.flags & Flag.INHERITED) for one in file.main.records]
        if header.relation == "fork":
            origin = by_session[header.parent_session]
            theirs = {value.get("uuid") for value in origin.values}
            ours = [_uuids(entry) for entry in file.main.entries]
            assert copies == [bool(one & theirs) for one in ours]
        else:
            assert not any(copies)
        if header.relation in ("subagent", "compactor") and (
            parent := by_session.get(header.parent_session)
        ):
            related = parent.main.adapter.related(Path(parent.main.source.path))
            assert (folder / name, header.session_id) in [
                (one.path, one.session_id) for one in related
            ]
            if header.parent_call:
                assert header.parent_call in {
                    call for one in parent.readings for call in one.call_ids
                }


def _uuids(entry: Entry) -> set[Any]:
    """The ids of an entry's records."""
    lines = entry.recorded.get("lines")
    return {one.get("uuid") for one in (lines if isinstance(lines, list) else [entry.recorded])}

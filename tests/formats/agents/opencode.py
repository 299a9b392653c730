"""opencode: what its databases, folders and exports say of their sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from explorer.session.entries import CompactionSummary, Entry, UserMessage
from tests.formats.agents.reading import Reading

Json = Mapping[str, Any]


def check(folder: Path, facts: Json) -> None:
    """Assert what is known of a set. Left out: counts of rows per table and of files, which an
    importer does not give."""
    for name, store in facts["stores"].items():
        sessions = store["sessions"]
        removed = set(store.get("removed_messages", ()))
        restored: set[str] = set()
        for session_id, expected in sessions.items():
            reading = Reading(_file(folder / name, session_id), session_id)
            restored |= _check_session(reading, session_id, expected, removed)
        assert restored == removed
        if (folder / name).suffix == ".db":
            others = {one.session_id for one in reading.adapter.related(folder / name)}
            assert len(others) == len(sessions) - 1 and others < set(sessions)


def _file(store: Path, session_id: str) -> Path:
    """The file that a session is opened by."""
    if not store.is_dir():
        return store
    for path in store.glob("session/*/*.json"):
        if Reading(path).header.session_id == session_id:
            return path
    raise AssertionError(f"no file of {session_id} in {store}")


def _messages(reading: Reading) -> dict[str, tuple[Json, list[Json]]]:
    """All messages of a session by id, from what its entries were read from."""
    found: dict[str, tuple[Json, list[Json]]] = {}
    for entry in reading.entries:
        recorded = entry.recorded
        for one in recorded.get("lines") or [recorded]:
            if "info" in one:
                found.setdefault(one["info"]["id"], (one["info"], []))[1].extend(one["parts"])
    return found


def _check_session(
    reading: Reading, session_id: str, expected: Json, removed: set[str]
) -> set[str]:
    header = reading.header
    assert header.session_id == session_id
    named = expected["title"] or "", expected["version"] or ""
    assert (header.title, header.agent_version) == named
    if expected["parent"]:
        assert (header.relation, header.parent_session) == ("subagent", expected["parent"])
        assert header.parent_call or reading.source.path.endswith(".json")
    else:
        assert header.relation in ("", "fork")
    if "(fork #" in expected["title"] and header.relation:
        assert any(one.facts.flags & 65536 for one in reading.records), "copies are marked"
    messages = _messages(reading)
    live = {name: one for name, one in messages.items() if name not in removed}
    _check_counts(live, expected)
    _check_typed(reading, live, messages, expected)
    _check_compactions(reading, live, expected)
    _check_path(reading, expected, removed)
    for problem in reading.report.problems:
        assert "no JSON" not in problem.reason and "damaged" not in problem.reason
    return removed & set(messages)


def _tools(messages: Mapping[str, tuple[Json, list[Json]]]) -> list[Json]:
    return [one for _, parts in messages.values() for one in parts if one.get("type") == "tool"]


def _check_counts(live: Mapping[str, tuple[Json, list[Json]]], expected: Json) -> None:
    """What the definitions count, from the recorded messages: none is lost, none is twice."""
    assert len(live) == expected["messages"]
    users = [
        parts
        for info, parts in live.values()
        if info.get("role") == "user" and not any(one["type"] == "compaction" for one in parts)
    ]
    texts = [[one for one in parts if one["type"] == "text"] for parts in users]
    assert len(users) == expected["user_messages"]
    synthetic = [all(one.get("synthetic") is True for one in found) for found in texts]
    with_text = [bool(found) and one for found, one in zip(texts, synthetic, strict=True)]
    # The definition leaves open what a message without any text is.
    assert expected["synthetic_user"] in (sum(synthetic), sum(with_text))
    assistants = [info for info, _ in live.values() if info.get("role") == "assistant"]
    replies = [info for info in assistants if info.get("summary") is not True]
    assert len(replies) == expected["assistant_messages"]
    tools = _tools(live)
    assert len(tools) == expected["tool_calls"]
    assert Counter(one["state"]["status"] for one in tools) == expected["tool_status"]
    pruned = [one for one in tools if one["state"].get("time", {}).get("compacted")]
    assert len(pruned) == expected["pruned"]
    files = [one for _, parts in live.values() for one in parts if one.get("type") == "file"]
    assert len(files) == expected["file_parts"]
    assert sorted({str(one.get("modelID")) for one in assistants}) == expected["models"]


def _check_typed(
    reading: Reading,
    live: Mapping[str, tuple[Json, list[Json]]],
    messages: Mapping[str, tuple[Json, list[Json]]],
    expected: Json,
) -> None:
    """The entries say the same, with what was deleted since."""
    every, here = _tools(messages), _tools(live)
    done = [one for one in every if one["state"]["status"] in ("completed", "error")]
    assert len(reading.results) == len(done)
    assert reading.call_ids == {one.get("callID") or one["id"] for one in every}
    assert {one.call_id for one in reading.results} <= reading.call_ids
    errors = sum(one["state"]["status"] == "error" for one in every)
    assert sum(one.is_error for one in reading.results) == errors
    if every == here:
        assert sum(one.is_pruned for one in reading.results) == expected["pruned"]
    assert set(expected["models"]) - {"None"} <= set(reading.models)
    entries = [one for one in reading.entries if _message_id(one) in live]
    usages = [one.usage for one in entries if one.usage is not None]
    assert sum(one.output for one in usages) == expected["output_tokens"]
    assert round(sum(one.cost for one in usages), 6) == expected["cost"]
    typed = [
        one for one in entries if isinstance(one.body, UserMessage) and not one.body.synthetic
    ]  # fmt: skip
    # A prompt that was sent again after a compaction is recorded as if it were typed.
    assert len({_message_id(one) for one in typed}) <= expected["user_messages"]


def _message_id(entry: Entry) -> str:
    lines = entry.recorded.get("lines") or [entry.recorded]
    return str(lines[0].get("info", {}).get("id", ""))


def _check_compactions(
    reading: Reading, live: Mapping[str, tuple[Json, list[Json]]], expected: Json
) -> None:
    asked = [
        (name, part)
        for name, (_, parts) in live.items()
        for part in parts
        if part.get("type") == "compaction"
    ]
    assert len(asked) == len(expected["compactions"])
    by_id = {one.id or record.entry_id: at for at, (one, record) in _numbered(reading)}
    for (name, part), one in zip(asked, expected["compactions"], strict=True):
        assert (name, part["auto"]) == (one["message"], one["auto"])
        assert (part.get("overflow"), part.get("tail_start_id")) == (
            one["overflow"], one["tail_start_id"],
        )  # fmt: skip
        body = reading.entries[by_id[name]].body
        if one["summary_message"] is None:
            assert not isinstance(body, CompactionSummary)
            continue
        answer = live[one["summary_message"]][0]
        if answer.get("error") or not (answer.get("finish") or answer["time"].get("completed")):
            assert not isinstance(body, CompactionSummary), "it is not in force"
            continue
        assert isinstance(body, CompactionSummary) and body.certainty == "exact"
        assert len(body.summary) == one["summary_length"]
        assert body.trigger == ("auto" if one["auto"] else "manual")
        assert body.first_kept_id == (one["tail_start_id"] or "")
        assert not one["tokens_before"] or body.tokens_before == one["tokens_before"]
        _check_tail(reading, by_id, name, one)


def _check_tail(reading: Reading, by_id: Mapping[str, int], name: str, one: Json) -> None:
    if one["kept"] is None or one["tail_start_id"] not in by_id:
        return
    path = list(reading.tree.path(by_id[name]))
    tail = path[path.index(by_id[one["tail_start_id"]]) : -1]
    counted: set[str] = set()
    for at in tail:
        lines: Iterator[Json] = iter(
            reading.entries[at].recorded.get("lines") or [reading.entries[at].recorded]
        )
        counted |= {line["info"]["id"] for line in lines if "info" in line}
    assert len(counted) == one["kept"]


def _numbered(reading: Reading) -> Iterator[tuple[int, tuple[Entry, Any]]]:
    return enumerate(zip(reading.entries, reading.records, strict=True))


def _check_path(reading: Reading, expected: Json, removed: set[str]) -> None:
    """What was taken back is there, and not on the path that the agent goes on with."""
    leaf = reading.report.leaf
    assert leaf is not None
    path = {reading.records[at].entry_id for at in reading.tree.path(leaf)}
    assert not path & removed
    revert = expected["revert"]
    if revert and not revert.get("partID"):
        assert revert["messageID"] not in path
        known = {one.entry_id for one in reading.records}
        words = " ".join(one.reason for one in reading.report.problems)
        assert revert["messageID"] in known or "which is not there" in words
    elif not removed:
        live = [at for at, one in enumerate(reading.entries) if "info" in one.recorded]
        assert revert or not live or reading.records[live[-1]].entry_id in path

"""Gemini CLI's files, constructed to show one rule each."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.formats.adapter import FormatError
from explorer.formats.gemini.adapter import GEMINI
from explorer.session.context import context_at
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    CustomData,
    NoteMessage,
    SessionName,
    ToolResultMessage,
    Unknown,
    UserMessage,
)
from tests.formats.agents.reading import Reading

HEADER = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-01-02T03:04:05Z"}
TOKENS = {"input": 100, "output": 7, "cached": 60, "thoughts": 3, "tool": 0, "total": 110}


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "type": "user", "content": [{"text": text}]}


def reply(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "gemini", "content": text, "model": "g-pro", **more}


def call(name: str, **more: Any) -> dict[str, Any]:
    response = {"id": name, "name": "read_file", "response": {"output": f"text of {name}"}}
    return {
        "id": name, "name": "read_file", "args": {"path": "a"}, "status": "success",
        "result": [{"functionResponse": response}], **more,
    }  # fmt: skip


def answer(name: str, *calls: str) -> dict[str, Any]:
    parts = [{"functionResponse": {"id": one, "response": {"output": "x"}}} for one in calls]
    return {"id": name, "type": "user", "content": parts}


def checkpoint(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(messages)}}


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """As a checkpoint has it: without tokens, model and tool calls."""
    lost = ("tokens", "model", "toolCalls")
    return {name: one for name, one in message.items() if name not in lost}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_lines(*values: Any, header: Any = HEADER) -> Reading:
        folder = tmp_path / ".gemini" / "tmp" / "slug" / "chats"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "session-2026-01-02T03-04-s1.jsonl"
        lines = [one if isinstance(one, str) else json.dumps(one) for one in (header, *values)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        reading = Reading(path)
        assert reading.lines() >= Counter(lines), "no line is dropped"
        return reading

    return read_lines


def path_of(reading: Reading) -> list[str]:
    leaf = reading.report.leaf
    assert leaf is not None
    return [reading.records[at].entry_id for at in reading.tree.path(leaf)]


def test_a_repeated_id_is_one_reply_that_loses_nothing(read: Any) -> None:
    reading = read(
        user("u", "Look."),
        reply("g", "I look.", tokens=TOKENS, thoughts=[{"subject": "S", "description": "D"}]),
        reply("g", "I look.", toolCalls=[call("c1"), call("c2", status="error")]),
        answer("a", "c1", "c2"),
        reply("g2", "Done."),
    )
    assert path_of(reading) == ["u", "g", "g/c1", "g/c2", "g2"]
    body = reading.replies[0]
    assert body.usage is not None and body.stop_reason == "tool_calls"
    assert (body.usage.input, body.usage.output, body.usage.cache_read, body.usage.context) == (
        40,
        7,
        60,
        110,
    )
    assert [one.id for one in body.calls] == ["c1", "c2"]
    assert [(one.call_id, one.is_error) for one in reading.results] == [("c1", False), ("c2", True)]
    assert reading.entries[2].text == "text of c1"
    assert reading.records[1].raw.count("\n") == 1, "both lines are its record"
    assert set(reading.entries[1].recorded) == {"lines"}


def test_a_resume_is_no_compaction_and_takes_no_usage_away(read: Any) -> None:
    first, before = user("u", "Look."), reply("g", "", tokens=TOKENS, toolCalls=[call("c1")])
    copy = {**plain(before), "content": [{"functionCall": {"id": "c1", "name": "read_file"}}]}
    reading = read(
        first, before, answer("a", "c1"), reply("g2", "Done."),
        HEADER, checkpoint(user("x", "<session_context>\nToday")),
        checkpoint(first, copy, answer("g_response", "c1"), answer("a", "c1"),
                   plain(reply("g2", "Done."))),
        user("u2", "And now?"),
    )  # fmt: skip
    assert not reading.compactions
    assert path_of(reading) == ["u", "g", "g/c1", "g2", "u2"]
    assert len(reading.results) == 1 and reading.output_tokens == 7
    assert [one.reason for one in reading.report.asides][1] == "a resume repeats the header"
    assert reading.prompts == ["Look.", "And now?"], "the context of the session is not typed"
    (note,) = (one.body for one in reading.entries if isinstance(one.body, NoteMessage))
    assert (note.name, note.display) == ("session_context", False)


def test_a_checkpoint_that_has_more_than_the_line_adds_it(read: Any) -> None:
    before = reply("g", "Text.")
    reading = read(user("u", "Look."), before, checkpoint({**before, "toolCalls": [call("c")]}))
    assert [one.call_id for one in reading.results] == ["c"]
    assert reading.entries[1].text == "Text."


def test_a_rewind_leaves_a_branch(read: Any) -> None:
    reading = read(
        user("u", "Look."), reply("g", "One."), user("u2", "Wrong."), reply("g2", "Two."),
        {"$rewindTo": "u2"}, checkpoint(user("u", "Look."), plain(reply("g", "One."))),
        user("u3", "Right."),
    )  # fmt: skip
    assert path_of(reading) == ["u", "g", "line-6", "u3"]
    branches = reading.tree.children(reading.tree.index_of("g"))
    assert [reading.records[at].entry_id for at in branches] == ["u2", "line-6"]
    mark = reading.entries[reading.tree.index_of("line-6")].body
    assert mark == CustomData("rewind", {"to": "u2", "removed": 2})


def test_a_rewind_to_what_is_not_known_begins_anew(read: Any) -> None:
    reading = read(user("u", "Look."), {"$rewindTo": "nothing"})
    leaf = reading.report.leaf
    assert path_of(reading) == ["line-3"] and not context_at(reading.tree, leaf).messages
    assert path_of(read(user("u", "A"), {"$rewindTo": "?"}, user("v", "B"))) == ["line-3", "v"]


def test_a_notice_stays_on_the_path_over_a_checkpoint_without_it(read: Any) -> None:
    before = user("u", "Look."), reply("g", "One.")
    notice = {"id": "i", "type": "info", "content": "Mode changed."}
    reading = read(*before, notice, checkpoint(*map(plain, before)), user("u2", "On."))
    assert path_of(reading) == ["u", "g", "i", "u2"]
    leaf = reading.report.leaf
    assert reading.tree.index_of("i") not in context_at(reading.tree, leaf).messages


def test_a_compaction_is_a_new_snapshot(read: Any) -> None:
    before = [user("u", "Look."), reply("g", "One."), user("u2", "Go on."), reply("g2", "Two.")]
    snapshot = user("n1", "<state_snapshot>All.</state_snapshot>")
    tail = [{**plain(one), "id": f"new-{one['id']}"} for one in before[2:]]
    compressed = checkpoint(snapshot, plain(reply("n2", "Got it.")), *tail)
    reading = read(*before, compressed, compressed, user("u3", "What next?"))
    (body,) = reading.compactions
    assert body.summary == "<state_snapshot>All.</state_snapshot>"
    assert (body.first_kept_id, body.certainty, body.trigger) == ("u2", "inferred", "")
    assert sum("does not record" in one.reason for one in reading.report.problems) == 1
    assert path_of(reading) == ["u", "g", "u2", "g2", "n1", "n2", "u3"]
    context = context_at(reading.tree, reading.report.leaf)
    named = [reading.records[at].entry_id for at in context.messages]
    assert named == ["n1", "u2", "g2", "n2", "u3"]
    # The new ids go on naming the messages that they are copies of.
    back = read(*before, compressed, {"$rewindTo": "new-g2"})
    assert path_of(back)[-3:] == ["n1", "n2", "line-7"], "the summary stays in force"
    assert any("takes back" in one.reason for one in back.report.problems)


def test_a_kept_result_that_was_cut_short_is_still_found(read: Any) -> None:
    before = [
        user("u", "A"), reply("g", "B"), user("u2", "C"),
        reply("g2", "", toolCalls=[call("c1")]), answer("a", "c1"), reply("g3", "D"),
    ]  # fmt: skip
    kept = [{"functionCall": {"id": "c1", "name": "read_file"}}]
    compressed = checkpoint(
        user("n", "<state_snapshot>S"), plain(reply("n2", "Got it.")),
        user("k1", "C"), {"id": "k2", "type": "gemini", "content": kept},
        answer("k3", "c1"), plain(reply("k4", "D")),
    )  # fmt: skip
    reading = read(*before, compressed)
    assert reading.compactions[0].first_kept_id == "u2"
    assert len(reading.report.problems) == 1
    unknown = checkpoint(user("n", "<state_snapshot>S"), user("k1", "never seen"))
    reading = read(*before, unknown)
    assert reading.compactions[0].first_kept_id == "" and path_of(reading)[-1] == "k1"
    assert "1 of the messages that it keeps" in reading.report.problems[0].reason


def test_a_second_compaction_has_its_own_summary(read: Any) -> None:
    first = user("n1", "<state_snapshot>One")
    both = checkpoint(first, user("n2", "<state_snapshot>Two"))
    reading = read(user("u", "A"), checkpoint(first), user("u2", "B"), both)
    assert [one.summary[16:] for one in reading.compactions] == ["One", "Two"]


def test_a_call_without_an_end_has_no_result_until_it_is_sent_back(read: Any) -> None:
    open_call = {"id": "c", "name": "shell", "args": {}, "status": "executing"}
    reading = read(user("u", "A"), reply("g", "", toolCalls=[open_call]))
    assert not reading.results and reading.call_ids == {"c"}
    reading = read(user("u", "A"), reply("g", "", toolCalls=[open_call]), answer("a", "c"))
    assert path_of(reading) == ["u", "g", "a/c"] and reading.results[0].call_id == "c"
    both = answer("a", "c")
    both["content"].append({"text": "And this too."})
    reading = read(user("u", "A"), reply("g", "", toolCalls=[open_call]), both)
    assert path_of(reading) == ["u", "g", "a/c", "a"] and reading.prompts[-1] == "And this too."


def test_names_and_unknown_records(read: Any) -> None:
    reading = read(
        user("u", "A"), {"$set": {"summary": "A walk"}}, {"type": "of next month"},
        {"id": "z", "type": "dream", "content": "?"}, {"id": "y", "type": "dream"}, "{cut",
        "[1]", {"type": "user", "content": "no id"}, reply("g", "B"),
    )  # fmt: skip
    assert [type(one.body) for one in reading.entries] == [
        UserMessage, SessionName, Unknown, Unknown, AssistantMessage,
    ]  # fmt: skip
    reasons = [one.reason for one in reading.report.problems]
    assert "2 records of the type 'dream' are not known; they are kept" in reasons
    assert "1 record of the type 'of next month' is not known; it is kept" in reasons
    assert len(reasons) == 5


def test_one_document_of_an_older_version(tmp_path: Path) -> None:
    path = tmp_path / "session-old.json"
    value = {**HEADER, "summary": "Old", "messages": [
        user("u", "A"), reply("g", "B", toolCalls=[call("c")]), {"id": "e", "type": "error"}, 7,
    ]}  # fmt: skip
    path.write_text("\ufeff" + json.dumps(value, indent=2), "utf-8")
    reading = Reading(path)
    assert (reading.header.session_id, reading.header.title) == ("s-1", "Old")
    assert "messages" not in json.loads(reading.header.raw)
    assert [one.entry_id for one in reading.records] == ["u", "g", "g/c", "e"]
    assert [one.raw for one in reading.report.asides] == [b"7"]
    path.write_text(json.dumps(value), "utf-8")
    assert [one.entry_id for one in Reading(path).records] == ["u", "g", "g/c", "e"]
    path.write_text(json.dumps(value, indent=2)[:-9], "utf-8")
    with pytest.raises(FormatError):
        Reading(path)


def test_an_agents_session_names_its_parent_and_its_call(
    read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".gemini" / "tmp" / "slug" / "chats"
    (folder / "s-1").mkdir(parents=True)
    own = folder / "s-1" / "sub.jsonl"
    header = {**HEADER, "sessionId": "sub", "kind": "subagent"}
    own.write_text(json.dumps(header) + "\n" + json.dumps(user("u", "Help.")) + "\n", "utf-8")
    reading = read(user("u", "A"), reply("g", "", toolCalls=[call("c", agentId="sub")]))
    path = Path(reading.source.path)
    path.rename(path.with_name("session-2026-01-02T03-04-s-1.jsonl"))
    agent = Reading(own).header
    assert (agent.relation, agent.parent_session, agent.parent_call) == ("subagent", "s-1", "c")
    (related,) = GEMINI.related(path.with_name("session-2026-01-02T03-04-s-1.jsonl"))
    assert related.path == own
    own.write_text(json.dumps({**HEADER, "sessionId": "sub"}) + "\n", "utf-8")
    monkeypatch.chdir(own.parent)
    assert Reading(Path("sub.jsonl")).header == replace(agent, raw=json.dumps(
        {**HEADER, "sessionId": "sub"}))  # fmt: skip
    assert GEMINI.resume(reading.header) == ("gemini", "--resume", "s-1")
    assert GEMINI.resume(agent) == ()


def test_found_sessions_know_their_folder(read: Any, tmp_path: Path) -> None:
    read(user("u", "A"))
    slug = tmp_path / ".gemini" / "tmp" / "slug"
    (slug / ".project_root").write_text("/work/one\n", "utf-8")
    hashed = hashlib.sha256(b"/work/two").hexdigest()
    older = slug.parent / hashed / "chats" / "session-old.json"
    older.parent.mkdir(parents=True)
    value = {**HEADER, "sessionId": "s-2", "messages": [user("u", "x" * 99_000)]}
    older.write_text(json.dumps(value, indent=1), "utf-8")
    (slug.parent / "broken" / "chats").mkdir(parents=True)
    (slug.parent / "broken" / "chats" / "session-x.jsonl").write_bytes(b"\xff\n")
    os.utime(older, (1, 1))
    registry = {"projects": {"/work/two": "two", "/work/three": "three"}}
    (slug.parents[1] / "projects.json").write_text(json.dumps(registry), "utf-8")
    for home, environment in ((tmp_path, {}), (Path("/none"), {"GEMINI_CLI_HOME": str(tmp_path)})):
        found = list(GEMINI.find(home, environment))
        assert [one.header and one.header.session_id for one in found] == [None, "s-1", "s-2"]
        assert [one.cwd for one in found] == ["", "/work/one", "/work/two"]


def test_a_record_of_any_kind_is_read(read: Any) -> None:
    for record in (
        "",
        "{",
        "[]",
        "7",
        '{"$set":{}}',
        '{"type":["user"]}',
        '{"toolCalls":[1]}',
        '{"id":null}',
        "\ud800",
    ):
        assert isinstance(GEMINI.read(record).body, Unknown)
    with pytest.raises(ValueError, match="only read"):
        GEMINI.write(GEMINI.read(""))
    kept = [CompactionSummary, ToolResultMessage]
    records = (checkpoint(user("n", "<state_snapshot>S")), call("c"))
    assert [type(GEMINI.read(json.dumps(one)).body) for one in records] == kept


def test_a_slice_says_that_its_beginning_is_missing(read: Any) -> None:
    reading = read(reply("g", "One."), user("u", "On."), header=user("u0", "Before."))
    assert ["no header was found" in one.reason for one in reading.report.problems] == [True]
    assert reading.prompts == ["Before.", "On."]
    assert not read(user("u", "On.")).report.problems

"""What opencode's messages become: entries, branches, compactions, forks, whatever the store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.audit.provenance import Provenance, content_known
from explorer.formats.opencode.adapter import OPENCODE
from explorer.formats.registry import read_record, usage_in
from explorer.session.context import context_at
from explorer.session.entries import (
    CompactionSummary,
    CustomData,
    FileMention,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    UnknownBlock,
    UserMessage,
)
from explorer.session.kinds import Flag
from tests.formats import opencode_store as store
from tests.formats.agents.reading import Reading
from tests.formats.opencode_store import Json, compaction, reply, session, text, tool, user

Open = Callable[..., Reading]


@pytest.fixture(params=["database", "folder", "export"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Reads a session from each of the stores."""

    def read(*messages: Any, **fields: Any) -> Reading:
        one = session("ses", *messages, **fields)
        if request.param == "database":
            return Reading(store.write_database(tmp_path / "opencode.db", one))
        if request.param == "folder":
            return Reading(store.write_folder(tmp_path, one)[0])
        return Reading(store.write_export(tmp_path / "ses.json", one))

    return read


def shape(reading: Reading) -> list[tuple[str, str]]:
    """Id of each entry and of what is above it."""
    names = [one.entry_id for one in reading.records]
    return [(one.entry_id, names[one.parent] if one.parent >= 0 else "") for one in reading.records]


def path_of(reading: Reading) -> list[str]:
    """Ids on the path that the agent goes on with."""
    assert reading.report.leaf is not None
    return [reading.records[at].entry_id for at in reading.tree.path(reading.report.leaf)]


def sent(reading: Reading) -> list[str]:
    """Ids of what the model is sent."""
    assert reading.report.leaf is not None
    context = context_at(reading.tree, reading.report.leaf)
    return [reading.records[at].entry_id for at in context.messages]


def body_of(reading: Reading, name: str) -> Any:
    return next(
        entry.body
        for entry, record in zip(reading.entries, reading.records, strict=True)
        if record.entry_id == name
    )


def test_messages_whose_ids_were_masked_in_an_export_are_all_there(tmp_path: Path) -> None:
    """What stands twice is one all the same."""
    masked = {"id": "REDACTED"}
    again = user("u2", 4, "go on")
    one = session(
        "ses", user("REDACTED", 1, "look"), reply("REDACTED", 2, tool("c1") | masked),
        reply("REDACTED", 3, tool("c2") | masked, "done"), again, again,
    )  # fmt: skip
    reading = Reading(store.write_export(tmp_path / "ses.json", one))
    assert shape(reading) == [
        ("REDACTED", ""), ("message-2", "REDACTED"), ("message-2:c1", "message-2"),
        ("message-3", "message-2:c1"), ("message-3:c2", "message-3"), ("u2", "message-3:c2"),
    ]  # fmt: skip
    assert [one.reason for one in reading.report.asides] == [
        "the id 'u2' exists already; the first one counts"
    ]


def test_one_turn_is_several_replies_each_followed_by_its_results(opened: Open) -> None:
    turn = {"parentID": "u1"}
    reading = opened(
        reply("a3", 9, "done", **turn),
        user("u1", 1, "look"),
        reply("a1", 2, "reading", tool("c1"), tool("c2"), finish="tool-calls", **turn),
        reply("a2", 3, tool("c3", "running"), tool("c4", "error", error="no"), **turn),
    )
    assert shape(reading) == [
        ("u1", ""), ("a1", "u1"), ("a1-p1", "a1"), ("a1-p2", "a1-p1"), ("a2", "a1-p2"),
        ("a2-p1", "a2"), ("a3", "a2-p1"),
    ]  # fmt: skip
    assert reading.header.title == "About ses" and reading.header.cwd == "/home/dev/lab"
    assert (reading.header.time_ms, reading.header.agent_version) == (store.BEGIN, "1.18.33")
    first = body_of(reading, "a1")
    assert first.stop_reason == "tool_calls" and (first.provider, first.model) == (
        "some", "some-model",
    )  # fmt: skip
    assert first.content == (
        TextBlock("reading"),
        ToolCallBlock("c1", "bash", {"command": "ls"}),
        ToolCallBlock("c2", "bash", {"command": "ls"}),
    )
    assert [(one.call_id, one.tool, one.is_error) for one in reading.results] == [
        ("c1", "bash", False), ("c2", "bash", False), ("c4", "bash", True),
    ]  # fmt: skip
    assert reading.results[2].content == (TextBlock("no"),)
    assert not reading.report.problems and path_of(reading)[-1] == "a3"


def test_tokens_and_cost_are_those_of_the_reply(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "look"),
        reply("a1", 2, "done"),
        reply("a2", 3, "more", tokens={"total": 99, "input": 1}, cost={"usd": 1}),
        reply("a3", 4, cost=0, tokens={"input": 0, "output": 0}, finish=None),
    )
    assert [one.usage for one in reading.replies] == [
        TokenUsage(10, 5, 3, 1, 21, 0.5),
        TokenUsage(1, 0, 0, 0, 99),
        None,
    ]


def test_an_end_is_named_in_one_way_for_all_agents(opened: Open) -> None:
    def failed(name: str, **data: Any) -> Json:
        return {"name": name, "data": data}

    reading = opened(
        reply("a1", 1, error=failed("MessageAbortedError", message="stopped"), finish=None),
        reply("a2", 2, error=failed("APIError", message="overloaded")),
        reply("a3", 3, error=failed("MessageOutputLengthError")),
        reply("a4", 4, finish="length"),
        reply("a5", 5, finish=None),
    )
    assert [(one.stop_reason, one.error) for one in reading.replies] == [
        ("aborted", "stopped"), ("error", "APIError: overloaded"), ("length", ""), ("length", ""),
        ("", ""),
    ]  # fmt: skip


def test_results_that_were_pruned_or_stopped_say_what_the_model_gets(opened: Open) -> None:
    picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"}
    reading = opened(
        reply(
            "a1",
            1,
            tool("c1", time={"start": 1, "end": 2, "compacted": 3}),
            tool("c2", "error", error="aborted", metadata={"interrupted": True, "output": "half"}),
            tool("c3", attachments=[picture]),
            tool("c4", "pending", input={}, raw='{"comm'),
        )
    )
    first, second, third = reading.results
    assert first.content == (TextBlock("[Old tool result content cleared]"),) and first.is_pruned
    assert reading.records[1].facts.flags & Flag.PRUNING
    assert "output of c1" in reading.records[1].raw, "the file has it still"
    known = content_known(reading.tree, 1)
    assert known.provenance is Provenance.EXACT and "the text is in its record" in known.basis
    assert (second.content, second.is_error) == ((TextBlock("half"),), True)
    assert third.content == (TextBlock("output of c3"), ImageBlock("image/png", "QUJD"))
    assert reading.replies[0].calls[3].malformed == '{"comm'


def test_a_large_output_names_the_file_that_has_all_of_it(opened: Open) -> None:
    path = "/home/dev/.local/share/opencode/tool-output/tool_1"
    cut = tool("c1", metadata={"exit": 0, "truncated": True, "outputPath": path})
    first, second = opened(reply("a1", 1, cut, tool("c2"))).results
    assert first.details["persistedOutputPath"] == path and first.details["exit"] == 0
    assert "persistedOutputPath" not in (second.details or {})


def test_thinking_carries_its_signature(opened: Open) -> None:
    def thought(words: str, **metadata: Any) -> Json:
        return {"type": "reasoning", "text": words, "metadata": metadata}

    reading = opened(
        reply(
            "a1",
            1,
            thought("hm", anthropic={"signature": "s1"}),
            thought("", openai={"itemId": "x", "reasoningEncryptedContent": "s2"}),
            thought(""),
        )
    )
    assert reading.replies[0].content == (
        ThinkingBlock("hm", "s1"),
        ThinkingBlock("", "s2", redacted=True),
    )


def test_what_the_program_adds_is_not_what_a_person_typed(opened: Open) -> None:
    picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"}
    code = {"type": "file", "mime": "text/plain", "url": "data:text/plain;base64,eCA9IDE="}
    reading = opened(
        user("u1", 1, text("Called the Read tool", synthetic=True), "look at this", picture, code),
        user("u2", 2, text("Continue if you have next steps", synthetic=True)),
        user("u3", 3, "and this", code | {"filename": "x.py"}),
        user("u4", 4, text("only shown", ignored=True)),
        user("u5", 5, {"type": "subtask", "prompt": "Search all", "agent": "general"}),
        user("u6", 6, {"type": "file", "mime": "application/pdf", "url": "file:///a.pdf"}),
    )
    assert reading.prompts == ["look at this", "and this", "Search all", ""]
    assert body_of(reading, "u1").content == (
        TextBlock("look at this"), ImageBlock("image/png", "QUJD"),
    )  # fmt: skip
    note = body_of(reading, "u1-p0")
    assert isinstance(note, NoteMessage) and not note.display
    assert note.content == (TextBlock("Called the Read tool"),)
    assert body_of(reading, "u2").synthetic
    assert body_of(reading, "u3-p1") == FilesMessage((FileMention("x.py", "x = 1"),))
    assert body_of(reading, "u4") == CustomData("ignored", "only shown")
    assert isinstance(body_of(reading, "u6").content[0], UnknownBlock)
    assert "u4" not in sent(reading)
    times = [one.time_ms for one in reading.entries]
    assert times == sorted(times) and min(times) > 0


def test_a_compaction_is_one_entry_that_keeps_a_tail(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "first"),
        reply("a1", 2, "one", tool("c1")),
        reply("a2", 3, "two", tool("c2")),
        compaction("k1", 4, "## Goal", auto=True, tail_start_id="a2"),
        user("u2", 5, text("Continue if you have next steps", synthetic=True)),
        reply("a3", 6, "three"),
    )
    body = body_of(reading, "k1")
    assert isinstance(body, CompactionSummary) and body.certainty == "exact"
    assert (body.summary, body.first_kept_id, body.trigger) == ("## Goal", "a2", "auto")
    assert (body.tokens_before, body.usage) == (21, TokenUsage(10, 5, 3, 1, 21, 0.5))
    assert sent(reading) == ["k1", "a2", "a2-p1", "u2", "a3"]
    assert body_of(reading, "u2").synthetic and not reading.report.problems
    record = reading.records[[one.entry_id for one in reading.records].index("k1")].raw
    lines = record.split("\n")
    assert [json.loads(line)["info"]["id"] for line in lines[:2]] == ["k1", "k1-s"]
    assert reading.entries[5].recorded["lines"][1]["info"]["summary"] is True


def test_a_compaction_without_a_tail_keeps_nothing(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "first"),
        reply("a1", 2, "one"),
        compaction("k1", 3),
        user("u2", 4, "on"),
        compaction("k2", 5, "again"),
        reply("a2", 6, "two"),
    )
    assert [one.trigger for one in reading.compactions] == ["manual", "manual"]
    assert sent(reading) == ["k2", "a2"]


@pytest.mark.parametrize(
    "fields", [{"error": {"name": "APIError"}}, {"finish": None}], ids=["failed", "cut"]
)
def test_a_compaction_that_did_not_end_is_not_in_force(opened: Open, fields: Json) -> None:
    asked, answer = compaction("k1", 2)
    answer["info"] |= fields
    reading = opened(user("u1", 1, "first"), asked, answer, user("u2", 3, "on"))
    assert not reading.compactions and "u1" in sent(reading)
    assert reading.prompts == ["first", "on"], "nobody typed the request"
    (problem,) = reading.report.problems
    assert "did not come to an end" in problem.reason


def test_a_summary_of_the_first_versions_stands_alone(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "first"),
        reply("a1", 2, "one"),
        reply("s1", 3, "so far", summary=True),
        user("u2", 4, "on"),
    )
    assert [one.summary for one in reading.compactions] == ["so far"]
    assert sent(reading) == ["s1", "u2"]


def test_a_prompt_that_is_sent_again_was_typed_once(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "first"),
        reply("a1", 2, "one"),
        user("u2", 3, "too large"),
        compaction("k1", 4, auto=True, overflow=True),
        user("u3", 5, "too large", "[Attached image/png: a.png]"),
        reply("a2", 6, "two"),
        user("u4", 7, "too large"),
    )
    assert reading.prompts == ["first", "too large", "too large"]
    assert [body_of(reading, name).synthetic for name in ("u2", "u3", "u4")] == [False, True, False]


def test_what_was_taken_back_is_a_branch_and_not_the_path(opened: Open) -> None:
    messages = [user("u1", 1, "a"), reply("a1", 2, "b"), user("u2", 3, "c"), reply("a2", 4, "d")]
    reading = opened(*messages, revert={"messageID": "u2"})
    assert path_of(reading) == ["u1", "a1"]
    assert shape(reading)[2:] == [("u2", "a1"), ("a2", "u2")]


def test_everything_may_be_taken_back(opened: Open) -> None:
    reading = opened(user("u1", 1, "a"), reply("a1", 2, "b"), revert={"messageID": "u1"})
    assert reading.report.leaf == -1 and len(reading.records) == 2


def test_parts_of_a_message_may_be_taken_back(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "a"),
        reply("a1", 2, "b", tool("c1"), "then", tool("c2")),
        reply("a2", 3, "d"),
        revert={"messageID": "a1", "partID": "a1-p2"},
    )
    assert path_of(reading) == ["u1", "a1", "a1-p1"]
    assert shape(reading)[3:] == [
        ("a1:a1-p2", "a1-p1"), ("a1-p3", "a1:a1-p2"), ("a2", "a1-p3"),
    ]  # fmt: skip
    stayed, rest, _ = reading.replies
    assert [one.id for one in stayed.calls] == ["c1"] and [one.id for one in rest.calls] == ["c2"]
    assert stayed.usage is not None and rest.usage is None, "it was paid for once"


def test_a_place_to_go_back_to_that_is_not_there_is_named(opened: Open) -> None:
    reading = opened(user("u1", 1, "a"), revert={"messageID": "gone"})
    assert path_of(reading) == ["u1"]
    assert "'gone', which is not there" in reading.report.problems[0].reason


def test_unknown_parts_are_kept_and_counted(opened: Open) -> None:
    new = {"type": "hologram", "data": [1]}
    reading = opened(
        user("u1", 1, "a", new), reply("a1", 2, new, {"type": "patch"}),
        store.message("x1", 3, "narrator", [text("meanwhile")]),
    )  # fmt: skip
    blocks = [one for entry in reading.entries for one in entry.content]
    assert [one.type for one in blocks if isinstance(one, UnknownBlock)] == ["hologram"] * 2
    assert [one.reason for one in reading.report.problems] == [
        "2 parts of the type 'hologram' are not known; they are kept",
        "1 messages of the role 'narrator' are not known; they are kept",
    ]
    assert reading.entries[2].text == "meanwhile"


def test_what_says_little_is_kept(opened: Open) -> None:
    reading = opened(
        user("u1", 1),
        reply("a1", 2, tool("c1", "paused", output="so far"), tool("c2", "paused"), {"size": 3}),
        user("u2", 3, {"type": "file", "mime": "image/png", "url": "https://a.example/b.png"}),
    )
    assert body_of(reading, "u1") == UserMessage(())
    assert [one.call_id for one in reading.results] == ["c1"]
    assert body_of(reading, "u2").content == (ImageBlock("image/png", ""),)
    assert [one.reason for one in reading.report.problems] == [
        "1 parts without a type are not known; they are kept"
    ]


def test_every_record_is_read_again_as_the_same_entry(opened: Open) -> None:
    reading = opened(
        user("u1", 1, "a", text("b", synthetic=True)),
        reply("a1", 2, "b", tool("c1", time={})),
        compaction("k1", 3, auto=True, tail_start_id="a1"),
        reply("a2", 4, "c", tool("c2"), "d"),
        revert={"messageID": "a2", "partID": "a2-p2"},
    )
    for entry, record in zip(reading.entries, reading.records, strict=True):
        again = read_record("opencode", record.raw)
        assert again == replace(entry, id=again.id) and again.recorded
        assert record.facts.kind == again.kind and record.facts.time_ms == again.time_ms
        assert usage_in("opencode", record.raw, record.facts.usage) == again.usage or (
            record.facts.usage < 0
        )


@pytest.mark.parametrize(
    "record",
    ["", "{", "null", "[]", "7", '{"info": 3}', '{"info": {}}', '{"info": {"role": "user"}}',
     '{"type": "tool"}', '{"type": 5}', '{"info": {"role": "assistant"}, "parts": [null, 3]}',
     '{"info": {}, "parts": []}\n{"info": {}}', "\ud800", '{"a": 1}\n{"b": 2}\n{"c": 3}',
     '{"info":{"role":"assistant","error":5,"tokens":[],"time":3,"cost":"x"},"parts":{}}'],
)  # fmt: skip
def test_a_damaged_record_is_read_without_an_error(record: str) -> None:
    entry = OPENCODE.read(record)
    assert entry.recorded is not None
    assert OPENCODE.usage(record, 5) is None


def test_sessions_are_only_read() -> None:
    with pytest.raises(ValueError, match="only read"):
        OPENCODE.write(OPENCODE.read("{}"))


# databases alone ----------------------------------------------------------------------------------


def database(tmp_path: Path, *sessions: Json) -> tuple[Path, sqlite3.Connection]:
    path = store.write_database(tmp_path / "opencode.db", *sessions)
    return path, sqlite3.connect(path, isolation_level=None)


def test_deleted_messages_come_back_at_their_place(tmp_path: Path) -> None:
    first = [user("u1", 1, "a"), reply("a1", 2, "b")]
    wrong = [user("u2", 3, "wrong"), reply("a2", 4, tool("c1"), "worse")]
    again = [user("u3", 5, "wrong again"), reply("a3", 6, "no")]
    last = [user("u4", 7, "right"), reply("a4", 8, "yes")]
    path, db = database(tmp_path, session("ses", *first, *last))
    for events in (
        *map(store.written, [*first, *wrong]), store.removed("u2", "a2"),
        *map(store.written, again), store.removed("u3", "a3"), *map(store.written, last),
    ):  # fmt: skip
        store.log(db, "ses", *events)
    reading = Reading(path)
    assert shape(reading) == [
        ("u1", ""), ("a1", "u1"), ("u2", "a1"), ("a2", "u2"), ("a2-p0", "a2"), ("u3", "a1"),
        ("a3", "u3"), ("u4", "a1"), ("a4", "u4"),
    ]  # fmt: skip
    assert path_of(reading) == ["u1", "a1", "u4", "a4"] and not reading.report.problems
    assert body_of(reading, "a2").calls[0].id == "c1"
    db.close()


def test_deleted_parts_come_back_as_a_branch_with_what_followed(tmp_path: Path) -> None:
    whole = reply("a1", 2, "b", "then", tool("c1"))
    left = {"info": whole["info"], "parts": whole["parts"][:1]}
    before, gone, after = user("u1", 1, "a"), user("u2", 3, "wrong"), user("u3", 4, "right")
    path, db = database(tmp_path, session("ses", before, left, after))
    parts = [
        ("message.part.removed", {"messageID": "a1", "partID": name})
        for name in ("a1-p1", "a1-p2")
    ]  # fmt: skip
    store.log(db, "ses", *store.written(before), *store.written(whole), *store.written(gone))
    store.log(db, "ses", *store.removed("u2"), *parts, *store.written(after))
    reading = Reading(path)
    assert shape(reading) == [
        ("u1", ""), ("a1", "u1"), ("a1:a1-p1", "a1"), ("a1-p2", "a1:a1-p1"), ("u2", "a1-p2"),
        ("u3", "a1"),
    ]  # fmt: skip
    assert path_of(reading) == ["u1", "a1", "u3"]
    db.close()


def test_a_fork_is_known_by_its_messages(tmp_path: Path) -> None:
    def turns(prefix: str) -> list[Json]:
        return [user(f"{prefix}1", 1, "a"), reply(f"{prefix}2", 2, "b", tool("c1"))]

    path, db = database(
        tmp_path,
        session("other", user("o1", 1, "x"), at=0),
        session("origin", *turns("a"), user("a3", 3, "gone on"), at=0),
        session("fork", *turns("b"), user("b3", 9, "here"), at=5, title="About origin (fork #1)"),
        session("next", *turns("c"), at=8, title="About origin (fork #2)"),
        session("like", *turns("d"), at=6, title="About something (fork #1)"),
        session("lost", user("l1", 2, "never seen"), at=7, title="About nothing (fork #1)"),
    )
    db.close()
    fork = Reading(path, "fork")
    assert (fork.header.relation, fork.header.parent_session) == ("fork", "origin")
    copied = [one.entry_id for one in fork.records if one.facts.flags & Flag.INHERITED]
    assert copied == ["b1", "b2", "b2-p1"]
    assert Reading(path, "next").header.parent_session == "fork", "the number is one higher"
    for name in ("origin", "other"):
        assert Reading(path, name).header.relation == ""
    lost = Reading(path, "lost")
    assert lost.header.relation == "" and "was made from" in lost.report.problems[0].reason


def test_a_fork_whose_origin_is_not_there_says_so(tmp_path: Path) -> None:
    one = session("fork", user("b1", 1, "a"), at=5, title="About it (fork #3)")
    reading = Reading(store.write_export(tmp_path / "fork.json", one))
    assert reading.header.relation == ""
    assert "the one that it was made from" in reading.report.problems[0].reason


def family() -> list[Json]:
    task = tool("c7", name="task", metadata={"sessionId": "child"})
    deep = tool("c8", name="task", metadata={"sessionId": "grandchild"})
    return [
        session("old", user("o1", 1, "x")),
        session("top", user("t1", 1, "a"), reply("t2", 2, task), at=50),
        session("child", user("k1", 3, "b"), reply("k2", 4, deep), at=60, parentID="top"),
        session("grandchild", user("g1", 5, "c"), at=70, parentID="child"),
    ]


def test_sessions_of_a_database_are_related(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", *family())
    assert Reading(path).header.session_id == "top", "used last, of those that a person began"
    child = Reading(path, "child").header
    assert (child.relation, child.parent_session, child.parent_call) == ("subagent", "top", "c7")
    related = OPENCODE.related
    assert {one.session_id for one in related(path)} == {"old", "child", "grandchild"}
    assert [one.session_id for one in related(path, "top")] == ["child", "grandchild"]
    assert not related(path, "old") and {one.path for one in related(path)} == {path}
    assert OPENCODE.resume(child) == ("opencode", "-s", "child")


def test_the_call_of_a_turn_that_was_deleted_is_known_from_the_log(tmp_path: Path) -> None:
    call = reply("t2", 2, tool("c7", name="task", metadata={"sessionId": "child"}))
    path, db = database(
        tmp_path, session("top"), session("child", user("k1", 3, "b"), at=60, parentID="top")
    )
    store.log(db, "top", *store.written(call), *store.removed("t2"))
    db.close()
    assert Reading(path, "child").header.parent_call == "c7"
    assert [one.entry_id for one in Reading(path, "top").records] == ["t2", "t2-p0"]


def test_sessions_of_a_folder_are_related(tmp_path: Path) -> None:
    old, top, child, grandchild = store.write_folder(tmp_path, *family())
    reading = Reading(child)
    assert (reading.header.parent_session, reading.header.parent_call) == ("top", "c7")
    assert [one.path for one in OPENCODE.related(top)] == [child, grandchild]
    assert not OPENCODE.related(old)
    assert len(Reading(top).source.files) == 1 + 2 + 2
    assert Reading(top, "old").header.session_id == "old"


def test_what_is_no_message_is_named_by_its_number(tmp_path: Path) -> None:
    one = session("ses", user("m1", 1, "a"), user("m2", 2, "b"))
    one["messages"].append("c")
    (problem,) = Reading(store.write_export(tmp_path / "ses.json", one)).report.problems
    assert problem.at("ses.json") == "ses.json: message 3 is no message; it was put aside"

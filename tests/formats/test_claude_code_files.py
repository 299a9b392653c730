"""Files of Claude Code: which are its own, where they are, and which belong together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.claude_code.adapter import CLAUDE_CODE
from explorer.formats.registry import adapter_for
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading
from tests.formats.claude_lines import SESSION, USAGE, Lines, problems, shape

OTHER = "0b0b0b0b-1111-4222-8333-444444444444"
ID = "12345678-aaaa-4bbb-8ccc-{:012}"


def head(*records: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


@pytest.mark.parametrize("first", [
    {"type": "summary", "summary": "The tide", "leafUuid": "x"},
    {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "hi"},
    {"type": "mode", "mode": "normal", "sessionId": SESSION},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "hi"}},
])  # fmt: skip
def test_it_is_recognised_by_its_first_line_under_any_name(first: object, tmp_path: Path) -> None:
    path = tmp_path / "anything.jsonl"
    path.write_bytes(head({"type": "of next month"}, first))
    assert adapter_for(path) is CLAUDE_CODE


def test_it_is_recognised_below_damage(tmp_path: Path) -> None:
    path = Lines().user("u1", "hi").write(tmp_path / "a.jsonl")
    path.write_bytes(b'{"parentUuid":null,"is\n7\nnull\n' + path.read_bytes())
    assert Reading(path).prompts == ["hi"] and Reading(path).adapter.name == "claude-code"


def test_it_is_recognised_by_a_first_line_that_is_cut() -> None:
    long = Lines().user("u1", "tide " * 9000).records[0]
    assert CLAUDE_CODE.recognises(Path("a"), head(long)[:16_384])
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "x" * 20_000}
    assert CLAUDE_CODE.recognises(Path("a"), head(queued)[:16_384])
    assert not CLAUDE_CODE.recognises(Path("a"), b'{"role":"user","content":"' + b"x" * 16_384)


@pytest.mark.parametrize("records", [
    [{"type": "session", "version": 3, "id": "s", "timestamp": "2026", "cwd": "/"},
     {"type": "message", "id": "a", "parentId": None, "message": {"role": "user"}}],
    [{"timestamp": "2026", "type": "session_meta", "payload": {"id": "s", "cwd": "/"}}],
    [{"type": "session.start", "data": {"sessionId": "s"}, "id": "a", "parentId": None}],
    [{"sessionId": "s", "projectHash": "h", "startTime": "2026", "kind": "main"}],
    [{"role": "user", "message": {"content": [{"type": "text", "text": "uuid"}]}}],
    [{"kind": 0, "v": {"sessionId": "s", "requests": []}}],
    [["list"]],
])  # fmt: skip
def test_files_of_other_agents_are_left_to_them(records: list[object]) -> None:
    assert not CLAUDE_CODE.recognises(Path("a.jsonl"), head(*records))


def test_a_file_without_any_record_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{broken\n\n[1]\n")
    with pytest.raises(FormatError):
        CLAUDE_CODE.open(path)


def agent_lines(agent: str, **fields: object) -> Lines:
    """What a sub-agent was asked and answered."""
    lines = Lines(isSidechain=True, agentId=agent, **fields)
    return lines.user(f"{agent}-u", "Look at the quay.", on=None).reply(f"{agent}-a", "msg_s", "Ok")


def test_an_agent_in_a_file_of_its_own_is_linked_to_its_call(tmp_path: Path) -> None:
    main = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Agent"), ("c2", "Task"))
    main.result("r1", "c1").result("r2", "c2")
    main.records[-1]["toolUseResult"] = {"agentId": "b2", "status": "completed"}
    place = main.write(tmp_path / f"{SESSION}.jsonl")
    folder = tmp_path / SESSION / "subagents"
    first = agent_lines("a1").write(folder / "agent-a1.jsonl")
    facts = {"agentType": "Explore", "description": "Look", "toolUseId": "c1", "spawnDepth": 1}
    (folder / "agent-a1.meta.json").write_text(json.dumps(facts))
    second = agent_lines("b2").write(tmp_path / "agent-b2.jsonl")
    agent_lines("other").write(tmp_path / "agent-other.jsonl")
    text = (tmp_path / "agent-other.jsonl").read_text("utf-8").replace(SESSION, OTHER)
    (tmp_path / "agent-other.jsonl").write_text(text, "utf-8")
    second.write_text(second.read_text("utf-8").replace('": "', '":"'), "utf-8")
    related = CLAUDE_CODE.related(place)
    assert [(one.path, one.session_id) for one in related] == [(first, "a1"), (second, "b2")]
    place.write_text(place.read_text("utf-8").replace('": "', '":"'), "utf-8")
    for path, agent, call in ((first, "a1", "c1"), (second, "b2", "c2")):
        reading = Reading(path)
        header = reading.header
        assert (header.session_id, header.relation) == (agent, "subagent")
        assert (header.parent_session, header.parent_call) == (SESSION, call)
        assert len(reading.records) == 2 and not CLAUDE_CODE.resume(header)
    assert Reading(first).header.title == "Look"


def test_agents_among_the_records_of_a_session_are_sessions_of_their_own(tmp_path: Path) -> None:
    main = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Task"))
    main.records[-1]["message"]["content"][0]["input"] = {"prompt": "Look at the quay."}
    main.user("x1", "Look at the quay.", on=None, isSidechain=True)
    main.reply("x2", "msg_x", "A quay.")
    main.records[-1]["isSidechain"] = True
    main.user("y1", "Other prompt.", on=None, isSidechain=True, agentId="y")
    main.result("r1", "c1", on="a1")
    path = main.write(tmp_path / f"{SESSION}.jsonl")
    reading = Reading(path)
    assert shape(reading) == {"u1": "", "a1": "u1", "r1": "a1"}
    assert {one.reason for one in reading.report.asides} == {
        "belongs to the agent x1", "belongs to the agent y",
    }  # fmt: skip
    related = CLAUDE_CODE.related(path)
    assert [(one.path, one.session_id) for one in related] == [(path, "x1"), (path, "y")]
    nested = Reading(path, "x1")
    assert shape(nested) == {"x1": "", "x2": "x1"} and not nested.report.asides
    header = nested.header
    assert (header.session_id, header.relation) == ("x1", "subagent")
    assert (header.parent_session, header.parent_call) == (SESSION, "c1")
    with pytest.raises(FormatError):
        CLAUDE_CODE.open(path, session_id="nobody")


def test_the_agent_that_wrote_a_summary_is_the_compactor(tmp_path: Path) -> None:
    lines = Lines(isSidechain=True, agentId="acompact-1").user("u1", "Summarize.", on="in the main")
    path = lines.reply("a1", "msg_1", "We began.").write(
        tmp_path / SESSION / "subagents" / "agent-acompact-1.jsonl"
    )
    header = Reading(path).header
    assert (header.session_id, header.relation) == ("acompact-1", "compactor")
    assert header.parent_session == SESSION


def spoken(session: str, turns: int, first: int = 0) -> Lines:
    lines = Lines(session)
    for turn in range(first, turns):
        lines.user(ID.format(turn * 2), f"question {turn}")
        lines.reply(ID.format(turn * 2 + 1), f"msg_{turn}", f"answer {turn}")
    return lines


def dump(lines: Lines, folder: Path) -> Path:
    """As the program writes it: without spaces."""
    path = folder / f"{lines.session}.jsonl"
    path.write_text(
        "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines.records), "utf-8"
    )
    return path


def test_a_fork_is_recognised_by_what_it_repeats(tmp_path: Path) -> None:
    origin, fork = spoken(SESSION, 2), spoken(OTHER, 2)
    fork.user(ID.format(90), "in the fork").records[-1]["timestamp"] = "2026-05-02T10:00:00.000Z"
    paths = dump(origin, tmp_path), dump(fork, tmp_path)
    reading = Reading(paths[1])
    assert (reading.header.relation, reading.header.parent_session) == ("fork", SESSION)
    flags = [bool(one.facts.flags & Flag.INHERITED) for one in reading.records]
    assert flags == [True] * 4 + [False]
    assert not Reading(paths[0]).header.relation
    origin.user(ID.format(70), "later").records[-1]["timestamp"] = "2026-05-01T12:00:00.000Z"
    dump(origin, tmp_path)
    assert [Reading(path).header.relation for path in paths] == ["", "fork"]


def test_a_fork_may_begin_at_the_last_compaction_of_its_origin(tmp_path: Path) -> None:
    origin = spoken(SESSION, 2)
    kept = {"headUuid": ID.format(2), "tailUuid": ID.format(3)}
    origin.boundary("k" * 36, ID.format(3), preservedSegment=kept).summary("s" * 36, "Before.")
    boundary, summary = origin.records[-2:]
    copies = spoken(SESSION, 2, first=1).records
    copies[0]["parentUuid"] = summary["uuid"]
    copies[1]["message"]["usage"] = dict.fromkeys(USAGE, 0)
    fork = Lines(OTHER)
    fork.records = [{**one, "sessionId": OTHER} for one in (boundary, summary, *copies)]
    for number, one in enumerate(origin.records[2:4]):
        fork.records[2 + number]["timestamp"] = one["timestamp"]
    fork.user(ID.format(91), "in the fork", on=ID.format(3))
    dump(origin, tmp_path)
    reading = Reading(dump(fork, tmp_path))
    assert (reading.header.relation, reading.header.parent_session) == ("fork", SESSION)
    assert shape(reading) == {
        "k" * 36: "", ID.format(2): "k" * 36, ID.format(3): ID.format(2),
        ID.format(91): ID.format(3),
    }  # fmt: skip
    (body,) = reading.compactions
    assert (body.summary, body.first_kept_id, body.certainty) == ("Before.", "", "exact")
    assert reading.replies[0].usage is None and not problems(reading)


def test_an_origin_with_more_than_plain_records_is_no_fork_of_its_fork(tmp_path: Path) -> None:
    """Messages that only the queue has, and records of agents in the progress of a call."""
    origin, fork = spoken(SESSION, 2), spoken(OTHER, 2)
    for lines in (origin, fork):
        data = {"type": "agent_progress", "message": {"uuid": "of the agent"}}
        lines.node("progress", "p" * 36, data=data)
        lines.note(type="queue-operation", operation="enqueue", content="at noon")
        lines.note(type="queue-operation", operation="remove")
        lines.reply(ID.format(60), "msg_9", "At noon.")
    fork.user(ID.format(90), "in the fork").records[-1]["timestamp"] = "2026-05-02T10:00:00.000Z"
    paths = dump(origin, tmp_path), dump(fork, tmp_path)
    assert [Reading(path).header.relation for path in paths] == ["", "fork"]
    flags = [bool(one.facts.flags & Flag.INHERITED) for one in Reading(paths[1]).records]
    assert flags == [True] * 4 + [False] + [True] + [False], "the queue's records have no ids"


def test_sessions_that_share_ids_by_chance_are_no_forks(tmp_path: Path) -> None:
    dump(spoken(SESSION, 1), tmp_path)
    other = spoken(OTHER, 2)
    for one in other.records:
        one["timestamp"] = one["timestamp"].replace("2026-05-01", "2025-01-01")
    assert not Reading(dump(other, tmp_path)).header.relation


def test_sessions_are_found_in_their_usual_place_or_where_the_environment_says(
    tmp_path: Path,
) -> None:
    for at, root in enumerate((tmp_path / ".claude", tmp_path / "moved")):
        folder = root / "projects" / "-tide"
        for number, session in enumerate((SESSION, OTHER)):
            path = Lines(session).note(type="mode", mode="normal").user("u1", "hi").write(
                folder / f"{session}.jsonl"
            )  # fmt: skip
            os.utime(path, (1e9 + at, 1e9 + number))
        agent_lines("a1").write(folder / "agent-a1.jsonl")
        (folder / "notes.txt").write_text("nothing")
        (folder / "broken.jsonl").write_bytes(b"\xff{")
        os.utime(folder / "broken.jsonl", (1, 1))
    (tmp_path / ".claude" / "projects" / "file").write_text("not a folder")
    found = list(CLAUDE_CODE.find(tmp_path, {}))
    assert [one.path.stem for one in found] == [OTHER, SESSION, "broken"]
    assert found[0].header is not None and found[0].header.session_id == OTHER
    assert found[0].cwd == "/tide" and found[2].header is None
    moved = list(CLAUDE_CODE.find(tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}))
    assert {one.path.parents[2].name for one in moved} == {"moved"} and len(moved) == 3
    assert not list(CLAUDE_CODE.find(tmp_path / "nowhere", {}))
    settings = tmp_path / "settings"
    Lines().user("u1", "hi").write(settings / "claude" / "projects" / "-tide" / "one.jsonl")
    (only,) = CLAUDE_CODE.find(tmp_path / "nowhere", {"XDG_CONFIG_HOME": str(settings)})
    assert only.path.name == "one.jsonl"


def test_a_session_is_gone_on_with_by_its_id(tmp_path: Path) -> None:
    header = Lines().user("u1", "hi").read(tmp_path).header
    assert list(CLAUDE_CODE.resume(header)) == ["claude", "--resume", SESSION]
    assert (header.cwd, header.format, header.version) == ("/tide", "claude-code", 1)


def test_an_agent_of_an_older_version_is_linked_by_the_progress_of_its_call(
    tmp_path: Path,
) -> None:
    main = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Task"), ("c2", "Task"))
    for call, agent in (("c1", "a1"), ("c2", "b2")):
        data = {"type": "agent_progress", "agentId": agent, "prompt": "Look at the quay."}
        main.node("progress", f"p-{agent}", "a1", data=data, parentToolUseID=call)
    main.write(tmp_path / f"{SESSION}.jsonl")
    path = agent_lines("b2").write(tmp_path / "agent-b2.jsonl")
    header = Reading(path).header
    assert (header.relation, header.parent_session, header.parent_call) == (
        "subagent", SESSION, "c2",
    )  # fmt: skip

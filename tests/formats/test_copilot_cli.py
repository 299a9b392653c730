"""Sessions of GitHub Copilot CLI: what an importer gets wrong, each in a small file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.registry import ADAPTERS
from explorer.session.context import context_at
from explorer.session.entries import (
    AssistantMessage,
    CustomData,
    FilesMessage,
    ImageBlock,
    ModelChange,
    NoteMessage,
    ShellMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolResultMessage,
    Unknown,
    UserMessage,
)
from explorer.session.kinds import Kind
from tests.formats.agents.reading import Reading

CLI = ADAPTERS["copilot-cli"]


class Events:
    """Writes a session's file, event by event."""

    def __init__(self, folder: Path, session_id: str = "s-1", **start: Any) -> None:
        self.path = folder / session_id / "events.jsonl"
        self.lines: list[bytes] = []
        context = {"cwd": "/src/harbour"}
        self(
            "session.start", sessionId=session_id, copilotVersion="1.0.74", context=context, **start
        )

    def __call__(self, kind: str, /, agent: str = "", **data: Any) -> str:
        number = len(self.lines) + 1
        event: dict[str, Any] = {"type": kind, "data": data, "id": f"e{number}"}
        event["timestamp"] = f"2026-07-24T16:{number // 60:02}:{number % 60:02}.000Z"
        event["parentId"] = f"e{number - 1}" if number > 1 else None
        if agent:
            event["agentId"] = agent
        self.lines.append(json.dumps(event).encode())
        return event["id"]

    def user(self, text: str, **more: Any) -> str:
        return self("user.message", content=text, **more)

    def reply(self, text: str, *calls: str, agent: str = "", **more: Any) -> str:
        requests = [
            {"toolCallId": one, "name": "view", "arguments": {"path": one}} for one in calls
        ]
        return self("assistant.message", agent, content=text, toolRequests=requests, **more)

    def run(self, call: str, text: str, agent: str = "", **more: Any) -> str:
        self("tool.execution_start", agent, toolCallId=call, toolName="view", arguments={})
        fields = {"success": True, "result": {"content": text}} | more
        return self("tool.execution_complete", agent, toolCallId=call, **fields)

    def read(self, session_id: str = "") -> Reading:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"\n".join(self.lines) + b"\n")
        return Reading(self.path, session_id)


@pytest.fixture
def events(tmp_path: Path) -> Events:
    return Events(tmp_path)


def parents(reading: Reading) -> list[int]:
    return [one.parent for one in reading.records]


def sent(reading: Reading) -> list[str]:
    """The first line of each message that goes to the model at the leaf."""
    context = context_at(reading.tree, reading.report.leaf or 0)
    return [reading.records[at].facts.preview for at in context.messages]


def test_a_turn_is_linear_and_housekeeping_is_put_aside(events: Events) -> None:
    events.user("Look.")
    events("hook.start", hookType="preToolUse", input={})
    events("assistant.turn_start", turnId="0")
    events.reply("I look.", "c1", "c2", model="gpt-5", outputTokens=12, reasoningText="Hm.",
                 reasoningOpaque="sealed")  # fmt: skip
    events("tool.execution_start", toolCallId="c1", toolName="view", arguments={"path": "c1"})
    events("tool.execution_start", toolCallId="c2", toolName="grep", arguments={})
    events("tool.execution_complete", toolCallId="c2", success=True, result={"content": "two"})
    error = {"message": "no such file"}
    events("tool.execution_complete", toolCallId="c1", success=False, error=error)
    events("assistant.turn_end", turnId="0")
    events.reply("Done.")
    reading = events.read()
    assert [type(one.body) for one in reading.entries] == [
        UserMessage, AssistantMessage, ToolResultMessage, ToolResultMessage, AssistantMessage,
    ]  # fmt: skip
    assert parents(reading) == [-1, 0, 1, 2, 3], "parallel results are no branches"
    reply = reading.replies[0]
    assert reply.content[0] == ThinkingBlock("Hm.", "sealed")
    assert (reply.provider, reply.model, reply.stop_reason) == (
        "github-copilot", "gpt-5", "tool_calls",
    )  # fmt: skip
    assert reply.usage == TokenUsage(output=12), "the prompt's tokens are not recorded"
    two, one = reading.results
    assert (two.tool, two.call_id, two.is_error) == ("grep", "c2", False)
    assert (one.tool, one.is_error, one.content) == ("view", True, (TextBlock("no such file"),))
    assert reading.records[2].raw.count("\n") == 1, "a result is its start and its end"
    assert reading.lines().total() == len(events.lines)
    assert reading.header.cwd == "/src/harbour" and reading.header.agent_version == "1.0.74"


def test_replies_of_sub_agents_are_sessions_of_their_own(events: Events) -> None:
    events.user("Ask two others.")
    events.reply("I ask.", "call-a", "call-old")
    events("tool.execution_start", toolCallId="call-a", toolName="task", arguments={})
    events("subagent.started", "agent-a", toolCallId="call-a", agentDisplayName="Reviewer")
    events("user.message", "agent-a", content="Review it.", source="agent-s-1")
    events.reply("Reviewing.", "inner", agent="agent-a")
    events("tool.execution_start", "agent-a", toolCallId="inner", toolName="task", arguments={})
    events("subagent.started", "agent-b", toolCallId="inner", agentName="deeper")
    events.reply("Deeper.", agent="agent-b")
    events.reply("Old.", parentToolCallId="call-old")
    events("tool.execution_complete", toolCallId="call-a", success=True, result={"content": "ok"})
    events.reply("Both are done.")
    main = events.read()
    assert [one.text for one in main.entries] == [
        "Ask two others.", "I ask.", "ok", "Both are done.",
    ]  # fmt: skip
    related = CLI.related(events.path)
    assert [one.session_id for one in related] == ["agent-a", "agent-b", "call-old"]
    assert [one.session_id for one in CLI.related(events.path, "agent-a")] == ["agent-b"]
    first, second, old = (Reading(events.path, one.session_id) for one in related)
    assert [one.text for one in first.entries] == ["Review it.", "Reviewing."]
    assert isinstance(first.entries[0].body, UserMessage) and first.entries[0].body.synthetic
    header = first.header
    assert (header.session_id, header.title, header.relation) == ("agent-a", "Reviewer", "subagent")
    assert (header.parent_session, header.parent_call) == ("s-1", "call-a")
    assert second.header.parent_session == "agent-a" and second.header.parent_call == "inner"
    assert [one.text for one in old.entries] == ["Old."], "old versions name only the call"
    assert old.header.parent_call == "call-old"
    assert main.lines().total() == len(events.lines), "all lines are with the session"
    assert CLI.resume(main.header) == ("copilot", "--resume", "s-1")
    assert CLI.resume(header) == ()
    with pytest.raises(FormatError):
        CLI.open(events.path, session_id="nobody")


def test_what_nobody_typed_and_what_was_added(events: Events) -> None:
    attached = [
        {"type": "file", "path": "/src/berth.py"},
        {"type": "selection", "filePath": "/src/pier.py", "text": "PIER = 7"},
        {"type": "blob", "mimeType": "image/png", "data": "aGk="},
    ]
    around = "<now>16:40</now>\n\nMoor it.\n\n<reminder>Be kind.</reminder>"
    events.user("Moor it.", transformedContent=around, attachments=attached)
    events.user("", transformedContent="<reminder>tools</reminder>", source="system")
    events.user("Go on.", isAutopilotContinuation=True, delivery="steering")
    events("system.notification", content="An agent is idle.", kind={"type": "agent_idle"})
    events("system.message", role="system", content="You are an agent.")
    reading = events.read()
    user, files, note, *rest = reading.entries
    assert user.text == "Moor it." and user.content[1] == ImageBlock("image/png", "aGk=")
    assert isinstance(files.body, FilesMessage)
    assert [(one.path, one.content) for one in files.body.files] == [
        ("/src/berth.py", ""), ("/src/pier.py", "PIER = 7"),
    ]  # fmt: skip
    assert isinstance(note.body, NoteMessage) and not note.body.display
    assert note.text == "<now>16:40</now>\n<reminder>Be kind.</reminder>"
    assert reading.prompts == ["Moor it."]
    assert [type(one.body) for one in rest] == [UserMessage, UserMessage, NoteMessage, CustomData]
    assert rest[0].text == "<reminder>tools</reminder>"
    assert "You are an agent." not in sent(reading), "the system prompt is no message"


def test_a_compaction_keeps_what_came_after_its_start(events: Events) -> None:
    events.user("First.")
    events.reply("One.")
    events("session.compaction_start", conversationTokens=70, systemTokens=20, trigger="threshold")
    events.reply("Two.", "c1")
    events.run("c1", "result")
    used = {"inputTokens": 100, "cacheReadTokens": 30, "outputTokens": 9, "cacheWriteTokens": 50}
    events("session.compaction_complete", success=True, summaryContent="What was.",
           customInstructions="paths", checkpointNumber=1, compactionTokensUsed=used)  # fmt: skip
    events.reply("Three.")
    reading = events.read()
    (body,) = reading.compactions
    assert body.summary == "What was." and body.certainty == "inferred" and body.trigger == "auto"
    assert body.tokens_before == 90 and body.tokens_after is None
    assert body.usage == TokenUsage(20, 9, 30, 50, 109)
    assert body.details == {"customInstructions": "paths", "checkpointNumber": 1}
    assert body.first_kept_id == "e5"
    assert sent(reading) == ["What was.", "Two.", "result", "Three."]
    (problem,) = reading.report.problems
    assert problem.line == 8 and "not recorded" in problem.reason


def test_compactions_that_failed_that_say_nothing_or_kept_nothing(events: Events) -> None:
    events.user("First.")
    events("session.compaction_start")
    events("session.compaction_complete", success=False, error="overloaded")
    events.reply("One.")
    assert events.read().compactions == [] and not events.read().report.problems
    events("session.compaction_start", trigger="manual")
    events("session.compaction_complete", success=True, trigger="manual", preCompactionTokens=80,
           postCompactionTokens=9, summaryContent="Short.")  # fmt: skip
    reading = events.read()
    (body,) = reading.compactions
    assert (body.tokens_before, body.tokens_after, body.trigger) == (80, 9, "manual")
    assert sent(reading) == ["Short."] and body.first_kept_id == ""
    events("session.compaction_complete", success=True)
    last = events.read().compactions[-1]
    assert last.certainty == "unreadable" and last.summary == ""


def test_a_rewind_leaves_a_branch(events: Events) -> None:
    events.user("First.")
    events.reply("One.")
    wrong = events.user("A wrong turn.")
    events.reply("Wrong.")
    events("session.snapshot_rewind", upToEventId=wrong, eventsRemoved=2)
    events.user("Instead.")
    reading = events.read()
    assert sent(reading) == ["First.", "One.", "Instead."]
    assert len(reading.tree.children(1)) == 2, "what was removed is there still"
    events("session.snapshot_rewind", upToEventId="gone", eventsRemoved=9)
    assert sent(events.read()) == ["First.", "One.", "Instead."], "written anew without them"


def test_a_truncation_drops_the_oldest_and_a_clearing_all(events: Events) -> None:
    events.user("First.")
    events.reply("One.")
    events.user("Second.")
    counts = {"preTruncationTokensInMessages": 90, "postTruncationTokensInMessages": 30}
    events("session.truncation", messagesRemovedDuringTruncation=2, performedBy="Basic", **counts)
    events.reply("Two.")
    reading = events.read()
    (body,) = reading.compactions
    assert (body.summary, body.certainty, body.first_kept_id) == ("", "inferred", "e4")
    assert (body.tokens_before, body.tokens_after) == (90, 30)
    assert sent(reading)[1:] == ["Second.", "Two."]
    assert "oldest" in reading.report.problems[0].reason
    events("session.truncation", messagesRemovedDuringTruncation=0)
    assert len(events.read().compactions) == 1
    events("session.context_cleared", messagesCleared=4)
    events.user("Anew.")
    reading = events.read()
    assert reading.entries[-2].kind is Kind.RESET_BOUNDARY and sent(reading) == ["Anew."]


def test_models_errors_titles_and_what_a_person_ran(events: Events) -> None:
    events("session.model_change", newModel="gpt-5-mini", previousModel="auto")
    events.user("Hello.")
    events("session.error", errorType="query", message="too many requests", statusCode=429)
    events("abort", reason="user_initiated")
    events("session.title_changed", title="Moorings")
    events("session.resume", eventCount=5)
    events("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "ls"})
    events("tool.execution_start", toolCallId="u1", toolName="bash", arguments={"command": "ls"})
    events("tool.execution_complete", toolCallId="u1", success=True, isUserRequested=True,
           result={"content": "a.txt"})  # fmt: skip
    events("session.shutdown", modelMetrics={"gpt-5-mini": {"usage": {"inputTokens": 7}}})
    reading = events.read()
    change, _, error, abort, title, *_, shell, shutdown = (one.body for one in reading.entries)
    assert change == ModelChange("github-copilot/gpt-5-mini")
    assert isinstance(error, AssistantMessage) and isinstance(abort, AssistantMessage)
    assert (error.stop_reason, error.error) == ("error", "too many requests")
    assert abort.stop_reason == "aborted"
    assert getattr(title, "name", "") == "Moorings"
    assert isinstance(shell, ShellMessage) and (shell.command, shell.output) == ("ls", "a.txt")
    assert isinstance(shutdown, CustomData) and "modelMetrics" in shutdown.data


def test_the_pieces_of_one_response_are_one_reply(events: Events) -> None:
    events.user("Think.")
    events("assistant.reasoning", reasoningId="r", content="First thought.")
    events.reply("A.", apiCallId="m1", chunkIndex=0, chunkCount=2, outputTokens=5)
    events.reply("B.", "c1", apiCallId="m1", chunkIndex=1, chunkCount=2, outputTokens=6)
    events.reply("C.", apiCallId="m2")
    reading = events.read()
    assert len(reading.replies) == 2
    first = reading.replies[0]
    assert first.content[:3] == (ThinkingBlock("First thought."), TextBlock("A."), TextBlock("B."))
    assert first.calls[0].id == "c1" and first.usage == TokenUsage(output=11)
    assert reading.records[1].raw.encode() == b"\n".join(events.lines[2:5])


def test_arguments_as_texts_and_pictures_in_results(events: Events) -> None:
    requests = [
        {"toolCallId": "a", "name": "shell", "arguments": '{"command":"ls"}'},
        {"toolCallId": "b", "name": "apply_patch", "type": "custom", "arguments": "*** Begin"},
        {"toolCallId": "c", "name": "shell", "arguments": '{"comm'},
    ]
    events("assistant.message", content="", toolRequests=requests)
    picture = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    result = {
        "content": "seen",
        "detailedContent": "in full",
        "binaryResultsForLlm": [picture],
    }
    events("tool.execution_complete", toolCallId="b", success=True, result=result)
    reading = events.read()
    a, b, c = reading.replies[0].calls
    assert a.arguments == {"command": "ls"} and b.arguments == {"input": "*** Begin"}
    assert c.arguments is None and c.malformed == '{"comm'
    (found,) = reading.results
    assert found.tool == "apply_patch", "without its start its call says which tool it was"
    assert found.content == (TextBlock("seen"), ImageBlock("image/png", "aGk="))
    assert found.details == {"detailedContent": "in full"} and reading.images == 1


def test_damage_and_events_of_next_month(events: Events) -> None:
    events.user("First.")
    events("assistant.sang", tune="la")
    events("assistant.sang", tune="la la")
    events.lines += [b"{broken", b"", b'"no event"', events.lines[1]]
    other = json.dumps({"type": "user.message", "id": "e2", "data": {"content": "Same id."}})
    events.lines += [other.encode(), b'{"type":"user.message","id":7,"data":null}']
    events("tool.execution_start", toolCallId="c1", toolName="view")
    events.lines.append(b'{"type":"assistant.message","id":"cut","da')
    reading = events.read()
    assert [one.text for one in reading.entries if one.text] == ["First.", "Same id."]
    unknown = [one.body for one in reading.entries if isinstance(one.body, Unknown)]
    assert unknown == [Unknown("assistant.sang")] * 2 + [Unknown("user.message")]
    reasons = [one.reason for one in reading.report.problems]
    assert any("2 records of the type 'assistant.sang' are not known" in one for one in reasons)
    assert sum("kept aside" in one for one in reasons) == 3
    assert len(reading.results) == 0, "a call without its end has no result"
    there = [one.decode() for one in events.lines]
    found = reading.lines()
    assert all(found[one] >= there.count(one) for one in there)


def test_a_file_that_is_none_and_records_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("not this\n")
    with pytest.raises(FormatError):
        CLI.open(path)
    assert not CLI.recognises(path, b'{"type":"session","version":3}\n{"type":"message"}')
    for record in ("", "{", "[]", '{"type":"assistant.message","data":[]}', "\n\n", "\x00"):
        assert CLI.read(record) is not None
    assert CLI.read('{"type":"user.message","data":{"content":["x"]}}').content
    with pytest.raises(ValueError, match="only read"):
        CLI.write(CLI.read(""))


def test_sessions_are_found_where_they_are_kept(tmp_path: Path) -> None:
    home, moved = tmp_path / "home", tmp_path / "moved"
    for age, name in enumerate(("old", "new")):
        events = Events(home / ".copilot" / "session-state", name)
        events.read()
        os.utime(events.path, (1_700_000_000 + age, 1_700_000_000 + age))
    flat = Events(moved / "session-state", "x")
    flat.read()
    flat.path.rename(moved / "session-state" / "flat.jsonl")
    (home / ".copilot" / "session-state" / "empty").mkdir()
    found = list(CLI.find(home, {}))
    assert [one.header.session_id for one in found if one.header] == ["new", "old"]
    assert found[0].cwd == "/src/harbour"
    assert [one.path.name for one in CLI.find(home, {"COPILOT_HOME": str(moved)})] == ["flat.jsonl"]
    assert list(CLI.find(tmp_path, {})) == []


def test_a_slice_says_that_its_beginning_is_missing(events: Events, tmp_path: Path) -> None:
    events.user("First.")
    assert not events.read().report.problems
    del events.lines[0]
    reading = events.read()
    assert ["start is not in the file" in one.reason for one in reading.report.problems] == [True]
    cut = b'{"type":"system.message","data":{"content":"\\"requests\\": \\"responderUsername\\"'
    path = tmp_path / "cut.jsonl"
    asked = b'{"type":"user.message","id":"e9","data":{"requests":[],"responderUsername":"x"}}'
    path.write_bytes(b"\n".join([cut, *events.lines, asked]))
    assert Reading(path).adapter.name == "copilot-cli"
    long = {"type": "system.message", "data": {"content": "Be kind. " * 9_000}, "id": "e0"}
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join([json.dumps(long).encode(), *events.lines]))
    assert Reading(path).prompts == ["First."], "a first line that is longer than what is looked at"

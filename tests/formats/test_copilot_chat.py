"""Sessions of VS Code Copilot Chat: documents, logs of changes, and what an importer gets wrong."""

from __future__ import annotations

import base64
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
    NoteMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolResultMessage,
    UnknownBlock,
    UserMessage,
)
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading

CHAT = ADAPTERS["copilot-chat"]


def request(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"requestId": name, "timestamp": 1_790_000_000_000, "message": {"text": text},
            "modelId": "copilot/claude-sonnet-4", "response": []} | more  # fmt: skip


def round_(name: str, text: str, *calls: str, **more: Any) -> dict[str, Any]:
    made = [{"id": one, "name": "read_file", "arguments": '{"filePath": "a"}'} for one in calls]
    return {"id": name, "response": text, "toolCalls": made} | more


def returned(text: str) -> dict[str, Any]:
    return {"$mid": 20, "content": [{"$mid": 21, "value": text}]}


def answered(*rounds: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A result with rounds; each call has returned."""
    calls = [call["id"] for one in rounds for call in one["toolCalls"]]
    results = {one: returned(f"result {one}") for one in calls}
    return {"metadata": {"toolCallRounds": rounds, "toolCallResults": results} | metadata}


def document(folder: Path, *requests: Any, **more: Any) -> Reading:
    path = folder / "chat.json"
    path.write_text(
        json.dumps({"responderUsername": "GitHub Copilot", "requests": requests} | more)
    )
    return Reading(path)


def log(folder: Path, *changes: dict[str, Any] | bytes) -> Reading:
    path = folder / "chat.jsonl"
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in changes]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return Reading(path)


def sent(reading: Reading) -> list[str]:
    """The first line of each message that goes to the model at the leaf."""
    context = context_at(reading.tree, reading.report.leaf or 0)
    return [reading.records[at].facts.preview for at in context.messages]


def start(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"kind": 0, "v": {"version": 3, "sessionId": "s-1", "requests": list(requests)}}


def test_rounds_calls_and_results_are_linear(tmp_path: Path) -> None:
    thinking = {"id": "t", "text": ["Hm", "."], "encrypted": "sealed"}
    first = round_("r1", "I look.", "c1", "c2", thinking=thinking)
    result = answered(first, round_("r2", "Done."), promptTokens=400, outputTokens=20)
    reading = document(tmp_path, request("q1", "Look.", result=result))
    assert [type(one.body) for one in reading.entries] == [
        UserMessage, AssistantMessage, ToolResultMessage, ToolResultMessage, AssistantMessage,
        CustomData,
    ]  # fmt: skip
    assert [one.parent for one in reading.records] == [-1, 0, 1, 2, 3, 4]
    reply, done = reading.replies
    assert reply.content[:2] == (ThinkingBlock("Hm.", "sealed"), TextBlock("I look."))
    assert reply.calls[0].arguments == {"filePath": "a"} and reply.stop_reason == "tool_calls"
    assert (done.provider, done.model, done.stop_reason) == ("copilot", "claude-sonnet-4", "stop")
    assert reply.usage is None and done.usage == TokenUsage(400, 20, context=420)
    assert [one.tool for one in reading.results] == ["read_file"] * 2
    assert reading.header.session_id == "chat" and CHAT.resume(reading.header) == ()


def test_what_was_sent_around_a_message_and_with_it(tmp_path: Path) -> None:
    text = "<context>May</context>\n<userRequest>\nMoor it.\n</userRequest>"
    cache = {"type": 3, "cacheType": "ephemeral"}
    around = {
        "renderedUserMessage": [{"type": 1, "text": text}, cache],
        "renderedGlobalContext": [{"type": 1, "text": "<os>Linux</os>"}],
    }
    variables = [
        {"kind": "file", "name": "berth", "value": {"$mid": 1, "path": "/src/berth.py"}},
        {"kind": "file", "name": "pier", "value": {"uri": {"fsPath": "/src/pier.py"}, "range": {}}},
        {"kind": "paste", "name": "pasted", "code": "PIER = 7"},
        {"kind": "implicit", "enabled": False, "value": {"path": "/src/not.py"}},
        {"kind": "image", "mimeType": "image/png", "value": {"0": 104, "1": 105}},
        {"kind": "tool", "name": "search"},
    ]
    first = request("q1", "Moor it.", result=answered(round_("r", "Yes."), **around),
                    variableData={"variables": variables})  # fmt: skip
    second = request("q2", "Again.", result=answered(round_("s", "No."), **around))
    reading = document(tmp_path, first, second)
    place, user, files, note, *_ = reading.entries
    assert isinstance(place.body, NoteMessage) and place.text == "<os>Linux</os>"
    assert [one.text for one in reading.entries].count("<os>Linux</os>") == 1, "once, not per turn"
    assert user.text == "Moor it."
    assert user.content[1] == ImageBlock("image/png", base64.b64encode(b"hi").decode())
    assert isinstance(files.body, FilesMessage)
    assert [(one.path, one.content) for one in files.body.files] == [
        ("/src/berth.py", ""), ("/src/pier.py", ""), ("pasted", "PIER = 7"),
    ]  # fmt: skip
    assert isinstance(note.body, NoteMessage) and not note.body.display
    assert note.text == "<context>May</context>\n<userRequest>\n</userRequest>"
    assert reading.prompts == ["Moor it.", "Again."]


def test_results_of_every_shape(tmp_path: Path) -> None:
    line = {"type": 2, "text": "one", "lineBreakBefore": False}
    image = {"type": 1, "ctor": 3, "props": {"src": "data:image/jpeg;base64,aGk="}, "children": []}
    more = {"type": 1, "children": [{"type": 2, "text": "two", "lineBreakBefore": True}, image]}
    tree = {"node": {"type": 1, "ctor": 2, "children": [line, more]}}
    picture = {"mimeType": "image/png", "data": {"$base64": "aGk="}}
    parts = [{"value": tree}, picture, "plain", {"value": 7}]
    result = answered(round_("r", "", "c1", "c2"))
    result["metadata"]["toolCallResults"] = {
        "c1": {"content": parts}, "c2": {"content": [], "hasError": True}, "c9": returned("lost"),
    }  # fmt: skip
    reading = document(tmp_path, request("q1", "Go.", result=result))
    first, second = reading.results
    assert first.content == (
        TextBlock("one\ntwo"), ImageBlock("image/jpeg", "aGk="), ImageBlock("image/png", "aGk="),
        TextBlock("plain"), UnknownBlock("toolResultPart", {"value": 7}),
    )  # fmt: skip
    assert second.is_error and not first.is_error
    (uncalled,) = [one.body for one in reading.entries if isinstance(one.body, CustomData)]
    assert uncalled.data["toolCallId"] == "c9", "nobody called: it is kept, and never sent"


def test_results_after_too_many_calls_lie_in_the_next_request(tmp_path: Path) -> None:
    first = answered(round_("r1", "One.", "c1"), round_("r2", "Two.", "c2"))
    del first["metadata"]["toolCallResults"]["c2"]
    first["metadata"]["maxToolCallsExceeded"] = True
    second = answered(round_("r3", "Three."))
    second["metadata"]["toolCallResults"] = {"c2": returned("late")}
    requests = (request("q1", "Go.", result=first), request("q2", "Continue.", result=second))
    reading = document(tmp_path, *requests)
    assert sent(reading) == ["Go.", "One.", "result c1", "Two.", "late", "Continue.", "Three."]
    assert len(reading.results) == 2 and "uncalled" not in str(reading.records)
    del first["metadata"]["maxToolCallsExceeded"]
    assert "late" not in sent(document(tmp_path, *requests)), "a call may stay without a result"


def summary(name: str, **more: Any) -> dict[str, Any]:
    return {"toolCallRoundId": name, "text": f"Up to {name}."} | more


def test_a_summary_may_cut_an_earlier_turn(tmp_path: Path) -> None:
    first = answered(round_("r1", "One.", "c1"), round_("r2", "Two.", "c2"), round_("r3", "Three."))
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99,
             "prompt_tokens_details": {"cached_tokens": 40}}  # fmt: skip
    wanted = summary("r2", contextLengthBefore=98_000, usage=usage, source="background")
    second = answered(round_("r4", "Four."), summaries=[summary("r1"), wanted])
    reading = document(
        tmp_path, request("q1", "First.", result=first), request("q2", "Second.", result=second)
    )
    assert sent(reading) == ["Up to r2.", "Three.", "Second.", "Four."]
    body = reading.compactions[-1]
    assert (body.certainty, body.trigger, body.tokens_before) == ("exact", "", 98_000)
    assert body.usage == TokenUsage(50, 9, 40, 0, 99)
    assert body.first_kept_id == "q1/round/r3"
    at = reading.records[[one.body for one in reading.entries].index(body)]
    assert reading.records[at.parent].facts.preview == "Up to r1.", "the last of several counts"


def test_a_summary_of_the_present_turn(tmp_path: Path) -> None:
    rounds = [round_(f"r{at}", f"Say {at}.", f"c{at}") for at in range(1, 5)]
    before = request("q0", "Before.", result=answered(round_("r0", "Zero.")))
    result = answered(*rounds, summaries=[summary("r2")])
    reading = document(tmp_path, before, request("q1", "Go.", result=result))
    after = ["Say 3.", "result c3", "Say 4.", "result c4"]
    assert sent(reading) == ["Up to r2.", *after]
    result = answered(*rounds, summaries=[summary("r2", numRounds=4)])
    reading = document(tmp_path, before, request("q1", "Go.", result=result))
    assert sent(reading) == ["Up to r2.", *after]
    at = next(n for n, one in enumerate(reading.entries) if one.summary)
    assert reading.records[at - 1].facts.preview == "result c3", "when there were four rounds"


def test_older_summaries_and_those_that_name_nothing(tmp_path: Path) -> None:
    first = request("q1", "First.", result=answered(round_("r1", "One.")))
    second = request("q2", "Second.", result=answered(round_("r2", "Two."), summary=summary("r1")))
    assert sent(document(tmp_path, first, second)) == ["Up to r1.", "Second.", "Two."]
    on_round = answered(round_("r2", "Two.", summary="All of it."), round_("r3", "Three."))
    reading = document(tmp_path, first, request("q2", "Second.", result=on_round))
    assert sent(reading) == ["All of it.", "Three."]
    lost = request("q2", "Second.", result=answered(round_("r2", "Two."), summary=summary("gone")))
    reading = document(tmp_path, first, lost)
    assert sent(reading) == ["First.", "One.", "Second.", "Two."]
    (problem,) = reading.report.problems
    assert "'gone'" in problem.reason and not reading.compactions


def test_a_providers_own_compaction_cannot_be_read(tmp_path: Path) -> None:
    sealed = round_("r2", "Two.", compaction={"type": "compaction", "encrypted_content": "x"})
    result = answered(round_("r1", "One."), sealed)
    reading = document(tmp_path, request("q1", "Go.", result=result))
    (body,) = reading.compactions
    assert body.certainty == "unreadable" and sent(reading)[1:] == ["Two."]
    assert "encrypted" in reading.report.problems[0].reason


def test_a_response_without_the_models_view_is_one_reply(tmp_path: Path) -> None:
    call = {"kind": "toolInvocationSerialized", "toolCallId": "c1", "toolId": "copilot_readFile",
            "resultDetails": {"input": '{"path": "a"}', "isError": True,
                              "output": [{"type": "embed", "value": "gone"}]}}  # fmt: skip
    inline = {"kind": "inlineReference", "inlineReference": {"path": "/src/berth.py"}}
    edit = {"kind": "textEditGroup", "edits": [[{"text": "x = 1"}]]}
    song = {"kind": "ofNextMonth", "value": "la"}
    response = [{"value": "See "}, inline, {"kind": "thinking", "value": "Hm."}, call,
                {"kind": "progressMessage", "content": {"value": "..."}}, edit, song,
                {"kind": "markdownContent", "content": {"value": "Done."}}]  # fmt: skip
    counted = {"promptTokens": 42, "outputTokens": 7}
    reading = document(tmp_path, request("q1", "Look.", response=response, result=counted))
    (reply,) = reading.replies
    assert reply.content == (
        TextBlock("See berth.py"), ThinkingBlock("Hm."), reply.calls[0],
        UnknownBlock("textEditGroup", edit), UnknownBlock("ofNextMonth", song), TextBlock("Done."),
    )  # fmt: skip
    assert reply.calls[0].arguments == {"path": "a"} and reply.usage == TokenUsage(
        42, 7, context=49
    )
    (result,) = reading.results
    assert result.is_error and result.content == (TextBlock("gone"),)
    (problem,) = reading.report.problems
    assert problem.reason.startswith("1 part of a response of the kind 'ofNextMonth'")


def test_cancelled_and_failed_requests(tmp_path: Path) -> None:
    response = [{"value": "I beg"}]
    error = {"errorDetails": {"message": "rate limit"}}
    stopped = answered(round_("r1", "One.", "c1"))
    reading = document(
        tmp_path,
        request("q1", "First.", response=response, isCanceled=True),
        request("q2", "Second.", result=error),
        request("q3", "Third.", result=stopped, modelState={"value": 2}),
        request("q4", "Fourth.", modelState={"value": 0}),
    )
    endings = [(one.stop_reason, one.error) for one in reading.replies]
    assert endings == [
        ("aborted", ""),
        ("error", "rate limit"),
        ("tool_calls", ""),
        ("aborted", ""),
    ]
    assert reading.replies[0].content == (TextBlock("I beg"),)
    assert reading.entries[-1].text == "Fourth.", "one that waits has no reply"


def test_a_log_is_replayed_and_its_lines_are_kept(tmp_path: Path) -> None:
    added = [{"value": "I "}, {"value": "look."}]
    changes: list[dict[str, Any] | bytes] = [
        start(request("q1", "Look.")),
        {"kind": 1, "k": ["customTitle"], "v": "Berths"},
        {"kind": 2, "k": ["requests", 0, "response"], "v": added},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "see."}], "i": 1},
        {"kind": 1, "k": ["requests", 0, "result"], "v": {"errorDetails": {"message": "no"}}},
        {"kind": 3, "k": ["requests", 0, "result"]},
        {"kind": 1, "k": ["requests", 5, "result"], "v": {}},
        b'{"kind": 2, "k": ["requests", 0, "resp',
    ]
    reading = log(tmp_path, *changes)
    assert [one.text for one in reading.entries] == ["Look.", "I see."]
    assert reading.replies[0].stop_reason == "stop"
    assert (reading.header.session_id, reading.header.title) == ("s-1", "Berths")
    raw = (tmp_path / "chat.jsonl").read_bytes()
    assert b"\n".join(one.raw for one in reading.report.asides) + b"\n" == raw
    lines = [one.line for one in reading.report.asides] + [one.line for one in reading.records]
    assert len(set(lines)) == len(lines)
    assert [one.line for one in reading.report.problems] == [7, 8]


def test_requests_that_a_log_takes_out_are_branches(tmp_path: Path) -> None:
    reply = [{"value": "Yes."}]
    one, two, three, four, five = (
        request(f"q{at}", f"Ask {at}.", response=reply) for at in range(1, 6)
    )
    reading = log(
        tmp_path,
        start(one),
        {"kind": 2, "k": ["requests"], "v": [two, three]},
        {"kind": 2, "k": ["requests"], "i": 1},
        {"kind": 2, "k": ["requests"], "v": [four]},
        {"kind": 3, "k": ["requests", 1]},
        {"kind": 1, "k": ["requests"], "v": [one, five]},
    )
    assert sent(reading) == ["Ask 1.", "Yes.", "Ask 5.", "Yes."]
    texts = [entry.text for entry in reading.entries]
    yes = texts.index("Yes.")
    children = [texts[at] for at in reading.tree.children(yes)]
    assert sorted(children) == ["Ask 2.", "Ask 4.", "Ask 5."]
    below_two = reading.records[texts.index("Ask 3.")].parent
    assert reading.records[below_two].parent == texts.index("Ask 2.")


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    grown = log(tmp_path, start(), {"kind": 2, "k": ["requests"], "v": [request("q1", "First.")]})
    assert grown.prompts == ["First."]
    again = log(tmp_path, start(request("q1", "First."), request("q2", "Second.")))
    assert again.prompts == ["First.", "Second."], "nothing is added to what was read before"
    twice = log(tmp_path, start(request("q1", "First.")), start(request("q2", "Second.")))
    assert sent(twice) == ["Second."] and twice.prompts == ["First.", "Second."]


def test_what_a_document_has_in_another_shape_is_kept_aside(tmp_path: Path) -> None:
    rounds = answered(round_("r1", "I look.", "c1"), renderedUserMessage={"of": "next month"})
    reading = document(
        tmp_path, request("q1", "Look.", result=rounds), request("q2", "On.", response={"v": "So."})
    )
    assert [json.loads(one.raw)["requestId"] for one in reading.report.asides] == ["q1", "q2"]
    assert ["has a shape" in one.reason for one in reading.report.problems] == [True, True]
    lines = [one.line for one in (*reading.report.asides, *reading.records)]
    assert len(set(lines)) == len(lines)
    other = document(tmp_path, request("q1", "Look."), "a request of next month")
    assert [one.raw for one in other.report.asides] == [b'"a request of next month"']
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"responderUsername": "x", "requests": {"q1": "Look."}}))
    assert [one.raw for one in Reading(path).report.asides] == [b'{"q1":"Look."}']
    whole = document(tmp_path, request("q1", "Look.", result=answered(round_("r1", "So.", "c1"))))
    assert not whole.report.asides and not whole.report.problems


def test_a_call_that_was_cut_off_is_no_error(tmp_path: Path) -> None:
    cut = answered(round_("r1", "I look.", "c1", "c2"))
    del cut["metadata"]["toolCallResults"]["c2"]
    reading = document(tmp_path, request("q1", "Look.", result=cut))
    assert reading.call_ids == {"c1", "c2"} and [one.call_id for one in reading.results] == ["c1"]
    assert not any(one.facts.flags & Flag.ERROR for one in reading.records)


def test_files_that_are_none_and_records_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    for text in ("{", "[]", '{"a": 1}'):
        path.write_text(text)
        with pytest.raises(FormatError):
            CHAT.open(path)
    lines = b'{"type":"session","id":"x"}\n{"requests":[],"responderUsername":"x"}\n'
    assert not CHAT.recognises(path, lines)
    for record in ("", "[]", '{"part":"round"}', '{"part":"result","result":[1]}', '{"part":{}}'):
        assert CHAT.read(record) is not None
    with pytest.raises(ValueError, match="only read"):
        CHAT.write(CHAT.read(""))
    odd = document(tmp_path, {"message": None, "response": None, "result": 7}, requestsV2=[])
    assert [type(one.body) for one in odd.entries] == [UserMessage, CustomData]
    assert not document(tmp_path, requests=None).records


@pytest.mark.parametrize(
    "user",
    [
        ".config/Code/User", ".config/Code - Insiders/User", ".config/VSCodium/User",
        "Library/Application Support/Code/User", "AppData/Roaming/Code/User",
        ".vscode-server/data/User",
    ],
)  # fmt: skip
def test_sessions_are_found_where_they_are_kept(tmp_path: Path, user: str) -> None:
    workspace = tmp_path / user / "workspaceStorage" / "00ff"
    chats, empty = workspace / "chatSessions", tmp_path / user / "globalStorage"
    empty /= "emptyWindowChatSessions"
    for folder in (chats, empty):
        folder.mkdir(parents=True)
    (workspace / "workspace.json").write_text('{"folder": "file:///c%3A/src/har%20bour"}')
    log(chats, start(request("q1", "First.")))
    document(chats, request("q1", "First."))
    document(empty, creationDate=1_790_000_000_000, customTitle="Quays")
    os.utime(chats / "chat.jsonl", (1_700_000_000, 1_700_000_000))
    found = list(CHAT.find(tmp_path, {}))
    assert [one.path for one in found] == [empty / "chat.json", chats / "chat.jsonl"]
    assert found[1].cwd == "c:/src/har bour" and found[0].cwd == ""
    header = found[0].header
    assert header is not None and (header.title, header.time_ms) == ("Quays", 1_790_000_000_000)
    assert Reading(chats / "chat.jsonl").header.cwd == "c:/src/har bour"


def test_the_places_may_be_moved(tmp_path: Path) -> None:
    portable, config = tmp_path / "portable", tmp_path / "config"
    for place in (portable / "user-data", config / "Code"):
        folder = place / "User" / "globalStorage" / "emptyWindowChatSessions"
        folder.mkdir(parents=True)
        document(folder, request("q1", "First."))
    moved = {"XDG_CONFIG_HOME": str(config), "VSCODE_PORTABLE": str(portable)}
    assert len(list(CHAT.find(tmp_path / "home", moved))) == 2
    assert list(CHAT.find(tmp_path / "home", {})) == []

"""Sessions and tasks of Cline, constructed to show one rule each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.cline import CLINE
from explorer.session.context import context_at
from explorer.session.entries import NoteMessage, Unknown
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading

NAME = "1795_ab"
INPUT = '<user_input mode="act">{}</user_input>'


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "role": "user", "content": [{"type": "text", "text": text}], "ts": 5}


def reply(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "role": "assistant", "content": [{"type": "text", "text": text}], **more}


def call(name: str, call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}
    return {"id": name, "role": "assistant", "content": [block]}


def answer(name: str, call_id: str, content: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "name": "run", "content": content}
    return {"id": name, "role": "user", "content": [block]}


MESSAGES = [
    user("u1", INPUT.format("One.")), reply("a1", "A."), user("u2", INPUT.format("Two.")),
    reply("a2", "B."), user("u3", INPUT.format("Three.")), reply("a3", "C."),
]  # fmt: skip
SUMMARY = {
    "role": "user", "content": [{"type": "text", "text": "Context summary:\n\nS"}],
    "metadata": {"kind": "compaction_summary", "summary": "S", "tokensBefore": 77,
                 "details": {"readFiles": ["/r"], "modifiedFiles": ["/m", 3]}},
}  # fmt: skip


def state(count: int, *kept: Any, last: str = "") -> dict[str, Any]:
    value = {"version": 1, "source_message_count": count, "messages": [SUMMARY, *kept]}
    return {**value, "source_last_message_key": f"id:{last}"} if last else value


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_session(
        messages: Any, compaction: Any = None, manifest: Any = None, **fields: Any
    ) -> Reading:
        folder = tmp_path / ".cline" / "data" / "sessions" / NAME
        folder.mkdir(parents=True, exist_ok=True)
        beside = ((".compaction.json", compaction), (".json", manifest))
        for ending, value in beside:
            path = folder / f"{NAME}{ending}"
            path.unlink(missing_ok=True)
            if value is not None:
                path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
        path = folder / f"{NAME}.messages.json"
        whole = {"version": 1, "agent": "lead", "sessionId": NAME, **fields, "messages": messages}
        path.write_text(json.dumps(whole, indent=1), "utf-8")
        return Reading(path)

    return read_session


def sent(reading: Reading) -> list[str]:
    leaf = reading.report.leaf if reading.report.leaf is not None else len(reading.records) - 1
    messages = context_at(reading.tree, leaf).messages
    return [reading.records[at].entry_id for at in messages]


def test_a_compaction_is_behind_the_messages_that_it_was_made_of(read: Any) -> None:
    reading = read(MESSAGES, state(4, *MESSAGES[2:4], last="a2"))
    (body,) = reading.compactions
    assert (body.summary, body.tokens_before) == ("Context summary:\n\nS", 77)
    assert (body.first_kept_id, body.certainty) == ("u2", "exact")
    assert (body.files.read, body.files.modified) == (("/r",), ("/m",))
    assert sent(reading) == ["compaction-4", "u2", "a2", "u3", "a3"]
    assert not reading.report.problems
    assert sent(read(MESSAGES, state(4))) == ["compaction-4", "u3", "a3"], "nothing is kept"


def test_its_id_stays_when_the_session_goes_on(read: Any) -> None:
    ids = [
        [one.entry_id for one in read(some, state(4)).records] for some in (MESSAGES[:4], MESSAGES)
    ]
    assert ids[1][:5] == ids[0]


def test_a_compaction_of_other_messages_is_not_in_force(read: Any) -> None:
    for stale in (state(9), state(4, last="other"), {"source_message_count": "4"}, "{"):
        reading = read(MESSAGES, stale)
        assert not reading.compactions and len(reading.records) == 6
        assert reading.report.asides or reading.report.problems
    reading = read(MESSAGES, state(4, MESSAGES[0], MESSAGES[3]))
    assert reading.compactions[0].first_kept_id == "u1"
    assert "single messages" in reading.report.problems[0].reason
    changed = {**MESSAGES[3], "content": "cut short"}
    asides = read(MESSAGES, state(4, changed)).report.asides
    assert any(b"cut short" in one.raw for one in asides)


def test_results_of_several_queries_and_of_one(read: Any) -> None:
    one = {"query": "cat a", "result": "text of a", "success": True}
    bad = {"query": "cat b", "result": "", "error": "No such file", "success": False}
    reading = read([
        call("a", "c1", "run"), answer("r1", "c1", [one]), call("b", "c2", "run"),
        answer("r2", "c2", [one, bad]), call("c", "c3", "run"), answer("r3", "c3", [bad]),
        call("d", "c4", "run"), answer("r4", "c4", "plain"),
    ])  # fmt: skip
    texts = [entry.text for entry in reading.entries if entry.body in reading.results]
    assert texts == [
        "text of a",
        "cat a:\ntext of a\ncat b:\nNo such file",
        "No such file",
        "plain",
    ]
    assert [one.is_error for one in reading.results] == [False, False, True, False]
    assert reading.results[0].tool == "run"


def test_a_call_that_was_cut_off_is_no_error(read: Any) -> None:
    reading = read([user("u", INPUT.format("Go.")), call("a", "c", "run", query="x")])
    assert reading.call_ids == {"c"} and not reading.results
    assert not any(one.facts.flags & Flag.ERROR for one in reading.records)


def test_usage_as_its_provider_counts(read: Any) -> None:
    metrics = {"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 60, "cost": 0.5}
    usages = []
    for provider in ("anthropic", "openai-compatible"):
        info = {"provider": provider, "id": "m"}
        (one,) = read([reply("a", "A.", metrics=metrics, modelInfo=info)]).replies
        assert (one.provider, one.model) == (provider, "m")
        usages.append((one.usage.input, one.usage.context, one.usage.cost))
    assert usages == [(100, 165, 0.5), (40, 105, 0.5)]


def test_an_agents_session_and_its_call(read: Any) -> None:
    lead = read([call("a", "c1", "spawn_agent", task="Help."), *MESSAGES], manifest={"cwd": "/w"})
    path = Path(lead.source.path)
    own = path.with_name("agent_1.messages.json")
    origin = {"mode": "subagent", "parentThreadId": NAME, "version": "3.1"}
    value = {"agent": "subagent", "sessionId": f"{NAME}__agent_1", "origin": origin}
    own.write_text(json.dumps({**value, "messages": [user("x", "Help.")]}), "utf-8")
    header = Reading(own).header
    assert (header.relation, header.parent_session, header.parent_call) == ("subagent", NAME, "c1")
    assert (header.cwd, header.agent_version) == ("/w", "3.1")
    assert [one.path for one in CLINE.related(path)] == [own] and not CLINE.related(own)
    assert CLINE.resume(lead.header) == ("cline", "--id", NAME) and CLINE.resume(header) == ()


def test_a_change_of_mode_is_not_typed(read: Any) -> None:
    text = "<mode_notice>Now plan.</mode_notice>\n" + INPUT.format("Go.")
    reading = read([user("u", text)])
    assert reading.prompts == ["Go."]
    assert isinstance(reading.entries[1].body, NoteMessage)
    assert reading.records[1].parent == 0


def test_found_where_the_environment_says(read: Any, tmp_path: Path) -> None:
    path = Path(read(MESSAGES, manifest={"cwd": "/w", "metadata": {"title": "T"}}).source.path)
    data = tmp_path / ".cline" / "data"
    for home, environment in (
        (tmp_path, {}),
        (Path("/none"), {"CLINE_DIR": str(data.parent)}),
        (Path("/none"), {"CLINE_DATA_DIR": str(data)}),
        (Path("/none"), {"CLINE_SESSION_DATA_DIR": str(data / "sessions")}),
    ):
        (found,) = CLINE.find(home, environment)
        assert (found.path, found.cwd) == (path, "/w")
        assert found.header is not None
        assert (found.header.session_id, found.header.title) == (NAME, "T")


@pytest.fixture
def task(tmp_path: Path) -> Path:
    storage = tmp_path / ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
    folder = storage / "tasks" / "1795000000000"
    folder.mkdir(parents=True)
    (storage / "state").mkdir()
    item = {"id": "1795000000000", "task": "Title", "cwdOnTaskInitialization": "/work"}
    (storage / "state" / "taskHistory.json").write_text(json.dumps([7, item]), "utf-8")
    return folder / "api_conversation_history.json"


def test_a_task_of_the_extension_cuts_silently(task: Path, tmp_path: Path) -> None:
    messages = [{name: one for name, one in each.items() if name not in ("id", "ts")}
                for each in MESSAGES]  # fmt: skip
    task.write_text(json.dumps(messages), "utf-8")
    shown = [
        {"say": "text", "conversationHistoryIndex": 1},
        {"say": "text", "conversationHistoryIndex": 4, "conversationHistoryDeletedRange": [2, 3]},
        {"say": "text", "conversationHistoryIndex": 5, "conversationHistoryDeletedRange": [2, 3]},
        {"say": "text", "conversationHistoryDeletedRange": [3, 1]},
    ]
    task.with_name("ui_messages.json").write_text(json.dumps(shown), "utf-8")
    reading = Reading(task)
    assert reading.adapter is CLINE
    (body,) = reading.compactions
    assert (body.certainty, body.summary, body.first_kept_id) == ("inferred", "", "message-4")
    assert sent(reading) == ["cut-4", "message-4", "message-5"]
    assert len(reading.report.problems) == 2
    assert (reading.header.cwd, reading.header.title) == ("/work", "Title")
    assert CLINE.resume(reading.header) == ()
    (found,) = CLINE.find(tmp_path, {})
    assert (found.path, found.cwd) == (task, "/work")


def test_what_is_no_session(read: Any, task: Path) -> None:
    path = Path(read(MESSAGES).source.path)
    for text in ('{"messages": 7}', "[]", "{"):
        path.write_text(text, "utf-8")
        with pytest.raises(FormatError):
            CLINE.open(path)
    for record in ("", "{", "[]", "7", '{"role":3}', '{"role":"user","content":7}', "\ud800"):
        assert CLINE.read(record) is not None
    assert isinstance(CLINE.read("{}").body, Unknown)
    os.unlink(path)
    assert list(CLINE.find(path.parent, {})) == []

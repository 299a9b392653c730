"""Tasks of Roo Code, constructed to show one rule each, and what it shares with Cline."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.roo import ROO
from explorer.session.context import context_at
from explorer.session.entries import NoteMessage, ThinkingBlock, Unknown, UserMessage
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading
from tests.formats.test_mutated_files import mutated

FOLDER = "# Current Workspace Directory (/work/shop) Files"
STATE = f"<environment_details>\n{FOLDER}\n</environment_details>"
START = 1_795_000_000_000


def user(time: int, *texts: str, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": one} for one in texts]
    return {"role": "user", "content": blocks, "ts": START + time, **more}


def reply(time: int, text: str, *calls: str, **more: Any) -> dict[str, Any]:
    blocks: list[Any] = [{"type": "text", "text": text}]
    blocks += [{"type": "tool_use", "id": one, "name": "read_file", "input": {}} for one in calls]
    return {"role": "assistant", "content": blocks, "ts": START + time, **more}


def result(call: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": text, **more}


def request(time: int, **more: Any) -> dict[str, Any]:
    return {"ts": START + time, "type": "say", "say": "api_req_started", "text": json.dumps(more)}


def condensed(time: int, name: str | None, **more: Any) -> dict[str, Any]:
    details = {
        "prevContextTokens": 900,
        "newContextTokens": 90,
        "cost": 0.5,
        "summary": "S",
        **more,
    }
    if name:
        details["condenseId"] = name
    return {"ts": START + time, "say": "condense_context", "contextCondense": details}


def summary(time: int, name: str | None, **more: Any) -> dict[str, Any]:
    own = {"condenseId": name} if name else {}
    return user(time, "Summary.", isSummary=True, **own, **more)


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_task(messages: Any, shown: Any = (), item: Any = None) -> Reading:
        folder = tmp_path / "rooveterinaryinc.roo-cline" / "tasks" / "1795000000000"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ui_messages.json").write_text(json.dumps(list(shown)), "utf-8")
        if item is not None:
            (folder / "history_item.json").write_text(json.dumps(item), "utf-8")
        path = folder / "api_conversation_history.json"
        path.write_text(json.dumps(messages), "utf-8")
        return Reading(path)

    return read_task


def sent(reading: Reading) -> list[str]:
    """First words of what is sent at the end."""
    leaf = reading.report.leaf if reading.report.leaf is not None else len(reading.records) - 1
    return [
        reading.entries[at].summary or reading.entries[at].text
        for at in context_at(reading.tree, leaf).messages
    ]


def test_one_message_is_results_words_and_state(read: Any) -> None:
    mixed = user(3, "<feedback>\nNot so.\n</feedback>", STATE)
    mixed["content"].insert(0, result("c2", "two", is_error=True))
    mixed["content"].insert(0, result("c1", "one"))
    reading = read(
        [user(1, f"<task>\nDo.\n</task>\n\n{STATE}"), reply(2, "I do.", "c1", "c2"), mixed]
    )
    ids = [one.entry_id.removeprefix("user-") for one in reading.records]
    first, last = str(START + 1), str(START + 3)
    assert ids == [first, f"{first}/added", f"assistant-{START + 2}", f"{last}/c1", f"{last}/c2",
                   last, f"{last}/added"]  # fmt: skip
    assert [one.parent for one in reading.records] == [-1, 0, 1, 2, 3, 4, 5]
    assert reading.prompts == ["Do.", "Not so."]
    assert [one.is_error for one in reading.results] == [False, True]
    assert [type(reading.entries[at].body) for at in (1, 6)] == [NoteMessage, NoteMessage]
    assert reading.entries[6].text == STATE
    assert reading.header.cwd == "/work/shop"


def test_a_call_that_was_cut_off_is_no_error(read: Any) -> None:
    reading = read([user(1, "<task>\nDo.\n</task>"), reply(2, "I do.", "c1")])
    assert reading.call_ids == {"c1"} and not reading.results
    assert not any(one.facts.flags & Flag.ERROR for one in reading.records)


def test_what_the_program_sends_is_not_typed(read: Any) -> None:
    texts = (
        "[read_file for 'a'] Result:",
        "[ERROR] You did not use a tool",
        "Typed, without tags.",
    )
    reading = read([user(at, one) for at, one in enumerate(texts)])
    bodies = [one.body for one in reading.entries]
    assert [isinstance(one, UserMessage) and one.synthetic for one in bodies] == [True, True, False]
    words = "The user denied this and said:\n<feedback>\nNo.\n</feedback>"
    reading = read([user(1, "[write for 'a'] Result:", words)])
    assert reading.prompts == ["[write for 'a'] Result:\n" + words]


def test_a_condense_keeps_nothing_and_has_its_tokens_by_its_id(read: Any) -> None:
    other = condensed(1, "gone", prevContextTokens=7)
    reading = read(
        [user(1, "A", condenseParent="x"), reply(2, "B", condenseParent="x"), summary(5, "x"),
         user(6, "C")], [other, condensed(5, "x")],
    )  # fmt: skip
    body = reading.compactions[-1]
    assert (body.tokens_before, body.tokens_after, body.first_kept_id) == (900, 90, "")
    assert body.usage is not None and body.usage.cost == 0.5
    assert body.certainty == "exact" and sent(reading) == ["Summary.", "C"]


def test_an_older_condense_keeps_the_last_messages_behind_it(read: Any) -> None:
    reading = read(
        [user(1, "First"), reply(2, "B", condenseParent="x"), user(3, "C", condenseParent="x"),
         summary(3, "x"), reply(4, "D"), user(5, "E"), reply(8, "F")],
        [condensed(6, "x")],
    )  # fmt: skip
    body = reading.compactions[0]
    assert body.first_kept_id == f"assistant-{START + 4}"
    assert sent(reading) == ["Summary.", "D", "E", "F"]
    order = [one.text or one.summary for one in reading.entries]
    assert order == ["First", "B", "C", "D", "E", "Summary.", "F"]
    assert any("still sent" in one.reason for one in reading.report.problems), "the first message"


def test_a_truncation_hides_and_keeps_the_rest(read: Any) -> None:
    marker = user(3, "[hidden: 2]", isTruncationMarker=True, truncationId="t")
    cut = {"say": "sliding_window_truncation", "ts": START + 6,
           "contextTruncation": {"truncationId": "t", "prevContextTokens": 50}}  # fmt: skip
    reading = read(
        [user(1, "A", truncationParent="t"), reply(2, "B", truncationParent="t"), marker,
         user(4, "C"), reply(7, "D")], [cut],
    )  # fmt: skip
    assert reading.compactions[0].tokens_before == 50
    assert sent(reading) == ["[hidden: 2]", "C", "D"]


def test_a_compaction_that_was_taken_back_hides_nothing(read: Any) -> None:
    reading = read([user(1, "A", condenseParent="x"), reply(9, "B")], [condensed(5, "x")])
    (body,) = reading.compactions
    assert (body.certainty, body.tokens_before) == ("inferred", 900)
    assert sent(reading) == ["S", "A", "B"] and reading.report.problems


def test_two_compactions_without_ids_have_theirs_in_order(read: Any) -> None:
    reading = read(
        [user(1, "A"), summary(2, None), user(3, "B"), summary(4, None)],
        [condensed(2, None, prevContextTokens=1), condensed(4, None, prevContextTokens=2)],
    )  # fmt: skip
    assert [one.tokens_before for one in reading.compactions] == [1, 2]


def test_requests_are_those_of_the_replies(read: Any) -> None:
    messages = [user(1, "A"), reply(10, "B"), user(11, "C"), reply(20, "D")]
    shown = [
        request(2, tokensIn=1, tokensOut=1), request(5, request="…"),
        request(6, apiProtocol="anthropic", tokensIn=100, tokensOut=7, cacheReads=60, cost=0.25),
        request(12, tokensIn=30, tokensOut=8, cacheReads=60, cacheWrites=10),
    ]  # fmt: skip
    first, second = (one.usage for one in read(messages, shown).replies)
    assert (first.input, first.output, first.cache_read, first.context) == (40, 7, 60, 107)
    assert first.cost == 0.25
    assert (second.input, second.cache_write, second.context) == (30, 10, 108)


def test_a_task_of_a_task(read: Any, tmp_path: Path) -> None:
    item = {"workspace": "/work/x", "task": "Title", "parentTaskId": "p", "childIds": ["c", "../q"]}
    reading = read([user(1, "A")], [], item)
    header = reading.header
    assert (header.cwd, header.title, header.relation) == ("/work/x", "Title", "subagent")
    child = (
        tmp_path / "rooveterinaryinc.roo-cline" / "tasks" / "c" / "api_conversation_history.json"
    )
    child.parent.mkdir()
    child.write_text("[]", "utf-8")
    assert [one.path for one in ROO.related(Path(reading.source.path))] == [child]
    assert ROO.resume(header) == ()


def test_damage_is_named_and_the_rest_is_read(read: Any) -> None:
    reasoning = reply(3, "B")
    reasoning["content"].insert(0, {"type": "reasoning", "text": "Hm."})
    reading = read([user(1, "A"), 7, {"role": "dreamer"}, {}, reasoning])
    assert reading.entries[-1].content[0] == ThinkingBlock("Hm.")
    assert sum(isinstance(one.body, Unknown) for one in reading.entries) == 2
    assert len(reading.report.problems) == 3 and reading.report.asides[0].raw == b"7"
    path = Path(reading.source.path)
    path.with_name("ui_messages.json").write_text("[{", "utf-8")
    assert "ui_messages.json cannot be read" in Reading(path).report.problems[0].reason
    for text in ("{}", "[{", ""):
        path.write_text(text, "utf-8")
        with pytest.raises(FormatError):
            ROO.open(path)


def test_a_mutated_view_of_the_editor_changes_no_message(read: Any) -> None:
    messages = [user(1, "A"), reply(2, "B", condenseParent="x"), summary(5, "x"), reply(8, "C")]
    shown = [request(1, tokensIn=5, tokensOut=1), condensed(5, "x"), condensed(7, "y")]
    path = Path(read(messages, shown).source.path)
    data = json.dumps(shown).encode()
    for seed in range(300):
        path.with_name("ui_messages.json").write_bytes(mutated(data, Random(seed), True))
        assert len(Reading(path).replies) == 2


def test_a_path_from_its_own_folder(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(read([user(1, "A")]).source.path)
    monkeypatch.chdir(path.parent)
    assert Reading(Path(path.name)).header.session_id == "1795000000000"


def test_found_in_every_editor(tmp_path: Path) -> None:
    task = Path(
        "User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json"
    )
    bases = [tmp_path / ".config" / "Code", tmp_path / "moved" / "VSCodium"]
    for base in bases:
        (base / task).parent.mkdir(parents=True)
        (base / task).write_text("[]", "utf-8")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "moved")}
    found = list(ROO.find(tmp_path, environment))
    assert sorted(one.path for one in found) == sorted(base / task for base in bases)
    assert [one.format for one in ROO.find(tmp_path, {})] == ["roo"]

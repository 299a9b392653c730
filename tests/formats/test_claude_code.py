"""Claude Code's sessions: replies, results, branches, compactions, and what nobody typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.audit.provenance import Provenance, spending_known
from explorer.formats.adapter import ReadCancelled
from explorer.formats.claude_code.adapter import CLAUDE_CODE
from explorer.session.context import context_at
from explorer.session.describe import describe
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    CustomData,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    PutBack,
    ShellMessage,
    ThinkingBlock,
    TokenUsage,
    ToolResultMessage,
    Unknown,
    UserMessage,
)
from explorer.session.kinds import Flag
from explorer.session.usage_sums import Listed, UsageSum, price_size, usage_sum
from tests.formats.agents.reading import Reading
from tests.formats.claude_lines import USAGE, Lines, leaf_id, problems, shape


def test_the_records_of_a_reply_are_one_entry_and_parallel_results_no_branches(
    tmp_path: Path,
) -> None:
    lines = Lines().user("u1", "count and read")
    lines.reply("a1", "msg_1", "I do both.", usage={**USAGE, "output_tokens": 2})
    lines.reply("a2", "msg_1", ("c1", "Bash"), usage={**USAGE, "output_tokens": 50})
    lines.result("r1", "c1", "3", on="a2")
    lines.reply("a3", "msg_1", ("c2", "Read"), on="a2", usage={**USAGE, "output_tokens": 50})
    lines.result("r2", "c2", "text", on="a3")
    lines.reply("b1", "msg_2", "Three.", on="r1")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u1": "", "a1": "u1", "r1": "r2", "r2": "a1", "b1": "r1"}
    reply = reading.replies[0]
    assert [one.name for one in reply.calls] == ["Bash", "Read"] and len(reply.content) == 3
    assert reply.usage is not None and reply.usage.output == 50 and reply.usage.context == 180
    assert (reply.provider, reply.model, reply.stop_reason) == ("anthropic", "m-1", "stop")
    assert {(one.call_id, one.tool) for one in reading.results} == {("c1", "Bash"), ("c2", "Read")}
    assert leaf_id(reading) == "b1" and not problems(reading)
    assert reading.records[1].raw.count("\n") == 2, "the lines as they are in the file"


def test_what_a_result_is_followed_by_is_put_in_line_too(tmp_path: Path) -> None:
    lines = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Bash"))
    lines.reply("a2", "msg_1", ("c2", "Bash")).result("r1", "c1", on="a1")
    hook = {"type": "hook_additional_context", "content": ["mind the tide"]}
    lines.node("attachment", "h1", attachment=hook)
    lines.result("r2", "c2", on="a2")
    lines.node("progress", "p1", data={"type": "hook_progress"})
    lines.reply("b1", "msg_2", "Done.", on="p1")
    lines.node("system", "s1", subtype="turn_duration", durationMs=5)
    lines.user("u2", "more", on="b1")
    reading = lines.read(tmp_path)
    assert shape(reading) == {
        "u1": "", "a1": "u1", "r1": "a1", "h1": "r1", "r2": "h1", "b1": "r2", "s1": "b1",
        "u2": "s1",
    }  # fmt: skip
    assert [one.reason for one in reading.report.asides] == ["progress of a tool or hook"]
    note = next(one.body for one in reading.entries if one.id == "h1")
    assert isinstance(note, NoteMessage) and not note.display


def test_a_rewind_is_a_branch_and_the_mark_says_where_the_agent_stands(tmp_path: Path) -> None:
    lines = Lines().user("u1", "one").reply("a1", "msg_1", "first")
    lines.user("u2", "wrong way").reply("a2", "msg_2", "wrong")
    lines.user("u3", "right way", on="a1").reply("a3", "msg_3", "right")
    reading = lines.read(tmp_path)
    assert shape(reading)["u2"] == shape(reading)["u3"] == "a1"
    assert leaf_id(reading) == "a3"
    lines.note(type="last-prompt", lastPrompt="wrong way", leafUuid="a2")
    assert leaf_id(lines.read(tmp_path)) == "a2"
    lines.user("u4", "after all", on="a3")
    assert leaf_id(lines.read(tmp_path)) == "u4", "the agent went on after the mark"


def test_of_usage_recorded_while_the_reply_came_in_the_prompt_is_exact(tmp_path: Path) -> None:
    lines = Lines().user("u1", "hi").reply("a1", "msg_1", "Hello.", stop_reason=None)
    lines.reply("a2", "msg_2", "Again.", stop_reason="max_tokens")
    zero = dict.fromkeys(USAGE, 0)
    lines.reply("a3", "msg_3", "Copied.", usage=zero)
    reading = lines.read(tmp_path)
    partial, whole = (one.usage for one in reading.replies[:2])
    assert partial == TokenUsage(10, 5, 100, 20, 135, is_partial=True)
    assert whole is not None and not whole.is_partial and reading.replies[2].usage is None
    assert [one.stop_reason for one in reading.replies] == ["", "length", "stop"]
    assert "1 reply was recorded with the first count" in problems(reading)
    usage = CLAUDE_CODE.usage(reading.records[2].raw, 0)
    assert usage is not None and usage.output == 5


def test_the_first_count_of_a_reply_is_a_lower_bound(tmp_path: Path) -> None:
    lines = Lines().user("u1", "hi")
    for number in range(2):
        lines.reply(f"a{number}", "msg_1", f"part {number}", stop_reason=None)
    lines.reply("b1", "x1", "No response.", model="<synthetic>", stop_reason=None)
    lines.reply("c1", "msg_2", "Copied.", usage=dict.fromkeys(USAGE, 0))
    reading = lines.read(tmp_path)
    usages = [CLAUDE_CODE.usage(one.raw, -1) for one in reading.records[1:]]
    assert usages == [TokenUsage(10, 5, 100, 20, 135, is_partial=True), None, None]
    least = UsageSum(10, 5, 100, 20, uncounted=1, listed=1, listed_cost=0.5)
    assert usage_sum(usages[0], Listed(0.5)) == least, "and so is its cost"
    assert price_size(usages[0]) == 0
    known = spending_known(least)
    assert known.provenance is Provenance.INFERRED and known.basis.startswith("At least so much: ")
    assert [one.facts.usage for one in reading.records[1:]] == [135, -1, -1], "the gauge has it"


def test_a_compaction_keeps_a_range_and_what_hangs_on_its_tail_comes_after(tmp_path: Path) -> None:
    lines = Lines().user("u1", "begin").reply("a1", "msg_1", "begun")
    lines.user("u2", "go on").reply("a2", "msg_2", "gone on")
    segment = {"headUuid": "u2", "anchorUuid": "k2", "tailUuid": "a2"}
    messages = {"anchorUuid": "k2", "uuids": ["u2", "a2"], "allUuids": ["u2", "never", "a2"]}
    lines.boundary(
        "k1", "a2", trigger="manual", postTokens=70, preservedSegment=segment,
        preservedMessages=messages,
    )  # fmt: skip
    lines.summary("k2", "This session is being continued. We began.")
    lines.user("u3", "<command-name>/compact</command-name>", on="a2")
    lines.user("u4", "and now?").reply("a4", "msg_4", "This.")
    reading = lines.read(tmp_path)
    assert shape(reading) == {
        "u1": "", "a1": "u1", "u2": "a1", "a2": "u2", "k1": "a2", "u3": "k1", "u4": "u3",
        "a4": "u4",
    }  # fmt: skip
    (body,) = reading.compactions
    assert body == CompactionSummary(
        "This session is being continued. We began.",
        "u2",
        900,
        70,
        trigger="manual",
        put_back=PutBack(5, 5_000),
    )
    context = context_at(reading.tree, reading.tree.index_of("a4"))
    ids = [reading.records[at].entry_id for at in context.messages]
    assert ids == ["k1", "u2", "a2", "u3", "u4", "a4"]


def test_an_older_compaction_keeps_nothing_and_hangs_on_what_came_before(tmp_path: Path) -> None:
    lines = Lines().user("u1", "begin").reply("a1", "msg_1", "begun")
    lines.boundary("k1", "nowhere").summary("k2", "We began.").user("u2", "now?")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u1": "", "a1": "u1", "k1": "a1", "u2": "k1"}
    (body,) = reading.compactions
    assert (body.first_kept_id, body.certainty, body.tokens_after) == ("", "exact", None)
    assert "1 record whose parent is not in the file" in problems(reading)
    assert [reading.records[at].entry_id for at in context_at(reading.tree, 3).messages] == [
        "k1", "u2",
    ]  # fmt: skip


def test_a_file_may_begin_with_a_compaction(tmp_path: Path) -> None:
    lines = Lines().boundary("k1", "nowhere").summary("k2", "Before.").user("u1", "now?")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"k1": "", "u1": "k1"} and not problems(reading)


@pytest.mark.parametrize("with_kept", [False, True])
def test_what_is_not_known_of_a_compaction_is_named(tmp_path: Path, with_kept: bool) -> None:
    lines = Lines().user("u1", "begin").reply("a1", "msg_1", "begun")
    if with_kept:
        lines.boundary("k1", "a1", preservedSegment={"headUuid": "gone", "tailUuid": "gone"})
        lines.summary("k2", "Began.")
    else:
        lines.boundary("k1", "a1").user("u2", "next")
    reading = lines.read(tmp_path)
    (body,) = reading.compactions
    assert body.certainty == ("inferred" if with_kept else "unreadable")
    assert ("kept" if with_kept else "summary of the compaction is not") in problems(reading)


def test_a_summary_without_its_boundary_is_an_inferred_compaction(tmp_path: Path) -> None:
    reading = Lines().summary("k1", "Earlier.", on=None).user("u1", "now?").read(tmp_path)
    (body,) = reading.compactions
    assert (body.summary, body.certainty) == ("Earlier.", "inferred")
    assert "without its boundary" in problems(reading)


def test_an_old_summary_without_a_boundary_goes_on_with_what_stands_above(tmp_path: Path) -> None:
    lines = Lines().user("u0", "another one", on=None).user("u1", "begin", on=None)
    lines.reply("a1", "msg_1", "begun").summary("k1", "We began.", on=None).user("u2", "now?")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u0": "", "u1": "", "a1": "u1", "k1": "a1", "u2": "k1"}
    assert "1 record whose parent is not in the file" in problems(reading)


def test_results_that_left_the_context_are_pruned(tmp_path: Path) -> None:
    lines = Lines().user("u1", "read").reply("a1", "msg_1", ("c1", "Read"), ("c2", "Read"))
    lines.result("r1", "c1", "long " * 400).result("r2", "c2", "short").reply(
        "a2", "msg_2", "Read."
    )
    facts = {"trigger": "auto", "preTokens": 9, "tokensSaved": 480, "compactedToolIds": ["c1", "x"]}
    lines.node("system", "m1", subtype="microcompact_boundary", microcompactMetadata=facts)
    lines.user("u2", "next")
    reading = lines.read(tmp_path)
    body = reading.entries[reading.tree.index_of("m1")].body
    assert isinstance(body, CustomData) and body.data["saved"] == 480
    pruned = context_at(reading.tree, reading.tree.index_of("u2")).pruned
    assert [reading.records[at].entry_id for at in pruned] == ["r1"]
    assert pruned[reading.tree.index_of("r1")].tokens == 500
    assert not context_at(reading.tree, reading.tree.index_of("a2")).pruned


def test_what_nobody_typed_is_no_prompt(tmp_path: Path) -> None:
    lines = Lines().user("u1", "Do it.").user("u2", "Caveat: The messages below ...", isMeta=True)
    for number, text in enumerate(
        ("<command-name>/model</command-name>", "<local-command-stdout>Set</local-command-stdout>",
         "<task-notification>done</task-notification>", "[Request interrupted by user]")
    ):  # fmt: skip
        lines.user(f"x{number}", text)
    lines.user("o1", "An agent is done.", origin={"kind": "task-notification"})
    lines.user("o2", [{"type": "text", "text": "Continue from where you left off."}], isMeta=True)
    reminder = {"type": "text", "text": "<system-reminder>mind</system-reminder>"}
    lines.user("u3", [reminder, {"type": "text", "text": "Really typed."}])
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "Typed meanwhile."}
    lines.node("attachment", "q1", attachment=queued)
    notice = {**queued, "commandMode": "task-notification", "prompt": "A task is done."}
    lines.node("attachment", "q2", attachment=notice)
    reading = lines.read(tmp_path)
    assert [text.split("\n")[-1] for text in reading.prompts] == [
        "Do it.", "Really typed.", "Typed meanwhile.",
    ]  # fmt: skip
    assert sum(isinstance(one.body, UserMessage) for one in reading.entries) == 11


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["<command-name>/mode</command-name>\n  <command-args>plan</command-args>"],
         "command /mode plan"),
        (["<command-message>review</command-message>\n<command-name>/review</command-name>"],
         "command /review"),
        (["<local-command-stdout>\x1b[2mContext: 40 %\x1b[22m</local-command-stdout>"],
         "output of a command: Context: 40 %"),
        (["<local-command-stdout></local-command-stdout>"], "output of a command: nothing"),
        (["<local-command-caveat>Caveat: The messages</local-command-caveat>"],
         "note: the user ran local commands"),
        (["<ide_opened_file>The user opened the file /tide/a.py in the IDE. It may"],
         "opened /tide/a.py in the editor"),
        (["<ide_selection>The user selected the lines 3 to 9 from /tide/a.py:\nx = 1\n"],
         "selected lines 3 to 9 of /tide/a.py in the editor"),
        (["<task-notification>\n<task-id>b</task-id>\n<summary>Tests are done</summary>"],
         "Tests are done"),
    ],
)  # fmt: skip
def test_the_row_of_what_a_program_inserted_says_what_happened(
    tmp_path: Path, texts: list[str], said: str
) -> None:
    blocks = [{"type": "text", "text": text} for text in texts]
    lines = Lines().user("u1", blocks)
    typed = {"type": "text", "text": "Mend the quay:\n\n# Plan"}
    lines.user("u2", [*blocks, typed])
    first, second = map(describe, lines.read(tmp_path).entries)
    assert first.preview == said and first.flags & Flag.SYNTHETIC
    assert second.preview == "Mend the quay: Plan" and not second.flags & Flag.SYNTHETIC


def test_a_command_that_the_person_ran_is_one_entry_with_its_output(tmp_path: Path) -> None:
    lines = Lines().user("s1", "<bash-input>ls quay</bash-input>")
    lines.user("s2", "<bash-stdout>boat\n</bash-stdout><bash-stderr>no rope</bash-stderr>")
    lines.user("u1", "what is there?")
    reading = lines.read(tmp_path)
    assert reading.entries[0].body == ShellMessage("ls quay", "boat\nno rope")
    assert shape(reading) == {"s1": "", "u1": "s1"}


def test_files_pictures_and_hooks_beside_the_conversation(tmp_path: Path) -> None:
    lines = Lines().user("u1", "look")
    for number, attachment in enumerate((
        {"type": "file", "filename": "/a.txt", "content": {
            "type": "text", "file": {"filePath": "/a.txt", "content": "harbour"}}},
        {"type": "nested_memory", "path": "/CLAUDE.md", "content": {"content": "be calm"}},
        {"type": "file", "filename": "/b.png", "content": {
            "type": "image", "file": {"base64": "QUJD", "type": "image/png"}}},
        {"type": "hook_non_blocking_error", "stderr": "oh"},
        {"type": "of next month", "content": "something new"},
    )):  # fmt: skip
        lines.node("attachment", f"n{number}", attachment=attachment)
    bodies = [one.body for one in lines.read(tmp_path).entries[1:]]
    assert isinstance(bodies[0], FilesMessage) and bodies[0].files[0].content == "harbour"
    assert isinstance(bodies[1], FilesMessage) and bodies[1].files[0].path == "/CLAUDE.md"
    assert (
        isinstance(bodies[2], NoteMessage) and ImageBlock("image/png", "QUJD") in bodies[2].content
    )
    assert isinstance(bodies[3], CustomData) and bodies[3].name == "hook_non_blocking_error"
    assert isinstance(bodies[4], NoteMessage) and not bodies[4].display


def test_replies_that_no_model_wrote(tmp_path: Path) -> None:
    lines = Lines().user("u1", "hi")
    lines.reply("a1", "x1", "No response requested.", model="<synthetic>")
    lines.reply("a2", "x2", "API Error: 529 overloaded", model="<synthetic>")
    lines.records[-1]["isApiErrorMessage"] = True
    reading = lines.read(tmp_path)
    assert [one.stop_reason for one in reading.replies] == ["error", "error"]
    assert reading.replies[1].error == "API Error: 529 overloaded" and not reading.models
    flags = [describe(one).flags for one in reading.entries[1:]]
    marks = Flag.ERROR | Flag.PLACEHOLDER
    assert [flag & marks for flag in flags] == [marks, Flag.ERROR], "only one of them failed"


def test_a_large_output_names_its_file_and_pictures_in_results_count(tmp_path: Path) -> None:
    text = (
        "<persisted-output>\nOutput too large (9KB). Full output saved to: /t/r/x1.txt\n\nPreview"
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ"}}
    lines = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Bash"), ("c2", "Read"))
    lines.result("r1", "c1", text)
    lines.records[-1]["toolUseResult"] = {"stdout": "long"}
    lines.result("r2", "c2", [image, {"type": "text", "text": "seen"}])
    lines.records[-1]["message"]["content"][0]["is_error"] = True
    reading = lines.read(tmp_path)
    first, second = reading.results
    assert first.details == {"persistedOutputPath": "/t/r/x1.txt", "stdout": "long"}
    assert reading.images == 1 and second.is_error and not first.is_error


def test_several_results_of_one_record_are_entries_of_their_own(tmp_path: Path) -> None:
    lines = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Bash"), ("c2", "Read"))
    blocks = [
        {"type": "tool_result", "tool_use_id": one, "content": f"of {one}"} for one in ("c1", "c2")
    ]  # fmt: skip
    lines.user("r1", [*blocks, {"type": "text", "text": "and a remark"}]).user("u2", "next")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u1": "", "a1": "u1", "r1": "a1", "r1#2": "r1", "u2": "r1#2"}
    assert [one.text for one in reading.entries[2:4]] == ["of c1\nand a remark", "of c2"]
    assert [one.tool for one in reading.results] == ["Bash", "Read"]


def test_parents_that_are_missing_are_inferred_and_counted_once(tmp_path: Path) -> None:
    lines = Lines().user("u1", "one", on="before the file").reply("a1", "msg_1", "first")
    lines.user("u2", "two", on="gone").reply("a2", "msg_2", "second", on="gone too")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u1": "", "a1": "u1", "u2": "a1", "a2": "u2"}
    assert "begins in the middle" in problems(reading)
    assert "2 records whose parent is not in the file" in problems(reading)


def test_a_conversation_that_was_cleared_is_a_root_of_its_own(tmp_path: Path) -> None:
    lines = Lines().user("u1", "old", on=None).reply("a1", "msg_1", "old answer")
    lines.node("progress", "p1", None, data={"type": "hook_progress"})
    lines.user("u2", "new").reply("a2", "msg_2", "new answer")
    lines.node("system", "s1", None, subtype="informational", content="alone")
    reading = lines.read(tmp_path)
    assert shape(reading) == {"u1": "", "a1": "u1", "u2": "", "a2": "u2", "s1": "a2"}
    ids = [reading.records[at].entry_id for at in reading.tree.path(reading.tree.index_of("a2"))]
    assert ids == ["u2", "a2"]


def test_damage_and_next_months_records_lose_nothing(tmp_path: Path) -> None:
    lines = Lines().note(type="custom-title", customTitle="First").user("u1", "hi")
    lines.user("u1", "again").node("thought", "t1", text="new").note(type="weather", wind=3)
    lines.note(type="weather", wind=4).note(type="ai-title", aiTitle="Guess")
    lines.node("system", "s1", subtype="tide_table", content="high").reply("a1", "msg_1", "ok")
    lines.note(type="custom-title", customTitle="The harbour").node("assistant", "", message=7)
    path = lines.write(tmp_path / "any name.jsonl")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b'\n[1]\n{"type":"user","uuid":"cut')
    reading = Reading(path)
    assert reading.header.title == "The harbour" and reading.header.agent_version == "2.1.197"
    words = problems(reading)
    for one in (
        "1 record with an id that exists",
        "'thought' is not known",
        "'system/tide_table'",
        "2 records of the type 'weather' are not known",
        "not JSON",
        "not a JSON object",
    ):
        assert one in words, one  # fmt: skip
    assert isinstance(reading.entries[reading.tree.index_of("t1")].body, Unknown)
    assert shape(reading)["s1"] == "t1" and isinstance(reading.entries[-1].body, AssistantMessage)
    kept = reading.lines()
    for line in path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode().split("\n"):
        assert not line or kept[line] >= 1


def test_reading_can_be_cancelled(tmp_path: Path) -> None:
    path = Lines().user("u1", "hi").write(tmp_path / "a.jsonl")
    with pytest.raises(ReadCancelled):
        CLAUDE_CODE.open(path, cancelled=lambda: True)


def test_a_record_that_cannot_be_read_is_an_entry_nevertheless() -> None:
    for record in (
        "",
        "{",
        "[1]",
        '{"type":"user","message":{"content":[{"type":"tool_result"}]}}\n{"toolResult":x}',
    ):
        assert CLAUDE_CODE.read(record) is not None
    assert isinstance(CLAUDE_CODE.read('{"type":["user"]}').body, Unknown)
    with pytest.raises(ValueError, match="only read"):
        CLAUDE_CODE.write(CLAUDE_CODE.read(""))


def test_a_result_is_read_again_with_its_tool(tmp_path: Path) -> None:
    lines = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Grep")).result("r1", "c1", "x")
    body = lines.read(tmp_path).entries[2].body
    assert isinstance(body, ToolResultMessage) and (body.tool, body.call_id) == ("Grep", "c1")


def test_a_message_that_only_the_queue_recorded_is_put_before_the_reply_that_saw_it(
    tmp_path: Path,
) -> None:
    def queue(operation: str, text: str = "") -> dict[str, str]:
        more = {"content": text} if text else {}
        return {"type": "queue-operation", "operation": operation, **more}

    lines = Lines().user("u1", "measure the tide").reply("a1", "msg_1", ("c1", "Bash"))
    lines.note(**queue("enqueue", "in feet, please"))
    lines.note(**queue("enqueue", '{"task_id":"b1"}')).note(**queue("enqueue", "at noon"))
    lines.note(**queue("remove")).result("r1", "c1").reply("a2", "msg_2", "In feet.")
    lines.note(**queue("dequeue")).user("u2", "at noon").reply("a3", "msg_3", "At noon.")
    lines.note(**queue("enqueue", "not this")).note(**queue("popAll", "not this"))
    lines.note(**queue("enqueue", "and at dusk")).note(**queue("remove"))
    lines.node("attachment", "q1", attachment={"type": "queued_command", "prompt": "and at dusk"})
    lines.reply("a4", "msg_4", "At dusk.")
    reading = lines.read(tmp_path)
    assert shape(reading) == {
        "u1": "", "a1": "u1", "r1": "a1", "line-3": "r1", "a2": "line-3", "u2": "a2", "a3": "u2",
        "q1": "a3", "a4": "q1",
    }  # fmt: skip
    (typed,) = (one for one in reading.records if one.entry_id == "line-3")
    body = CLAUDE_CODE.read(typed.raw).body
    assert isinstance(body, UserMessage) and body.content[0].text == "in feet, please"
    assert "1 message was typed during a turn and recorded in the queue alone" in problems(reading)


@pytest.mark.parametrize("with_entries", [False, True])
def test_a_slice_that_begins_with_progress_says_that_something_is_missing(
    tmp_path: Path, with_entries: bool
) -> None:
    lines = Lines().node("progress", "p1", "cut off", data={"type": "hook_progress"})
    if with_entries:
        lines.reply("a1", "msg_1", "the end of it").user("u1", "next")
    reading = lines.read(tmp_path)
    assert problems(reading).count("begins in the middle") == 1
    whole = Lines().node("progress", "p1", None, data={"type": "hook_progress"}).user("u1", "go")
    assert not problems(whole.read(tmp_path))


def test_two_ways_on_from_a_record_that_was_cut_off_are_branches(tmp_path: Path) -> None:
    lines = Lines().user("u0", "begin", on=None).user("u1", "wrong way", on="cut off")
    lines.reply("a1", "msg_1", "wrong").user("u2", "right way", on="cut off")
    lines.result("r1", "c1", on="cut off too").reply("a2", "msg_2", "on", on="cut off too")
    reading = lines.read(tmp_path)
    assert shape(reading) == {
        "u0": "", "u1": "u0", "a1": "u1", "u2": "u0", "r1": "u2", "a2": "r1",
    }  # fmt: skip
    assert "4 records whose parent is not in the file" in problems(reading)


def test_a_call_that_was_cut_off_is_no_error(tmp_path: Path) -> None:
    lines = Lines().user("u1", "go").reply("a1", "msg_1", ("c1", "Bash"), ("c2", "Bash"))
    reading = lines.result("r1", "c1", on="a1").read(tmp_path)
    assert reading.call_ids == {"c1", "c2"} and [one.call_id for one in reading.results] == ["c1"]
    assert not any(describe(one).flags & Flag.ERROR for one in reading.entries)
    assert not problems(reading)


def test_attachments_that_left_the_context_are_named(tmp_path: Path) -> None:
    lines = Lines().user("u1", "read")
    lines.node("attachment", "n1", attachment={"type": "file", "filename": "/a.txt"})
    facts = {"trigger": "auto", "compactedToolIds": [], "clearedAttachmentUUIDs": ["n1", "gone"]}
    lines.node("system", "m1", subtype="microcompact_boundary", microcompactMetadata=facts)
    assert "1 attachment left the context with old results" in problems(lines.read(tmp_path))


def test_thoughts_that_were_made_unreadable_are_kept_as_such(tmp_path: Path) -> None:
    lines = Lines().user("u1", "think").reply("a1", "msg_1", "Thought.")
    lines.records[-1]["message"]["content"][:0] = [
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "thinking", "thinking": "I see.", "signature": "s1"},
    ]
    content = lines.read(tmp_path).replies[0].content
    assert content[:2] == (
        ThinkingBlock("", "sealed", redacted=True), ThinkingBlock("I see.", "s1"),
    )  # fmt: skip

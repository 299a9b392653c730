"""Rollouts of Codex: replies, prompts, tools, counts of tokens, compactions, damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.compaction.messages import with_notes
from explorer.formats.adapter import FormatError
from explorer.formats.registry import adapter_of, open_source, usage_in
from explorer.session.context import context_at, sent_tokens
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    CustomData,
    ImageBlock,
    ModelChange,
    NoteMessage,
    SessionName,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UserMessage,
)
from explorer.session.kinds import Flag
from explorer.tokens.estimate import estimate_text
from tests.formats.agents.reading import Reading
from tests.formats.codex_rollouts import Rollout, name_of

PIXEL = "data:image/png;base64,iVBORw0KGgo="
PREFIX = "Another language model started to solve this problem and left this:\n"


def read(made: Rollout, folder: Path) -> Reading:
    return Reading(made.write(folder))


def path_texts(reading: Reading) -> list[str]:
    """The prompts on the path to where the agent stands."""
    assert reading.report.leaf is not None
    entries = [reading.entries[at] for at in reading.tree.path(reading.report.leaf)]
    return [one.text for one in entries if isinstance(one.body, UserMessage)]


def reasons(reading: Reading) -> str:
    return "\n".join(one.reason for one in reading.report.problems)


# replies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count_first", [True, False])
def test_what_one_request_brought_is_one_reply(tmp_path: Path, count_first: bool) -> None:
    made = Rollout(1).turn(2).prompt("Look.")
    made.event("agent_reasoning", text="Where?")
    made.item("reasoning", summary=[{"type": "summary_text", "text": "Where?"}])
    made.answer("I look.").call("c1", cmd="ls").call("c2", cmd="pwd")
    if count_first:
        made.count(200, 30).result("c1").result("c2").recount()
    else:
        made.result("c1").result("c2").count(200, 30)
    made.answer("Done.").count(300, 5)
    reading = read(made, tmp_path)
    first, second = reading.replies
    assert [type(one) for one in first.content] == [
        ThinkingBlock, TextBlock, ToolCallBlock, ToolCallBlock,
    ]  # fmt: skip
    assert first.usage is not None and (first.usage.output, first.usage.context) == (30, 230)
    assert (first.stop_reason, second.stop_reason) == ("tool_calls", "stop")
    assert reading.output_tokens == 35
    assert [(one.call_id, one.tool) for one in reading.results] == [
        ("c1", "exec_command"), ("c2", "exec_command"),
    ]  # fmt: skip
    parents = [one.parent for one in reading.records]
    assert parents == list(range(-1, len(parents) - 1)), "parallel results are no branches"


def test_an_event_without_an_item_is_shown(tmp_path: Path) -> None:
    made = Rollout(1).prompt("Look.").event("agent_message", message="Only an event.").count()
    (reply,) = read(made, tmp_path).replies
    assert reply.content == (TextBlock("Only an event."),)


def test_requests_follow_each_other_when_only_counts_part_them(tmp_path: Path) -> None:
    made = Rollout(1).prompt("Look.").answer("One.").count().answer("Two.").count()
    assert [len(one.content) for one in read(made, tmp_path).replies] == [1, 1]


def test_totals_tell_where_the_last_count_is_missing(tmp_path: Path) -> None:
    made = Rollout(1).prompt("Look.").answer("One.").count(100, 10, last=None)
    made.prompt("Again.").answer("Two.").count(200, 20, last=None).recount()
    reading = read(made, tmp_path)
    assert [one.usage and one.usage.output for one in reading.replies] == [10, 20]
    assert [one.usage and one.usage.context for one in reading.replies] == [110, 220]
    at = reading.bodies(AssistantMessage)[1][0]
    again = usage_in("codex", reading.records[at].raw, 220)
    assert again is not None and again.input == 200


def test_a_record_of_a_request_and_the_count_behind_it_are_one(tmp_path: Path) -> None:
    used = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    # The thread's sum also has what a revert left behind.
    far = {"input_tokens": 900, "output_tokens": 90, "total_tokens": 990}
    made = Rollout(1).prompt("Look.").answer("One.")
    made.add("token_usage_record", usage=used, thread_token_usage=far).count(100, 10)
    reading = read(made, tmp_path)
    assert reading.output_tokens == 10


def test_an_interrupted_reply_takes_what_the_totals_grew_more(tmp_path: Path) -> None:
    made = Rollout(1).turn(2).prompt("Look.").answer("Zero.").count()
    made.prompt("More.").answer("I be").event("turn_aborted", reason="interrupted")
    made.totals = {"input_tokens": 150, "output_tokens": 17, "total_tokens": 167}
    made.turn(3).prompt("Go on.").answer("Well.").count(40, 4)
    reading = read(made, tmp_path)
    used = [one.usage.output if one.usage else None for one in reading.replies]
    assert used == [10, 7, None, 4]
    (stopped,) = [one for one in reading.replies if one.stop_reason == "aborted"]
    assert stopped.error == "interrupted"


def test_cached_tokens_are_no_fresh_input(tmp_path: Path) -> None:
    made = Rollout(1).prompt("Look.").answer("One.")
    last = {
        "input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 10,
        "output_tokens": 5, "total_tokens": 105,
    }  # fmt: skip
    made.event("token_count", info={"total_token_usage": last, "last_token_usage": last})
    usage = read(made, tmp_path).replies[0].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output) == (30, 60, 10, 5)


def test_a_count_names_the_window_of_its_model(tmp_path: Path) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(40, 2, window=258_400)
    made.prompt("Two?").answer("Two.").count(60, 2)
    windows = [one.usage.window for one in read(made, tmp_path).replies if one.usage]
    assert windows == [258_400, 0]


# prompts ------------------------------------------------------------------------------------------


def test_context_is_no_prompt(tmp_path: Path) -> None:
    made = (
        Rollout(1).message("developer", "<permissions instructions>").message("user", "# AGENTS.md")
    )
    made.message("user", "<environment_context>").prompt("Look.").answer("Yes.").count()
    reading = read(made, tmp_path)
    assert reading.prompts == ["Look."]
    assert [one.body.__class__ for one in reading.entries[:4]] == [
        SystemMessage, NoteMessage, NoteMessage, UserMessage,
    ]  # fmt: skip


def test_a_prompt_is_one_entry_whichever_line_comes_first(tmp_path: Path) -> None:
    made = Rollout(1).event("user_message", message="Look.").event("task_started", turn_id="t")
    made.message("user", "Look.").answer("Yes.").count().prompt("Look.").answer("Again.").count()
    reading = read(made, tmp_path)
    assert reading.prompts == ["Look.", "Look."]
    assert not reading.bodies(NoteMessage)


def test_pictures_come_as_data_or_as_paths(tmp_path: Path) -> None:
    made = Rollout(1)
    content = [
        {"type": "input_text", "text": "See."}, {"type": "input_text", "text": "<image>"},
        {"type": "input_image", "image_url": PIXEL}, {"type": "input_text", "text": "</image>"},
    ]  # fmt: skip
    made.item("message", role="user", content=content)
    made.event("user_message", message="See.", images=[PIXEL], local_images=[])
    made.answer("Seen.").count()
    made.event("user_message", message="And?", images=[], local_images=["/tmp/a.jpg"])
    reading = read(made, tmp_path)
    contents = [one.content for one in reading.entries if isinstance(one.body, UserMessage)]
    assert contents == [
        (TextBlock("See."), ImageBlock("image/png", "iVBORw0KGgo=")),
        (TextBlock("And?"), ImageBlock("image/jpeg", "")),
    ]


# tools --------------------------------------------------------------------------------------------


def test_all_kinds_of_calls_are_read(tmp_path: Path) -> None:
    made = Rollout(1).prompt("Work.")
    made.item("local_shell_call", call_id="c1", action={"type": "exec", "command": ["ls"]})
    patch = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    made.item("custom_tool_call", call_id="c2", name="apply_patch", input=patch)
    made.item("tool_search_call", call_id="c3", arguments={"query": "q"})
    made.event("web_search_end", call_id="w1", query="x", action={"query": "x"})
    made.item("web_search_call", status="completed", action={"type": "search", "query": "x"})
    made.item("function_call", call_id="c4", name="odd", arguments="{not json")
    made.item("local_shell_call_output", call_id="c1", output='{"metadata":{"exit_code":2}}')
    made.event("patch_apply_end", call_id="c2", success=False)
    made.item("custom_tool_call_output", call_id="c2", output="no such file")
    made.item("tool_search_output", call_id="c3", tools=[{"name": "found"}]).count()
    made.result(
        "c4", [{"type": "input_text", "text": "t"}, {"type": "input_image", "image_url": PIXEL}]
    )
    reading = read(made, tmp_path)
    calls = reading.replies[0].calls
    assert [(one.id, one.name) for one in calls] == [
        ("c1", "local_shell"), ("c2", "apply_patch"), ("c3", "tool_search"), ("w1", "web_search"),
        ("c4", "odd"),
    ]  # fmt: skip
    assert [one.id for one in calls if one.hosted] == ["w1"], "no result follows it"
    assert calls[1].arguments == {"input": patch} and calls[4].malformed == "{not json"
    ops = [op for one in reading.records for op in one.facts.ops]
    assert [(one.kind, one.path) for one in ops] == [("edit", "a.py")]
    assert [one.is_error for one in reading.results] == [True, True, False, False]
    assert reading.images == 1 and len(reading.replies) == 1


@pytest.mark.parametrize(
    ("event", "output", "failed"),
    [
        ({"exit_code": 1}, "x", True),
        ({"exit_code": 0}, "Process exited with code 3", False),
        (None, "Wall time: 1\nProcess exited with code 3\nOutput:\n", True),
        (None, {"content": "x", "success": False}, True),
        (None, "Exit code: 0\n", False),
    ],
)
def test_a_result_says_how_its_command_ended(
    tmp_path: Path, event: Any, output: Any, failed: bool
) -> None:
    made = Rollout(1).prompt("Work.").call("c1", cmd="x").count()
    if event is not None:
        made.event("exec_command_end", call_id="c1", **event)
    (result,) = read(made.result("c1", output), tmp_path).results
    assert result.is_error is failed


def test_a_call_that_was_cut_off_is_no_error(tmp_path: Path) -> None:
    reading = read(Rollout(1).prompt("Work.").call("c1", cmd="x").count(), tmp_path)
    assert not reading.results and reading.call_ids == {"c1"}
    assert not reading.report.problems


# errors and turns ---------------------------------------------------------------------------------


def test_errors_are_replies_that_failed(tmp_path: Path) -> None:
    made = Rollout(1).turn(2).prompt("One.").event("task_complete", last_agent_message=None)
    made.turn(3).prompt("Two.")
    made.event("task_complete", last_agent_message=None, error={"message": "overloaded"})
    made.turn(4).prompt("Three.").event("error", message="bad request")
    made.event("task_complete", last_agent_message=None, error={"message": "bad request"})
    made.turn(5).prompt("Four.").answer("Fine.").count()
    made.event("task_complete", last_agent_message=None)
    reading = read(made, tmp_path)
    assert [one.error for one in reading.replies if one.failed][1:] == ["overloaded", "bad request"]
    assert [one.stop_reason for one in reading.replies] == ["error", "error", "error", "stop"]
    assert "not recorded" in reading.replies[0].error


def test_a_turns_context_changes_model_and_thinking(tmp_path: Path) -> None:
    made = Rollout(1, model_provider="openai").turn(2, "gpt-9", "high").exchange("A?", "A.")
    made.turn(3, "gpt-9", "high").exchange("B?", "B.").turn(4, "gpt-9", "low").exchange("C?", "C.")
    made.turn(5, "gpt-10", "low").exchange("D?", "D.")
    reading = read(made, tmp_path)
    shown = [
        getattr(one.body, "model", "") or getattr(one.body, "level", "")
        for one in reading.entries
        if isinstance(one.body, ModelChange | ThinkingLevelChange)
    ]
    assert shown == ["openai/gpt-9", "high", "low", "openai/gpt-10"]
    assert reading.report.leaf is not None
    context = context_at(reading.tree, reading.report.leaf)
    assert (context.thinking_level, context.model) == ("low", "openai/gpt-10")
    assert reading.models == ["gpt-10", "gpt-9"]


def test_rolled_back_turns_are_a_branch(tmp_path: Path) -> None:
    made = Rollout(1)
    for text in ("One", "Two", "Three"):
        made.exchange(f"{text}?", f"{text}.")
    made.event("thread_rolled_back", num_turns=2).exchange("Other?", "Other.")
    reading = read(made, tmp_path)
    assert path_texts(reading) == ["One?", "Other?"]
    assert reading.prompts == ["One?", "Two?", "Three?", "Other?"]
    (back,) = reading.bodies(CustomData)
    assert reading.entries[reading.records[back[0]].parent].text == "One."


def test_a_rollback_at_the_end_moves_the_leaf(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.").exchange("Two?", "Two.")
    assert path_texts(read(made.event("thread_rolled_back", num_turns=1), tmp_path)) == ["One?"]
    made.event("thread_rolled_back", num_turns=7).exchange("New?", "New.")
    made.event("thread_rolled_back", num_turns="many")
    assert path_texts(read(made, tmp_path)) == ["New?"]


# compactions --------------------------------------------------------------------------------------


def user_item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def sent_users(reading: Reading) -> list[str]:
    """The prompts in the context where the agent stands."""
    assert reading.report.leaf is not None
    messages = context_at(reading.tree, reading.report.leaf).messages
    bodies = [reading.entries[at] for at in messages]
    return [one.text for one in bodies if isinstance(one.body, UserMessage)]


@pytest.mark.parametrize("repeated", [0, 1, 2, 12])
def test_a_compaction_repeats_the_users_messages_it_lists_and_no_others(
    tmp_path: Path, repeated: int
) -> None:
    made = Rollout(1)
    asked = [f"Question {at}? " + "why " * at for at in range(12)]
    for text in asked:
        made.exchange(text, "Because.")
    made.count(900, 50)  # the request for the summary
    summary = PREFIX + "All was asked."
    last = asked[len(asked) - repeated :]
    listed = [*map(user_item, last), user_item(summary)]
    made.add(
        "compacted", message=summary, replacement_history=listed, window_id="w2", window_number=1
    )
    made.recount({"total_tokens": 77}).exchange("And now?", "Now this.")
    reading = read(made, tmp_path)
    assert sorted(sent_users(reading)) == sorted([*last, "And now?"])
    (compaction,) = reading.compactions
    assert (compaction.summary, compaction.certainty) == (summary, "exact")
    assert (compaction.tokens_before, compaction.tokens_after) == (950, 77)
    assert (compaction.trigger, compaction.first_kept_id) == ("", "")
    assert compaction.usage is not None and compaction.usage.output == 50
    assert compaction.details["window_id"] == "w2"
    assert not reading.report.problems
    at = reading.bodies(CompactionSummary)[0][0]
    assert reading.entries[reading.records[at].parent].text == "Because."


def test_the_answer_to_the_request_for_a_summary_is_no_reply(tmp_path: Path) -> None:
    made = Rollout(1, paged=True).exchange("One?", "One.")
    made.message("assistant", "All was asked.")
    made.lines[-1]["metadata"] = {"compaction_output": True}
    made.count(500, 40).add(
        "compacted", message=PREFIX + "All was asked.", replacement_history=[user_item("One?")]
    )
    reading = read(made.exchange("Two?", "Two."), tmp_path)
    assert [one.content for one in reading.replies] == [(TextBlock("One."),), (TextBlock("Two."),)]
    assert reading.compactions[0].usage is not None and reading.compactions[0].usage.output == 40


@pytest.mark.parametrize("is_there", [True, False])
def test_an_encrypted_or_redacted_summary_is_unreadable(tmp_path: Path, is_there: bool) -> None:
    secret = [{"type": "compaction", "encrypted_content": "gAAA"}] if is_there else []
    made = Rollout(1).exchange("One?", "One.")
    made.add("compacted", message="", replacement_history=[user_item("One?"), *secret])
    reading = read(made.exchange("Two?", "Two."), tmp_path)
    (compaction,) = reading.compactions
    assert (compaction.summary, compaction.certainty) == ("", "unreadable")
    assert ("encrypted" in reasons(reading)) is is_there
    assert "not known" in reasons(reading)
    assert sent_users(reading) == ["One?", "Two?"]


def test_a_compaction_that_lists_nothing_is_inferred(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.").add("compacted", message=PREFIX + "Asked.")
    reading = read(made.exchange("Two?", "Two."), tmp_path)
    assert reading.compactions[0].certainty == "inferred"
    assert sent_users(reading) == ["One?", "Two?"] and "rebuilt" in reasons(reading)


def test_a_compaction_in_mid_turn(tmp_path: Path) -> None:
    made = Rollout(1).turn(2).prompt("Work.").call("c1", cmd="x").result("c1").count()
    made.add("compacted", message=PREFIX + "Half.", replacement_history=[user_item("Work.")])
    made.recount({"total_tokens": 20}).event("context_compacted").answer("Whole.").count()
    reading = read(made, tmp_path)
    at = reading.bodies(CompactionSummary)[0][0]
    assert isinstance(reading.entries[reading.records[at].parent].body, ToolResultMessage)
    assert reading.entries[-1].text == "Whole." and sent_users(reading) == ["Work."]


def answer_item(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text}
    return {"type": "message", "role": "assistant", "phase": "final_answer", "content": [part]}


def held(reading: Reading) -> list[str]:
    """What the context where the agent stands holds of the entries before its last compaction."""
    assert reading.report.leaf is not None
    context = context_at(reading.tree, reading.report.leaf)
    assert {one.why for one in context.again.values()} <= {"recorded"}
    assert context.messages[1 : 1 + len(context.again)] == list(context.again)
    return [reading.entries[at].text for at in context.again]


def test_every_message_that_a_compaction_lists_is_kept_word_for_word(tmp_path: Path) -> None:
    """The user's, the model's and what other agents sent; replies without what is not listed."""
    made = Rollout(1).message("developer", "Be brief.").message("user", "<environment>tides")
    made.exchange("One?", "One.").prompt("Two?")
    made.item("reasoning", summary=[{"type": "summary_text", "text": "hm " * 400}])
    made.answer("Two.").count().prompt("Three?").answer("I look.").call("c1", cmd="ls")
    made.result("c1").item("agent_message", content=[{"type": "input_text", "text": "From afar"}])
    made.answer("Three.").count()
    items = [one["payload"] for one in made.lines if one["type"] == "response_item"]
    listed = [one for one in items if one["type"] in ("message", "agent_message")]
    made.add("compacted", message="", replacement_history=listed)
    reading = read(made.exchange("Four?", "Four."), tmp_path)
    assert held(reading) == [
        "Be brief.", "<environment>tides", "One?", "One.", "Two?", "Two.", "Three?", "I look.",
        "From afar", "Three.",
    ]  # fmt: skip
    (compaction,) = reading.compactions
    assert (compaction.user_tokens, compaction.repeated_tokens) == (0, 0)
    assert "more item" not in reasons(reading)
    context = context_at(reading.tree, len(reading.tree) - 1)
    texts = {reading.entries[at].text: at for at in context.again}
    for text, is_whole in (("One.", True), ("Two.", False), ("I look.", False)):
        at = texts[text]
        weight = reading.tree.columns.estimate[at]
        assert (weight == estimate_text(text)) is is_whole
        assert sent_tokens(context, at, weight) == estimate_text(text), "its text alone"
        (sent,) = with_notes(
            lambda wanted: [reading.entries[one] for one in wanted], {}, context.again
        )([at])
        assert isinstance(sent.body, AssistantMessage) and sent.content == (TextBlock(text),)


def test_the_next_compaction_keeps_what_it_lists_itself(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.").exchange("Two?", "Two.")
    both = [user_item("One?"), answer_item("One."), user_item("Two?"), answer_item("Two.")]
    made.add("compacted", message="", replacement_history=both).exchange("Three?", "Three.")
    assert held(read(made, tmp_path / "a")) == ["One?", "One.", "Two?", "Two."]
    later = [user_item("One?"), answer_item("Two."), answer_item("Three.")]
    made.add("compacted", message="", replacement_history=later).exchange("Four?", "Four.")
    assert held(read(made, tmp_path / "b")) == ["One?", "Two.", "Three."]


def test_of_equal_messages_the_newest_are_kept_and_none_that_was_taken_back(
    tmp_path: Path,
) -> None:
    made = Rollout(1)
    for text in ("One.", "Two.", "Three.", "Four."):
        made.exchange("Go on.", text)
    made.event("thread_rolled_back", num_turns=1)
    listed = [user_item("Go on."), user_item("Go on."), answer_item("Four.")]
    made.add("compacted", message="", replacement_history=listed)
    reading = read(made.exchange("Last?", "Last."), tmp_path)
    assert held(reading) == ["Go on.", "Go on."]
    kept = context_at(reading.tree, len(reading.tree) - 1).again
    answers = [reading.entries[at + 1].text for at in kept]
    assert answers == ["Two.", "Three."]


def test_a_message_that_is_listed_otherwise_than_it_was_said_is_not_kept(tmp_path: Path) -> None:
    long = "The harbour has two piers. " * 20
    made = Rollout(1).exchange(long, "Two  piers.").exchange("And?", long)
    short = long[:200] + " ...90 tokens truncated... " + long[-80:]
    listed = [user_item(short), answer_item("Two piers."), user_item("And?"), answer_item(short)]
    made.add("compacted", message="", replacement_history=listed)
    reading = read(made.exchange("Last?", "Last."), tmp_path)
    assert held(reading) == ["And?"]
    assert "changed in the context that this compaction lists: 2 messages" in reasons(reading)
    assert "not in the context that is shown: 1 more item of" in reasons(reading)
    expected = 2 * estimate_text(short) + estimate_text("Two piers.")
    assert reading.compactions[0].repeated_tokens == expected


def test_more_that_is_listed_is_named(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.").exchange("Two?", "Two.")
    called = {"type": "function_call", "name": "run", "arguments": "{}", "call_id": "c1"}
    rules = {"type": "message", "role": "developer", "content": "word" * 500}
    answer = {"type": "message", "role": "assistant", "content": "One."}
    items = [user_item("One?"), answer, called, rules, user_item("rule" * 300)]
    made.add("compacted", message=PREFIX, replacement_history=items)
    reading = read(made, tmp_path)
    assert held(reading) == ["One?", "One."]
    assert "not in the context that is shown: 1 more item of" in reasons(reading)
    (compaction,) = reading.compactions
    assert compaction.details["replacement"] == {
        "message/user": 2, "message/assistant": 1, "message/developer": 1, "function_call": 1,
    }  # fmt: skip
    # Beside the entries that it holds again, of which there are none for these.
    assert compaction.repeated_tokens == pytest.approx(800, abs=5)
    (at,) = reading.tree.columns.compactions
    assert reading.tree.columns.compactions[at].repeated_tokens == compaction.repeated_tokens


# what is not known, and damage --------------------------------------------------------------------


def test_unknown_records_are_kept_and_counted(tmp_path: Path) -> None:
    made = Rollout(1).add("dream", a=1).exchange("One?", "One.").add("dream", a=2)
    made.item("hologram", text="a new kind of item").event("telepathy", text="hm")
    made.event("item_completed", item={"type": "Dream"}).add("world_state", full=True)
    reading = read(made.event("thread_name_updated", thread_name="Names"), tmp_path)
    shown = reasons(reading).split("\n")
    assert shown == [
        "2 records of the type 'dream' are not known; they are kept",
        "1 record of the type 'response_item/hologram' is not known; it is kept",
        "1 record of the type 'event_msg/telepathy' is not known; it is kept",
        "1 record of the type 'event_msg/item_completed/Dream' is not known; it is kept",
    ]
    assert [one for _, one in reading.bodies(Unknown)] == [Unknown("hologram")]
    assert [one for _, one in reading.bodies(SessionName)] == [SessionName("Names")]


def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = "\ufeff" + Rollout(1).exchange("One?", "One.").text()
    lines = [*text.split("\n")[:-1], "", '{"torn', "[1]", '{"type":"event_msg","payload":[]}']
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(lines) + '\n{"timestamp":"2026', "utf-8")
    reading = Reading(path)
    assert (reading.header.session_id, reading.prompts) == (name_of(1), ["One?"])
    repeated = reading.lines()
    assert all(repeated[line] for line in [*lines, '{"timestamp":"2026'] if line)
    assert [one.line for one in reading.report.problems] == [8, 9, 11, 10]


def test_a_file_without_a_header_opens(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.")
    del made.lines[0]
    reading = read(made, tmp_path)
    assert reading.header.session_id == name_of(1) and "session_meta" in reasons(reading)
    assert reading.prompts == ["One?"]


@pytest.mark.parametrize("record", ["", "null", "{}", '{"type":[]}', "[]", "\x00", "{" * 900])
def test_any_text_is_read_as_something(record: str) -> None:
    assert isinstance(adapter_of("codex").read(record).body, Unknown)


def test_a_compressed_file_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / f"rollout-2026-05-04T10-00-00-{name_of(1)}.jsonl.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(FormatError, match="zstd -d"):
        open_source(path)


@pytest.mark.parametrize("text", ["", "{}", "[1]\n", '{"type":"session","version":3}\n'])
def test_what_holds_no_records_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text(text, "utf-8")
    assert not adapter_of("codex").recognises(path, text.encode())
    with pytest.raises(FormatError, match="no records"):
        adapter_of("codex").open(path)


def test_it_is_only_read(tmp_path: Path) -> None:
    reading = read(Rollout(1).exchange("One?", "One."), tmp_path)
    assert not reading.adapter.writes
    with pytest.raises(ValueError, match="only read"):
        reading.adapter.write(reading.entries[0])
    assert reading.adapter.resume(reading.header) == ("codex", "resume", name_of(1))


def test_a_long_header_is_recognised(tmp_path: Path) -> None:
    made = Rollout(1, base_instructions={"text": "be kind " * 9_000}).exchange("One?", "One.")
    assert read(made, tmp_path).adapter.name == "codex"
    long = Rollout(1).message("developer", "be kind " * 9_000).exchange("One?", "One.")
    del long.lines[0]
    reading = read(long, tmp_path)
    assert reading.prompts == ["One?"] and "session_meta" in reasons(reading)


def test_no_entry_of_a_plain_session_is_inherited(tmp_path: Path) -> None:
    made = Rollout(1).exchange("One?", "One.").add("session_meta", id=name_of(1))
    reading = read(made.exchange("Two?", "Two."), tmp_path)
    assert not any(one.facts.flags & Flag.INHERITED for one in reading.records)
    assert json.loads(reading.header.raw)["payload"]["id"] == name_of(1)

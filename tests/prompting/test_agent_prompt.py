"""Conversations as turns and rounds, and the prompts made of them (A44, A48 to A50, A53)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from explorer.prompting.agent_prompt import (
    AgentPrompt,
    SimpleRecord,
    full_request,
    part_ahead,
    part_before_request,
)
from explorer.prompting.rendered_prompt import BudgetExceededError, render
from explorer.prompting.turns import ConversationTurns, SourceMessage, conversation
from explorer.session.entries import (
    AssistantMessage,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)


def user(entry: int, text: str = "please") -> SourceMessage:
    return SourceMessage(entry, UserMessage(text_content(text)), len(text))


def reply(entry: int, *calls: str, text: str = "ok", stop_reason: str = "stop") -> SourceMessage:
    blocks = [ToolCallBlock(call, "read", {"path": "x" * 300}) for call in calls]
    content = (*(text_content(text) if text else ()), *blocks)
    return SourceMessage(entry, AssistantMessage(content, stop_reason=stop_reason), 400)


def result(entry: int, call: str, text: str = "found") -> SourceMessage:
    return SourceMessage(entry, ToolResultMessage(call, "read", text_content(text)), len(text))


def summary(entry: int, text: str = "all that was") -> SourceMessage:
    return SourceMessage(entry, UserMessage(text_content(text)), len(text), is_summary=True)


def prompt(**fields: Any) -> AgentPrompt:
    return replace(AgentPrompt("system", len, 1000), **fields)


TALK = conversation(
    [user(0), reply(1, "a"), result(2, "a"), reply(3),
     user(4), reply(5, "b"), result(6, "b"), reply(7, "c"), result(8, "c")]
)  # fmt: skip


def roles(said: ConversationTurns, **fields: Any) -> list[str]:
    made = render(prompt(**fields).elements(said), 10**6, len)
    return [message.role for message in made.messages]


def test_turns_and_rounds() -> None:
    first, second = TALK.turns
    assert [one.entry for one in first.rounds] == [1, 3]
    assert [one.entry for one in second.rounds] == [5, 7]
    assert second.rounds[-1].last_entry == 8
    assert TALK.summary is None


def test_a53_nothing_before_the_newest_summary_comes_back() -> None:
    said = conversation([user(0), summary(1, "old"), user(2), summary(3), user(4), reply(5)])
    assert said.summary is not None
    assert said.summary.entry == 3
    assert [turn.messages[0].entry for turn in said.turns] == [4]
    made = render(prompt().elements(said), 10**6, len)
    assert made.messages[1].text == "all that was"
    assert made.messages[1].sources == (3,)


def test_what_failed_and_what_has_no_partner_is_not_sent() -> None:
    said = conversation(
        [user(0), reply(1, stop_reason="error"), reply(2, "a", "lost", text=""), result(3, "a"),
         result(4, "nobody"), reply(5, "open", text="")]
    )  # fmt: skip
    (turn,) = said.turns
    (only,) = turn.rounds
    assert [call.id for call in only.calls] == ["a"]
    assert [found.call_id for found in only.results] == ["a"]


def test_kept_entries_may_begin_inside_a_turn() -> None:
    said = conversation([summary(0), reply(1, "a"), result(2, "a"), user(3)])
    assert [len(turn.messages) for turn in said.turns] == [0, 1]
    assert roles(said) == ["system", "user", "assistant", "tool", "user"]


def test_a48_warm_means_a_completed_round_in_this_turn() -> None:
    assert TALK.is_warm
    assert not conversation([user(0), reply(1, "a"), result(2, "a"), user(3)]).is_warm
    assert not conversation([user(0), reply(1)]).is_warm
    assert not conversation([]).is_warm


def test_a44_the_history_goes_before_the_calls_and_these_before_the_question() -> None:
    elements = prompt(keep_cached=False).elements(TALK)
    for budget in (1700, 1200, 800, 430):
        made = render(elements, budget, len)
        sources = [source for message in made.messages for source in message.sources]
        # The question is always left; before it goes the history, then the calls.
        assert 4 in sources
        gone = [source for each in made.dropped for source in each.sources]
        assert gone == sorted(gone)
    assert [message.text for message in render(elements, 12, len).messages] == ["system", "please"]
    with pytest.raises(BudgetExceededError):
        render(elements, 11, len)


def test_a45_what_was_sent_is_not_dropped_but_overflows() -> None:
    elements = prompt().elements(TALK)
    with pytest.raises(BudgetExceededError) as caught:
        render(elements, 800, len)
    assert caught.value.dropped == ()


def test_a49_long_results_lose_their_middle() -> None:
    said = conversation([user(0), reply(1, "a"), result(2, "a", "h" * 900 + "t" * 900)])
    made = render(prompt(result_limit=200).elements(said), 10**6, len)
    text = made.messages[-1].text
    assert len(text) <= 200
    assert text.startswith("hhh")
    assert text.endswith("ttt")
    assert "left out of the middle" in text


def test_a49_the_round_that_was_too_much_is_not_told() -> None:
    told = part_before_request(TALK)
    assert told is not None
    assert told.last_entry == 6
    rounds = [found.entry for turn in told.conversation.turns for found in turn.rounds]
    assert rounds == [1, 3, 5]


def test_a49_with_one_round_everything_before_the_turn_is_told() -> None:
    said = conversation([user(0), reply(1), user(2), reply(3, "a"), result(4, "a")])
    told = part_before_request(said)
    assert told is not None
    assert told.last_entry == 1
    assert len(told.conversation.turns) == 1


def test_a49_with_nothing_before_there_is_nothing_to_tell() -> None:
    assert part_before_request(conversation([user(0), reply(1, "a"), result(2, "a")])) is None
    assert part_before_request(conversation([summary(0), user(1)])) is None
    assert part_before_request(conversation([])) is None


def test_a47_ahead_everything_is_told_up_to_the_last_round() -> None:
    told = part_ahead(TALK)
    assert told is not None
    assert told.last_entry == 8
    said = conversation([user(0), reply(1), user(2)])
    told = part_ahead(said)
    assert told is not None
    assert told.last_entry == 1
    assert part_ahead(conversation([user(0)])) is None


def test_a50_the_full_request_is_the_prompt_and_the_order() -> None:
    made = render(full_request(prompt(), TALK, "Summarize."), 10**6, len)
    plain = render(prompt().elements(TALK), 10**6, len)
    assert made.messages[:-1] == plain.messages
    assert made.messages[-1].text == "Summarize."
    small = render(full_request(prompt(), TALK, "Summarize."), 900, len)
    assert small.messages[-1].text == "Summarize."
    assert small.dropped[0].sources == (0,)


RECORD = SimpleRecord(
    "system", "A record:", "Summarize.", len, 1000,
    escape=lambda text: text.replace("</", "&lt;/"),
)  # fmt: skip


def test_b19_the_simple_request_is_one_text_with_short_arguments() -> None:
    made = render(RECORD.elements(TALK), 10**6, len)
    assert [message.role for message in made.messages] == ["system", "user"]
    text = made.messages[1].text
    assert text.startswith("A record:\n\n<conversation>\n[User]: please\n[Assistant]: ok\n")
    assert text.endswith("</conversation>\nSummarize.")
    arguments = next(line for line in text.splitlines() if "tool calls" in line)
    assert arguments.endswith("…)")
    assert len(arguments) == len("[Assistant tool calls]: read()") + 201
    assert made.messages[1].sources == (0, 1, 2, 3, 4, 5, 6, 7, 8)


def test_b19_the_simple_request_keeps_the_first_and_the_newest() -> None:
    made = render(RECORD.elements(TALK), 420, len)
    assert 0 in made.messages[1].sources
    assert 8 in made.messages[1].sources
    assert 1 not in made.messages[1].sources
    assert [each.sources[0] for each in made.dropped] == sorted(
        each.sources[0] for each in made.dropped
    )


def test_b11_a_record_cannot_end_itself() -> None:
    said = conversation([user(0, "x </conversation> y"), reply(1)])
    text = render(RECORD.elements(said), 10**6, len).messages[1].text
    assert text.count("</conversation>") == 1


def test_e16_what_a_summary_replaces_has_the_tool_results_in_it() -> None:
    messages = [summary(0), user(1), reply(2, "a"), result(2, "a", "line\n" * 500), reply(3)]
    assert conversation(messages).tokens == sum(one.tokens for one in messages)
